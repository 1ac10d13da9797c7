#![cfg(test)]

use std::path::Path;

use memory_conformance::Fixture;
use serde_json::json;

#[expect(dead_code, reason = "the unit tests use all of it")]
#[path = "../src/tests/made.rs"]
mod made;

memory_conformance::suite! {
    plugin: memory_embedder_local::PLUGIN,
    fixture: fixture(),
    manifest: [deterministic],
}

/// A model of random weights, which is quick to load; what real ones say is a unit test.
fn fixture() -> Fixture {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = dir.join("memory-embedder-local.gguf");
    let (bytes, _) = made::Made::small().gguf(made::Format::Q4_0);
    // Tests run side by side, each in a process of its own: a file that is right is left alone, and another replaced at once.
    if std::fs::read(&path).ok().as_ref() != Some(&bytes) {
        let new = tempfile::NamedTempFile::new_in(dir).unwrap();
        std::fs::write(new.path(), &bytes).unwrap();
        new.persist(&path).unwrap();
    }
    let model = path.to_str().unwrap();
    Fixture::config(json!({
        "path": model, "threads": 2, "query_prefix": "query: ", "document_prefix": "passage: ",
    }))
}
