use std::sync::Arc;

use memory_api::{
    DecayPolicy, Facts, Fingerprint, Identity, OpenContext, Result, Timestamp, parse_config,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: &OpenContext<'_>) -> Result<Arc<dyn DecayPolicy>> {
    parse_config::<Config>(context.config)?;
    Ok(Arc::new(OracleDecay))
}

#[derive(Debug)]
struct OracleDecay;

impl Identity for OracleDecay {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("oracle-decay/1".to_owned())
    }
}

impl DecayPolicy for OracleDecay {
    fn retention(&self, facts: &[Facts<'_>], now: Timestamp, out: &mut [f32]) {
        for (facts, out) in facts.iter().zip(out) {
            let age_days = match facts.time {
                Some(time) if !facts.evergreen => now.days_since(time).max(0.0),
                _ => 0.0,
            };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a share needs no more than the digits of f32"
            )]
            let share = (1.0 / (1.0 + age_days)) as f32;
            *out = share;
        }
    }
}
