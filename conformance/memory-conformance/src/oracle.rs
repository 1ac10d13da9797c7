//! Test doubles that are right because they are trivial: real plugins, too slow and too plain for a real memory.
//!
//! They pass the suite themselves. A combination of plugins is tested by putting one real plugin among oracles.

mod chunker;
mod lexical;
mod query;

use memory_api::{Capabilities, Capability, Factory, Need, Plugin};

/// Cuts documents at blank lines.
pub static CHUNKER: Plugin = Plugin::new::<chunker::Config>(
    "oracle",
    env!("CARGO_PKG_VERSION"),
    "cuts at blank lines; a test double",
    Factory::Chunker(chunker::open),
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
