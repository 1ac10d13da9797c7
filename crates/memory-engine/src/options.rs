use std::path::PathBuf;

use memory_api::{Error, ErrorKind, Plugin};

/// Where a memory lives and which files belong to it.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the memory files.
    pub workspace: PathBuf,
    /// The folder of the index; by default `.memory` in the workspace.
    pub state_dir: PathBuf,
    /// One agent's memory.
    pub namespace: String,
    /// Which files are memory files.
    pub documents: Documents,
    /// Nothing in `state_dir` may be written.
    pub read_only: bool,
    /// The folder of caches that all workspaces share, where models lie; `None` where there is none.
    pub cache_dir: Option<PathBuf>,
    /// Vectors to keep that no entry needs, counted with those that entries need.
    pub max_cached_vectors: u64,
    /// Which documents never fade.
    pub evergreen: Evergreen,
}

impl Options {
    /// Creates the options of a memory with the namespace `default`.
    pub fn new(workspace: impl Into<PathBuf>, state_dir: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            state_dir: state_dir.into(),
            namespace: "default".to_owned(),
            documents: Documents::default(),
            read_only: false,
            cache_dir: None,
            max_cached_vectors: 50_000,
            evergreen: Evergreen::default(),
        }
    }
}

/// Which files are memory files.
#[derive(Debug, Clone)]
pub struct Documents {
    /// Globs relative to the workspace, instead of `MEMORY.md`, `USER.md` and `memory/**/*.md`.
    pub include: Vec<String>,
    /// More files and folders, absolute or relative to the workspace; of a folder all Markdown files.
    pub extra_paths: Vec<PathBuf>,
    /// Transcripts of chats, and folders of them, absolute or relative to the workspace.
    pub transcripts: Vec<PathBuf>,
    /// Larger files are reported and left out; transcripts may have any size.
    pub max_file_kib: u64,
}

impl Default for Documents {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            extra_paths: Vec::new(),
            transcripts: Vec::new(),
            max_file_kib: 10 * 1024,
        }
    }
}

/// Which documents never fade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evergreen {
    /// Globs relative to the workspace.
    pub patterns: Vec<String>,
    /// Files below `memory/` that name no day as well.
    pub undated: bool,
}

impl Default for Evergreen {
    fn default() -> Self {
        Self {
            patterns: vec!["MEMORY.md".to_owned(), "USER.md".to_owned()],
            undated: true,
        }
    }
}

/// The plugins of a memory. The engine opens them, since it decides their folders.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The first that accepts a document gets it.
    pub chunkers: Vec<Part>,
    /// The index by words.
    pub lexical: Part,
    /// The index by meaning, which needs an embedder.
    pub vector: Option<Part>,
    /// What turns text into vectors; without one everything goes by words.
    pub embedder: Option<Part>,
    /// Put results into a better order, one after the other.
    pub rerankers: Vec<Part>,
    /// Lets memories fade.
    pub decay: Option<Part>,
}

/// A plugin to open.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its descriptor.
    pub plugin: &'static Plugin,
    /// Its config table.
    pub config: serde_json::Value,
}

impl Part {
    /// Says of an error which plugin could not be opened.
    pub(crate) fn named(&self, err: Error) -> Error {
        err.with_plugin(self.plugin.name).with_operation("open")
    }

    /// The error for a descriptor that stands in the wrong slot.
    pub(crate) fn misplaced(&self, slot: &str) -> Error {
        Error::new(
            ErrorKind::Internal,
            format!("`{}` is no {slot} plugin", self.plugin.name),
        )
    }
}
