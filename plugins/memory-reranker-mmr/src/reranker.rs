use async_trait::async_trait;
use memory_api::{Candidate, Fingerprint, Identity, Ranked, Reranker, Result};
use memory_text::{ANALYSIS_VERSION, TokenSet};

use crate::{Config, NAME, mmr};

/// Version of the rule; it goes into the fingerprint.
const RULE_VERSION: u32 = 1;

/// The reranker `mmr`.
#[derive(Debug, Clone, Copy)]
pub struct MmrReranker {
    config: Config,
}

impl MmrReranker {
    /// Creates the reranker.
    pub fn new(config: Config) -> Self {
        Self { config }
    }
}

/// Returns how alike two texts are, from 0 to 1.
///
/// Sets without tokens are equal, but texts without words say nothing the same: neither is moved down for the other.
pub(crate) fn similarity(one: &TokenSet, other: &TokenSet) -> f64 {
    if *one == TokenSet::default() {
        0.0
    } else {
        one.jaccard(other)
    }
}

impl Identity for MmrReranker {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!(
            "{NAME}/{RULE_VERSION} lambda={} analysis={ANALYSIS_VERSION}",
            self.config.lambda
        ))
    }
}

#[async_trait]
impl Reranker for MmrReranker {
    async fn rerank(&self, _: &str, candidates: &[Candidate<'_>]) -> Result<Vec<Ranked>> {
        let scores: Vec<f64> = candidates
            .iter()
            .map(|candidate| f64::from(candidate.score))
            .collect();
        let sets: Vec<TokenSet> = candidates
            .iter()
            .map(|candidate| TokenSet::of(candidate.text))
            .collect();
        let alike = |one: usize, other: usize| match (sets.get(one), sets.get(other)) {
            (Some(one), Some(other)) => similarity(one, other),
            _ => 0.0,
        };
        let order = mmr::order(self.config.lambda, &scores, alike);
        Ok(order
            .into_iter()
            .map(|index| Ranked { index, score: None })
            .collect())
    }
}
