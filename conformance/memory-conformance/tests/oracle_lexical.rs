memory_conformance::suite! {
    plugin: memory_conformance::oracle::LEXICAL,
    manifest: [phrase_query, prefix_query, exclude_query, atomic_apply, persistent, deterministic],
}
