//! Flush before compaction: when a conversation is about to be compacted, its agent is told once to write down what matters.
//!
//! A host asks [`Memory::check_flush`](crate::Memory::check_flush) before each turn; the rest of this module is what that answers
//! by, for hosts that keep their own books.

use memory_api::{Error, ErrorKind, Result};
use memory_config::FlushConfig;
use memory_engine::FlushCycle;
use serde::Serialize;

/// Flushes of one cycle that may fail.
pub const MAX_FAILURES: u32 = 3;

/// What an agent answers that has nothing to say to a person.
pub const NO_REPLY: &str = "NO_REPLY";

/// How much of a model's window may be used before a flush is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Budget {
    /// The window, in tokens.
    pub window: u64,
    /// What is kept free for the compaction.
    pub reserve: u64,
    /// How much before that it is time.
    pub soft: u64,
    /// The tokens from which it is time; 0 means never.
    pub threshold: u64,
}

impl Budget {
    /// Divides a window: the reserve is at most a quarter of it, the soft part at most half of what that leaves.
    pub fn new(window: u64, reserve_floor: u64, soft: u64) -> Self {
        let reserve = reserve_floor.min(window / 4);
        let rest = window - reserve;
        let soft = soft.min(rest / 2);
        Self {
            window,
            reserve,
            soft,
            threshold: rest - soft,
        }
    }
}

/// Returns how many tokens the next call of a model has: what the last one had, what it answered, and an estimate of what comes.
pub fn prompt_tokens(last_prompt: u64, last_output: u64, estimate: u64) -> u64 {
    last_prompt
        .saturating_add(last_output)
        .saturating_add(estimate)
}

/// Returns whether an answer is [`NO_REPLY`] and nothing else, whatever quotes, punctuation, emphasis or code fences it wears.
pub fn is_no_reply(text: &str) -> bool {
    let is_wrapping = |c: char| {
        c.is_whitespace()
            || c.is_ascii_punctuation()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
            || "“”‘’„‚«»‹›「」『』《》【】（）。．！，、；：…—–".contains(c)
    };
    let mut lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    // The word behind an opening fence names a language.
    let is_fenced =
        |mark: &str| lines.len() > 1 && lines.first().is_some_and(|line| line.starts_with(mark));
    if is_fenced("```") || is_fenced("~~~") {
        lines.remove(0);
    }
    let said = lines.join("\n");
    let word = said.trim_matches(is_wrapping);
    word.eq_ignore_ascii_case(NO_REPLY) || word.eq_ignore_ascii_case("NO\\_REPLY")
}

/// How far a conversation is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FlushCheck {
    /// The tokens of its next prompt, see [`prompt_tokens`].
    pub tokens: u64,
    /// The window of its model, in tokens.
    pub window: u64,
    /// Names the time between two compactions, such as the session and a number that each compaction raises.
    pub cycle: String,
    /// The size of its transcript, if known.
    pub transcript_bytes: Option<u64>,
    /// The flush that was asked for last in this cycle failed.
    pub failed: bool,
}

/// Whether a flush is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FlushAnswer {
    /// Whether the agent should write now. Of two that ask at once, one hears yes.
    pub due: bool,
    /// Why, or why not.
    pub reason: FlushReason,
    /// The same in words.
    pub message: String,
    /// The cycle.
    pub cycle: String,
    /// The tokens that were given.
    pub tokens: u64,
    /// How the window is divided.
    pub budget: Budget,
    /// The size of a transcript from which it is time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript_threshold: Option<u64>,
    /// How many flushes of this cycle failed.
    pub failures: u32,
    /// The note of the day.
    pub path: String,
    /// What to tell the agent about its task, where it is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// What to ask it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What a person should see: the cycle was given up, or is not remembered.
    pub warnings: Vec<String>,
}

/// Why a flush is due or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlushReason {
    /// Due: the tokens reach the threshold.
    Tokens,
    /// Due: the transcript reaches its size.
    Transcript,
    /// Due: the last one failed.
    Again,
    /// Not due: there is room.
    Below,
    /// Not due: it was asked for in this cycle.
    Asked,
    /// Not due: too many of this cycle failed.
    GivenUp,
    /// Not due: the config says never.
    Off,
}

impl FlushReason {
    /// Returns whether it is a reason to flush.
    pub fn is_due(self) -> bool {
        matches!(self, Self::Tokens | Self::Transcript | Self::Again)
    }
}

/// Returns why a conversation has to be flushed, if it has to.
pub fn pressure(check: &FlushCheck, budget: Budget, config: &FlushConfig) -> Option<FlushReason> {
    let transcript = transcript_threshold(config);
    if budget.threshold > 0 && check.tokens >= budget.threshold {
        Some(FlushReason::Tokens)
    } else if transcript.is_some_and(|limit| check.transcript_bytes.is_some_and(|n| n >= limit)) {
        Some(FlushReason::Transcript)
    } else {
        None
    }
}

/// Decides by what is known of the cycle, and returns what is known of it then.
pub fn decide(
    pressure: Option<FlushReason>,
    failed: bool,
    known: FlushCycle,
) -> (FlushCycle, FlushReason) {
    let mut next = known;
    if failed {
        next.failed = next.failed.saturating_add(1);
        // One that nobody remembers was asked for all the same.
        next.asked = next.asked.max(1);
    }
    let reason = match pressure {
        _ if next.failed >= MAX_FAILURES => FlushReason::GivenUp,
        None => FlushReason::Below,
        Some(_) if failed => FlushReason::Again,
        Some(_) if known.asked > 0 => FlushReason::Asked,
        Some(reason) => reason,
    };
    if reason.is_due() {
        next.asked = next.asked.max(known.asked.saturating_add(1));
    }
    (next, reason)
}

/// The size of a transcript from which a flush is due, in bytes.
pub(crate) fn transcript_threshold(config: &FlushConfig) -> Option<u64> {
    (config.transcript_kib > 0).then(|| config.transcript_kib.saturating_mul(1024))
}

/// # Errors
///
/// `InvalidInput` for a cycle without a name.
pub(crate) fn check_cycle(cycle: &str) -> Result<()> {
    if cycle.trim().is_empty() || cycle.len() > 1_024 {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "a cycle needs a name of at most 1024 bytes",
        )
        .with_hint("name it after the session and the number of its compactions, as `a1b2:3`"));
    }
    Ok(())
}

/// Says a reason in words.
pub(crate) fn message(reason: FlushReason, check: &FlushCheck, budget: Budget) -> String {
    let Budget {
        window, threshold, ..
    } = budget;
    let tokens = check.tokens;
    match reason {
        FlushReason::Tokens => {
            format!("{tokens} tokens reach the threshold of {threshold} (of a window of {window})")
        }
        FlushReason::Transcript => format!(
            "the transcript has {} bytes",
            check.transcript_bytes.unwrap_or_default()
        ),
        FlushReason::Again => "the last one failed".to_owned(),
        FlushReason::Below if threshold == 0 => format!("a window of {window} has no threshold"),
        FlushReason::Below => format!(
            "{tokens} tokens are below the threshold of {threshold} (of a window of {window})"
        ),
        FlushReason::Asked => "it was asked for in this cycle already".to_owned(),
        FlushReason::GivenUp => {
            format!("{MAX_FAILURES} flushes of this cycle failed; the next cycle tries again")
        }
        FlushReason::Off => "it is switched off by `flush.enabled`".to_owned(),
    }
}
