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
    /// A new score, 0 to 1, where the reranker gives one.
    pub score: Option<f32>,
}

/// Puts results into a better order.
///
/// # Contract
///
/// 1. The answer is a permutation or a subset of the candidates, without repeats.
///    \[`reranker::answer_is_a_subset_without_repeats`\]
/// 2. It is best first. Scores, where it gives some, are 0 to 1 (a model's logits go through a sigmoid), and none is higher than one before it.
///    \[`reranker::scores_are_0_to_1`\] \[`reranker::best_come_first`\]
/// 3. No candidates give an empty answer, one candidate itself. \[`reranker::no_candidates_give_nothing`\]
///    \[`reranker::one_candidate_stays`\]
/// 4. Any text and any query are answered: empty, huge, emoji, right-to-left, control characters.
///    \[`reranker::hostile_text_is_no_error`\]
/// 5. With [`Capability::Deterministic`](crate::Capability::Deterministic), the same call gives the same answer.
///    \[`reranker::same_call_same_answer`\]
/// 6. With [`Capability::Deterministic`](crate::Capability::Deterministic), candidates whose scores all differ may be given in any
///    order. \[`reranker::order_of_the_call_changes_nothing`\]
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
