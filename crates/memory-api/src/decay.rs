use std::fmt;

use crate::{Identity, Timestamp};

/// What a decay policy knows of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Facts<'a> {
    /// The entry's time; `None` when it has none.
    pub time: Option<Timestamp>,
    /// Whether it never fades.
    pub evergreen: bool,
    /// Its kind.
    pub kind: Option<&'a str>,
}

/// Says how much of an entry is left with time.
///
/// # Contract
///
/// 1. Every answer is within 0 and 1 and finite. \[`decay::retention_is_a_share`\]
/// 2. An evergreen entry, an entry without a time and an entry of age 0 or below have 1. \[`decay::evergreen_keeps_all`\]
///    \[`decay::no_time_keeps_all`\] \[`decay::nothing_fades_before_its_time`\]
/// 3. Older is never more, where all else is the same. \[`decay::older_is_never_more`\]
/// 4. Pure: the same facts and the same `now` give the same answer, alone or in a batch, whatever `out` held before.
///    \[`decay::same_facts_same_retention`\] \[`decay::batch_is_its_singles`\]
/// 5. This also holds for times as far apart as they can be. \[`decay::extreme_times_are_no_error`\]
/// 6. An empty batch is no error. \[`decay::empty_batch_is_no_error`\]
pub trait DecayPolicy: Identity + fmt::Debug + Send + Sync {
    /// Writes the retention of each entry into `out`, which has the length of `facts`.
    fn retention(&self, facts: &[Facts<'_>], now: Timestamp, out: &mut [f32]);
}
