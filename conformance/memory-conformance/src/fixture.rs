use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

type Executor = dyn Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Send + Sync;

/// What a plugin needs around it to be opened.
///
/// It is made whenever the tests are listed, so it has to be cheap: name a server or a model file here, and start or load
/// nothing.
#[derive(Clone, Default)]
pub struct Fixture {
    config: Value,
    documents: Vec<(String, String)>,
    cache_dir: Option<PathBuf>,
    unavailable: Option<String>,
    executor: Option<Arc<Executor>>,
}

impl Fixture {
    /// Opens the plugin with this config table; `{dir}` in any string stands for an empty folder, a new one per test.
    pub fn config(config: Value) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// Says that the environment is not there: a server does not answer, a model file is missing.
    ///
    /// Every scenario that opens the plugin then fails with the reason, unless `MEMORY_CONFORMANCE_ALLOW_UNAVAILABLE` names
    /// the plugin: then they are listed as ignored, `not run`.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self {
            unavailable: Some(reason.into()),
            ..Self::default()
        }
    }

    /// Adds the source and path of a document that a chunker accepts, for chunkers that accept none of a memory note, a dated
    /// note and a transcript.
    pub fn with_document(mut self, source: impl Into<String>, path: impl Into<String>) -> Self {
        self.documents.push((source.into(), path.into()));
        self
    }

    /// Gives plugins that need a model file this folder of caches, instead of an empty one per test.
    pub fn with_cache_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(path.into());
        self
    }

    /// Runs futures here instead of on a bare executor, for plugins that need a tokio reactor:
    /// `.with_executor(move |future| runtime.block_on(future))`.
    pub fn with_executor(
        mut self,
        executor: impl Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Send + Sync + 'static,
    ) -> Self {
        self.executor = Some(Arc::new(executor));
        self
    }

    pub(crate) fn cache_dir(&self) -> Option<&Path> {
        self.cache_dir.as_deref()
    }

    pub(crate) fn executor(&self) -> Option<&Executor> {
        self.executor.as_deref()
    }

    pub(crate) fn unavailable_reason(&self) -> Option<&str> {
        self.unavailable.as_deref()
    }

    pub(crate) fn documents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.documents
            .iter()
            .map(|(source, path)| (source.as_str(), path.as_str()))
    }

    /// Returns the config with the folder filled in.
    pub(crate) fn config_in(&self, dir: &Path) -> Value {
        fill(&self.config, &dir.to_string_lossy())
    }
}

fn fill(value: &Value, dir: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{dir}", dir)),
        Value::Array(items) => items.iter().map(|item| fill(item, dir)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), fill(value, dir)))
            .collect(),
        other => other.clone(),
    }
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The config may hold a key to a server; it is not shown.
        f.debug_struct("Fixture")
            .field("documents", &self.documents)
            .field("cache_dir", &self.cache_dir)
            .field("unavailable", &self.unavailable)
            .finish_non_exhaustive()
    }
}
