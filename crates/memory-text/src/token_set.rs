//! How much two texts have in common.

use std::collections::HashSet;

use crate::analysis::{Form, analyze};

/// The distinct exact tokens of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenSet(HashSet<String>);

impl TokenSet {
    /// Collects the tokens of a text.
    pub fn of(text: &str) -> Self {
        let mut tokens = HashSet::new();
        analyze(text, &mut |token| {
            if token.form == Form::Exact && !tokens.contains(token.text) {
                tokens.insert(token.text.to_owned());
            }
        });
        Self(tokens)
    }

    /// Returns the share of tokens in common, |a ∩ b| / |a ∪ b|: 1 for equal sets, also for two empty ones.
    pub fn jaccard(&self, other: &Self) -> f64 {
        let common = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - common;
        if all == 0 {
            1.0
        } else {
            common as f64 / all as f64
        }
    }
}
