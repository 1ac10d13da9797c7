//! The stream of tokens between our analysis and FTS5.
//!
//! One line a token: `+` at the next position or `=` at the same one, then the token's namespace in one letter, then its text.
//! FTS5 stores what follows the first character. It gets such lines as the text of a row and as the strings of a query, so the
//! tokenizer need not know which of them it reads, and a text is analysed once.
//!
//! Words hold neither line ends nor NUL, which would end a line or a query.

use memory_sqlite::fts5::{Purpose, TokenSink};
use memory_text::{Form, analyze};

/// The tokenizer's name in the schema.
pub(crate) const TOKENIZER: &str = "memory_tokens";

/// Where a word stands. A path's words have postings of their own: a folder that is in every path makes no word common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Text and headings.
    Content,
    Path,
}

fn namespace(place: Place, form: Form) -> char {
    match (place, form) {
        (Place::Content, Form::Exact) => 'e',
        (Place::Content, Form::Stem) => 's',
        (Place::Path, Form::Exact) => 'p',
        (Place::Path, Form::Stem) => 'q',
    }
}

/// Appends the tokens of a text; returns how many positions they take.
pub(crate) fn push_text(text: &str, place: Place, stream: &mut String) -> u32 {
    let mut n_positions = 0;
    analyze(text, &mut |token| {
        let is_next = token.position >= n_positions;
        n_positions = token.position.saturating_add(1);
        push(is_next, namespace(place, token.form), token.text, stream);
    });
    n_positions
}

/// Appends a position that no query reaches, so that no phrase crosses it.
pub(crate) fn push_border(stream: &mut String) {
    push(true, '|', "", stream);
}

fn push(is_next: bool, namespace: char, text: &str, stream: &mut String) {
    stream.push(if is_next { '+' } else { '=' });
    stream.push(namespace);
    stream.push_str(text);
    stream.push('\n');
}

/// Returns the FTS5 string for tokens at consecutive positions.
pub(crate) fn quoted<'a>(
    words: impl IntoIterator<Item = &'a str>,
    place: Place,
    form: Form,
) -> String {
    let mut stream = String::new();
    for word in words {
        push(true, namespace(place, form), word, &mut stream);
    }
    format!("\"{}\"", stream.trim_end_matches('\n').replace('"', "\"\""))
}

/// Reads the stream.
pub(crate) fn tokenize(_: Purpose, stream: &str, sink: &mut TokenSink<'_>) {
    for line in stream.split_terminator('\n') {
        let colocated = line.starts_with('=');
        if let Some(token) = line.get(1..) {
            // The index keeps no text, so nobody asks for offsets.
            sink.push(token.as_bytes(), 0..0, colocated);
        }
    }
}
