//! What holds for the answer of any index.

use std::collections::BTreeSet;

use memory_api::{EntryId, Hit};

use crate::Outcome;
use crate::failure::ensure;

pub(crate) fn check_length(scores: &[Option<f32>], ids: &[EntryId]) -> Outcome {
    ensure!(
        scores.len() == ids.len(),
        "{} scores for {} ids",
        scores.len(),
        ids.len()
    );
    Ok(())
}

/// Checks what holds for the hits of any search.
pub(crate) fn check_ranked(hits: &[Hit], k: usize) -> Outcome {
    ensure!(hits.len() <= k, "{} hits for k = {k}", hits.len());
    let mut seen = BTreeSet::new();
    for hit in hits {
        ensure!(
            hit.score.is_finite(),
            "the score of hit {} is {}",
            hit.id,
            hit.score
        );
        ensure!(seen.insert(hit.id), "hit {} is there twice", hit.id);
    }
    for (better, worse) in hits.iter().zip(hits.iter().skip(1)) {
        ensure!(
            better.rank(worse).is_lt(),
            "hit {} with {} stands before {} with {}",
            better.id,
            better.score,
            worse.id,
            worse.score
        );
    }
    Ok(())
}
