memory_conformance::suite! {
    plugin: memory_chunker_markdown::PLUGIN,
    fixture: memory_conformance::Fixture::config(serde_json::json!({ "split": "block" })),
    manifest: [deterministic],
}
