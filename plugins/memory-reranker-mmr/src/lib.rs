//! Moves results down that repeat a better one, by maximal marginal relevance.
//!
//! J. Carbonell and J. Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing Summaries",
//! SIGIR 1998: take again and again the candidate with the highest λ · relevance − (1 − λ) · similarity, where similarity is that
//! to the most similar candidate taken so far.
//!
//! * `mmr`: that rule over any measure of similarity.
//! * `reranker`: its measures. Relevance is the score between the worst and the best candidate, similarity the share of words in
//!   common.

mod config;
mod mmr;
mod reranker;

pub use config::Config;
pub use reranker::MmrReranker;

use std::sync::Arc;

use memory_api::{
    Capabilities, Capability, Factory, Plugin, Reranker, parse_config, register_plugin,
};

/// The plugin's name in the config file.
pub const NAME: &str = "mmr";

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "moves results down that repeat a better one",
    Factory::Reranker(|context| {
        Box::pin(async move {
            let reranker = MmrReranker::new(parse_config(context.config)?);
            Ok(Arc::new(reranker) as Arc<dyn Reranker>)
        })
    }),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
