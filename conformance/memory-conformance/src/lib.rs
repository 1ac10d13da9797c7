#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

mod dice;
mod environment;
mod failure;
mod fixture;
mod random;
mod subject;

mod scenario;
mod suite;

mod decay;
mod reranker;

mod chunker;
mod describe;
mod embedder;
mod index;
mod lexical;
mod vector;

pub mod oracle;

pub use chunker::check_chunked;
pub use failure::{Failure, Outcome};
pub use fixture::Fixture;
pub use scenario::{Scenario, scenarios};
pub use subject::Subject;
pub use suite::Suite;

#[cfg(test)]
mod tests;
