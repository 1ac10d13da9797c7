use std::cmp::Ordering;

/// Returns maximal marginal relevance: what a candidate is worth beside those that were taken.
pub(crate) fn marginal(lambda: f64, relevance: f64, max_similarity: f64) -> f64 {
    lambda * relevance - (1.0 - lambda) * max_similarity
}

/// Scales scores to 0 for the lowest and 1 for the highest; equal scores are all worth 1.
pub(crate) fn relevances(scores: &[f64]) -> Vec<f64> {
    let min = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = max - min;
    let relevance = |score: &f64| {
        if range > 0.0 {
            (score - min) / range
        } else {
            1.0
        }
    };
    scores.iter().map(relevance).collect()
}

/// A candidate that is not taken yet.
struct Waiting {
    index: usize,
    score: f64,
    relevance: f64,
    max_similarity: f64,
}

/// Returns the candidates' positions in the order in which they are taken. Among equals the one with the higher score is first,
/// then the earlier one.
///
/// Every candidate is compared with every one taken before it, once.
pub(crate) fn order(
    lambda: f64,
    scores: &[f64],
    similarity: impl Fn(usize, usize) -> f64,
) -> Vec<usize> {
    let mut waiting: Vec<Waiting> = scores
        .iter()
        .zip(relevances(scores))
        .enumerate()
        .map(|(index, (score, relevance))| Waiting {
            index,
            score: *score,
            relevance,
            max_similarity: 0.0,
        })
        .collect();
    let mut taken = Vec::with_capacity(scores.len());
    while let Some(place) = best(lambda, &waiting) {
        // `remove` keeps the others in their order, which decides between equals.
        let next = waiting.remove(place).index;
        taken.push(next);
        for other in &mut waiting {
            other.max_similarity = other.max_similarity.max(similarity(next, other.index));
        }
    }
    taken
}

fn best(lambda: f64, waiting: &[Waiting]) -> Option<usize> {
    let worth = |candidate: &Waiting| {
        let worth = marginal(lambda, candidate.relevance, candidate.max_similarity);
        (worth, candidate.score)
    };
    let ranked = waiting.iter().map(worth).enumerate();
    ranked
        .reduce(|best, next| match next.1.partial_cmp(&best.1) {
            Some(Ordering::Greater) => next,
            _ => best,
        })
        .map(|(place, _)| place)
}
