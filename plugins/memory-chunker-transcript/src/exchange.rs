//! A question and what was answered, on its way to become entries.

use std::ops::Range;

use memory_api::{DraftEntry, Timestamp};
use memory_text::cut::{Cutter, Piece};
use memory_text::estimate_tokens;
use memory_text::line::slice;

use crate::row::{Message, Speaker};

/// What naming the speakers takes of an entry at most: `user: ` and `assistant: `, with the spaces they are joined by.
const SPEAKER_TOKENS: usize = 8;

/// The kind of every entry: what was said at a time.
const KIND: &str = "episodic";

/// How many other messages may stand between two rows of one that grows.
const MAX_BETWEEN: usize = 16;

/// What somebody said, and the rows it stands in.
#[derive(Debug)]
struct Said {
    rows: Range<usize>,
    message: Message,
}

/// The words of a user and the answer to them.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The byte its first row begins at.
    pub(crate) start: usize,
    pub(crate) session: String,
    /// A program asked, so that nothing of it is kept.
    pub(crate) is_generated: bool,
    /// Rows among and behind its own that are no words.
    pub(crate) left_out: Vec<Range<usize>>,
    said: Vec<Said>,
}

impl Exchange {
    pub(crate) fn new(start: usize, session: String, is_generated: bool) -> Self {
        Self {
            start,
            session,
            is_generated,
            left_out: Vec::new(),
            said: Vec::new(),
        }
    }

    /// Returns whether somebody's words go on with it; a user's words after an answer begin another one.
    pub(crate) fn takes(&self, speaker: Speaker, session: &str) -> bool {
        let is_answered = self.is_generated
            || self
                .said
                .last()
                .is_some_and(|last| last.message.speaker == Speaker::Assistant);
        self.session == session && (speaker == Speaker::Assistant || !is_answered)
    }

    /// Adds a message. An answer that grows from row to row is one.
    pub(crate) fn add(&mut self, rows: Range<usize>, message: Message) {
        if self.is_generated {
            self.left_out.push(rows);
            return;
        }
        let is_answer = |said: &Said| said.message.speaker == Speaker::Assistant;
        let repeats_last = self
            .said
            .last()
            .is_some_and(|last| is_answer(last) && last.message.text == message.text);
        if message.speaker == Speaker::Assistant && repeats_last {
            self.left_out.push(rows);
            return;
        }
        let grown = self.said.iter_mut().rev().take(MAX_BETWEEN).find(|said| {
            let before = &said.message;
            before.id.is_some()
                && before.id == message.id
                && before.speaker == message.speaker
                && (message.text.starts_with(&before.text)
                    || before.text.starts_with(&message.text))
        });
        match grown {
            Some(said) => {
                if said.message.text.len() < message.text.len() {
                    said.message.text = message.text;
                    said.rows.end = rows.end;
                } else {
                    self.left_out.push(rows);
                }
            }
            None => self.said.push(Said { rows, message }),
        }
    }

    /// Cuts it, and returns the entries and the rows that stand in none.
    pub(crate) fn cut(mut self, max_tokens: usize) -> (Vec<DraftEntry>, Vec<Range<usize>>) {
        let mut text = String::new();
        let mut pieces: Vec<Piece> = Vec::new();
        for said in &mut self.said {
            if !text.is_empty() {
                text.push('\n');
            }
            let start = text.len();
            text.push_str(&std::mem::take(&mut said.message.text));
            pieces.push(Piece {
                span: start..text.len(),
                parts: Vec::new(),
                prose: true,
            });
        }
        let whole = self.render(&text, &pieces, 0..text.len());
        let entries = if whole
            .as_ref()
            .is_none_or(|entry| estimate_tokens(&entry.text) <= max_tokens)
        {
            whole.into_iter().collect()
        } else {
            let cutter = Cutter {
                text: &text,
                max_tokens: max_tokens.saturating_sub(SPEAKER_TOKENS),
                overlap_tokens: 0,
            };
            let spans = cutter.cut(None, &pieces).entries;
            spans
                .into_iter()
                .filter_map(|span| self.render(&text, &pieces, span))
                .collect::<Vec<_>>()
        };
        // Spans overlap where an answer grew around another one, so the last one need not reach furthest.
        let mut reached = 0;
        let reach: Vec<(usize, usize)> = entries
            .iter()
            .map(|entry| {
                reached = entry.span.end.max(reached);
                (entry.span.start, reached)
            })
            .collect();
        let is_left_out = |rows: &Range<usize>| {
            let idx = reach.partition_point(|(start, _)| *start <= rows.start);
            let before = reach.get(..idx).and_then(<[_]>::last);
            before.is_none_or(|(_, end)| *end <= rows.start)
        };
        let left_out = self.left_out.drain(..).filter(is_left_out).collect();
        (entries, left_out)
    }

    /// Writes a part of the text with its speakers; `None` where nobody says anything.
    fn render(&self, text: &str, pieces: &[Piece], part: Range<usize>) -> Option<DraftEntry> {
        let mut entry = DraftEntry::default();
        let mut speaker = None;
        let mut time: Option<Timestamp> = None;
        let first = pieces.partition_point(|piece| piece.span.end <= part.start);
        let rest = self.said.iter().zip(pieces).skip(first);
        for (said, piece) in rest.take_while(|(_, piece)| piece.span.start < part.end) {
            let words = part.start.max(piece.span.start)..part.end.min(piece.span.end);
            if words.is_empty() {
                continue;
            }
            if entry.text.is_empty() {
                entry.span = said.rows.clone();
            } else {
                entry.text.push('\n');
                entry.span.end = entry.span.end.max(said.rows.end);
            }
            if speaker.replace(said.message.speaker) != Some(said.message.speaker) {
                entry.text.push_str(said.message.speaker.as_str());
                entry.text.push_str(": ");
            }
            entry.text.push_str(slice(text, words));
            time = time.or(said.message.time);
        }
        if entry.text.is_empty() {
            return None;
        }
        let first_time = || self.said.iter().find_map(|said| said.message.time);
        entry.time = time.or_else(first_time);
        entry.kind = Some(KIND.to_owned());
        entry.tags = vec![format!("session:{}", self.session)];
        Some(entry)
    }
}
