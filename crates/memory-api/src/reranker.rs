use std::fmt;

use async_trait::async_trait;

use crate::{EntryId, Identity, Result};

/// A result before reranking.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// The entry.
    pub id: EntryId,
    /// Its text.
    pub text: &'a str,
    /// What it is sorted by, 0 to 1.
    pub score: f32,
}

impl<'a> Candidate<'a> {
    /// Creates a candidate.
    pub fn new(id: EntryId, text: &'a str, score: f32) -> Self {
        Self { id, text, score }
    }
}

/// A place in the new order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The candidate's position in the call, from 0.
    pub index: usize,
    /// A new score, where the reranker gives one.
    pub score: Option<f32>,
}

/// Puts results into a better order.
///
/// # Contract
///
/// 1. The answer is a permutation or a subset of the candidates, best first, without repeats; scores are finite.
/// 2. No candidates give an empty answer, one candidate itself.
#[async_trait]
pub trait Reranker: Identity + fmt::Debug + Send + Sync {
    /// Returns the new order.
    ///
    /// # Errors
    ///
    /// `Unavailable`, `RateLimited`, `Timeout` from a remote model.
    ///
    /// # Cancellation
    ///
    /// Safe: nothing is stored.
    async fn rerank(&self, query: &str, candidates: &[Candidate<'_>]) -> Result<Vec<Ranked>>;
}
