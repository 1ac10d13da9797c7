//! Finds entries by words with SQLite's full-text engine, FTS5.
//!
//! FTS5 keeps the inverted index and finds the rows; what a word is and what a match is worth is decided here and in
//! `memory-text`:
//!
//! * `tokens`: the analysed text as the stream that our tokenizer hands to FTS5 unchanged, in documents and in queries. Nothing a
//!   person types reaches FTS5's own query language.
//! * `plan`: a parsed query with the document frequencies of this index.
//! * `bm25`: the score of one row, inside FTS5's loop.
//! * `schema`, `apply`, `search`, `index`: what is on disk, what is done with it, and the contract.
//!
//! One folder holds one file, `index.db`. One process writes, any number read.

mod apply;
mod bm25;
mod config;
mod index;
mod plan;
mod schema;
mod search;
mod tokens;

use memory_api::{Capabilities, Capability, Factory, Need, Plugin, register_plugin};

pub use config::Config;
pub use index::Fts5Index;

/// The plugin's name in the config file.
pub const NAME: &str = "fts5";

/// What it can do, under any config.
const CAPABILITIES: Capabilities = Capabilities::of(&[
    Capability::PhraseQuery,
    Capability::PrefixQuery,
    Capability::ExcludeQuery,
    Capability::AtomicApply,
    Capability::Persistent,
    Capability::Deterministic,
]);

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "finds entries by words with SQLite FTS5; one file, no server",
    Factory::Lexical(|context| Box::pin(index::open(context))),
)
.with_capabilities(CAPABILITIES)
.with_needs(&[Need::Disk]);

register_plugin!(PLUGIN);
