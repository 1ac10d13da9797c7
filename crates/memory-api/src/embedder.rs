use std::fmt;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Identity, Result};

/// How two vectors of a space are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// Cosine similarity, −1 to 1.
    Cosine,
}

/// What a vector's numbers mean. Same dimensions are not the same space.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
/// needs none. Nobody has to hold back: calls may run side by side.
///
/// # Contract
///
/// 1. The space has an id and at least one dimension, the limits allow at least one text of one token, and neither changes
///    while the embedder is open or from one opening to the next. \[`embedder::space_is_told_at_open`\]
/// 2. One row per text, of the dimensions of [`space`](Embedder::space), in the order of the texts; no texts have no rows.
///    \[`embedder::one_row_per_text`\] \[`embedder::rows_are_in_order`\] \[`embedder::no_texts_have_no_rows`\]
/// 3. A row is finite, and of length 1 where the space says so; a row of zeros says that the text means nothing, and is kept out of every index.
///    \[`embedder::rows_are_finite_and_have_a_direction`\]
/// 4. A text's row does not depend on the other texts of the call (within 1e-4), nor on the calls before it and beside it, nor
///    on which of two openings it comes from. \[`embedder::batch_equals_singles`\] \[`embedder::concurrent_calls_agree`\]
///    \[`embedder::two_opens_agree`\]
/// 5. With `deterministic` the same text has the same row, bit by bit. \[`embedder::same_text_has_the_same_bits`\]
/// 6. Any text has a row: an empty or blank one, one of any script, one with control characters.
///    \[`embedder::blank_text_has_a_row`\] \[`embedder::text_of_any_script_has_a_row`\]
/// 7. A text beyond `max_tokens` is cut or refused with `InvalidInput`, as the plugin documents.
///    \[`embedder::long_text_is_cut_or_refused`\]
/// 8. More than `max_texts` texts are refused with `InvalidInput`: whoever asks splits them, and counts and repeats the calls.
///    \[`embedder::too_many_texts_are_refused`\]
/// 9. In either role a text is nearer to itself than to any other text, and the roles do not mix: a row does not depend on
///    which role was asked for before. \[`embedder::text_is_nearest_to_itself`\] \[`embedder::roles_do_not_mix`\]
/// 10. A call that was dropped half-way leaves nothing behind that breaks the next one. \[`embedder::dropped_call_breaks_nothing`\]
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
