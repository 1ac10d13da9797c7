//! Searches, against brute force.

use std::collections::BTreeSet;

use memory_api::{EmbeddingSpace, EntryId, Hit, VectorQuery};

use super::library::{DIMENSIONS, Library, TOLERANCE, axis, k_within, questions, scaled, space};
use crate::failure::ensure;
use crate::index::{check_length, entry_id};
use crate::{Outcome, Subject};

/// Entries for questions that look at all of them.
const N_FEW: u16 = 300;
/// Entries for questions about what an approximate search misses.
const N_MANY: u16 = 2000;

fn ids(hits: &[Hit]) -> Vec<EntryId> {
    hits.iter().map(|hit| hit.id).collect()
}

/// Opens an index in which 60 entries lie on three axes only. Each similarity is one product, so that entries which tie do so to
/// the last bit, in whatever order an index adds up.
async fn ties(subject: &Subject) -> Outcome<(Library<'_>, Vec<f32>)> {
    let entries = (0..60)
        .map(|n: u16| (entry_id(n), axis(DIMENSIONS, usize::from(n % 3))))
        .collect();
    let library = Library::of(subject, &space(), entries).await?;
    let mut question = axis(DIMENSIONS, 9);
    for (number, worth) in question.iter_mut().zip([0.5, 0.25, -0.5]) {
        *number = worth;
    }
    Ok((library, question))
}

pub(super) fn hits_are_ranked(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, N_FEW).await?;
        for question in questions(&library, 20) {
            check_counts(&library, &question).await?;
        }
        let (library, question) = ties(subject).await?;
        check_counts(&library, &question)
            .await
            .map_err(|failure| failure.within("entries with equal vectors"))
    })
}

async fn check_counts(library: &Library<'_>, question: &[f32]) -> Outcome {
    let n_all = library.entries().len();
    for k in library.cuts(&[0, 1, 2, 10, 50]) {
        let hits = library.search(question, k).await?;
        ensure!(
            hits.len() == n_all.min(k),
            "{} hits of {n_all} entries for k = {k}",
            hits.len()
        );
    }
    Ok(())
}

pub(super) fn scores_are_cosines(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, N_FEW).await?;
        // Strangers, a deleted entry and repeats are among the ids, which come in no order.
        let mut asked = library.ids();
        asked.insert(3, EntryId(u128::MAX));
        asked.insert(5, Library::deleted_id());
        asked.extend(library.ids().into_iter().rev().take(5));
        for question in questions(&library, 20) {
            let nearest = library.nearest(&question);
            let of = |id| nearest.iter().find(|(other, _)| *other == id);
            // Neither `k` nor `allowed` is looked at.
            let query = VectorQuery::new(&question, 0).with_allowed(&[]);
            let scores = library.index.score(&query, &asked).await?;
            check_length(&scores, &asked)?;
            for (id, score) in asked.iter().zip(scores) {
                let expected = of(*id).map(|(_, score)| *score);
                let agrees = match (score, expected) {
                    (Some(score), Some(expected)) => is_near(score, expected),
                    (score, expected) => score.is_none() && expected.is_none(),
                };
                ensure!(
                    agrees,
                    "entry {id} has the score {score:?} instead of {expected:?}"
                );
            }
            for hit in library
                .search(&question, k_within(subject.plugin().limits, 20))
                .await?
            {
                ensure!(
                    of(hit.id).is_some_and(|(_, expected)| is_near(hit.score, *expected)),
                    "hit {} has the score {} instead of {:?}",
                    hit.id,
                    hit.score,
                    of(hit.id)
                );
            }
        }
        let query = axis(DIMENSIONS, 0);
        let none = library
            .index
            .score(&VectorQuery::new(&query, 1), &[])
            .await?;
        ensure!(none.is_empty(), "no ids have {} scores", none.len());
        Ok(())
    })
}

fn is_near(score: f32, expected: f64) -> bool {
    (f64::from(score) - expected).abs() <= TOLERANCE
}

pub(super) fn length_does_not_count(subject: &Subject) -> Outcome {
    const LENGTHS: [f32; 5] = [1e-15, 1e-3, 1.0, 7.0, 1e15];
    subject.run(async {
        let unit = Library::open(subject, 40).await?;
        let lengths = LENGTHS.iter().cycle();
        let entries: Vec<_> = unit
            .entries()
            .iter()
            .zip(lengths)
            .map(|((id, vector), length)| (*id, scaled(vector, *length)))
            .collect();
        for unit_norm in [false, true] {
            let mut space = EmbeddingSpace::new("conformance/lengths", DIMENSIONS);
            space.unit_norm = unit_norm;
            let library = Library::of(subject, &space, entries.clone()).await?;
            for (question, length) in questions(&unit, 10).iter().zip(LENGTHS.iter().cycle()) {
                let nearest = library.nearest(question);
                for k in library.cuts(&[]) {
                    let hits = library.search(&scaled(question, *length), k).await?;
                    library
                        .check(&hits, &nearest, k)
                        .map_err(|failure| failure.within(format!("a query of length {length}")))?;
                }
            }
        }
        Ok(())
    })
}

pub(super) fn stored_vector_finds_itself_first(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, N_FEW).await?;
        for (id, vector) in library.entries().iter().step_by(3) {
            let hits = library.search(vector, 1).await?;
            ensure!(
                matches!(*hits, [hit] if hit.id == *id && is_near(hit.score, 1.0)),
                "the vector of entry {id} finds {hits:?}"
            );
        }
        Ok(())
    })
}

pub(super) fn exact_search_equals_brute_force(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, N_MANY).await?;
        for question in questions(&library, 20) {
            let nearest = library.nearest(&question);
            for k in library.cuts(&[10, 100]) {
                let hits = library.search(&question, k).await?;
                library.check(&hits, &nearest, k)?;
            }
        }
        Ok(())
    })
}

pub(super) fn approximate_search_recalls_most(subject: &Subject) -> Outcome {
    const MIN_RECALL: f64 = 0.9;
    subject.run(async {
        let library = Library::open(subject, N_MANY).await?;
        let k = k_within(subject.plugin().limits, 10);
        let (mut n_wanted, mut n_found) = (0, 0);
        for question in questions(&library, 50) {
            let nearest = library.nearest(&question);
            let hits = library.search(&question, k).await?;
            let worst = nearest
                .get(k.saturating_sub(1))
                .map_or(-1.0, |(_, score)| *score);
            let wanted: BTreeSet<_> = nearest
                .iter()
                .take_while(|(_, score)| *score >= worst - TOLERANCE)
                .map(|(id, _)| *id)
                .collect();
            n_wanted += k;
            n_found += hits.iter().filter(|hit| wanted.contains(&hit.id)).count();
        }
        let recall = f64::from(u32::try_from(n_found).unwrap_or(0)) / n_wanted as f64;
        ensure!(
            recall >= MIN_RECALL,
            "the recall of {k} among {N_MANY} is {recall:.3}, less than {MIN_RECALL}"
        );
        Ok(())
    })
}

pub(super) fn ties_at_the_cut_ascend(subject: &Subject) -> Outcome {
    subject.run(async {
        let (library, question) = ties(subject).await?;
        let expected: Vec<_> = library
            .nearest(&question)
            .iter()
            .map(|(id, _)| *id)
            .collect();
        for k in library.cuts(&(0..60).collect::<Vec<_>>()) {
            let found = ids(&library.search(&question, k).await?);
            let expected: Vec<_> = expected.iter().copied().take(k).collect();
            ensure!(
                found == expected,
                "of entries with equal vectors, k = {k} finds {found:?} instead of {expected:?}"
            );
        }
        Ok(())
    })
}

pub(super) fn smaller_k_is_a_prefix(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, 60).await?;
        for question in questions(&library, 8) {
            let cuts = library.cuts(&(0..60).collect::<Vec<_>>());
            let most = cuts.last().copied().unwrap_or_default();
            let all = ids(&library.search(&question, most).await?);
            for k in cuts {
                let found = ids(&library.search(&question, k).await?);
                ensure!(
                    all.starts_with(&found) && found.len() == all.len().min(k),
                    "the search for {k} is no prefix of the search for {most}: {found:?} and {all:?}"
                );
            }
        }
        Ok(())
    })
}

pub(super) fn allowed_ids_are_honoured(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, N_FEW).await?;
        let mut many: Vec<_> = (0..40_000).map(entry_id).collect();
        many.sort_unstable();
        for question in questions(&library, 8) {
            let nearest = library.nearest(&question);
            for allowed in allowed_sets(&nearest).iter().chain([&many]) {
                let expected: Vec<_> = nearest
                    .iter()
                    .copied()
                    .filter(|(id, _)| allowed.binary_search(id).is_ok())
                    .collect();
                for k in library.cuts(&[0, 1, 3, 10]) {
                    let query = VectorQuery::new(&question, k).with_allowed(allowed);
                    let hits = library.index.search(&query).await?;
                    library.check(&hits, &expected, k).map_err(|failure| {
                        failure.within(format!("{} allowed ids", allowed.len()))
                    })?;
                }
            }
        }
        Ok(())
    })
}

/// Sets that a filter after the cut gets wrong: none, strangers, the farthest entry, the farther half, one entry in three, all.
fn allowed_sets(nearest: &[(EntryId, f64)]) -> Vec<Vec<EntryId>> {
    let all: Vec<_> = nearest.iter().map(|(id, _)| *id).collect();
    let strangers = [EntryId(0), Library::deleted_id(), EntryId(u128::MAX)];
    let mut sets = vec![
        Vec::new(),
        strangers.to_vec(),
        all.iter().rev().take(1).copied().collect(),
        all.iter().skip(all.len() / 2).copied().collect(),
        all.iter().step_by(3).copied().chain(strangers).collect(),
        all,
    ];
    for set in &mut sets {
        set.sort_unstable();
    }
    sets
}
