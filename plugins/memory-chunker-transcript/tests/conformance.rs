memory_conformance::suite! {
    plugin: memory_chunker_transcript::PLUGIN,
    manifest: [deterministic],
}
