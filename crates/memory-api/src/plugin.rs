use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    Capabilities, Chunker, DecayPolicy, Embedder, EmbeddingSpace, Error, ErrorKind, LexicalIndex,
    Models, Reranker, Result, VectorIndex, parse_config,
};

/// A place in the config that plugins fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Cuts documents into entries.
    Chunker,
    /// Finds entries by words.
    Lexical,
    /// Finds entries by meaning.
    Vector,
    /// Turns text into vectors.
    Embedder,
    /// Reorders results.
    Rerank,
    /// Lets memories fade.
    Decay,
}

impl Kind {
    /// Every kind, in the order of the config file.
    pub const ALL: &'static [Self] = &[
        Self::Chunker,
        Self::Lexical,
        Self::Vector,
        Self::Embedder,
        Self::Rerank,
        Self::Decay,
    ];

    /// Returns the name of its slot: the table in the config file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chunker => "chunker",
            Self::Lexical => "lexical",
            Self::Vector => "vector",
            Self::Embedder => "embedder",
            Self::Rerank => "rerank",
            Self::Decay => "decay",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a plugin needs from the machine it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Need {
    /// A folder of its own.
    Disk,
    /// Other machines.
    Network,
    /// A model file.
    ModelFile,
    /// A running tokio reactor.
    Tokio,
}

impl Need {
    /// Returns the name used in listings and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Network => "network",
            Self::ModelFile => "model_file",
            Self::Tokio => "tokio",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The most that one call of a plugin may carry; `None` sets no bound. A fact about the backend, not a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Limits {
    /// Index: changes per batch, at least 1.
    pub max_ops: Option<usize>,
    /// Index: hits per search, at least 1.
    pub max_k: Option<usize>,
    /// Vector index: numbers per vector, at least 1.
    pub max_dimensions: Option<usize>,
}

impl Limits {
    /// No bound at all.
    pub const NONE: Self = Self {
        max_ops: None,
        max_k: None,
        max_dimensions: None,
    };

    /// Bounds the changes per batch.
    pub const fn with_max_ops(mut self, max_ops: usize) -> Self {
        self.max_ops = Some(max_ops);
        self
    }

    /// Bounds the hits per search.
    pub const fn with_max_k(mut self, max_k: usize) -> Self {
        self.max_k = Some(max_k);
        self
    }

    /// Bounds the numbers per vector.
    pub const fn with_max_dimensions(mut self, max_dimensions: usize) -> Self {
        self.max_dimensions = Some(max_dimensions);
        self
    }

    /// Returns the bounds there are, by the name used in listings and JSON, in declaration order.
    pub fn iter(self) -> impl Iterator<Item = (&'static str, usize)> {
        let Self {
            max_ops,
            max_k,
            max_dimensions,
        } = self;
        [
            ("max_ops", max_ops),
            ("max_k", max_k),
            ("max_dimensions", max_dimensions),
        ]
        .into_iter()
        .filter_map(|(name, bound)| Some((name, bound?)))
    }
}

/// What a factory gets.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct OpenContext<'a> {
    /// The plugin's own table of the config; read it with [`parse_config`](crate::parse_config).
    pub config: &'a serde_json::Value,
    /// A folder that is the plugin's alone; there for plugins that need [`Need::Disk`].
    pub dir: Option<&'a Path>,
    /// Nothing below `dir` may be written.
    pub read_only: bool,
    /// The space of the vectors; there for vector indexes.
    pub space: Option<&'a EmbeddingSpace>,
    /// The folder of caches that all workspaces share; there for plugins that need [`Need::ModelFile`].
    pub cache_dir: Option<&'a Path>,
}

impl<'a> OpenContext<'a> {
    /// Creates a context with a config table alone.
    pub fn new(config: &'a serde_json::Value) -> Self {
        Self {
            config,
            dir: None,
            read_only: false,
            space: None,
            cache_dir: None,
        }
    }

    /// Adds the plugin's folder.
    pub fn with_dir(mut self, dir: &'a Path) -> Self {
        self.dir = Some(dir);
        self
    }

    /// Forbids writing.
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Adds the space of the vectors.
    pub fn with_space(mut self, space: &'a EmbeddingSpace) -> Self {
        self.space = Some(space);
        self
    }

    /// Adds the folder of caches.
    pub fn with_cache_dir(mut self, cache_dir: &'a Path) -> Self {
        self.cache_dir = Some(cache_dir);
        self
    }

    /// Returns the plugin's folder.
    ///
    /// # Errors
    ///
    /// `Internal` when the caller gave none.
    pub fn require_dir(&self) -> Result<&'a Path> {
        self.dir.ok_or_else(|| {
            Error::new(
                ErrorKind::Internal,
                "the plugin was opened without a folder",
            )
        })
    }

    /// Returns the space of the vectors.
    ///
    /// # Errors
    ///
    /// `Internal` when the caller gave none.
    pub fn require_space(&self) -> Result<&'a EmbeddingSpace> {
        self.space
            .ok_or_else(|| Error::new(ErrorKind::Internal, "the plugin was opened without a space"))
    }

    /// Returns the folder of caches.
    ///
    /// # Errors
    ///
    /// `Internal` when the caller gave none.
    pub fn require_cache_dir(&self) -> Result<&'a Path> {
        self.cache_dir.ok_or_else(|| {
            Error::new(
                ErrorKind::Internal,
                "the plugin was opened without a folder of caches",
            )
        })
    }
}

/// A plugin that is being opened.
pub type Opening<'a, T> = Pin<Box<dyn Future<Output = Result<Arc<T>>> + Send + 'a>>;

/// How a plugin is made; the variant is its kind.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Factory {
    /// Makes a chunker.
    Chunker(fn(&OpenContext<'_>) -> Result<Arc<dyn Chunker>>),
    /// Opens a lexical index.
    Lexical(for<'a> fn(OpenContext<'a>) -> Opening<'a, dyn LexicalIndex>),
    /// Opens a vector index.
    Vector(for<'a> fn(OpenContext<'a>) -> Opening<'a, dyn VectorIndex>),
    /// Opens an embedder.
    Embedder(for<'a> fn(OpenContext<'a>) -> Opening<'a, dyn Embedder>),
    /// Opens a reranker.
    Reranker(for<'a> fn(OpenContext<'a>) -> Opening<'a, dyn Reranker>),
    /// Makes a decay policy.
    Decay(fn(&OpenContext<'_>) -> Result<Arc<dyn DecayPolicy>>),
}

/// Describes a plugin: `const` data and function pointers alone, so that it can stand in a `static`.
///
/// ```
/// use memory_api::{Factory, Plugin, parse_config, register_plugin};
/// # use memory_api::{Chunked, Chunker, Document, Fingerprint, Identity, OpenContext, Result};
/// # use std::sync::Arc;
/// # #[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
/// # #[serde(default, deny_unknown_fields)]
/// # struct Config {}
/// # #[derive(Debug)]
/// # struct Whole(Config);
/// # impl Identity for Whole { fn fingerprint(&self) -> Fingerprint { Fingerprint("whole/1".into()) } }
/// # impl Chunker for Whole {
/// #     fn accepts(&self, _: &Document<'_>) -> bool { true }
/// #     fn chunk(&self, _: &Document<'_>) -> Result<Chunked> { Ok(Chunked::default()) }
/// # }
/// fn open(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
///     Ok(Arc::new(Whole(parse_config(context.config)?)))
/// }
///
/// pub static PLUGIN: Plugin =
///     Plugin::new::<Config>("whole", env!("CARGO_PKG_VERSION"), "one entry per document", Factory::Chunker(open));
/// register_plugin!(PLUGIN);
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Plugin {
    /// The name in the config file, in kebab case.
    pub name: &'static str,
    /// The crate's version.
    pub version: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// How it is made.
    pub factory: Factory,
    /// Returns the JSON Schema of its config table.
    pub schema: fn() -> schemars::Schema,
    /// Reads a config table as the factory would, and opens nothing.
    pub check_config: fn(&serde_json::Value) -> Result<()>,
    /// The most it can do under any config.
    pub capabilities: Capabilities,
    /// The most that one call may carry. The engine keeps within it.
    pub limits: Limits,
    /// What it needs from the machine.
    pub needs: &'static [Need],
    /// The model files it can use, if it uses any.
    pub models: Option<Models>,
}

impl Plugin {
    /// Describes a plugin with the config struct `C`, without capabilities and needs.
    pub const fn new<C: DeserializeOwned + JsonSchema>(
        name: &'static str,
        version: &'static str,
        summary: &'static str,
        factory: Factory,
    ) -> Self {
        Self {
            name,
            version,
            summary,
            factory,
            schema: || schemars::SchemaGenerator::default().into_root_schema_for::<C>(),
            check_config: |value| parse_config::<C>(value).map(drop),
            capabilities: Capabilities::NONE,
            limits: Limits::NONE,
            needs: &[],
            models: None,
        }
    }

    /// Declares what it can do.
    pub const fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Declares the most that one call may carry.
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Declares what it needs.
    pub const fn with_needs(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
    }

    /// Declares the model files it can use.
    pub const fn with_models(mut self, models: Models) -> Self {
        self.models = Some(models);
        self
    }

    /// Returns the slot it fills.
    pub const fn kind(&self) -> Kind {
        match self.factory {
            Factory::Chunker(_) => Kind::Chunker,
            Factory::Lexical(_) => Kind::Lexical,
            Factory::Vector(_) => Kind::Vector,
            Factory::Embedder(_) => Kind::Embedder,
            Factory::Reranker(_) => Kind::Rerank,
            Factory::Decay(_) => Kind::Decay,
        }
    }

    /// Returns whether it needs this.
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plugin")
            .field("name", &self.name)
            .field("kind", &self.kind())
            .field("version", &self.version)
            .field("capabilities", &self.capabilities)
            .field("limits", &self.limits)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}
