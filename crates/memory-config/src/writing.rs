//! What the keys of `[write]` may say.

use crate::WriteConfig;
use crate::check::Checker;
use crate::key::KeyPath;

/// What is filled in for `{date}` and its like, by name.
pub type Filling<'a> = &'a [(&'a str, &'a str)];

/// Replaces `{name}` by what is filled in for it; other braces stay as they are.
pub fn fill(template: &str, filling: Filling<'_>) -> String {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(begin) = rest.find('{') {
        let (before, from) = rest.split_at(begin);
        filled.push_str(before);
        let named = filling.iter().find_map(|(name, value)| {
            let after = from
                .strip_prefix('{')?
                .strip_prefix(name)?
                .strip_prefix('}')?;
            Some((value, after))
        });
        rest = if let Some((value, after)) = named {
            filled.push_str(value);
            after
        } else {
            filled.push('{');
            from.strip_prefix('{').unwrap_or_default()
        };
    }
    filled.push_str(rest);
    filled
}

/// Reports what is wrong with the table.
pub(crate) fn check(checker: &mut Checker<'_>, write: &WriteConfig) {
    let date = &["date", "year", "month", "day"];
    let time = &["date", "time"];
    check_template(checker, "file", &write.file, date);
    check_template(checker, "heading", &write.heading, time);
    check_template(checker, "note_heading", &write.note_heading, time);
    let path = |key: &str| KeyPath::new(["write", key]);
    let file = &write.file;
    let is_below =
        file.split('/').all(|part| !matches!(part, "" | "." | "..")) && !file.contains('\\');
    if !is_below {
        let message = format!("`{file}` is no file below the workspace");
        checker.report(
            &path("file"),
            &message,
            Some("an example: `memory/{date}.md`"),
        );
    }
    let zone = &write.time_zone;
    if zone != WriteConfig::SYSTEM && jiff::tz::TimeZone::get(zone).is_err() {
        let message = format!("`{zone}` is not a time zone");
        let hint = "name one as `Europe/Berlin`, `UTC`, or `system`";
        checker.report(&path("time_zone"), &message, Some(hint));
    }
}

fn check_template(checker: &mut Checker<'_>, key: &str, template: &str, names: &[&str]) {
    let path = KeyPath::new(["write", key]);
    if template.chars().any(char::is_control) {
        checker.report(&path, "is more than a line of text", None);
        return;
    }
    let words = template
        .split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0));
    for word in words.filter(|word| !names.contains(word)) {
        let message = format!("nothing is filled in for `{{{word}}}`");
        let known: Vec<String> = names.iter().map(|name| format!("{{{name}}}")).collect();
        let hint = format!("possible: {}", known.join(", "));
        checker.report(&path, &message, Some(&hint));
    }
}
