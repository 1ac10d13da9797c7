use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Settings of the reranker `mmr`. They change the order of results, never their scores or what is stored: no rebuild is needed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much a result's own score counts against its likeness to the results before it. From 0 (only what is new counts, after
    /// the best result) to 1 (the order of scores), default 0.7.
    #[serde(deserialize_with = "lambda")]
    #[schemars(range(min = 0, max = 1))]
    pub lambda: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { lambda: 0.7 }
    }
}

/// Checking while reading lets the error carry the key, and makes checking a config and opening agree.
fn lambda<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    let lambda = f64::deserialize(value)?;
    if (0.0..=1.0).contains(&lambda) {
        Ok(lambda)
    } else {
        Err(D::Error::custom(format!(
            "`{lambda}` is not between 0 and 1"
        )))
    }
}
