use std::fmt;

use async_trait::async_trait;

use crate::{EmbeddingSpace, EntryId, Fields, Hit, Projection, Result};

/// A change of a vector index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum VectorOp {
    /// Adds the entry's vector and filter fields or replaces both.
    Put(EntryId, Vec<f32>, Fields),
    /// Replaces the filter fields of a known entry; nothing for an unknown one.
    SetMeta(EntryId, Fields),
    /// Removes the entry.
    Delete(EntryId),
}

/// A search by meaning.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct VectorQuery<'a> {
    /// A vector of the index's space.
    pub vector: &'a [f32],
    /// How many hits to return at most; 0 returns none.
    pub k: usize,
    /// Only these entries, ascending; `None` allows all.
    pub allowed: Option<&'a [EntryId]>,
}

impl<'a> VectorQuery<'a> {
    /// Creates a query over all entries.
    pub fn new(vector: &'a [f32], k: usize) -> Self {
        Self {
            vector,
            k,
            allowed: None,
        }
    }

    /// Restricts the query to these entries, ascending.
    pub fn with_allowed(mut self, allowed: &'a [EntryId]) -> Self {
        self.allowed = Some(allowed);
        self
    }
}

/// Finds entries by the closeness of their vectors.
///
/// # Contract
///
/// The lines of [`Projection`], and:
///
/// 1. Hits carry cosine similarity, ordered, ties by ascending id, without repeats, at most `k`.
/// 2. `allowed` is honoured inside the search: never fewer hits than exist.
/// 3. [`score`](VectorIndex::score) is exact, also where search is approximate.
/// 4. A vector of other dimensions, with a number that is not finite, or of length 0 is refused with `InvalidInput`.
/// 5. An index is bound to its space; opening it with another one is refused with `InvalidInput`.
#[async_trait]
pub trait VectorIndex: Projection<VectorOp> + fmt::Debug {
    /// Returns the space of its vectors.
    fn space(&self) -> &EmbeddingSpace;

    /// Returns the closest entries.
    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>>;

    /// Returns the similarity of each id, in the order of `ids`; `None` for an entry that is not in this index.
    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>>;
}
