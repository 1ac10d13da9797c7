//! Configuration of the memory engine: layers of files, variables and flags in, one typed [`Config`] out.
//!
//! Built-in defaults < preset < user file < workspace file < `MEMORY_*` variables < flags. The caller says where everything is
//! ([`Sources`]); this crate reads no environment and no file it was not given, but for the system's time
//! zones. Every problem names its place and key, and all
//! of them are reported together ([`Problems`]):
//!
//! ```text
//! memory.toml:6: lexical.fts5.cache_kib: invalid type: string "lots", expected u32
//! env MEMORY_SEARCH__MAX_RESULTS: `0` is out of range, allowed: 1 to 1000
//! flag --min-score: `2` is out of range, allowed: 0 to 1
//! ```
//!
//! The JSON Schema of the whole config ([`config_schema`]) is the one description of it: unknown keys, ranges, paths, the types
//! of variables and the defaults that are shown all come from there, for our own tables and for those of plugins alike. A
//! plugin takes part by deriving `JsonSchema`; a field that holds a path says `#[schemars(extend("format" = "path"))]`.
//!
//! Figment merges the layers and remembers where each value came from. No other crate sees it, and here only `merge` does.
#![warn(missing_docs)]

mod check;
mod coerce;
mod config;
pub mod env;
mod file;
mod gather;
mod import;
mod key;
mod layer;
mod load;
mod merge;
mod preset;
mod problem;
mod redact;
mod schema;
mod show;
mod slot;
mod source;
mod variable;
pub mod workspace;
mod writing;

pub use config::{
    CacheConfig, Citations, Config, DecayConfig, DocumentsConfig, EmbedderConfig, Fallback,
    FlushConfig, Fusion, Preset, SearchConfig, SearchMode, SyncConfig, TextScore, Threshold,
    VectorScore, WriteConfig,
};
pub use import::{Import, ImportSource, Note, NoteKind, import};
pub use key::nearest;
pub use load::{Loaded, load};
pub use problem::{Problem, Problems};
pub use schema::config_schema;
pub use show::Setting;
pub use slot::PluginConfig;
pub use source::{Flag, Origin, Sources};
pub use writing::{Filling, fill};

#[cfg(test)]
mod tests;
