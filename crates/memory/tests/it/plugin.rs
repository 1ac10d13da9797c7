//! Plugins of somebody else: one that misbehaves, one beside which something happens.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{App, Memory, Query, SyncRequest};
use memory_api::{
    Chunked, Chunker, Document, DraftEntry, Factory, Fingerprint, Identity, OpenContext, Plugin,
    Result, parse_config,
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

/// A test double: while it cuts a document, a file is deleted.
#[derive(Debug)]
struct Deleting(PathBuf);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Deleted {
    file: PathBuf,
}

impl Identity for Deleting {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("deleting/1".to_owned())
    }
}

impl Chunker for Deleting {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        if document.text.contains("delete") {
            fs::remove_file(&self.0).unwrap();
        }
        Panicking.chunk(document)
    }
}

static DELETING: Plugin = Plugin::new::<Deleted>(
    "deleting",
    "1.0.0",
    "a test double: deletes a file",
    Factory::Chunker(|context| {
        let config: Deleted = parse_config(context.config)?;
        Ok(Arc::new(Deleting(config.file)))
    }),
);

fn open_deleting(notes: &Notes) -> Memory {
    let app = App::with_default_plugins()
        .unwrap()
        .plugin(&DELETING)
        .unwrap();
    let flag = |key: &str, value| Flag::new("test", key, value);
    let sources = Sources {
        flags: vec![
            flag("chunker.use", serde_json::json!(["deleting"])),
            flag(
                "chunker.deleting.file",
                serde_json::json!(notes.path("notes/b.md")),
            ),
            flag("embedder.use", serde_json::json!("none")),
            flag("documents.include", serde_json::json!(["notes/*.md"])),
        ],
        ..Sources::default()
    };
    let loaded = config::load(&sources, app.registry()).unwrap();
    block_on(app.open(&loaded.config, notes.root())).unwrap()
}

#[test]
fn a_file_that_is_deleted_in_the_middle_of_a_sync_is_removed_and_no_failure() {
    let notes = Notes::of(&[("notes/a.md", "pump"), ("notes/b.md", "valve")]);
    let memory = open_deleting(&notes);
    let sync = || block_on(memory.sync(&SyncRequest::default())).unwrap();
    let valves = || {
        let answer = block_on(memory.search(&Query::new("valve"))).unwrap();
        answer.results.len()
    };
    assert_eq!((sync().new, valves()), (2, 1));
    notes.write("notes/a.md", "delete");
    notes.write("notes/b.md", "another valve");
    let report = sync();
    assert_eq!((report.updated, report.removed, valves()), (1, 1, 0));
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    // Nor is a file that nothing was known of.
    notes.write("notes/a.md", "delete again");
    notes.write("notes/b.md", "a third valve");
    let report = sync();
    assert_eq!((report.new, report.updated, report.removed), (0, 1, 0));
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    block_on(memory.close()).unwrap();
}
