use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// Settings of the decay policy `exponential`. They change the order of results, never what is stored: no rebuild is needed.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// After how many days half of a memory is left. More than 0, fractions are fine, default 30. For memories that do not fade,
    /// set `decay.use` to `none`.
    #[serde(deserialize_with = "half_life_days")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub half_life_days: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            half_life_days: 30.0,
        }
    }
}

/// The formula takes 0 for "no decay", but whoever writes 0 may as well mean "forget at once": the two have to be told apart.
fn half_life_days<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    let days = f64::deserialize(value)?;
    if days.is_finite() && days > 0.0 {
        Ok(days)
    } else {
        Err(D::Error::custom(format!(
            "`{days}` is not a number of days above 0; for memories that do not fade, set `decay.use` to `none`"
        )))
    }
}
