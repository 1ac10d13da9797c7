use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use memory_api::Timestamp;

/// Reads a date or a date and time; without a zone it is UTC, without a time midnight.
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    // YAML's own timestamps may have a space before the offset.
    let compact = text
        .replace(" +", "+")
        .replace(" -", "-")
        .replace(" Z", "Z");
    let time = if let Ok(time) = compact.parse::<jiff::Timestamp>() {
        time
    } else if text.contains('[') {
        // A zone's name alone would need the zone database of the machine.
        return None;
    } else {
        // Not parseable as a civil time either is the caller's `None`.
        let civil: DateTime = text.parse().ok()?;
        civil.to_zoned(TimeZone::UTC).ok()?.timestamp()
    };
    Some(Timestamp(time.as_millisecond()))
}
