//! Finds entries by meaning with sqlite-vec, a vector table inside SQLite.
//!
//! * `extension`: registers sqlite-vec on a connection; the only unsafe code.
//! * `schema`: what is on disk, and the space that the index is bound to.
//! * `vector`: a vector's bytes.
//! * `apply`: batches of changes.
//! * `search`: which of sqlite-vec's ways answers a question, and what they leave to do: ids, ties, filters, a large `k`.
//! * `index`: the contract.
//!
//! One folder holds one file, `index.db`. One process writes, any number read.

mod apply;
mod config;
mod extension;
mod index;
mod schema;
mod search;
mod vector;

use memory_api::{Capabilities, Capability, Factory, Limits, Need, Plugin, register_plugin};

pub use config::Config;
pub use index::SqliteVecIndex;

/// The plugin's name in the config file.
pub const NAME: &str = "sqlite-vec";

/// What it can do, under any config.
const CAPABILITIES: Capabilities = Capabilities::of(&[
    Capability::AtomicApply,
    Capability::Persistent,
    Capability::ExactSearch,
    Capability::Deterministic,
]);

/// The most numbers that sqlite-vec takes for a vector.
const MAX_DIMENSIONS: usize = 8_192;

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "finds entries by meaning with sqlite-vec, on disk; one file, no server",
    Factory::Vector(|context| Box::pin(index::open(context))),
)
.with_capabilities(CAPABILITIES)
.with_limits(Limits::NONE.with_max_dimensions(MAX_DIMENSIONS))
.with_needs(&[Need::Disk]);

register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
