use std::f64::consts::LN_2;

use memory_api::{DecayPolicy, Facts, Fingerprint, Identity, Timestamp};

use crate::{Config, NAME};

/// Version of the formula; it goes into the fingerprint.
const FORMULA_VERSION: u32 = 1;

/// Returns what is left after `age_days`, from 1 down to 0: half of it for every `half_life_days`.
///
/// A negative age counts as 0. Nothing is lost at an age that is not finite, nor with a half-life of 0 or below.
pub fn retention(age_days: f64, half_life_days: f64) -> f64 {
    // An age of 0 is decided here, because 0 times the infinite λ of a tiny half-life is not a number.
    if !age_days.is_finite() || age_days <= 0.0 || half_life_days <= 0.0 {
        return 1.0;
    }
    let lambda = LN_2 / half_life_days;
    (-lambda * age_days).exp()
}

/// The decay policy `exponential`.
#[derive(Debug, Clone, Copy)]
pub struct ExponentialDecay {
    config: Config,
}

impl ExponentialDecay {
    /// Creates the policy.
    pub fn new(config: Config) -> Self {
        Self { config }
    }

    fn of(self, facts: &Facts<'_>, now: Timestamp) -> f64 {
        match facts.time {
            Some(time) if !facts.evergreen => {
                retention(now.days_since(time), self.config.half_life_days)
            }
            _ => 1.0,
        }
    }
}

impl Identity for ExponentialDecay {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!(
            "{NAME}/{FORMULA_VERSION} half_life_days={}",
            self.config.half_life_days
        ))
    }
}

impl DecayPolicy for ExponentialDecay {
    fn retention(&self, facts: &[Facts<'_>], now: Timestamp, out: &mut [f32]) {
        for (facts, out) in facts.iter().zip(out) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a share needs no more than the digits of f32"
            )]
            let share = self.of(facts, now) as f32;
            *out = share;
        }
    }
}
