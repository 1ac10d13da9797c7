use std::ops::Range;

pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a text and where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Without its line end.
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    /// After its line end.
    pub(crate) next: usize,
}

impl<'a> Line<'a> {
    /// Where its text ends, before the line end.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_start().is_empty()
    }

    /// Returns the width of its indentation in columns, and what follows.
    pub(crate) fn indent(&self) -> (usize, &'a str) {
        indent(self.text, 0)
    }
}

/// Returns the columns up to the first character that is no space or tab, counted from `column`, and what follows.
pub(crate) fn indent(text: &str, column: usize) -> (usize, &str) {
    let mut end = column;
    for (idx, byte) in text.bytes().enumerate() {
        match byte {
            b' ' => end += 1,
            b'\t' => end += 4 - end % 4,
            _ => return (end - column, text.get(idx..).unwrap_or_default()),
        }
    }
    (end - column, "")
}

/// Iterates over the lines of `text[from..]`; `\n`, `\r\n` and a lone `\r` end a line.
pub(crate) fn lines(text: &str, from: usize) -> impl Iterator<Item = Line<'_>> {
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
pub(crate) fn slice(text: &str, range: Range<usize>) -> &str {
    debug_assert!(
        text.get(range.clone()).is_some(),
        "{range:?} is no piece of the text"
    );
    text.get(range).unwrap_or_default()
}

/// Returns whether a text holds nothing, as the contract of chunkers means it: white space and byte order marks.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|ch| ch.is_whitespace() || ch == BYTE_ORDER_MARK)
}

/// Shrinks a range to its text: no blank line and no white space at the end, no blank line at the beginning. The first line
/// keeps its indentation, which means something in code and lists.
pub(crate) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let whole = slice(text, range.clone());
    let end = range.start + whole.trim_end().len();
    let body = whole.trim_start();
    let skipped = whole.len() - body.len();
    let blank = slice(whole, 0..skipped);
    let start = range.start + blank.rfind(['\n', '\r']).map_or(0, |line_end| line_end + 1);
    start.min(end)..end
}
