use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

const MIN_DIMENSIONS: usize = 8;
const MAX_DIMENSIONS: usize = 4096;

/// Settings of the embedder `hash`, which is for tests and for trying a configuration: it knows words, not meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Numbers per vector. The fewer, the more words share one. From 8 to 4096, default 256. Changing it makes a new space: every
    /// text is embedded anew.
    #[serde(deserialize_with = "dimensions")]
    #[schemars(range(min = 8, max = 4096))]
    pub dimensions: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { dimensions: 256 }
    }
}

/// Checking while reading lets the error carry the key, and makes checking a config and opening agree.
fn dimensions<'de, D: Deserializer<'de>>(value: D) -> Result<usize, D::Error> {
    let dimensions = usize::deserialize(value)?;
    if (MIN_DIMENSIONS..=MAX_DIMENSIONS).contains(&dimensions) {
        Ok(dimensions)
    } else {
        Err(D::Error::custom(format!(
            "`{dimensions}` is not between {MIN_DIMENSIONS} and {MAX_DIMENSIONS}"
        )))
    }
}
