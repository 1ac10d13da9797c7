use std::path::Path;
use std::sync::Arc;

use memory_api::{
    Chunker, DecayPolicy, Embedder, EmbeddingSpace, Factory, Fingerprint, LexicalIndex, Need,
    OpenContext, Plugin, Reranker, VectorIndex,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::index::N_WORDS;
use crate::{Failure, Fixture, Outcome};

/// The plugin under test and what it is opened with.
#[derive(Debug, Clone)]
pub struct Subject {
    plugin: &'static Plugin,
    fixture: Fixture,
    regressions: Option<&'static str>,
    seed: Option<u64>,
}

impl Subject {
    /// Creates a subject that is opened with its default config.
    pub fn new(plugin: &'static Plugin) -> Self {
        Self {
            plugin,
            fixture: Fixture::default(),
            regressions: None,
            seed: None,
        }
    }

    /// Opens the plugin as the fixture says.
    pub fn with_fixture(mut self, fixture: Fixture) -> Self {
        self.fixture = fixture;
        self
    }

    /// Keeps the seeds of failed random cases in this file and tries them first the next time.
    pub fn with_regressions(mut self, path: &'static str) -> Self {
        self.regressions = Some(path);
        self
    }

    /// Tries the same random cases every time.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Returns the plugin's descriptor.
    pub fn plugin(&self) -> &'static Plugin {
        self.plugin
    }

    pub(crate) fn fixture(&self) -> &Fixture {
        &self.fixture
    }

    pub(crate) fn regressions(&self) -> Option<&'static str> {
        self.regressions
    }

    pub(crate) fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Creates an empty folder for the plugin to be opened in.
    pub(crate) fn home(&self) -> Outcome<Home<'_>> {
        let dir = tempfile::tempdir()
            .map_err(|err| Failure::new(format!("no temporary folder for the test: {err}")))?;
        Ok(Home { subject: self, dir })
    }

    /// Runs a scenario's future to its end.
    pub(crate) fn run<T>(&self, future: impl Future<Output = Outcome<T>>) -> Outcome<T> {
        let Some(executor) = self.fixture.executor() else {
            if self.plugin.needs(Need::Tokio) {
                return Err(Failure::new(
                    "the plugin needs a tokio reactor: give the fixture one by `with_executor`",
                ));
            }
            return futures::executor::block_on(future);
        };
        let mut outcome = None;
        executor(Box::pin(async {
            outcome = Some(future.await);
        }));
        outcome.unwrap_or_else(|| {
            Err(Failure::new(
                "the fixture's executor returned before the future was done",
            ))
        })
    }
}

/// A folder in which the plugin can be opened again and again.
#[derive(Debug)]
pub(crate) struct Home<'a> {
    subject: &'a Subject,
    dir: TempDir,
}

impl Home<'_> {
    pub(crate) fn plugin(&self) -> &'static Plugin {
        self.subject.plugin
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the fixture's config for this folder.
    pub(crate) fn config(&self) -> Value {
        self.subject.fixture.config_in(self.path())
    }

    pub(crate) async fn open(&self) -> memory_api::Result<Instance> {
        self.open_with(&self.config()).await
    }

    pub(crate) async fn open_with(&self, config: &Value) -> memory_api::Result<Instance> {
        self.open_in(config, &model_space()).await
    }

    async fn open_in(
        &self,
        config: &Value,
        space: &EmbeddingSpace,
    ) -> memory_api::Result<Instance> {
        let plugin = self.subject.plugin;
        let mut context = OpenContext::new(config);
        // A plugin that uses a folder has to say so; others get none, as in the engine.
        if plugin.needs(Need::Disk) {
            context = context.with_dir(self.path());
        }
        if plugin.needs(Need::ModelFile) {
            context =
                context.with_cache_dir(self.subject.fixture.cache_dir().unwrap_or(self.path()));
        }
        match plugin.factory {
            Factory::Chunker(make) => make(&context).map(Instance::Chunker),
            Factory::Lexical(open) => open(context).await.map(Instance::Lexical),
            Factory::Vector(open) => open(context.with_space(space)).await.map(Instance::Vector),
            Factory::Embedder(open) => open(context).await.map(Instance::Embedder),
            Factory::Reranker(open) => open(context).await.map(Instance::Reranker),
            Factory::Decay(make) => make(&context).map(Instance::Decay),
            _ => Err(memory_api::Error::new(
                memory_api::ErrorKind::Unsupported,
                format!("this suite knows no {} plugins", plugin.kind()),
            )),
        }
    }

    pub(crate) async fn open_chunker(&self) -> Outcome<Arc<dyn Chunker>> {
        match self.open().await? {
            Instance::Chunker(chunker) => Ok(chunker),
            _ => Err(Failure::new("the plugin is no chunker")),
        }
    }

    pub(crate) async fn open_lexical(&self) -> Outcome<Arc<dyn LexicalIndex>> {
        match self.open().await? {
            Instance::Lexical(index) => Ok(index),
            _ => Err(Failure::new("the plugin is no lexical index")),
        }
    }

    /// Opens a vector index; the inner error is the plugin's.
    pub(crate) async fn try_open_vector(
        &self,
        space: &EmbeddingSpace,
    ) -> Outcome<memory_api::Result<Arc<dyn VectorIndex>>> {
        let max_dimensions = self.plugin().limits.max_dimensions;
        if max_dimensions.is_some_and(|max| max < space.dimensions) {
            return Err(Failure::new(format!(
                "the suite needs vectors of {} numbers, more than the plugin's limits allow",
                space.dimensions
            )));
        }
        match self.open_in(&self.config(), space).await {
            Ok(Instance::Vector(index)) => Ok(Ok(index)),
            Ok(_) => Err(Failure::new("the plugin is no vector index")),
            Err(err) => Ok(Err(err)),
        }
    }

    pub(crate) async fn open_vector(
        &self,
        space: &EmbeddingSpace,
    ) -> Outcome<Arc<dyn VectorIndex>> {
        Ok(self.try_open_vector(space).await??)
    }

    pub(crate) async fn open_embedder(&self) -> Outcome<Arc<dyn Embedder>> {
        match self.open().await? {
            Instance::Embedder(embedder) => Ok(embedder),
            _ => Err(Failure::new("the plugin is no embedder")),
        }
    }
}

/// The space of vector indexes whose entries are those of the model: one dimension per word.
pub(crate) fn model_space() -> EmbeddingSpace {
    EmbeddingSpace::new("conformance/1", usize::from(N_WORDS))
}

/// An open plugin of any kind.
#[derive(Debug)]
pub(crate) enum Instance {
    Chunker(Arc<dyn Chunker>),
    Lexical(Arc<dyn LexicalIndex>),
    Vector(Arc<dyn VectorIndex>),
    Embedder(Arc<dyn Embedder>),
    Reranker(Arc<dyn Reranker>),
    Decay(Arc<dyn DecayPolicy>),
}

impl Instance {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::Chunker(plugin) => plugin.fingerprint(),
            Self::Lexical(plugin) => plugin.fingerprint(),
            Self::Vector(plugin) => plugin.fingerprint(),
            Self::Embedder(plugin) => plugin.fingerprint(),
            Self::Reranker(plugin) => plugin.fingerprint(),
            Self::Decay(plugin) => plugin.fingerprint(),
        }
    }
}
