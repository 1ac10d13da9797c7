//! One text analysis for every index and every query.
//!
//! [`analyze`] cuts a text into tokens, [`Query::parse`] cuts what a person typed in the same way: both sit on one segmenter,
//! so that a word found in a text is found by typing it, in every language. Change what tokens come out, and
//! [`ANALYSIS_VERSION`] must grow, because the indexes on disk were built with the old ones.
//!
//! * Characters are compared after NFKC, case folding and accent folding (`Łódź` = `lodz`, `Straße` = `STRASSE`).
//! * Scripts without spaces between words (Chinese, Japanese, Thai, Khmer …) and Hangul give single characters and overlapping
//!   pairs, so that any part of a run is found.
//! * Identifiers, versions, paths and addresses are tokens as a whole and in parts.
//! * Dates in digits are found by dates in words (`2023-05-04` by `May 4th`, `5月4日`).
//! * Words also give their Snowball stem, in a namespace of its own ([`Form::Stem`]).
#![warn(missing_docs)]
mod analysis;
mod cjk;
pub mod cut;
mod date;
mod estimate;
mod language;
pub mod line;
mod normalise;
mod query;
pub mod redact;
mod script;
mod segment;
mod snippet;
mod stem;
mod timestamp;
mod token_set;

pub use analysis::{ANALYSIS_VERSION, Form, Token, analyze};
pub use estimate::estimate_tokens;
pub use query::{Clause, Query, Term};
pub use snippet::snippet;
pub use timestamp::parse_timestamp;
pub use token_set::TokenSet;

#[cfg(test)]
mod tests;
