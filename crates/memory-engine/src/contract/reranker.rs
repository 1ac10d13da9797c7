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
        let mut lowest = 1.0;
        for place in &ranked {
            match seen.get_mut(place.index) {
                Some(seen) if !*seen => *seen = true,
                _ => {
                    let what = "a place names no candidate, or one that was named before";
                    return Err(broken(self.name, "rerank", what));
                }
            }
            let Some(score) = place.score else { continue };
            if !(0.0..=1.0).contains(&score) {
                return Err(broken(self.name, "rerank", "a score is not from 0 to 1"));
            }
            if score > lowest {
                let what = "a score is higher than one before it";
                return Err(broken(self.name, "rerank", what));
            }
            lowest = score;
        }
        Ok(ranked)
    }
}
