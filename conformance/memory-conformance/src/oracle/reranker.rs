use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Candidate, Fingerprint, Identity, OpenContext, Opening, Ranked, Reranker, Result, parse_config,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn Reranker> {
    Box::pin(async move {
        parse_config::<Config>(context.config)?;
        Ok(Arc::new(OracleReranker) as Arc<dyn Reranker>)
    })
}

#[derive(Debug)]
struct OracleReranker;

impl Identity for OracleReranker {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("oracle-reranker/1".to_owned())
    }
}

#[async_trait]
impl Reranker for OracleReranker {
    async fn rerank(&self, _: &str, candidates: &[Candidate<'_>]) -> Result<Vec<Ranked>> {
        let mut order: Vec<_> = candidates.iter().enumerate().collect();
        order.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        Ok(order
            .into_iter()
            .map(|(index, candidate)| Ranked {
                index,
                score: Some(candidate.score),
            })
            .collect())
    }
}
