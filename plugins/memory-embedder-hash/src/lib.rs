//! Embeds texts by hashing their words: no model, no network, the same vector for the same text everywhere. For tests, and to try
//! a configuration; it knows words, not meaning.
//!
//! * `feature`: the words of a text as a vector.
//! * `embedder`: the contract.

mod config;
mod embedder;
mod feature;

use memory_api::{Capabilities, Capability, Factory, Plugin, register_plugin};

pub use config::Config;
pub use embedder::HashEmbedder;

/// The plugin's name in the config file.
pub const NAME: &str = "hash";

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "hashes words instead of understanding them; for tests, without a model",
    Factory::Embedder(|context| Box::pin(async move { embedder::open(&context) })),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

register_plugin!(PLUGIN);
