//! Finds entries by meaning with an exact scan over vectors in memory.
//!
//! * `schema`: what is on disk, one row per vector, and the space that the index is bound to.
//! * `vector`: a vector's bytes.
//! * `apply`: batches of changes, on disk alone.
//! * `rows`: the vectors in memory. The first search reads them all, later ones what is new, whoever wrote it.
//! * `scan`: dot products and the best of them.
//! * `index`: the contract.
//!
//! One folder holds one file, `index.db`. One process writes, any number read.

mod apply;
mod config;
mod index;
mod rows;
mod scan;
mod schema;
mod vector;

use memory_api::{Capabilities, Capability, Factory, Need, Plugin, register_plugin};

pub use config::Config;
pub use index::FlatIndex;

/// The plugin's name in the config file.
pub const NAME: &str = "flat";

/// What it can do, under any config.
const CAPABILITIES: Capabilities = Capabilities::of(&[
    Capability::AtomicApply,
    Capability::Persistent,
    Capability::ExactSearch,
    Capability::Deterministic,
]);

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "finds entries by meaning with an exact scan in memory; one file, no server",
    Factory::Vector(|context| Box::pin(index::open(context))),
)
.with_capabilities(CAPABILITIES)
.with_needs(&[Need::Disk]);

register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
