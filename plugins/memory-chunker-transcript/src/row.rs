//! What one row of a transcript says. Every row tells by its own shape which program wrote it, so that a file may be read from
//! any of its rows on.

use memory_api::Timestamp;
use memory_text::parse_timestamp;

use crate::json::{elements, fields, is_true, string};
use crate::words::{Host, Words, assistant, person};

/// The tools whose answers are recalled memory.
const RECALL_TOOLS: &[&str] = &["memory_search", "memory_get"];

/// Numbers below it are seconds, others milliseconds.
const FIRST_MILLISECONDS: f64 = 1e11;

/// The end of the year 9999 in milliseconds; later times are rubbish.
const LAST_MILLISECONDS: f64 = 253_402_300_799_999.0;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }

    fn of(role: Option<&str>) -> Option<Self> {
        match string(role?)?.as_str() {
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}

/// A row, as far as it matters.
#[derive(Debug, PartialEq)]
pub(crate) enum Row {
    /// Somebody's words.
    Message(Message),
    /// A prompt that no person wrote begins a turn that is left out as a whole.
    Generated,
    /// What comes after has nothing to do with what came before.
    Reset,
    /// The session the following rows belong to.
    Session(Session),
    /// Something that is no words: tools, thoughts, settings.
    Other,
    /// An object of no known shape.
    Unknown,
    /// No object.
    Broken,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Message {
    pub(crate) host: Host,
    pub(crate) speaker: Speaker,
    pub(crate) text: String,
    pub(crate) time: Option<Timestamp>,
    /// The session that the row itself names.
    pub(crate) session: Option<String>,
    /// Rows with the same id are one message that grew.
    pub(crate) id: Option<String>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) id: Option<String>,
    /// Nobody talked in it: a program asked.
    pub(crate) is_generated: bool,
}

/// Reads a row without its line end.
pub(crate) fn read(json: &str) -> Row {
    let Some([kind, role, payload]) = fields(json, ["type", "role", "payload"]) else {
        return Row::Broken;
    };
    match (kind.map(string), payload, role) {
        (Some(Some(kind)), Some(payload), _) => codex(json, &kind, payload),
        (Some(Some(kind)), None, None) => match kind.as_str() {
            "user" | "assistant" => claude_code(json, &kind),
            "session" | "message" | "reset" => openclaw(json, &kind),
            _ => Row::Other,
        },
        (_, _, Some(role)) => plain(json, role),
        _ => Row::Unknown,
    }
}

fn openclaw(json: &str, kind: &str) -> Row {
    let names = [
        "id",
        "key",
        "sessionKey",
        "message",
        "timestamp",
        "sourceTool",
        "provenance",
    ];
    let Some([id, key, session_key, message, recorded, tool, provenance]) = fields(json, names)
    else {
        return Row::Broken;
    };
    match kind {
        "reset" => return Row::Reset,
        "session" => {
            let is_generated = [key, session_key]
                .into_iter()
                .flatten()
                .filter_map(string)
                .any(|key| {
                    key.split(':')
                        .any(|part| matches!(part, "cron" | "heartbeat"))
                });
            return Row::Session(Session {
                id: id.and_then(string),
                is_generated,
            });
        }
        _ => {}
    }
    let names = ["role", "content", "timestamp", "sourceTool", "provenance"];
    let Some([role, content, said, own_tool, own_provenance]) =
        message.and_then(|message| fields(message, names))
    else {
        return Row::Other;
    };
    let of_provenance = [provenance, own_provenance].into_iter().flatten();
    let recalls = of_provenance
        .filter_map(|provenance| fields(provenance, ["sourceTool"]))
        .flatten()
        .chain([tool, own_tool])
        .flatten()
        .any(is_recall);
    let Some(speaker) = Speaker::of(role).filter(|_| !recalls) else {
        return Row::Other;
    };
    message_of(
        Host::OpenClaw,
        speaker,
        content,
        timestamp(said).or_else(|| timestamp(recorded)),
    )
}

fn is_recall(tool: &str) -> bool {
    string(tool).is_some_and(|tool| RECALL_TOOLS.contains(&tool.as_str()))
}

fn claude_code(json: &str, kind: &str) -> Row {
    let names = [
        "message",
        "timestamp",
        "sessionId",
        "isMeta",
        "isSidechain",
        "isCompactSummary",
        "isApiErrorMessage",
    ];
    let Some([message, time, session, flags @ ..]) = fields(json, names) else {
        return Row::Broken;
    };
    if flags.into_iter().any(is_true) {
        return Row::Other;
    }
    let Some([role, content, id]) =
        message.and_then(|message| fields(message, ["role", "content", "id"]))
    else {
        return Row::Other;
    };
    let speaker = if kind == "user" {
        Speaker::User
    } else {
        Speaker::Assistant
    };
    if role.is_some() && Speaker::of(role) != Some(speaker) {
        return Row::Other;
    }
    match message_of(Host::ClaudeCode, speaker, content, timestamp(time)) {
        Row::Message(message) => Row::Message(Message {
            session: session.and_then(string),
            id: id.and_then(string),
            ..message
        }),
        other => other,
    }
}

fn codex(json: &str, kind: &str, payload: &str) -> Row {
    let Some([id, kind_inside, role, content]) = fields(payload, ["id", "type", "role", "content"])
    else {
        return Row::Other;
    };
    match kind {
        "session_meta" => Row::Session(Session {
            id: id.and_then(string),
            is_generated: false,
        }),
        // The same words come again as events, which are left out.
        "response_item" => {
            let is_message = kind_inside.and_then(string).as_deref() == Some("message");
            let Some(speaker) = Speaker::of(role).filter(|_| is_message) else {
                return Row::Other;
            };
            let time = fields(json, ["timestamp"]).and_then(|[time]| timestamp(time));
            message_of(Host::Codex, speaker, content, time)
        }
        _ => Row::Other,
    }
}

fn plain(json: &str, role: &str) -> Row {
    let Some([content, time, session]) = fields(json, ["content", "timestamp", "session"]) else {
        return Row::Broken;
    };
    let Some(speaker) = Speaker::of(Some(role)) else {
        return Row::Other;
    };
    match message_of(Host::Plain, speaker, content, timestamp(time)) {
        Row::Message(message) => Row::Message(Message {
            session: session.and_then(string),
            ..message
        }),
        other => other,
    }
}

fn message_of(host: Host, speaker: Speaker, content: Option<&str>, time: Option<Timestamp>) -> Row {
    let mut text = String::new();
    for part in content.map(parts).unwrap_or_default() {
        let part = part.replace("\r\n", "\n").replace('\r', "\n");
        let words = match speaker {
            Speaker::User => person(host, &part),
            Speaker::Assistant => assistant(&part),
        };
        match words {
            Words::Said(words) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(words);
            }
            Words::LeftOut => {}
            Words::Generated => return Row::Generated,
        }
    }
    if text.is_empty() {
        return Row::Other;
    }
    Row::Message(Message {
        host,
        speaker,
        text,
        time,
        session: None,
        id: None,
    })
}

/// Returns the texts of a content: one string, or the blocks of text among others.
fn parts(content: &str) -> Vec<String> {
    if let Some(text) = string(content) {
        return vec![text];
    }
    let blocks = elements(content).unwrap_or_default();
    blocks
        .into_iter()
        .filter_map(|block| {
            let [kind, text, tool] = fields(block, ["type", "text", "sourceTool"])?;
            let is_text = matches!(
                kind.and_then(string).as_deref(),
                Some("text" | "input_text" | "output_text")
            );
            text.filter(|_| is_text && !tool.is_some_and(is_recall))
                .and_then(string)
        })
        .collect()
}

/// Reads a time: seconds, milliseconds or a date. What is none of them is no time.
fn timestamp(json: Option<&str>) -> Option<Timestamp> {
    let json = json?;
    if let Some(text) = string(json) {
        return parse_timestamp(text.trim()).filter(|time| time.0 > 0);
    }
    let number: f64 = json.parse().ok()?;
    let millis = if number < FIRST_MILLISECONDS {
        number * 1000.0
    } else {
        number
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "parts of a millisecond are not kept, and the range is checked"
    )]
    (number > 0.0 && millis <= LAST_MILLISECONDS).then_some(Timestamp(millis.round() as i64))
}
