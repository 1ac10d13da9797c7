//! A plugin of somebody else, which misbehaves.

use std::sync::Arc;

use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{App, SyncRequest};
use memory_api::{
    Chunked, Chunker, Document, DraftEntry, Factory, Fingerprint, Identity, OpenContext, Plugin,
    Result,
};

use crate::notes::Notes;

#[derive(Debug)]
struct Panicking;

impl Identity for Panicking {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("panicking/1".to_owned())
    }
}

impl Chunker for Panicking {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        assert!(!document.text.contains("panic"), "as the test wants it");
        let mut chunked = Chunked::default();
        chunked
            .entries
            .push(DraftEntry::new(document.text, 0..document.text.len()));
        Ok(chunked)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the signature of a factory")]
fn open(_: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    Ok(Arc::new(Panicking))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Config {}

static PANICKING: Plugin = Plugin::new::<Config>(
    "panicking",
    "1.0.0",
    "panics on one document",
    Factory::Chunker(open),
);

#[test]
fn a_chunker_that_panics_fails_its_document_alone() {
    let notes = Notes::of(&[
        ("notes/a.md", "pump"),
        ("notes/b.md", "panic"),
        ("notes/c.md", "pump"),
    ]);
    let app = App::with_default_plugins()
        .unwrap()
        .plugin(&PANICKING)
        .unwrap();
    let flags = vec![
        Flag::new("test", "chunker.use", serde_json::json!(["panicking"])),
        Flag::new(
            "test",
            "documents.include",
            serde_json::json!(["notes/*.md"]),
        ),
    ];
    let loaded = config::load(
        &Sources {
            flags,
            ..Sources::default()
        },
        app.registry(),
    )
    .unwrap();
    let memory = block_on(app.open(&loaded.config, notes.root())).unwrap();
    let report = block_on(memory.sync(&SyncRequest::default())).unwrap();
    assert_eq!((report.new, report.entries), (2, 2));
    assert_eq!(report.failed.len(), 1);
    assert_eq!(
        (
            report.failed[0].path.as_str(),
            report.failed[0].reason.as_str()
        ),
        ("notes/b.md", "the chunker panicked on this document")
    );
}
