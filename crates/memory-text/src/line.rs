//! Lines and ranges of a text.

use std::ops::Range;

/// What some programs write before a text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a text and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Without its line end.
    pub text: &'a str,
    /// The byte it begins at.
    pub start: usize,
    /// After its line end.
    pub next: usize,
}

impl Line<'_> {
    /// Returns where its text ends, before the line end.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns whether it holds white space alone.
    pub fn is_blank(&self) -> bool {
        self.text.trim_start().is_empty()
    }
}

/// Iterates over the lines of `text[from..]`; `\n`, `\r\n` and a lone `\r` end a line.
pub fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
    let mut position = from;
    std::iter::from_fn(move || {
        let rest = text.get(position..).filter(|rest| !rest.is_empty())?;
        let len = rest
            .bytes()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        let (content, tail) = rest.split_at_checked(len)?;
        let line_end = match tail.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [_, ..] => 1,
            [] => 0,
        };
        let start = position;
        position += len + line_end;
        Some(Line {
            text: content,
            start,
            next: position,
        })
    })
}

/// Returns the text of a range that is known to lie on character borders.
pub fn slice(text: &str, range: Range<usize>) -> &str {
    debug_assert!(
        text.get(range.clone()).is_some(),
        "{range:?} is no piece of the text"
    );
    text.get(range).unwrap_or_default()
}

/// Returns whether a text holds nothing, as the contract of chunkers means it: white space and byte order marks.
pub fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|ch| ch.is_whitespace() || ch == BYTE_ORDER_MARK)
}

/// Shrinks a range to its text: no blank line and no white space at the end, no blank line at the beginning. The first line
/// keeps its indentation, which means something in code and lists.
pub fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = slice(text, range.clone());
    let end = range.start + whole.trim_end().len();
    let body = whole.trim_start();
    let skipped = whole.len() - body.len();
    let blank = slice(whole, 0..skipped);
    let start = range.start + blank.rfind(['\n', '\r']).map_or(0, |line_end| line_end + 1);
    start.min(end)..end
}

/// Returns whether there is anything to read. An entry of marks that nobody sees would find nothing.
pub fn is_visible(text: &str) -> bool {
    let is_mark = |ch: char| {
        ch.is_whitespace()
            || ch.is_control()
            || matches!(ch, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | BYTE_ORDER_MARK)
    };
    !text.chars().all(is_mark)
}
