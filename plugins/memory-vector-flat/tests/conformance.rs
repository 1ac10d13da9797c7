memory_conformance::suite! {
    plugin: memory_vector_flat::PLUGIN,
    manifest: [atomic_apply, persistent, exact_search, deterministic],
}
