use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in time: milliseconds since 1970-01-01T00:00:00Z, negative before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the days from `earlier` to `self`; negative when `self` is the earlier one.
    pub fn days_since(self, earlier: Self) -> f64 {
        const MILLIS_PER_DAY: f64 = 86_400_000.0;
        (self.0 as f64 - earlier.0 as f64) / MILLIS_PER_DAY
    }
}
