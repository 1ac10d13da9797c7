//! The scenarios of rerankers: each is one property of an order, checked over ordinary, hostile and random candidates.

mod lists;

use std::collections::BTreeSet;
use std::sync::Arc;

use memory_api::{Candidate, Capability, EntryId, Ranked, Reranker};

use crate::failure::ensure;
use crate::subject::{Home, Instance};
use crate::{Failure, Outcome, Scenario, Subject, random};

use lists::{List, QUERY};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("reranker::answer_is_a_subset_without_repeats", |subject| {
        every_answer(subject, answer_is_a_subset_without_repeats)
    }),
    Scenario::new("reranker::scores_are_0_to_1", |subject| {
        every_answer(subject, scores_are_0_to_1)
    }),
    Scenario::new("reranker::best_come_first", |subject| {
        every_answer(subject, best_come_first)
    }),
    Scenario::new(
        "reranker::no_candidates_give_nothing",
        no_candidates_give_nothing,
    ),
    Scenario::new("reranker::one_candidate_stays", one_candidate_stays),
    Scenario::new(
        "reranker::hostile_text_is_no_error",
        hostile_text_is_no_error,
    ),
    Scenario::new("reranker::same_call_same_answer", same_call_same_answer)
        .needs(Capability::Deterministic),
    Scenario::new(
        "reranker::order_of_the_call_changes_nothing",
        order_of_the_call_changes_nothing,
    )
    .needs(Capability::Deterministic),
];

async fn open(home: &Home<'_>) -> Outcome<Arc<dyn Reranker>> {
    match home.open().await? {
        Instance::Reranker(reranker) => Ok(reranker),
        _ => Err(Failure::new("the plugin is no reranker")),
    }
}

/// Asks the reranker; any error is a failure.
fn rerank(
    subject: &Subject,
    reranker: &dyn Reranker,
    query: &str,
    candidates: &[Candidate<'_>],
) -> Outcome<Vec<Ranked>> {
    subject.run(async { Ok(reranker.rerank(query, candidates).await?) })
}

/// Runs a check on every list of candidates: the built-in ones and random ones.
fn every_list(subject: &Subject, check: impl Fn(&List) -> Outcome) -> Outcome {
    for (name, list) in lists::ordinary().into_iter().chain(lists::hostile()) {
        check(&list).map_err(|failure| failure.within(name))?;
    }
    random::for_all(subject, &lists::random(), |list| check(&list))
}

/// Checks a property of the answer to every list.
fn every_answer(
    subject: &Subject,
    check: impl Fn(&[Candidate<'_>], &[Ranked]) -> Outcome,
) -> Outcome {
    let home = subject.home()?;
    let reranker = subject.run(open(&home))?;
    every_list(subject, |list| {
        let candidates = list.candidates();
        let ranked = rerank(subject, &*reranker, QUERY, &candidates)?;
        check(&candidates, &ranked)
    })
}

fn answer_is_a_subset_without_repeats(candidates: &[Candidate<'_>], ranked: &[Ranked]) -> Outcome {
    let mut seen = BTreeSet::new();
    for Ranked { index, .. } in ranked {
        ensure!(
            *index < candidates.len(),
            "the answer names candidate {index} of {}, counted from 0",
            candidates.len()
        );
        ensure!(
            seen.insert(*index),
            "the answer names candidate {index} twice"
        );
    }
    Ok(())
}

fn scores_are_0_to_1(_: &[Candidate<'_>], ranked: &[Ranked]) -> Outcome {
    for Ranked { index, score } in ranked {
        ensure!(
            score.is_none_or(|score| (0.0..=1.0).contains(&score)),
            "the score of candidate {index} is not from 0 to 1: {score:?}"
        );
    }
    Ok(())
}

fn best_come_first(_: &[Candidate<'_>], ranked: &[Ranked]) -> Outcome {
    // A score that is not finite is another scenario's matter.
    let scores: Vec<_> = ranked
        .iter()
        .filter_map(|ranked| ranked.score)
        .filter(|score| score.is_finite())
        .collect();
    let rising = scores
        .windows(2)
        .find(|pair| matches!(pair, [before, after] if after > before));
    if let Some(pair) = rising {
        return Err(Failure::new(format!(
            "a higher score comes after a lower one: {pair:?}"
        )));
    }
    Ok(())
}

fn no_candidates_give_nothing(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let reranker = subject.run(open(&home))?;
    let ranked = rerank(subject, &*reranker, QUERY, &[])?;
    ensure!(
        ranked.is_empty(),
        "no candidates give an answer of {}",
        ranked.len()
    );
    Ok(())
}

fn one_candidate_stays(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let reranker = subject.run(open(&home))?;
    for text in [QUERY, "nothing of that", ""] {
        for score in [0.0, 0.5, 1.0] {
            let candidate = Candidate::new(EntryId(7), text, score);
            let ranked = rerank(subject, &*reranker, QUERY, &[candidate])?;
            ensure!(
                matches!(ranked.as_slice(), [Ranked { index: 0, .. }]),
                "{text:?} with score {score} alone gives {ranked:?}"
            );
        }
    }
    Ok(())
}

fn hostile_text_is_no_error(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let reranker = subject.run(open(&home))?;
    for (name, list) in lists::hostile() {
        rerank(subject, &*reranker, QUERY, &list.candidates())
            .map_err(|failure| failure.within(name))?;
    }
    for (name, list) in lists::ordinary() {
        let candidates = list.candidates();
        for query in lists::hostile_queries() {
            rerank(subject, &*reranker, &query, &candidates).map_err(|failure| {
                let begin: String = query.chars().take(20).collect();
                failure.within(format!("{name}, query {begin:?}"))
            })?;
        }
    }
    Ok(())
}

/// The answer as entries, independent of where they stood in the call; scores bit by bit, also those that are not numbers.
fn entries(candidates: &[Candidate<'_>], ranked: &[Ranked]) -> Vec<(Option<EntryId>, Option<u32>)> {
    ranked
        .iter()
        .map(|ranked| {
            let id = candidates.get(ranked.index).map(|candidate| candidate.id);
            (id, ranked.score.map(f32::to_bits))
        })
        .collect()
}

fn same_call_same_answer(subject: &Subject) -> Outcome {
    let (here, there) = (subject.home()?, subject.home()?);
    let (first, second) = subject.run(async { Ok((open(&here).await?, open(&there).await?)) })?;
    every_list(subject, |list| {
        let candidates = list.candidates();
        let ask = |reranker: &dyn Reranker| {
            rerank(subject, reranker, QUERY, &candidates)
                .map(|ranked| entries(&candidates, &ranked))
        };
        let expected = ask(&*first)?;
        for reranker in [&first, &second] {
            ensure!(
                ask(&**reranker)? == expected,
                "the same call gives another answer"
            );
        }
        Ok(())
    })
}

fn order_of_the_call_changes_nothing(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let reranker = subject.run(open(&home))?;
    let ask = |candidates: &[Candidate<'_>]| {
        rerank(subject, &*reranker, QUERY, candidates).map(|ranked| entries(candidates, &ranked))
    };
    let mut n_checked = 0;
    let check = |list: &List| {
        let mut candidates = list.candidates();
        let expected = ask(&candidates)?;
        candidates.reverse();
        ensure!(
            ask(&candidates)? == expected,
            "the candidates in reverse give another answer"
        );
        // Every other one first, which is neither forwards nor backwards.
        let (mut even, odd): (Vec<_>, Vec<_>) = candidates
            .iter()
            .enumerate()
            .partition(|(place, _)| place % 2 == 0);
        even.extend(odd);
        let mixed: Vec<_> = even.into_iter().map(|(_, candidate)| *candidate).collect();
        ensure!(
            ask(&mixed)? == expected,
            "the candidates in another order give another answer"
        );
        Ok(())
    };
    for (name, list) in lists::ordinary().into_iter().chain(lists::hostile()) {
        if list.has_distinct_scores() {
            check(&list).map_err(|failure| failure.within(name))?;
            n_checked += 1;
        }
    }
    ensure!(n_checked > 2, "the suite has no lists with distinct scores");
    random::for_all(subject, &lists::random_distinct(), |list| check(&list))
}
