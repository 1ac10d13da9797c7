memory_conformance::suite! {
    plugin: memory_conformance::oracle::VECTOR,
    manifest: [atomic_apply, persistent, exact_search, deterministic],
}
