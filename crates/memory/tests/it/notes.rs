//! A workspace of notes for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{
    App, FixedClock, Memory, Query, ReadRequest, SearchResponse, SearchResult, Status, SyncReport,
    SyncRequest, Window,
};
use memory_api::{Result, Timestamp};
use serde_json::{Value, json};

/// Midnight of 2026-06-01, UTC.
const NOW: Timestamp = Timestamp(1_780_272_000_000);

/// A temporary workspace whose memory files are `notes/**/*.md` and that goes by words, unless flags say otherwise.
pub(crate) struct Notes {
    dir: tempfile::TempDir,
    flags: Vec<Flag>,
    now: Timestamp,
}

impl Notes {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            flags: Vec::new(),
            now: NOW,
        }
        .with("documents.include", json!(["notes/**/*.md"]))
        .with("embedder.use", "none")
    }

    /// Goes by meaning as well, with the test double `fake`; its calls are written to the file `calls`.
    pub(crate) fn with_meaning(self) -> Self {
        let file = |name: &str| json!(self.path(name));
        let (log, down, missing) = (file("calls"), file("down"), file("missing"));
        self.with("embedder.use", "fake")
            .with("embedder.fake.log", log)
            .with("embedder.fake.down", down)
            .with("embedder.fake.missing", missing)
    }

    /// Sets the day, as days since 1970.
    pub(crate) fn on_day(mut self, day: i64) -> Self {
        self.now = Timestamp(day * 86_400_000);
        self
    }

    /// Returns the texts that were embedded since the last look.
    pub(crate) fn embedded(&self) -> Vec<String> {
        crate::fake::taken(&self.path("calls"))
    }

    /// The notes of a field report, as pairs of path and content.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let notes = Self::new();
        for (path, content) in files {
            notes.write(path, content);
        }
        notes
    }

    /// Sets a value of the configuration.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.flags.push(Flag::new("test", key, value));
        self
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub(crate) fn app(&self) -> App {
        App::with_default_plugins()
            .unwrap()
            .plugin(&crate::fake::PLUGIN)
            .unwrap()
            .plugin(&crate::fake::NO_VECTOR)
            .unwrap()
            .plugin(&crate::reluctant::PLUGIN)
            .unwrap()
            .with_clock(Arc::new(FixedClock::new(self.now)))
    }

    pub(crate) fn open(&self) -> Memory {
        self.open_with(&self.app(), self.root())
    }

    /// Opens the memory of any folder with an app and the flags of these notes.
    pub(crate) fn open_with(&self, app: &App, root: &Path) -> Memory {
        let sources = Sources {
            flags: self.flags.clone(),
            ..Sources::default()
        };
        let loaded =
            config::load(&sources, app.registry()).unwrap_or_else(|problems| panic!("{problems}"));
        block_on(app.open(&loaded.config, root)).unwrap()
    }

    /// Opens the memory, uses it and closes it, as one call of the program does.
    pub(crate) fn once<T>(&self, job: impl AsyncFnOnce(&Memory) -> Result<T>) -> Result<T> {
        let memory = self.open();
        block_on(async {
            let result = job(&memory).await;
            memory.close().await?;
            result
        })
    }

    pub(crate) fn index(&self) -> SyncReport {
        self.index_with(&SyncRequest::default()).unwrap()
    }

    pub(crate) fn index_with(&self, request: &SyncRequest) -> Result<SyncReport> {
        self.once(async |memory| memory.sync(request).await)
    }

    pub(crate) fn ask(&self, query: &Query) -> SearchResponse {
        self.once(async |memory| memory.search(query).await)
            .unwrap()
    }

    pub(crate) fn search(&self, query: &str) -> Vec<SearchResult> {
        let response = self.ask(&Query::new(query));
        assert!(response.degraded.is_empty(), "{:?}", response.degraded);
        response.results
    }

    /// The paths of the results, without repeats.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        let mut paths = Vec::new();
        for hit in self.search(query) {
            if !paths.contains(&hit.path) {
                paths.push(hit.path);
            }
        }
        paths
    }

    /// Every entry, by path and line.
    pub(crate) fn entries(&self, query: &str) -> Vec<SearchResult> {
        let mut hits = self.ask(&Query::new(query).everything(1_000)).results;
        hits.sort_by(|a, b| (&a.path, a.line_start).cmp(&(&b.path, b.line_start)));
        hits
    }

    pub(crate) fn status(&self) -> Status {
        self.once(async |memory| memory.status().await).unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Result<Window> {
        let request = ReadRequest {
            path: path.to_owned(),
            ..ReadRequest::default()
        };
        self.once(async |memory| memory.get(&request))
    }
}
