//! The layer around every plugin: it checks each request and each answer, so that a wrong plugin is named instead of giving wrong
//! results. What a query asks for beyond plain words, the plugin itself answers or refuses, as the query language is parsed there.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, Chunked, Chunker, Document, EntryId, Error, ErrorKind, Fingerprint, Hit,
    Identity, IndexStats, LexicalIndex, LexicalOp, LexicalQuery, Limits, Plugin, Projection,
    Result, Watermark,
};

fn broken(plugin: &str, operation: &str, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Internal, what)
        .with_plugin(plugin)
        .with_operation(operation)
        .with_hint("this is a bug of the plugin; its conformance suite shows it")
}

/// A chunker whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractChunker {
    name: &'static str,
    inner: Arc<dyn Chunker>,
}

impl ContractChunker {
    /// Wraps the chunker of this plugin name.
    pub(crate) fn new(name: &'static str, inner: Arc<dyn Chunker>) -> Self {
        Self { name, inner }
    }

    fn check(&self, document: &Document<'_>, chunked: &Chunked) -> Result<()> {
        let broken =
            |what: &str| Err(broken(self.name, "chunk", what).with_context("path", document.path));
        let mut start = 0;
        for entry in &chunked.entries {
            if entry.text.trim().is_empty() {
                return broken("an entry is blank");
            }
            if entry.span.is_empty() || document.text.get(entry.span.clone()).is_none() {
                return broken("an entry's span is not a piece of the text");
            }
            if entry.span.start < start {
                return broken("the entries are not ordered by their span");
            }
            start = entry.span.start;
        }
        Ok(())
    }
}

impl Identity for ContractChunker {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[deny(clippy::missing_trait_methods)]
impl Chunker for ContractChunker {
    fn accepts(&self, document: &Document<'_>) -> bool {
        self.inner.accepts(document)
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let chunked = self
            .inner
            .chunk(document)
            .map_err(|err| err.with_plugin(self.name).with_operation("chunk"))?;
        self.check(document, &chunked)?;
        Ok(chunked)
    }
}

/// A lexical index whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractLexical {
    name: &'static str,
    declared: Capabilities,
    limits: Limits,
    inner: Arc<dyn LexicalIndex>,
}

impl ContractLexical {
    /// Wraps the index of this plugin.
    pub(crate) fn new(plugin: &Plugin, inner: Arc<dyn LexicalIndex>) -> Self {
        Self {
            name: plugin.name,
            declared: plugin.capabilities,
            limits: plugin.limits,
            inner,
        }
    }

    /// Refuses what the plugin cannot carry in one call.
    fn within(&self, what: &str, n: usize, limit: Option<usize>) -> Result<()> {
        match limit {
            Some(limit) if n > limit => {
                let message = format!("{n} {what} are more than the {limit} of one call");
                Err(Error::new(ErrorKind::Unsupported, message).with_plugin(self.name))
            }
            _ => Ok(()),
        }
    }

    fn named<T>(&self, operation: &str, result: Result<T>) -> Result<T> {
        result.map_err(|err| err.with_plugin(self.name).with_operation(operation))
    }

    fn broken<T>(&self, operation: &str, what: impl Into<String>) -> Result<T> {
        Err(broken(self.name, operation, what))
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
        if !batch.ops.is_sorted_by(|a, b| a.0 < b.0)
            || batch
                .ops
                .last()
                .is_some_and(|(seq, _)| *seq > batch.through)
        {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the batch is out of order",
            ));
        }
        self.within("changes", batch.ops.len(), self.limits.max_ops)?;
        self.named("apply", self.inner.apply(batch).await)
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        self.named("read the watermark", self.inner.watermark().await)
    }

    async fn stats(&self) -> Result<IndexStats> {
        self.named("count", self.inner.stats().await)
    }

    async fn flush(&self) -> Result<()> {
        self.named("flush", self.inner.flush().await)
    }

    async fn close(&self) -> Result<()> {
        self.named("close", self.inner.close().await)
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl LexicalIndex for ContractLexical {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        if query
            .allowed
            .is_some_and(|ids| !ids.is_sorted_by(|a, b| a < b))
        {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the allowed ids are not ascending",
            ));
        }
        self.within("hits", query.k, self.limits.max_k)?;
        let hits = self.named("search", self.inner.search(query).await)?;
        if hits.len() > query.k {
            return self.broken(
                "search",
                format!("{} hits for a search for {}", hits.len(), query.k),
            );
        }
        if !hits
            .iter()
            .all(|hit| hit.score.is_finite() && hit.score >= 0.0)
        {
            return self.broken("search", "a score is not finite or below 0");
        }
        if !hits.is_sorted_by(|a, b| a.rank(b).is_lt()) {
            return self.broken(
                "search",
                "the hits are not ordered by score and id, or one is there twice",
            );
        }
        if let Some(allowed) = query.allowed
            && !hits
                .iter()
                .all(|hit| allowed.binary_search(&hit.id).is_ok())
        {
            return self.broken("search", "a hit is not among the allowed ids");
        }
        let n_distinct = hits.iter().map(|hit| hit.id).collect::<BTreeSet<_>>().len();
        if n_distinct < hits.len() {
            self.broken("search", "one entry is there twice")
        } else {
            Ok(hits)
        }
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let scores = self.named("score", self.inner.score(query, ids).await)?;
        if scores.len() != ids.len() {
            return self.broken(
                "score",
                format!("{} scores for {} ids", scores.len(), ids.len()),
            );
        }
        if !scores
            .iter()
            .flatten()
            .all(|score| score.is_finite() && *score >= 0.0)
        {
            return self.broken("score", "a score is not finite or below 0");
        }
        Ok(scores)
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        let attainable = self.named("weigh", self.inner.attainable(query).await)?;
        if attainable.is_finite() && attainable >= 0.0 {
            Ok(attainable)
        } else {
            self.broken("weigh", "the bound is not finite or below 0")
        }
    }
}

impl ContractLexical {
    /// Checks that the index can do no more than its plugin declared.
    ///
    /// # Errors
    ///
    /// `Internal` when it can.
    pub(crate) fn check_declaration(&self) -> Result<()> {
        if self.inner.capabilities().is_subset_of(self.declared) {
            Ok(())
        } else {
            self.broken(
                "open",
                "the index claims capabilities that its plugin did not declare",
            )
        }
    }
}
