use std::collections::BTreeSet;
use std::sync::Arc;

use memory_api::{
    EntryId, Error, Hit, LexicalEntry, LexicalIndex, LexicalOp, LexicalQuery, Limits,
};

use crate::failure::ensure;
use crate::index::{
    self, Change, Content, IndexKind, Question, Word, check_length, fields, text_of,
};
use crate::subject::Home;
use crate::{Failure, Outcome};

/// Lexical indexes, as the model sees them.
#[derive(Debug)]
pub(crate) enum Lexical {}

impl IndexKind for Lexical {
    type Op = LexicalOp;
    type Index = dyn LexicalIndex;

    async fn open(home: &Home<'_>) -> Outcome<Arc<Self::Index>> {
        home.open_lexical().await
    }

    fn op(change: &Change) -> LexicalOp {
        match change {
            Change::Put(id, words) => put(*id, text_of(words)),
            Change::SetMeta(id, tag) => LexicalOp::SetMeta(*id, fields(*tag)),
            Change::Delete(id) => LexicalOp::Delete(*id),
        }
    }

    async fn observe(index: &Self::Index, _: Limits, ids: &[EntryId]) -> Outcome<Content> {
        // Two ways to see an entry, by its score and by its words, that have to agree.
        let presence = Word(1).to_string();
        let scores = index.score(&LexicalQuery::new(&presence, 0), ids).await?;
        check_length(&scores, ids)?;
        let mut content: Content = ids
            .iter()
            .zip(scores)
            .filter(|(_, score)| score.is_some())
            .map(|(id, _)| (*id, BTreeSet::new()))
            .collect();
        for word in Word::all() {
            let text = word.to_string();
            for hit in index.search(&LexicalQuery::new(&text, 1000)).await? {
                let Some(words) = content.get_mut(&hit.id) else {
                    return Err(Failure::new(format!(
                        "`{word}` finds entry {}, which is not in the index by its own `score`",
                        hit.id
                    )));
                };
                ensure!(words.insert(word), "`{word}` finds entry {} twice", hit.id);
            }
        }
        Ok(content)
    }

    async fn ask(
        index: &Self::Index,
        _: Limits,
        content: &Content,
        question: &Question,
    ) -> Outcome {
        // The last one gives every hit.
        const CUTS: [usize; 4] = [1, 2, 5, 1000];
        let text = text_of(&question.words);
        let mut query = LexicalQuery::new(&text, 0);
        if let Some(allowed) = &question.allowed {
            query = query.with_allowed(allowed);
        }
        let matches = |id: &EntryId| {
            let words = content.get(id);
            words.is_some_and(|words| question.words.iter().any(|word| words.contains(word)))
        };
        let is_allowed = |id: &EntryId| query.allowed.is_none_or(|allowed| allowed.contains(id));
        let n_matches = content
            .keys()
            .filter(|id| matches(id) && is_allowed(id))
            .count();
        let mut hits = Vec::new();
        for k in CUTS {
            query.k = k;
            hits = index.search(&query).await?;
            check_ranked(&hits, k)?;
            ensure!(
                hits.len() == n_matches.min(k),
                "`{text}` with k = {k} gives {} hits of {n_matches}",
                hits.len()
            );
            for Hit { id, .. } in &hits {
                ensure!(
                    matches(id),
                    "`{text}` finds entry {id}, which holds none of it"
                );
                ensure!(
                    is_allowed(id),
                    "`{text}` finds entry {id}, which is not allowed"
                );
            }
        }
        check_scores(
            index,
            &query,
            &hits,
            content.keys().copied().collect(),
            matches,
        )
        .await
    }

    async fn read_calls(index: &Self::Index) -> Vec<(&'static str, Option<Error>)> {
        let text = Word(1).to_string();
        let query = LexicalQuery::new(&text, 3);
        vec![
            ("search", index.search(&query).await.err()),
            ("score", index.score(&query, &[EntryId(1)]).await.err()),
            ("attainable", index.attainable(&query).await.err()),
        ]
    }
}

/// Checks that entries have the scores that all the hits of a query have, and that others have one if they match.
async fn check_scores(
    index: &dyn LexicalIndex,
    query: &LexicalQuery<'_>,
    hits: &[Hit],
    ids: Vec<EntryId>,
    matches: impl Fn(&EntryId) -> bool,
) -> Outcome {
    let scores = index.score(query, &ids).await?;
    check_length(&scores, &ids)?;
    for (id, score) in ids.iter().zip(scores) {
        let expected = hits.iter().find(|hit| hit.id == *id).map(|hit| hit.score);
        let agrees = match (score, expected) {
            (None, _) => false,
            (Some(score), Some(expected)) => close(score, expected),
            // Not allowed, or no match.
            (Some(score), None) => (score > 0.0) == matches(id),
        };
        ensure!(
            agrees,
            "`{}` gives entry {id} the score {score:?}, search gives {expected:?}",
            query.text
        );
    }
    Ok(())
}

pub(super) fn put(id: EntryId, text: impl Into<String>) -> LexicalOp {
    LexicalOp::Put(Box::new(LexicalEntry::new(id, text, fields(0))))
}

/// Two sums of the same terms may differ in their last bits.
pub(super) fn close(left: f32, right: f32) -> bool {
    const RELATIVE: f32 = 1e-5;
    (left - right).abs() <= RELATIVE * left.abs().max(right.abs())
}

/// Checks what holds for the hits of any search by words.
pub(super) fn check_ranked(hits: &[Hit], k: usize) -> Outcome {
    index::check_ranked(hits, k)?;
    for hit in hits {
        ensure!(
            hit.score > 0.0,
            "the score of hit {} is {}",
            hit.id,
            hit.score
        );
    }
    Ok(())
}
