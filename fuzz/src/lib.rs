//! What the targets share.

use memory_api::{Chunked, Chunker as _, Document};
use memory_chunker_markdown::{Config, MarkdownChunker};
use memory_conformance::check_chunked;
use memory_text::estimate_tokens;

/// Cuts a note and holds the result against the contract of chunkers and against what this chunker says of itself.
///
/// # Panics
///
/// When the result breaks any of it.
pub fn cut(text: &str, config: Config) -> Chunked {
    let document = Document::new("memory", "memory/note.md", text);
    let cut = || {
        MarkdownChunker::new(config)
            .expect("the settings are within their ranges")
            .chunk(&document)
            .expect("no text is an error")
    };
    let chunked = cut();
    assert_eq!(chunked, cut(), "the second time gives another result");
    if let Err(broken) = check_chunked(&document, &chunked) {
        panic!("{broken}");
    }
    let mut last_start = None;
    for entry in &chunked.entries {
        let span = entry.span.clone();
        assert_eq!(
            text.get(span.clone()),
            Some(entry.text.as_str()),
            "the text of {span:?} is not that piece of the file"
        );
        assert!(
            estimate_tokens(&entry.text) <= config.max_tokens,
            "{span:?} is longer than {} tokens",
            config.max_tokens
        );
        assert!(
            last_start.is_none_or(|last| last < span.start),
            "{span:?} does not begin behind the entry before it"
        );
        last_start = Some(span.start);
    }
    let n_lines = lines(text);
    for warning in &chunked.warnings {
        let line = warning.line.unwrap_or(1);
        assert!(
            (1..=n_lines).contains(&line),
            "line {line} of {n_lines}: {}",
            warning.message
        );
        check_message(&warning.message);
    }
    chunked
}

/// Holds a message against the rules of messages: it says something, on one line.
///
/// # Panics
///
/// When it does not.
pub fn check_message(message: &str) {
    assert!(
        !message.trim().is_empty() && !message.contains(['\n', '\r']),
        "{message:?} is no message"
    );
}

/// Returns the number of lines, as an editor counts them; an empty text has one.
pub fn lines(text: &str) -> u32 {
    let n_ends = text.bytes().filter(|byte| *byte == b'\n').count();
    u32::try_from(n_ends).map_or(u32::MAX, |n_ends| n_ends.saturating_add(1))
}
