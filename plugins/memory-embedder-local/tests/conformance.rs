memory_conformance::suite! {
    plugin: memory_embedder_local::PLUGIN,
    manifest: [deterministic],
}
