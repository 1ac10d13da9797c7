use memory_text::redact::{find_secrets, redact};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Part of a document, by lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Window {
    /// Whether there was something to show.
    pub status: WindowStatus,
    /// The document's path relative to the workspace.
    pub path: String,
    /// The lines, joined as they stand in the file, without the last line end.
    pub text: String,
    /// The first line shown, 1-based.
    pub from: u64,
    /// How many lines are shown.
    pub lines: u64,
    /// How many lines the document has.
    pub total_lines: u64,
    /// Whether something of what follows was left out.
    pub truncated: bool,
    /// The line to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_from: Option<u64>,
    /// What to do to see more, for people and models. Kept apart from `text`, which is the file's own words alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// Whether a window shows something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WindowStatus {
    /// The lines asked for, or the document is empty and `total_lines` is 0.
    Ok,
    /// `from` lies behind the last line.
    PastEnd,
}

/// Lines in a window when the caller names no number.
const DEFAULT_LINES: u64 = 120;

/// Cuts a window out of a text.
///
/// `from` is 1-based; values below 1 mean 1. `lines` defaults to 120 and is at least 1. The text holds whole lines of at most
/// `max_chars` characters together; a first line that is longer alone is cut on a character border. One line end at the very
/// end of the text begins no line.
pub fn read_window(
    path: &str,
    content: &str,
    from: Option<i64>,
    lines: Option<i64>,
    max_chars: usize,
) -> Window {
    let at_least_one = |value: i64| u64::try_from(value).unwrap_or(1).max(1);
    let from = from.map_or(1, at_least_one);
    let wanted = lines.map_or(DEFAULT_LINES, at_least_one);
    let body = content.strip_suffix('\n').unwrap_or(content);
    let total_lines = if content.is_empty() {
        0
    } else {
        body.split('\n').count() as u64
    };
    let mut window = Window {
        status: if from > total_lines && total_lines > 0 {
            WindowStatus::PastEnd
        } else {
            WindowStatus::Ok
        },
        path: path.to_owned(),
        text: String::new(),
        from,
        lines: 0,
        total_lines,
        truncated: false,
        next_from: None,
        notice: None,
    };
    let mut n_chars = 0;
    let first = usize::try_from(from - 1).unwrap_or(usize::MAX);
    let rest = body
        .split('\n')
        .skip(first)
        .take(usize::try_from(wanted).unwrap_or(usize::MAX));
    for line in rest.take(if total_lines == 0 { 0 } else { usize::MAX }) {
        let separator = usize::from(window.lines > 0);
        let n_line_chars = line.chars().count();
        if n_chars + separator + n_line_chars > max_chars {
            if window.lines == 0 {
                window.text = line.chars().take(max_chars).collect();
                window.lines = 1;
                window.truncated = true;
                window.next_from = (from < total_lines).then_some(from + 1);
                window.notice = Some(match window.next_from {
                    Some(next) => format!(
                        "More content available. Line {from} is longer than {max_chars} characters and was cut. Use from={next} to continue behind it."
                    ),
                    None => {
                        format!("Line {from} is longer than {max_chars} characters and was cut.")
                    }
                });
                return window;
            }
            break;
        }
        if separator == 1 {
            window.text.push('\n');
        }
        window.text.push_str(line);
        n_chars += separator + n_line_chars;
        window.lines += 1;
    }
    let next = from.saturating_add(window.lines);
    if window.status == WindowStatus::Ok && next <= total_lines {
        window.truncated = true;
        window.next_from = Some(next);
        window.notice = Some(format!(
            "More content available. Use from={next} to continue."
        ));
    } else if window.status == WindowStatus::PastEnd {
        window.notice = Some(match total_lines {
            1 => "The document has 1 line.".to_owned(),
            n => format!("The document has {n} lines."),
        });
    }
    window
}

/// Takes the secrets out of rows of JSON. A row without one stays as it is, byte by byte.
pub(crate) fn redact_rows(rows: &str) -> String {
    let redacted: Vec<String> = rows.split('\n').map(redact_row).collect();
    redacted.join("\n")
}

/// What is escaped in a row hides a secret from whoever looks for it, so strings are looked at as they are meant.
fn redact_row(row: &str) -> String {
    let written_anew = serde_json::from_str::<Value>(row)
        .ok()
        .and_then(|mut value| redact_strings(&mut value).then(|| value.to_string()));
    // A secret may also be told by the key it stands under.
    redact(written_anew.as_deref().unwrap_or(row))
        .text
        .into_owned()
}

/// Returns whether there was anything to take out.
fn redact_strings(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let has_secrets = !find_secrets(text).is_empty();
            if has_secrets {
                *text = redact(text).text.into_owned();
            }
            has_secrets
        }
        // All of them, not only up to the first.
        Value::Array(items) => count(items.iter_mut()) > 0,
        Value::Object(fields) => count(fields.values_mut()) > 0,
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn count<'a>(values: impl Iterator<Item = &'a mut Value>) -> usize {
    values
        .map(redact_strings)
        .filter(|redacted| *redacted)
        .count()
}
