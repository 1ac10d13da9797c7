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
}

/// Which files are memory files.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// Globs relative to the workspace, instead of `MEMORY.md`, `USER.md` and `memory/**/*.md`.
    pub include: Vec<String>,
    /// More files and folders, absolute or relative to the workspace; of a folder all Markdown files.
    pub extra_paths: Vec<PathBuf>,
    /// Larger files are reported and left out.
    pub max_file_kib: u64,
}

/// The plugins of a memory. The engine opens them, since it decides their folders.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The first that accepts a document gets it.
    pub chunkers: Vec<Part>,
    /// The index by words.
    pub lexical: Part,
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
    /// The error for a descriptor that stands in the wrong slot.
    pub(crate) fn misplaced(&self, slot: &str) -> Error {
        Error::new(
            ErrorKind::Internal,
            format!("`{}` is no {slot} plugin", self.plugin.name),
        )
    }
}
