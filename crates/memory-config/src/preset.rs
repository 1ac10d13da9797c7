//! The sets of defaults, as layers of their own.

use memory_api::Registry;
use serde_json::{Map, Value, json};

use crate::Preset;
use crate::slot::SLOTS;

impl Preset {
    /// Returns what it sets.
    ///
    /// A plugin it names in `use` may not be linked, which is an error like any other; its table would only be a second one.
    pub(crate) fn values(self, registry: &Registry) -> Map<String, Value> {
        let whole = match self {
            Self::Default => Value::Null,
            Self::OpenClaw => openclaw(),
        };
        let Value::Object(mut values) = whole else {
            return Map::new();
        };
        for slot in SLOTS {
            if let Some(Value::Object(table)) = values.get_mut(slot.kind.as_str()) {
                table.retain(|name, value| {
                    !value.is_object() || registry.get(slot.kind, name).is_ok()
                });
            }
        }
        values
    }
}

/// The recipe of that system, whole, although some of it is the default here as well: a default may change.
fn openclaw() -> Value {
    json!({
        "vector": {"use": "flat"},
        "embedder": {"use": "auto"},
        "rerank": {"use": ["mmr"], "mmr": {"lambda": 0.7}},
        "decay": {"use": "exponential", "exponential": {"half_life_days": 30}},
        "search": {
            "max_results": 6,
            "min_score": 0.35,
            "candidate_multiplier": 4,
            "fusion": "weighted",
            "vector_weight": 0.7,
            "text_weight": 0.3,
            "text_score": "position",
            "vector_score": "cosine",
            "threshold": "freshness",
        },
    })
}
