//! Test doubles that are right because they are trivial: real plugins, too slow and too plain for a real memory.
//!
//! They pass the suite themselves. A combination of plugins is tested by putting one real plugin among oracles.

mod decay;
mod reranker;

mod chunker;
mod embedder;
mod index;
mod lexical;
mod query;
mod vector;

use memory_api::{Capabilities, Capability, Factory, Need, Plugin};

/// Cuts documents at blank lines.
pub static CHUNKER: Plugin = Plugin::new::<chunker::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "cuts at blank lines; a test double",
    Factory::Chunker(chunker::open),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

/// Leaves 1 / (1 + age in days) of an entry.
pub static DECAY: Plugin = Plugin::new::<decay::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "fades as one over the age; a test double",
    Factory::Decay(decay::open),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

/// Sorts by the scores that the candidates have.
pub static RERANKER: Plugin = Plugin::new::<reranker::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "sorts by score; a test double",
    Factory::Reranker(reranker::open),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

/// Compares a query with every entry there is; keeps them in one JSON file.
pub static LEXICAL: Plugin = Plugin::new::<lexical::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "compares a query with every entry; a test double",
    Factory::Lexical(lexical::open),
)
.with_capabilities(Capabilities::of(&[
    Capability::PhraseQuery,
    Capability::PrefixQuery,
    Capability::ExcludeQuery,
    Capability::AtomicApply,
    Capability::Persistent,
    Capability::Deterministic,
]))
.with_needs(&[Need::Disk]);

/// Compares a query with every vector there is, in f64; keeps them in one JSON file.
pub static VECTOR: Plugin = Plugin::new::<vector::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "compares a query with every vector; a test double",
    Factory::Vector(vector::open),
)
.with_capabilities(Capabilities::of(&[
    Capability::AtomicApply,
    Capability::Persistent,
    Capability::ExactSearch,
    Capability::Deterministic,
]))
.with_needs(&[Need::Disk]);

/// Counts words in 64 buckets; texts with the same words are near to each other.
pub static EMBEDDER: Plugin = Plugin::new::<embedder::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "counts words; a test double",
    Factory::Embedder(embedder::open),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));
