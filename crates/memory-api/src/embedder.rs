use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Identity, Result};

/// How two vectors of a space are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Cosine similarity, −1 to 1.
    Cosine,
}

/// What a vector's numbers mean. Same dimensions are not the same space.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmbeddingSpace {
    /// Covers provider, host, model variant, prompts, pooling and truncation.
    pub id: String,
    /// Numbers per vector, at least 1.
    pub dimensions: usize,
    /// How vectors are compared.
    pub metric: Metric,
    /// Whether every vector has length 1.
    pub unit_norm: bool,
}

impl EmbeddingSpace {
    /// Creates a cosine space of unit vectors.
    pub fn new(id: impl Into<String>, dimensions: usize) -> Self {
        Self {
            id: id.into(),
            dimensions,
            metric: Metric::Cosine,
            unit_norm: true,
        }
    }
}

/// Which side of a search a text stands on; some models embed the two differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What a person asks.
    Query,
    /// What is stored.
    Document,
}

/// What one call may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmbedLimits {
    /// Texts per call, at least 1.
    pub max_texts: usize,
    /// Tokens per text; longer texts are cut or refused, as the embedder documents.
    pub max_tokens: usize,
}

impl EmbedLimits {
    /// Creates limits.
    pub fn new(max_texts: usize, max_tokens: usize) -> Self {
        Self {
            max_texts,
            max_tokens,
        }
    }
}

/// Rows of equal length in one allocation.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    dimensions: usize,
    data: Vec<f32>,
}

impl Matrix {
    /// Creates a matrix from its rows, one after the other.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when `dimensions` is 0 or does not divide the length of `data`.
    pub fn new(dimensions: usize, data: Vec<f32>) -> Result<Self> {
        if dimensions == 0 || !data.len().is_multiple_of(dimensions) {
            let message = format!("{} numbers are no rows of {dimensions}", data.len());
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        Ok(Self { dimensions, data })
    }

    /// Returns the numbers per row.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.data.chunks_exact(self.dimensions)
    }
}

/// Turns texts into vectors.
///
/// Opening one is cheap and tells its space; a model is loaded by the first [`embed`](Embedder::embed), once, since many a search
/// needs none.
///
/// # Contract
///
/// 1. One row per text, in order, of the dimensions of [`space`](Embedder::space), finite, of length 1 where the space says so.
/// 2. A text's row does not depend on the other texts of the call (within 1e-4).
/// 3. An empty text has a row; an over-long text is cut or refused with `InvalidInput`, as the plugin documents.
#[async_trait]
pub trait Embedder: Identity + fmt::Debug + Send + Sync {
    /// Returns what the vectors mean.
    fn space(&self) -> &EmbeddingSpace;

    /// Returns what one call may carry.
    fn limits(&self) -> EmbedLimits;

    /// Embeds the texts.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `RateLimited`, `QuotaExhausted`, `Timeout` from the provider; `InvalidInput` for texts beyond the limits.
    ///
    /// # Cancellation
    ///
    /// Safe: nothing is stored.
    async fn embed(&self, texts: &[&str], role: Role) -> Result<Matrix>;
}
