use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EntryId, Fingerprint, Hit, Identity, IndexStats, LexicalIndex, LexicalOp,
    LexicalQuery, Plugin, Projection, Result, Watermark,
};

use super::index::{IndexContract, Scale};

/// A lexical index whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractLexical {
    contract: IndexContract,
    inner: Arc<dyn LexicalIndex>,
}

impl ContractLexical {
    /// Wraps the index of this plugin.
    ///
    /// # Errors
    ///
    /// `Internal` when the index claims more than its plugin declared.
    pub(crate) fn new(plugin: &Plugin, inner: Arc<dyn LexicalIndex>) -> Result<Self> {
        let contract = IndexContract::new(plugin);
        contract.check_declaration(inner.capabilities())?;
        Ok(Self { contract, inner })
    }
}

impl Identity for ContractLexical {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Projection<LexicalOp> for ContractLexical {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn apply(&self, batch: &Batch<LexicalOp>) -> Result<()> {
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
impl LexicalIndex for ContractLexical {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        self.contract.check_query(query.k, query.allowed)?;
        let hits = self
            .contract
            .named("search", self.inner.search(query).await)?;
        self.contract
            .check_hits(&hits, query.k, query.allowed, Scale::Bm25)?;
        Ok(hits)
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let scores = self
            .contract
            .named("score", self.inner.score(query, ids).await)?;
        self.contract
            .check_scores(&scores, ids.len(), Scale::Bm25)?;
        Ok(scores)
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        let attainable = self
            .contract
            .named("weigh", self.inner.attainable(query).await)?;
        if attainable.is_finite() && attainable >= 0.0 {
            Ok(attainable)
        } else {
            self.contract
                .broken("weigh", "the bound is not finite or below 0")
        }
    }
}
