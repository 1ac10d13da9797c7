use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memory_api::{EntryId, Error, Hit, Limits, VectorIndex, VectorOp, VectorQuery};

use super::library::{TOLERANCE, k_within};
use crate::failure::ensure;
use crate::index::{
    Change, Content, IndexKind, N_ENTRIES, N_WORDS, Question, Word, check_length, check_ranked,
    fields,
};
use crate::subject::{Home, model_space};
use crate::{Failure, Outcome};

/// Vector indexes, as the model sees them: every word is a dimension, and an entry points between those of its words.
#[derive(Debug)]
pub(crate) enum Vector {}

impl IndexKind for Vector {
    type Op = VectorOp;
    type Index = dyn VectorIndex;

    async fn open(home: &Home<'_>) -> Outcome<Arc<Self::Index>> {
        home.open_vector(&model_space()).await
    }

    fn op(change: &Change) -> VectorOp {
        match change {
            Change::Put(id, words) => VectorOp::Put(*id, vector_of(words), fields(0)),
            Change::SetMeta(id, tag) => VectorOp::SetMeta(*id, fields(*tag)),
            Change::Delete(id) => VectorOp::Delete(*id),
        }
    }

    async fn observe(index: &Self::Index, limits: Limits, ids: &[EntryId]) -> Outcome<Content> {
        // Two ways to see an entry, by its score and by a search, that have to agree.
        let every = vector_of(&Word::all().collect::<Vec<_>>());
        let scores = index.score(&VectorQuery::new(&every, 1), ids).await?;
        check_length(&scores, ids)?;
        let mut content: Content = ids
            .iter()
            .zip(scores)
            .filter(|(_, score)| score.is_some())
            .map(|(id, _)| (*id, BTreeSet::new()))
            .collect();
        // A question for all words tells the number of an entry's words, and so its length before it was made a unit vector.
        let lengths: BTreeMap<_, _> = all_hits(index, limits, &every, ids)
            .await?
            .into_iter()
            .map(|hit| (hit.id, f64::from(hit.score) * f64::from(N_WORDS).sqrt()))
            .collect();
        // Questions for eight words each, every one worth twice the one before, tell which of them an entry holds.
        let words: Vec<_> = Word::all().collect();
        for group in words.chunks(8) {
            let (question, length) = question_of(group);
            for hit in all_hits(index, limits, &question, ids).await? {
                let (Some(held), Some(of_entry)) = (content.get_mut(&hit.id), lengths.get(&hit.id))
                else {
                    return Err(Failure::new(format!(
                        "a search finds entry {}, which is not in the index by its own `score`",
                        hit.id
                    )));
                };
                let sum = f64::from(hit.score) * length * of_entry;
                let digits = read_digits(sum).ok_or_else(|| {
                    Failure::new(format!(
                        "entry {} has the similarity {} to {group:?}, which no put vector has",
                        hit.id, hit.score
                    ))
                })?;
                let of_group = group
                    .iter()
                    .enumerate()
                    .filter(|(place, _)| digits >> place & 1 == 1);
                held.extend(of_group.map(|(_, word)| *word));
            }
        }
        Ok(content)
    }

    async fn ask(
        index: &Self::Index,
        limits: Limits,
        content: &Content,
        question: &Question,
    ) -> Outcome {
        let asked: BTreeSet<_> = question.words.iter().copied().collect();
        let vector = vector_of(&question.words);
        let mut query = VectorQuery::new(&vector, 0);
        if let Some(allowed) = &question.allowed {
            query = query.with_allowed(allowed);
        }
        let is_allowed = |id: &EntryId| query.allowed.is_none_or(|allowed| allowed.contains(id));
        let n_allowed = content.keys().filter(|id| is_allowed(id)).count();
        for k in [1, 2, 5, usize::from(N_ENTRIES)] {
            query.k = k_within(limits, k);
            let hits = index.search(&query).await?;
            check_ranked(&hits, query.k)?;
            ensure!(
                hits.len() == n_allowed.min(query.k),
                "{asked:?} with k = {} gives {} hits of {n_allowed}",
                query.k,
                hits.len()
            );
            for Hit { id, score } in hits {
                let words = content.get(&id).filter(|_| is_allowed(&id));
                let Some(words) = words else {
                    return Err(Failure::new(format!(
                        "{asked:?} finds entry {id}, which is not there or not allowed"
                    )));
                };
                check_score(&asked, id, Some(score), words)?;
            }
        }
        let ids: Vec<_> = content.keys().copied().collect();
        let scores = index.score(&query, &ids).await?;
        check_length(&scores, &ids)?;
        for ((id, words), score) in content.iter().zip(scores) {
            check_score(&asked, *id, score, words)?;
        }
        Ok(())
    }

    async fn read_calls(index: &Self::Index) -> Vec<(&'static str, Option<Error>)> {
        let vector = vector_of(&[Word(1)]);
        let query = VectorQuery::new(&vector, 3);
        vec![
            ("search", index.search(&query).await.err()),
            ("score", index.score(&query, &[EntryId(1)]).await.err()),
        ]
    }
}

/// Returns the unit vector with the same number for each of the words.
fn vector_of(words: &[Word]) -> Vec<f32> {
    let words: BTreeSet<_> = words.iter().collect();
    let length = (words.len() as f32).sqrt();
    Word::all()
        .map(|word| f32::from(words.contains(&word)) / length)
        .collect()
}

/// Returns the vector 1, 2, 4, … for the words, and its length.
fn question_of(group: &[Word]) -> (Vec<f32>, f64) {
    let worth = |word: Word| {
        let place = group.iter().position(|other| *other == word);
        place.map_or(0, |place| 1_u16 << place)
    };
    let square: f64 = Word::all().map(|word| f64::from(worth(word)).powi(2)).sum();
    (
        Word::all().map(|word| f32::from(worth(word))).collect(),
        square.sqrt(),
    )
}

/// Returns the whole number that this nearly is.
fn read_digits(sum: f64) -> Option<u32> {
    (0..256).find(|digits| (f64::from(*digits) - sum).abs() < 0.1)
}

/// Returns every entry, in as many searches as the limits ask for.
async fn all_hits(
    index: &dyn VectorIndex,
    limits: Limits,
    vector: &[f32],
    ids: &[EntryId],
) -> Outcome<Vec<Hit>> {
    let k = k_within(limits, ids.len());
    if k == ids.len() {
        let hits = index.search(&VectorQuery::new(vector, k)).await?;
        check_ranked(&hits, k)?;
        return Ok(hits);
    }
    let mut all = Vec::new();
    for allowed in ids.chunks(k.max(1)) {
        let query = VectorQuery::new(vector, k).with_allowed(allowed);
        all.extend(index.search(&query).await?);
    }
    Ok(all)
}

fn check_score(
    asked: &BTreeSet<Word>,
    id: EntryId,
    score: Option<f32>,
    words: &BTreeSet<Word>,
) -> Outcome {
    let common = asked.intersection(words).count() as f64;
    let expected = common / ((asked.len() * words.len()) as f64).sqrt();
    ensure!(
        score.is_some_and(|score| (f64::from(score) - expected).abs() <= TOLERANCE),
        "{asked:?} gives entry {id} of {words:?} the score {score:?} instead of {expected}"
    );
    Ok(())
}
