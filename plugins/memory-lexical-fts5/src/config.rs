use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Settings of the word index `fts5`. They change scores, never what is stored: no rebuild is needed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How many times a word in a heading counts, compared with one in the text. From 0.1 to 10, default 1.5.
    #[serde(deserialize_with = "heading_weight")]
    #[schemars(range(min = 0.1, max = 10))]
    pub heading_weight: f64,
    /// How much an entry gains when its path names a word of the query, compared with a text full of that word. From 0 (paths are
    /// not searched) to 1, default 0.3.
    #[serde(deserialize_with = "path_weight")]
    #[schemars(range(min = 0, max = 1))]
    pub path_weight: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            heading_weight: 1.5,
            path_weight: 0.3,
        }
    }
}

fn heading_weight<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    between(value, 0.1, 10.0)
}

fn path_weight<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    between(value, 0.0, 1.0)
}

/// Checking while reading lets the error carry the key, and makes checking a config and opening agree.
fn between<'de, D: Deserializer<'de>>(value: D, min: f64, max: f64) -> Result<f64, D::Error> {
    let weight = f64::deserialize(value)?;
    if (min..=max).contains(&weight) {
        Ok(weight)
    } else {
        Err(D::Error::custom(format!(
            "`{weight}` is not between {min} and {max}"
        )))
    }
}
