#![doc = include_str!("../README.md")]

mod block;
mod chunker;
mod config;
mod front_matter;
mod syntax;

pub use chunker::MarkdownChunker;
pub use config::{Config, Split};

use std::sync::Arc;

use memory_api::{Capabilities, Capability, Factory, Plugin, register_plugin};

/// The plugin's name in the config file.
pub const NAME: &str = "markdown";

/// The plugin's descriptor.
pub static PLUGIN: Plugin = {
    let mut plugin = Plugin::new::<Config>(
        NAME,
        env!("CARGO_PKG_VERSION"),
        "cuts Markdown and plain text at headings, blocks and sentences",
        Factory::Chunker(|context| {
            Ok(Arc::new(MarkdownChunker::new(Config::read(
                context.config,
            )?)?))
        }),
    )
    .with_capabilities(Capabilities::of(&[Capability::Deterministic]));
    // The settings restrict each other, so reading them alone is not enough.
    plugin.check_config = |value| Config::read(value).map(drop);
    plugin
};
register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
