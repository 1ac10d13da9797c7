//! A test double: an index by meaning that is `flat`, writes down what it is given, and refuses it while a test wants that.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EmbeddingSpace, EntryId, Error, ErrorKind, Factory, Fingerprint, Hit,
    Identity, IndexStats, Kind, Limits, OpenContext, Opening, Plugin, Projection, Result,
    VectorIndex, VectorOp, VectorQuery, Watermark, parse_config,
};

/// What the double does.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// While this file exists, every change is refused.
    refuse: Option<PathBuf>,
    /// What changes are is written here, one a line.
    log: Option<PathBuf>,
}

#[derive(Debug)]
struct Reluctant {
    config: Config,
    flat: Arc<dyn VectorIndex>,
}

pub(crate) static PLUGIN: Plugin = Plugin::new::<Config>(
    "reluctant",
    "1.0.0",
    "a test double: flat, as far as it is willing",
    Factory::Vector(open),
)
.with_limits(Limits::NONE.with_max_ops(300));

fn open(context: OpenContext<'_>) -> Opening<'_, dyn VectorIndex> {
    Box::pin(async move {
        let config: Config = parse_config(context.config)?;
        let is_flat = |plugin: &&&Plugin| plugin.kind() == Kind::Vector && plugin.name == "flat";
        let Factory::Vector(open) = memory_plugins::ALL.iter().find(is_flat).unwrap().factory
        else {
            unreachable!("flat is an index by meaning");
        };
        let nothing = serde_json::json!({});
        let inner = OpenContext::new(&nothing)
            .with_dir(context.require_dir()?)
            .with_space(context.require_space()?)
            .with_read_only(context.read_only);
        let flat = open(inner).await?;
        Ok(Arc::new(Reluctant { config, flat }) as Arc<dyn VectorIndex>)
    })
}

impl Identity for Reluctant {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("reluctant/1".to_owned())
    }
}

#[async_trait]
impl Projection<VectorOp> for Reluctant {
    fn capabilities(&self) -> Capabilities {
        PLUGIN.capabilities
    }

    async fn apply(&self, batch: &Batch<VectorOp>) -> Result<()> {
        if self
            .config
            .refuse
            .as_ref()
            .is_some_and(|file| file.exists())
        {
            return Err(Error::new(ErrorKind::Unavailable, "not today"));
        }
        if let Some(log) = &self.config.log {
            let mut log = OpenOptions::new()
                .create(true)
                .append(true)
                .open(log)
                .unwrap();
            for (_, op) in &batch.ops {
                let name = match op {
                    VectorOp::Put(..) => "put",
                    VectorOp::SetMeta(..) => "set_meta",
                    VectorOp::Delete(_) => "delete",
                    _ => "unknown",
                };
                writeln!(log, "{name}").unwrap();
            }
        }
        self.flat.apply(batch).await
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        self.flat.watermark().await
    }

    async fn stats(&self) -> Result<IndexStats> {
        self.flat.stats().await
    }

    async fn flush(&self) -> Result<()> {
        self.flat.flush().await
    }

    async fn close(&self) -> Result<()> {
        self.flat.close().await
    }
}

#[async_trait]
impl VectorIndex for Reluctant {
    fn space(&self) -> &EmbeddingSpace {
        self.flat.space()
    }

    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>> {
        self.flat.search(query).await
    }

    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        self.flat.score(query, ids).await
    }
}
