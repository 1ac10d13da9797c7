use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{Candidate, Fingerprint, Identity, Ranked, Reranker, Result};

use super::broken;

/// A reranker whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractReranker {
    name: &'static str,
    inner: Arc<dyn Reranker>,
}

impl ContractReranker {
    /// Wraps the reranker of this plugin name.
    pub(crate) fn new(name: &'static str, inner: Arc<dyn Reranker>) -> Self {
        Self { name, inner }
    }
}

impl Identity for ContractReranker {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Reranker for ContractReranker {
    async fn rerank(&self, query: &str, candidates: &[Candidate<'_>]) -> Result<Vec<Ranked>> {
        let ranked = self
            .inner
            .rerank(query, candidates)
            .await
            .map_err(|err| err.with_plugin(self.name).with_operation("rerank"))?;
        let mut seen = vec![false; candidates.len()];
        for place in &ranked {
            match seen.get_mut(place.index) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let what = "a place names no candidate, or one that was named before";
                    return Err(broken(self.name, "rerank", what));
                }
            }
            if place.score.is_some_and(|score| !score.is_finite()) {
                return Err(broken(self.name, "rerank", "a score is not finite"));
            }
        }
        Ok(ranked)
    }
}
