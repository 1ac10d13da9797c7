use std::time::Duration;

/// How many times the debounce a change waits while others keep coming.
const PATIENCE: u32 = 10;
/// How long a sync that failed waits for its first repetition; each further one waits twice as long.
const RETRY: Duration = Duration::from_secs(2);
/// The longest wait for a repetition.
const MAX_RETRY: Duration = Duration::from_mins(2);

/// When the next sync is due. Time is what others say it is, counted from any moment.
#[derive(Debug)]
pub(crate) struct Schedule {
    debounce: Duration,
    interval: Option<Duration>,
    /// When the first sync of all is due, where there is to be one.
    first: Option<Duration>,
    /// The first and the latest event that no sync has begun after.
    seen: Option<(Duration, Duration)>,
    /// Since when somebody waits for a sync to begin.
    asked: Option<Duration>,
    /// When the last sync ended.
    ended: Option<Duration>,
    /// Syncs in a row that failed.
    n_failed: u32,
}

impl Schedule {
    /// Without an `interval`, only events and questions make a sync due.
    pub(crate) fn new(debounce: Duration, interval: Option<Duration>) -> Self {
        Self {
            debounce,
            interval,
            first: None,
            seen: None,
            asked: None,
            ended: None,
            n_failed: 0,
        }
    }

    /// Replaces the interval.
    pub(crate) fn set_interval(&mut self, interval: Option<Duration>) {
        self.interval = interval;
    }

    /// Something happened to a file.
    pub(crate) fn event(&mut self, now: Duration) {
        let first = self.seen.map_or(now, |(first, _)| first);
        self.seen = Some((first, now));
    }

    /// Somebody wants the index to be fresh.
    pub(crate) fn ask(&mut self, now: Duration) {
        self.asked.get_or_insert(now);
    }

    /// Returns when the next sync is due; `None`: not before something happens.
    pub(crate) fn due(&self) -> Option<Duration> {
        let quiet = self.seen.map(|(first, latest)| {
            let patience = first + self.debounce * PATIENCE;
            (latest + self.debounce).min(patience)
        });
        // One question after the other must not keep the disk busy.
        let asked = self.asked.map(|asked| {
            let rested = self.ended.map_or(asked, |ended| ended + self.debounce);
            asked.max(rested)
        });
        let polled = match (self.interval, self.ended) {
            (Some(interval), Some(ended)) => Some(ended + interval),
            (Some(_), None) | (None, _) => None,
        };
        let due = [self.first, quiet, asked, polled]
            .into_iter()
            .flatten()
            .min();
        match (self.n_failed, self.ended) {
            (1.., Some(ended)) => {
                let retry = RETRY
                    .saturating_mul(1 << (self.n_failed - 1).min(16))
                    .min(MAX_RETRY);
                // Before it, the same would fail again.
                Some(ended + retry)
            }
            _ => due,
        }
    }

    /// A sync is due at some moment, whatever happens.
    pub(crate) fn begin_at(&mut self, moment: Duration) {
        self.first = Some(moment);
    }

    /// A sync begins: what was seen until now, it will find. Returns whether there was anything but the time for it.
    pub(crate) fn begin(&mut self) -> bool {
        let is_first = self.first.take().is_some();
        let was_seen = self.seen.take().is_some();
        let was_asked = self.asked.take().is_some();
        !is_first && (was_seen || was_asked)
    }

    /// The sync ended.
    pub(crate) fn end(&mut self, now: Duration, failed: bool) {
        self.ended = Some(now);
        self.n_failed = if failed { self.n_failed + 1 } else { 0 };
    }
}
