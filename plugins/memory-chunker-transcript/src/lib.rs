#![doc = include_str!("../README.md")]

mod chunker;
mod config;
mod exchange;
mod json;
mod row;
mod words;

pub use chunker::TranscriptChunker;
pub use config::Config;

use std::sync::Arc;

use memory_api::{Capabilities, Capability, Factory, Plugin, register_plugin};

/// The plugin's name in the config file.
pub const NAME: &str = "transcript";

/// The plugin's descriptor.
pub static PLUGIN: Plugin = {
    let mut plugin = Plugin::new::<Config>(
        NAME,
        env!("CARGO_PKG_VERSION"),
        "cuts chat transcripts in JSONL into questions with their answers",
        Factory::Chunker(|context| {
            Ok(Arc::new(TranscriptChunker::new(Config::read(
                context.config,
            )?)?))
        }),
    )
    .with_capabilities(Capabilities::of(&[Capability::Deterministic]));
    // A size out of range is seen by reading alone.
    plugin.check_config = |value| Config::read(value).map(drop);
    plugin
};
register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
