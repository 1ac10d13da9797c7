//! From the scores of both legs to one relevance.

/// How the scores of both legs become one relevance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fusion {
    /// The rule.
    pub rule: Rule,
    /// What meaning counts, 0 to 1.
    pub vector_weight: f64,
    /// What words count, 0 to 1. Only the ratio of both weights matters; both 0 mean equal parts.
    pub text_weight: f64,
    /// What a hit by words is worth.
    pub text_score: TextScore,
    /// What a hit by meaning is worth.
    pub vector_score: VectorScore,
}

/// A rule of fusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The weighted mean of both scores. Where an entry holds nearly every word of the question, words weigh more than configured,
    /// up to all.
    Weighted,
    /// The weighted mean of each score's share of the best one of its leg (TM2C2, Bruch et al. 2023, "An Analysis of Fusion
    /// Functions for Hybrid Retrieval"), scaled so that the best result has what [`Weighted`](Rule::Weighted) gives at most.
    Convex,
}

/// What a hit by words is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextScore {
    /// The share of what the question could have, see `words_relevance`.
    Share,
    /// 1 / (1 + its position in the list of hits by words, from 0); 0 for what is not in the list.
    Position,
    /// r / (1 + r), r being the BM25 score.
    Saturate,
}

/// What a hit by meaning is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VectorScore {
    /// How far it stands out from unrelated texts.
    Calibrated,
    /// The cosine, 0 below 0; 0 for what is not in the list of hits by meaning.
    Cosine,
}

impl Default for Fusion {
    fn default() -> Self {
        Self {
            rule: Rule::Weighted,
            vector_weight: 0.7,
            text_weight: 0.3,
            text_score: TextScore::Share,
            vector_score: VectorScore::Calibrated,
        }
    }
}

/// What both legs say of a candidate, each 0 to 1; `None` where a leg does not know it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Legs {
    pub(crate) text: Option<f64>,
    pub(crate) vector: Option<f64>,
}

impl Fusion {
    /// Returns whether meaning alone reaches a floor. A cosine means another thing with each model, so it never does.
    pub(crate) fn is_near(&self, vector: Option<f64>, floor: f64) -> bool {
        self.vector_score == VectorScore::Calibrated && vector.is_some_and(|score| score >= floor)
    }

    /// Returns the relevance of each candidate, 0 to 1.
    pub(crate) fn relevance(&self, candidates: &[Legs]) -> Vec<f64> {
        let weights = self.weights(candidates);
        let weighted: Vec<f64> = candidates.iter().map(|legs| weights.mean(*legs)).collect();
        match self.rule {
            Rule::Weighted => weighted,
            Rule::Convex => {
                let best = |of: &dyn Fn(&Legs) -> Option<f64>| {
                    candidates.iter().filter_map(of).fold(0.0, f64::max)
                };
                let (text, vector) = (best(&|legs| legs.text), best(&|legs| legs.vector));
                let share = |score: Option<f64>, best: f64| {
                    score.map(|score| if best > 0.0 { score / best } else { 0.0 })
                };
                let shares: Vec<f64> = candidates
                    .iter()
                    .map(|legs| {
                        weights.mean(Legs {
                            text: share(legs.text, text),
                            vector: share(legs.vector, vector),
                        })
                    })
                    .collect();
                let top = |scores: &[f64]| scores.iter().copied().fold(0.0, f64::max);
                let scale = if top(&shares) > 0.0 {
                    top(&weighted) / top(&shares)
                } else {
                    0.0
                };
                shares.into_iter().map(|share| share * scale).collect()
            }
        }
    }

    /// Returns what each leg weighs in this answer: as configured, but for the share of words, which grows to 1 while that of the
    /// best entry grows from [`SURE`] to 1. A name or a number that an entry holds is no accident, and meaning, which knows only
    /// what is like it, must not bury that entry. Words that are scored by their place alone are never sure.
    fn weights(&self, candidates: &[Legs]) -> Weights {
        let sum = self.text_weight + self.vector_weight;
        let text = if sum > 0.0 {
            self.text_weight / sum
        } else {
            0.5
        };
        let best = candidates
            .iter()
            .filter_map(|legs| legs.text)
            .fold(0.0, f64::max);
        let sure = match self.text_score {
            TextScore::Share => ((best - SURE) / (1.0 - SURE)).clamp(0.0, 1.0),
            TextScore::Position | TextScore::Saturate => 0.0,
        };
        Weights {
            text: text + (1.0 - text) * sure,
        }
    }
}

/// The share of what a question could have above which words are more than an accident: an entry of average length that holds every
/// word of the question once has 0.70.
const SURE: f64 = 0.6;

/// What the legs weigh, together 1.
#[derive(Debug, Clone, Copy)]
struct Weights {
    text: f64,
}

impl Weights {
    /// The weighted mean of what is known: an entry whose vector is pending is judged by its words.
    fn mean(self, legs: Legs) -> f64 {
        match (legs.text, legs.vector) {
            (Some(text), Some(vector)) => self.text * text + (1.0 - self.text) * vector,
            (Some(score), None) | (None, Some(score)) => score,
            (None, None) => 0.0,
        }
    }
}
