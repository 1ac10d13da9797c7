memory_conformance::suite! {
    plugin: memory_vector_sqlite_vec::PLUGIN,
    manifest: [atomic_apply, persistent, exact_search, deterministic],
}
