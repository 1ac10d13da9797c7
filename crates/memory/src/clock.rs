use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use memory_api::Timestamp;
use memory_engine::Clock;
use uuid::Uuid;

/// The clock and the randomness of the machine.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    begin: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            begin: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place where the time of day comes from"
    )]
    fn now(&self) -> Timestamp {
        let millis = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => Timestamp(millis(after)),
            Err(before) => Timestamp(-millis(before.duration())),
        }
    }

    fn monotonic(&self) -> Duration {
        self.begin.elapsed()
    }

    fn random(&self) -> u128 {
        Uuid::new_v4().as_u128()
    }
}

/// The machine's randomness at a time of day that stands still, for tests and for questions about another day.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock {
    now: Timestamp,
    system: SystemClock,
}

impl FixedClock {
    /// Creates a clock that stands still.
    pub fn new(now: Timestamp) -> Self {
        Self {
            now,
            system: SystemClock::default(),
        }
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn monotonic(&self) -> Duration {
        self.system.monotonic()
    }

    fn random(&self) -> u128 {
        self.system.random()
    }
}
