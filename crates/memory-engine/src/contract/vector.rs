use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EmbeddingSpace, EntryId, Fingerprint, Hit, Identity, IndexStats, Plugin,
    Projection, Result, VectorIndex, VectorOp, VectorQuery, Watermark,
};

use super::index::{IndexContract, Scale};

/// A vector index whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractVector {
    contract: IndexContract,
    inner: Arc<dyn VectorIndex>,
}

impl ContractVector {
    /// Wraps the index of this plugin.
    ///
    /// # Errors
    ///
    /// `Internal` when the index claims more than its plugin declared.
    pub(crate) fn new(plugin: &Plugin, inner: Arc<dyn VectorIndex>) -> Result<Self> {
        let contract = IndexContract::new(plugin);
        contract.check_declaration(inner.capabilities())?;
        Ok(Self { contract, inner })
    }
}

impl Identity for ContractVector {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<VectorOp> for ContractVector {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn apply(&self, batch: &Batch<VectorOp>) -> Result<()> {
        self.contract.check_batch(batch)?;
        self.contract.named("apply", self.inner.apply(batch).await)
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        self.contract
            .named("read the watermark", self.inner.watermark().await)
    }

    async fn stats(&self) -> Result<IndexStats> {
        self.contract.named("count", self.inner.stats().await)
    }

    async fn flush(&self) -> Result<()> {
        self.contract.named("flush", self.inner.flush().await)
    }

    async fn close(&self) -> Result<()> {
        self.contract.named("close", self.inner.close().await)
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl VectorIndex for ContractVector {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>> {
        self.contract.check_query(query.k, query.allowed)?;
        let hits = self
            .contract
            .named("search", self.inner.search(query).await)?;
        self.contract
            .check_hits(&hits, query.k, query.allowed, Scale::Cosine)?;
        Ok(hits)
    }

    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let scores = self
            .contract
            .named("score", self.inner.score(query, ids).await)?;
        self.contract
            .check_scores(&scores, ids.len(), Scale::Cosine)?;
        Ok(scores)
    }
}
