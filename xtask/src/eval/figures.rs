//! Means over questions, and how sure they are.

/// The figures of every question of a set, in one order for all modes.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// nDCG@10 and recall within 8,000 characters, 0 to 1.
    pub(super) figures: Vec<[f64; 2]>,
}

/// A mean and its percentile interval, in per cent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Which figure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Metric {
    Ndcg,
    Recall,
}

const ROUNDS: usize = 2_000;

impl Questions {
    pub(super) fn column(&self, metric: Metric) -> Vec<f64> {
        self.figures
            .iter()
            .map(|[ndcg, recall]| match metric {
                Metric::Ndcg => *ndcg,
                Metric::Recall => *recall,
            })
            .collect()
    }

    pub(super) fn estimate(&self, metric: Metric) -> Estimate {
        estimate(&self.column(metric))
    }

    /// Returns by how much this is better than `other`, question by question.
    pub(super) fn paired(&self, other: &Self, metric: Metric) -> Estimate {
        let differences: Vec<f64> = self
            .column(metric)
            .iter()
            .zip(other.column(metric))
            .map(|(a, b)| a - b)
            .collect();
        estimate(&differences)
    }
}

/// A percentile bootstrap over questions, 95 %, with a fixed seed.
fn estimate(values: &[f64]) -> Estimate {
    let n = values.len().max(1);
    let mean = values.iter().sum::<f64>() / n as f64;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        // xorshift64*: good enough to draw questions.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    let mut means: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let draw = |_| {
                let at = usize::try_from(next() >> 33).unwrap_or(0) % n;
                values.get(at).copied().unwrap_or(0.0)
            };
            (0..n).map(draw).sum::<f64>() / n as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| means.get(ROUNDS * share / 1_000).copied().unwrap_or(mean);
    Estimate {
        mean: mean * 100.0,
        low: at(25) * 100.0,
        high: at(975) * 100.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Metric, Questions};

    fn questions(ndcg: &[f64]) -> Questions {
        Questions {
            figures: ndcg.iter().map(|ndcg| [*ndcg, 1.0]).collect(),
        }
    }

    #[test]
    fn the_interval_holds_the_mean_and_narrows_with_the_questions() {
        let few = questions(&[0.0, 1.0, 0.0, 1.0]).estimate(Metric::Ndcg);
        let many = questions(&[0.0, 1.0].repeat(200)).estimate(Metric::Ndcg);
        for estimate in [few, many] {
            assert!((estimate.mean - 50.0).abs() < 1e-9);
            assert!(estimate.low <= 50.0 && estimate.high >= 50.0);
        }
        assert!(many.high - many.low < 12.0 && few.high - few.low > 50.0);
    }

    #[test]
    fn a_constant_gain_is_sure_however_the_questions_differ() {
        let worse: Vec<f64> = (0..50).map(|n| f64::from(n) / 100.0).collect();
        let better: Vec<f64> = worse.iter().map(|value| value + 0.1).collect();
        let gain = questions(&better).paired(&questions(&worse), Metric::Ndcg);
        assert!((gain.low - 10.0).abs() < 1e-6 && (gain.high - 10.0).abs() < 1e-6);
    }
}
