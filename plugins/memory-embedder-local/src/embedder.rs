use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use memory_api::{
    EmbedLimits, Embedder, EmbeddingSpace, Error, ErrorKind, Fingerprint, Identity, Matrix,
    OpenContext, Result, Role, parse_config,
};

use crate::config::Config;
use crate::model::{Plan, is_there};
use crate::variant::{Pooling, Variant, models_dir};
use crate::worker::Worker;
use crate::{catalogue, source, verify};

/// Texts per call. More would only hold back who waits behind.
const MAX_TEXTS: usize = 256;
/// More threads than this help no model of this size, unless somebody asks for them.
const DEFAULT_MAX_THREADS: usize = 4;

/// Embeds with a model on this machine.
///
/// A text beyond the model's length is cut: its vector is that of its beginning. An empty text has the vector of its prefix.
#[derive(Debug)]
pub struct LocalEmbedder {
    space: EmbeddingSpace,
    limits: EmbedLimits,
    query_prefix: String,
    document_prefix: String,
    worker: Worker,
}

/// What decides an embedder, by name or by path.
struct Choice {
    name: String,
    hash: String,
    query_prefix: String,
    document_prefix: String,
    plan: Plan,
}

/// Opens the embedder: the model has to be there, but is not loaded.
#[expect(clippy::unused_async, reason = "the shape of a factory")]
pub(crate) async fn open(context: OpenContext<'_>) -> Result<Arc<dyn Embedder>> {
    let config: Config = parse_config(context.config)?;
    let choice = if let Some(path) = &config.path {
        by_path(&config, path, context.cache_dir)?
    } else {
        by_name(&config, &context)?
    };
    Ok(Arc::new(LocalEmbedder::new(choice)))
}

fn by_name(config: &Config, context: &OpenContext<'_>) -> Result<Choice> {
    let Some(variant) = catalogue::find(&config.model) else {
        let known: Vec<_> = catalogue::VARIANTS
            .iter()
            .map(|variant| variant.name)
            .collect();
        let message = format!("there is no model `{}`", config.model);
        return Err(Error::new(ErrorKind::Config, message)
            .with_context("key", "model")
            .with_hint(format!(
                "write one of {}; a model of your own is named by `path`",
                known.join(", ")
            )));
    };
    if let Some(key) = config.path_only_key() {
        let message = format!("`{key}` is fixed for the known model `{}`", variant.name);
        return Err(Error::new(ErrorKind::Config, message)
            .with_context("key", key)
            .with_hint("remove it, or name the model by its path"));
    }
    let cache_dir = context.require_cache_dir()?;
    let models_dir = models_dir(cache_dir);
    if !is_there(&models_dir, variant.files) {
        return Err(missing(variant));
    }
    let hashes: Vec<_> = variant.files.iter().map(|file| file.sha256).collect();
    Ok(Choice {
        name: variant.name.to_owned(),
        hash: verify::combine(&hashes),
        query_prefix: variant.query_prefix.to_owned(),
        document_prefix: variant.document_prefix.to_owned(),
        plan: Plan {
            path: variant.path(cache_dir),
            files: variant.files,
            models_dir,
            dimensions: variant.dimensions,
            pooling: variant.pooling,
            max_tokens: variant.max_tokens,
            threads: threads(config),
        },
    })
}

fn missing(variant: &Variant) -> Error {
    let megabytes = variant.bytes().div_ceil(1_000_000);
    let command = if variant.name == crate::config::DEFAULT_MODEL {
        "memory model pull".to_owned()
    } else {
        format!("memory model pull {}", variant.name)
    };
    Error::new(
        ErrorKind::Unavailable,
        format!("the model `{}` is not here", variant.name),
    )
    .with_hint(format!("run `{command}` ({megabytes} MB)"))
}

fn by_path(config: &Config, path: &Path, cache_dir: Option<&Path>) -> Result<Choice> {
    if !path.exists() {
        let message = format!("there is no model at `{}`", path.display());
        return Err(Error::new(ErrorKind::Unavailable, message)
            .with_context("key", "path")
            .with_hint("check `path`, or leave it out and run `memory model pull`"));
    }
    let description = source::describe(path)?;
    let max_tokens = match config.max_tokens {
        Some(tokens) if tokens > description.shape.positions => {
            let most = description.shape.positions;
            let message = format!("`{tokens}` is more than the model takes");
            return Err(Error::new(ErrorKind::Config, message)
                .with_context("key", "max_tokens")
                .with_hint(format!("write at most {most}")));
        }
        tokens => tokens.unwrap_or(description.max_tokens),
    };
    let models_dir = cache_dir.map(models_dir);
    let hashes = source::files(path)
        .iter()
        .map(|file| verify::hash_elsewhere(file, models_dir.as_deref()))
        .collect::<Result<Vec<_>>>()?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let pooling = config.pooling.or(description.pooling);
    Ok(Choice {
        name: name.to_string_lossy().into_owned(),
        hash: verify::combine(&hashes),
        query_prefix: config.query_prefix.clone().unwrap_or_default(),
        document_prefix: config.document_prefix.clone().unwrap_or_default(),
        plan: Plan {
            path: path.to_path_buf(),
            files: &[],
            models_dir: PathBuf::new(),
            dimensions: description.shape.hidden,
            pooling: pooling.unwrap_or(Pooling::Mean),
            max_tokens,
            threads: threads(config),
        },
    })
}

fn threads(config: &Config) -> NonZeroUsize {
    config.threads.unwrap_or_else(|| {
        // Where the system does not say, one is right.
        let cores = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        cores.min(NonZeroUsize::new(DEFAULT_MAX_THREADS).unwrap_or(NonZeroUsize::MIN))
    })
}

impl LocalEmbedder {
    fn new(choice: Choice) -> Self {
        let Choice {
            name,
            hash,
            query_prefix,
            document_prefix,
            plan,
        } = choice;
        let hash = hash.get(..16).unwrap_or(&hash);
        let pooling = match plan.pooling {
            Pooling::Mean => "mean",
            Pooling::Cls => "cls",
        };
        let id = format!(
            "local/{name}/{hash}/{pooling}/q:{query_prefix}/d:{document_prefix}/{}",
            plan.max_tokens
        );
        Self {
            space: EmbeddingSpace::new(id, plan.dimensions),
            limits: EmbedLimits::new(MAX_TEXTS, plan.max_tokens),
            query_prefix,
            document_prefix,
            worker: Worker::new(plan),
        }
    }
}

impl Identity for LocalEmbedder {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.space.id.clone())
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn limits(&self) -> EmbedLimits {
        self.limits
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Matrix> {
        if texts.len() > self.limits.max_texts {
            let message = format!("{} texts in one call", texts.len());
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_hint(format!("send at most {}", self.limits.max_texts)));
        }
        if texts.is_empty() {
            return Matrix::new(self.space.dimensions, Vec::new());
        }
        let prefix = match role {
            Role::Query => &self.query_prefix,
            Role::Document => &self.document_prefix,
        };
        let texts = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        self.worker.embed(texts).await
    }
}
