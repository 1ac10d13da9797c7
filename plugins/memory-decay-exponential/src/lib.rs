//! Lets memories fade: half of what is left goes in every half-life.
//!
//! An entry of `age` days keeps e^(−λ · age) with λ = ln 2 / half-life. Which time an entry has, and which entries never fade, is
//! decided before this plugin is asked.

mod config;
mod policy;

pub use config::Config;
pub use policy::{ExponentialDecay, retention};

use std::sync::Arc;

use memory_api::{Capabilities, Capability, Factory, Plugin, parse_config, register_plugin};

/// The plugin's name in the config file.
pub const NAME: &str = "exponential";

/// The plugin's descriptor.
pub static PLUGIN: Plugin = Plugin::new::<Config>(
    NAME,
    env!("CARGO_PKG_VERSION"),
    "memories fade by half in every half-life",
    Factory::Decay(|context| {
        Ok(Arc::new(ExponentialDecay::new(parse_config(
            context.config,
        )?)))
    }),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

register_plugin!(PLUGIN);

#[cfg(test)]
mod tests;
