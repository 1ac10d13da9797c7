memory_conformance::suite! {
    plugin: memory_lexical_fts5::PLUGIN,
    manifest: [phrase_query, prefix_query, exclude_query, atomic_apply, persistent, deterministic],
}
