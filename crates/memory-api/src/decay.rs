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
/// 1. Every answer is within 0 and 1 and finite.
/// 2. An evergreen entry, an entry without a time and an entry of age 0 or below have 1.
/// 3. Older is never more.
/// 4. Pure: the same facts and the same `now` give the same answer, alone or in a batch.
pub trait DecayPolicy: Identity + fmt::Debug + Send + Sync {
    /// Writes the retention of each entry into `out`, which has the length of `facts`.
    fn retention(&self, facts: &[Facts<'_>], now: Timestamp, out: &mut [f32]);
}
