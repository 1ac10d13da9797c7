//! The default set of plugins, by cargo feature; nothing else.
//!
//! A crate that nobody names is dropped by the linker without a word. [`ALL`] names each plugin, which links its crate, so
//! that its `register_plugin!` counts as well.

use memory_api::Plugin;

/// The plugins of the features that are on.
pub static ALL: &[&Plugin] = &[
    #[cfg(feature = "chunker-markdown")]
    &memory_chunker_markdown::PLUGIN,
    #[cfg(feature = "lexical-fts5")]
    &memory_lexical_fts5::PLUGIN,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use memory_api::Registry;

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
}
