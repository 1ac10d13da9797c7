//! The default set of plugins, by cargo feature; nothing else.
//!
//! A crate that nobody names is dropped by the linker without a word. [`ALL`] names each plugin, which links its crate, so
//! that its `register_plugin!` counts as well.

use memory_api::Plugin;

/// The plugins of the features that are on.
pub static ALL: &[&Plugin] = &[
    #[cfg(feature = "chunker-markdown")]
    &memory_chunker_markdown::PLUGIN,
    #[cfg(feature = "chunker-transcript")]
    &memory_chunker_transcript::PLUGIN,
    #[cfg(feature = "decay-exponential")]
    &memory_decay_exponential::PLUGIN,
    #[cfg(feature = "embedder-hash")]
    &memory_embedder_hash::PLUGIN,
    #[cfg(feature = "embedder-local")]
    &memory_embedder_local::PLUGIN,
    #[cfg(feature = "lexical-fts5")]
    &memory_lexical_fts5::PLUGIN,
    #[cfg(feature = "reranker-mmr")]
    &memory_reranker_mmr::PLUGIN,
    #[cfg(feature = "vector-flat")]
    &memory_vector_flat::PLUGIN,
    #[cfg(feature = "vector-sqlite-vec")]
    &memory_vector_sqlite_vec::PLUGIN,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use memory_api::{Kind, Registry};

    #[test]
    fn all_and_the_linked_registry_agree() {
        let names = |registry: Registry| -> BTreeSet<_> {
            registry
                .iter()
                .map(|plugin| (plugin.kind().as_str(), plugin.name))
                .collect()
        };
        let explicit = names(Registry::new(super::ALL.iter().copied()).unwrap());
        let linked = names(Registry::linked().unwrap());
        assert_eq!(explicit, linked);
        assert_eq!(explicit.len(), super::ALL.len());
    }

    /// `plugins/memory-<kind>-<name>` is linked under that kind and that name.
    #[test]
    fn every_plugin_of_the_repository_is_in_the_default_set() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins");
        let crates: BTreeSet<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let linked: BTreeSet<String> = super::ALL
            .iter()
            .map(|plugin| {
                let kind = match plugin.kind() {
                    Kind::Rerank => "reranker",
                    kind => kind.as_str(),
                };
                format!("memory-{kind}-{}", plugin.name)
            })
            .collect();
        assert_eq!(crates, linked);
    }
}
