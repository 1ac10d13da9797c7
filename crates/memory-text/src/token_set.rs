//! How much two texts have in common.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::analysis::{Form, analyze};

/// The distinct exact tokens of a text.
///
/// Kept as the sorted 64-bit hashes of the tokens, so that two sets are compared in one walk over both; that two different
/// tokens of two texts share a hash does not happen in practice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenSet(Vec<u64>);

impl TokenSet {
    /// Collects the tokens of a text.
    pub fn of(text: &str) -> Self {
        let mut tokens = Vec::new();
        analyze(text, &mut |token| {
            if token.form == Form::Exact {
                let mut hasher = DefaultHasher::new();
                token.text.hash(&mut hasher);
                tokens.push(hasher.finish());
            }
        });
        tokens.sort_unstable();
        tokens.dedup();
        Self(tokens)
    }

    /// Returns the share of tokens in common, |a ∩ b| / |a ∪ b|: 1 for equal sets, also for two empty ones.
    pub fn jaccard(&self, other: &Self) -> f64 {
        let (mut a, mut b) = (self.0.as_slice(), other.0.as_slice());
        let mut common = 0;
        while let ([first_a, rest_a @ ..], [first_b, rest_b @ ..]) = (a, b) {
            common += usize::from(first_a == first_b);
            // Both advance when both are equal.
            (a, b) = (
                if first_a <= first_b { rest_a } else { a },
                if first_b <= first_a { rest_b } else { b },
            );
        }
        let all = self.0.len() + other.0.len() - common;
        if all == 0 {
            1.0
        } else {
            common as f64 / all as f64
        }
    }
}
