use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::Result;

/// The model files a plugin can use, and how it gets them. Nothing is fetched but by [`pull`](Models::pull).
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Models {
    /// Lists the models the plugin knows, its default first; looks into the folder of caches and nowhere else.
    pub list: fn(cache_dir: &Path) -> Vec<Model>,
    /// Gets a model, verifies it and returns where it lies. Blocks until it is there; a model that is there already is kept.
    ///
    /// Errors: `NotFound` for an unknown model; `Corrupt` for a file with another hash; `Unavailable` when every source failed,
    /// with one line per source; `Closed` after `cancel`.
    pub pull: fn(&PullRequest<'_>) -> Result<PathBuf>,
}

impl Models {
    /// Describes how models are listed and got.
    pub const fn new(
        list: fn(&Path) -> Vec<Model>,
        pull: fn(&PullRequest<'_>) -> Result<PathBuf>,
    ) -> Self {
        Self { list, pull }
    }
}

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Models").finish_non_exhaustive()
    }
}

/// A model variant: another file of the same model is another one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// Its name in the config and on the command line.
    pub name: String,
    /// One line for people: languages, precision, what it is for.
    pub summary: String,
    /// Its licence, as an SPDX expression.
    pub licence: String,
    /// Numbers per vector.
    pub dimensions: usize,
    /// Bytes on disk.
    pub bytes: u64,
    /// Where its sources are, in the order they are tried.
    pub sources: Vec<String>,
    /// Where it lies; `None` when it is not there.
    pub path: Option<PathBuf>,
}

impl Model {
    /// Creates a description without sources of a model that is not there.
    pub fn new(
        name: impl Into<String>,
        summary: impl Into<String>,
        licence: impl Into<String>,
        dimensions: usize,
        bytes: u64,
    ) -> Self {
        Self {
            name: name.into(),
            summary: summary.into(),
            licence: licence.into(),
            dimensions,
            bytes,
            sources: Vec::new(),
            path: None,
        }
    }
}

/// A wish for a model.
#[derive(Clone, Copy)]
pub struct PullRequest<'a> {
    /// Its name; `None` means the plugin's default.
    pub model: Option<&'a str>,
    /// The folder of caches that all workspaces share.
    pub cache_dir: &'a Path,
    /// A file that somebody brought, instead of any source.
    pub file: Option<&'a Path>,
    /// The address of the model hub, without a trailing slash.
    pub hub: &'a str,
    /// Whether the hub may not be asked.
    pub hub_offline: bool,
    /// The Python whose pip downloads packages.
    pub python: &'a str,
    /// Hears how far it is.
    pub progress: &'a dyn Fn(PullProgress<'_>),
    /// Set by someone else to stop; what was downloaded so far is kept for the next time.
    pub cancel: &'a AtomicBool,
}

impl fmt::Debug for PullRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PullRequest")
            .field("model", &self.model)
            .field("cache_dir", &self.cache_dir)
            .field("file", &self.file)
            .field("hub", &self.hub)
            .field("hub_offline", &self.hub_offline)
            .field("python", &self.python)
            .finish_non_exhaustive()
    }
}

/// How far a pull is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PullProgress<'a> {
    /// This source is tried.
    Trying(&'a str),
    /// A source could not give the model.
    Failed {
        /// The source.
        source: &'a str,
        /// Why, in one line.
        reason: &'a str,
    },
    /// A download goes on.
    Bytes {
        /// So far, with what an earlier pull left.
        done: u64,
        /// In all, where the source says.
        total: Option<u64>,
    },
    /// What was downloaded is brought into the plugin's own form.
    Converting,
    /// The hash is compared.
    Verifying,
}
