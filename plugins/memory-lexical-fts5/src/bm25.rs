//! The score of one row.
//!
//! BM25 as Lucene computes it: idf = ln(1 + (N − n + 0.5) / (n + 0.5)) for n of N entries that hold the term, and
//! tf / (tf + K) without the constant factor k1 + 1, with K = k1 · (1 − b + b · length / average length). A term's score stays
//! below its idf, which makes a bound for the whole query.
//!
//! Text and headings are one field: tf = tf(text) + heading weight · tf(headings), as in BM25F (Robertson, Zaragoza, Taylor,
//! "Simple BM25 extension to multiple weighted fields", 2004). The length is the text's alone: headings are repeated in every
//! entry of a section and say nothing about how much an entry tells. A path names a word or does not, so it has no tf.

use std::sync::Arc;

use memory_api::Result;
use memory_sqlite::fts5::Match;

use crate::plan::{Bound, Plan, Term};
use crate::schema;

/// The function's name in SQL.
pub(crate) const FUNCTION: &str = "memory_score";

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Returns how telling a term is that `n_matching` of `n_entries` entries hold.
pub(crate) fn idf(n_entries: i64, n_matching: i64) -> f64 {
    let (all, matching) = (n_entries as f64, n_matching as f64);
    (((all - matching).max(0.0) + 0.5) / (matching + 0.5)).ln_1p()
}

/// Scores rows for one query.
#[derive(Debug)]
pub(crate) struct Ranker {
    plan: Arc<Plan>,
    heading_weight: f64,
}

impl Ranker {
    pub(crate) fn new(plan: Arc<Plan>, heading_weight: f64) -> Self {
        Self {
            plan,
            heading_weight,
        }
    }

    /// Returns the row's score. The sum runs in the plan's order, like that of
    /// [`Plan::attainable`]: rounding then cannot lift a score above the bound.
    pub(crate) fn score(row: &Match<'_>, ranker: &Self) -> Result<Option<f64>> {
        let length = f64::from(row.column_size(schema::TEXT)?);
        let k = K1 * (1.0 - B + B * ranker.plan.relative_length(length));
        let mut score = 0.0;
        for clause in &ranker.plan.clauses {
            let mut clause_score = 0.0;
            for term in clause {
                clause_score += ranker.term(row, term, k)?;
            }
            score += clause_score;
        }
        Ok(Some(score))
    }

    fn term(&self, row: &Match<'_>, term: &Term, k: f64) -> Result<f64> {
        let mut best = 0.0;
        if let Some(Bound { phrase, most }) = term.content {
            let (mut in_text, mut in_headings) = (0_u32, 0_u32);
            row.occurrences(phrase, |column, _| match column {
                schema::TEXT => in_text += 1,
                schema::HEADINGS => in_headings += 1,
                _ => {}
            })?;
            let tf = self
                .heading_weight
                .mul_add(f64::from(in_headings), f64::from(in_text));
            best = most * (tf / (tf + k));
        }
        if let Some(Bound { phrase, most }) = term.path
            && best < most
        {
            let mut names_it = false;
            row.occurrences(phrase, |_, _| names_it = true)?;
            if names_it {
                best = most;
            }
        }
        Ok(best)
    }
}
