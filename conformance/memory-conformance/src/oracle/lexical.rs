use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Capabilities, EntryId, Hit, LexicalIndex, LexicalOp, LexicalQuery, OpenContext, Opening,
    Result, parse_config,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index::{Entries, OracleIndex};
use super::query::{Query, Words, words_of};

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn LexicalIndex> {
    Box::pin(async move {
        parse_config::<Config>(context.config)?;
        let index = OracleIndex::<Texts>::open(&context)?;
        Ok(Arc::new(index) as Arc<dyn LexicalIndex>)
    })
}

/// The words of each entry.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Texts(BTreeMap<EntryId, Words>);

impl Entries for Texts {
    type Op = LexicalOp;
    const FINGERPRINT: &'static str = "oracle-lexical/1";

    fn capabilities() -> Capabilities {
        super::LEXICAL.capabilities
    }

    fn check(&self, _: &LexicalOp) -> Result<()> {
        Ok(())
    }

    fn apply(&mut self, op: &LexicalOp) {
        match op {
            LexicalOp::Put(entry) => {
                let headings = entry.heading_path.iter().map(|heading| words_of(heading));
                let words = headings.chain([words_of(&entry.text)]).collect();
                self.0.insert(entry.id, words);
            }
            LexicalOp::Delete(id) => {
                self.0.remove(id);
            }
            // Filters are resolved to ids before they come here.
            _ => {}
        }
    }

    fn count(&self) -> usize {
        self.0.len()
    }
}

impl Texts {
    fn words(&self) -> Vec<&Words> {
        self.0.values().collect()
    }

    fn scores(&self, query: &LexicalQuery<'_>) -> BTreeMap<EntryId, f32> {
        let scores = Query::parse(query.text).scores(&self.words());
        #[expect(clippy::cast_possible_truncation, reason = "a score is below 1000")]
        let scores = scores.into_iter().map(|score| score as f32);
        self.0.keys().copied().zip(scores).collect()
    }
}

#[async_trait]
impl LexicalIndex for OracleIndex<Texts> {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        let is_allowed = |id| {
            query
                .allowed
                .is_none_or(|allowed| allowed.binary_search(&id).is_ok())
        };
        self.with(|content| {
            let mut hits: Vec<_> = content
                .entries
                .scores(query)
                .into_iter()
                .filter(|(id, score)| *score > 0.0 && is_allowed(*id))
                .map(|(id, score)| Hit { id, score })
                .collect();
            hits.sort_by(Hit::rank);
            hits.truncate(query.k);
            Ok(hits)
        })
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        self.with(|content| {
            let scores = content.entries.scores(query);
            Ok(ids.iter().map(|id| scores.get(id).copied()).collect())
        })
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        self.with(|content| {
            let sum = Query::parse(query.text).attainable(&content.entries.words());
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a score is far below the limit"
            )]
            let sum = sum as f32;
            Ok(sum)
        })
    }
}
