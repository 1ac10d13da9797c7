use std::sync::Arc;

use memory_api::{DecayPolicy, Facts, Result, Timestamp};

use super::broken;

/// A decay policy whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractDecay {
    name: &'static str,
    inner: Arc<dyn DecayPolicy>,
}

impl ContractDecay {
    /// Wraps the policy of this plugin name.
    pub(crate) fn new(name: &'static str, inner: Arc<dyn DecayPolicy>) -> Self {
        Self { name, inner }
    }

    /// Returns what time has left of each.
    ///
    /// # Errors
    ///
    /// `Internal` when an answer is not between 0 and 1.
    pub(crate) fn retention(&self, facts: &[Facts<'_>], now: Timestamp) -> Result<Vec<f32>> {
        let mut out = vec![1.0; facts.len()];
        self.inner.retention(facts, now, &mut out);
        if out.iter().all(|kept| (0.0..=1.0).contains(kept)) {
            Ok(out)
        } else {
            let what = "a retention is not between 0 and 1";
            Err(broken(self.name, "weigh age", what))
        }
    }
}
