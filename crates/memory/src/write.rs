use std::time::Duration;

use jiff::Zoned;
use jiff::tz::TimeZone;
use memory_api::{Error, ErrorKind, Result, Timestamp};
use memory_config::{WriteConfig, fill};
use memory_engine::AddRequest;

/// How long an addition waits for another process that writes the index.
const WAIT: Duration = Duration::from_secs(5);

/// A text for a memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addition {
    text: String,
    target: Target,
    wait: Duration,
}

/// The memory file a text is added to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Target {
    /// The note of the day, `write.file` in the config.
    #[default]
    Daily,
    /// Any other, as results name it. It need not exist.
    Note(String),
}

impl Target {
    /// Reads `daily` or a path.
    pub fn named(name: &str) -> Self {
        match name {
            "daily" => Self::Daily,
            path => Self::Note(path.to_owned()),
        }
    }
}

impl Addition {
    /// Creates an addition to the note of the day.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            target: Target::Daily,
            wait: WAIT,
        }
    }

    /// Sets the memory file.
    pub fn with_target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Sets how long to wait for another process that writes the index, before answering that the text is not indexed yet. By
    /// default 5 seconds.
    pub fn with_wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returns what the engine is asked for at this moment, which the name of the file and the heading are both of.
    pub(crate) fn request(&self, write: &WriteConfig, moment: &Moment) -> AddRequest {
        let (path, heading) = match &self.target {
            Target::Daily => (moment.file(write), &write.heading),
            Target::Note(path) => (path.clone(), &write.note_heading),
        };
        AddRequest {
            text: self.text.clone(),
            path,
            heading: moment.fill(heading),
            max_chars: write.max_chars,
            wait: self.wait,
        }
    }

    /// Says what to do where the note of the day is none of the memory files.
    pub(crate) fn explain(&self, err: Error) -> Error {
        let is_place = err.kind() == ErrorKind::InvalidInput && err.context("path").is_some();
        if is_place && self.target == Target::Daily && err.context("refused").is_none() {
            err.with_hint(
                "set `write.file` to a place among the memory files, such as \"memory/{date}.md\"",
            )
        } else {
            err
        }
    }
}

/// A moment where a person is.
#[derive(Debug)]
pub(crate) struct Moment {
    date: String,
    time: String,
}

impl Moment {
    /// # Errors
    ///
    /// `InvalidInput` for a moment beyond the calendar.
    pub(crate) fn new(now: Timestamp, zone: &TimeZone) -> Result<Self> {
        let instant = jiff::Timestamp::from_millisecond(now.0).map_err(|err| {
            Error::new(
                ErrorKind::InvalidInput,
                format!("the time of day is none: {err}"),
            )
        })?;
        let zoned = Zoned::new(instant, zone.clone());
        Ok(Self {
            date: zoned.date().to_string(),
            time: format!("{:02}:{:02}", zoned.hour(), zoned.minute()),
        })
    }

    /// Returns the path of the note of the day.
    pub(crate) fn file(&self, write: &WriteConfig) -> String {
        // Years before 0 have more characters.
        let mut parts = self.date.rsplitn(3, '-');
        let (day, month) = (parts.next(), parts.next());
        let year = parts.next();
        fill(
            &write.file,
            &[
                ("date", &self.date),
                ("year", year.unwrap_or_default()),
                ("month", month.unwrap_or_default()),
                ("day", day.unwrap_or_default()),
            ],
        )
    }

    pub(crate) fn fill(&self, template: &str) -> String {
        fill(template, &[("date", &self.date), ("time", &self.time)])
    }

    /// Fills in a prompt.
    pub(crate) fn prompt(&self, template: &str, path: &str) -> String {
        fill(
            template,
            &[("date", &self.date), ("time", &self.time), ("path", path)],
        )
    }
}

/// Returns the zone that the config names.
///
/// # Errors
///
/// `Config` for a name that is none; loading a config refuses it before.
pub(crate) fn time_zone(write: &WriteConfig) -> Result<TimeZone> {
    if write.time_zone == WriteConfig::SYSTEM {
        return Ok(TimeZone::system());
    }
    TimeZone::get(&write.time_zone).map_err(|err| {
        Error::new(ErrorKind::Config, err.to_string()).with_context("key", "write.time_zone")
    })
}
