use jiff::civil::Date;
use jiff::tz::TimeZone;
use memory_api::{Error, ErrorKind, Result, Timestamp};

/// Reads what a person or a model writes for a time: a day (its midnight, UTC) or a time with its zone.
///
/// # Errors
///
/// `InvalidInput` for anything else; a time without a zone would be another one elsewhere.
pub fn parse_time(text: &str) -> Result<Timestamp> {
    let millis = |time: jiff::Timestamp| Timestamp(time.as_millisecond());
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Ok(millis(time));
    }
    // A time without a zone would be read as its day alone.
    let day = text.split_once(['T', 't', ' ']).map_or(text, |_| "");
    let midnight = day
        .parse::<Date>()
        .and_then(|date| date.to_zoned(TimeZone::UTC));
    midnight
        .map(|zoned| millis(zoned.timestamp()))
        .map_err(|_| {
            Error::new(
                ErrorKind::InvalidInput,
                "not a day (2026-05-18) or time (2026-05-18T09:30:00Z)",
            )
        })
}
