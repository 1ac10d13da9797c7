use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_api::{Error, ErrorKind, Kind, Plugin, Registry, Result};
use memory_config::{Config, PluginConfig};
use memory_engine::{Clock, Documents, Engine, Evergreen, Options, Part, Parts};

use crate::clock::SystemClock;
use crate::memory::{Memory, Settings};
use crate::write::time_zone;

/// The folder of the index inside a workspace.
const STATE_DIR: &str = ".memory";

/// What a program can open memories with: plugins and a clock.
#[derive(Debug, Clone)]
pub struct App {
    registry: Registry,
    clock: Arc<dyn Clock>,
    cache_dir: Option<PathBuf>,
}

impl App {
    /// Creates an app without plugins.
    pub fn new() -> Self {
        Self {
            registry: Registry::default(),
            clock: Arc::new(SystemClock::default()),
            cache_dir: None,
        }
    }

    /// Creates an app with the plugins of this crate's default feature.
    ///
    /// # Errors
    ///
    /// None with the plugins as they are; `InvalidInput` would mean that two of them share a name.
    #[cfg(feature = "default-plugins")]
    pub fn with_default_plugins() -> Result<Self> {
        memory_plugins::ALL
            .iter()
            .copied()
            .try_fold(Self::new(), Self::plugin)
    }

    /// Adds a plugin.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when another one has its kind and name.
    pub fn plugin(mut self, plugin: &'static Plugin) -> Result<Self> {
        self.registry = self.registry.with(plugin)?;
        Ok(self)
    }

    /// Replaces the clock.
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Says where models lie: the folder of caches that all workspaces share, see [`config::env::cache_dir`](memory_config::env::cache_dir).
    /// Without one, plugins that need a model file cannot be used.
    pub fn with_cache_dir(mut self, cache_dir: impl Into<PathBuf>) -> Self {
        self.cache_dir = Some(cache_dir.into());
        self
    }

    /// Returns the plugins; loading a config needs them.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Opens the memory of a workspace. Nothing is indexed by that.
    ///
    /// # Errors
    ///
    /// `Config` when a slot that has to be filled is empty, or for a plugin's settings.
    pub async fn open(&self, config: &Config, workspace: &Path) -> Result<Memory> {
        let part = |plugin: &PluginConfig| Part {
            plugin: plugin.plugin,
            config: plugin.config.clone(),
        };
        let lexical = config.plugin(Kind::Lexical).map(part).ok_or_else(|| {
            Error::new(ErrorKind::Config, "no index by words is configured")
                .with_context("key", "lexical.use")
                .with_hint("set `lexical.use`, for example to \"fts5\"")
        })?;
        let options = Options {
            workspace: workspace.to_owned(),
            state_dir: config
                .state_dir
                .clone()
                .unwrap_or_else(|| workspace.join(STATE_DIR)),
            namespace: config.namespace.clone(),
            documents: Documents {
                include: config.documents.include.clone(),
                extra_paths: config.documents.extra_paths.clone(),
                transcripts: config.documents.transcripts.clone(),
                max_file_kib: config.documents.max_file_kib,
            },
            read_only: false,
            cache_dir: self.cache_dir.clone(),
            max_cached_vectors: config.cache.max_entries,
            evergreen: Evergreen {
                patterns: config.decay.evergreen.clone(),
                undated: config.decay.evergreen_undated,
            },
        };
        let parts = Parts {
            chunkers: config.plugins(Kind::Chunker).iter().map(part).collect(),
            lexical,
            vector: config.plugin(Kind::Vector).map(part),
            embedder: config.plugin(Kind::Embedder).map(part),
            rerankers: config.plugins(Kind::Rerank).iter().map(part).collect(),
            decay: config.plugin(Kind::Decay).map(part),
        };
        let engine = Engine::open(options, parts, Arc::clone(&self.clock)).await?;
        let settings = Settings {
            search: config.search.clone(),
            write: config.write.clone(),
            flush: config.flush.clone(),
            zone: time_zone(&config.write)?,
        };
        Ok(Memory::new(engine, settings, Arc::clone(&self.clock)))
    }
}

impl Default for App {
    fn default() -> Self {
        Self::new()
    }
}
