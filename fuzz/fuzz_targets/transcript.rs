//! Cuts any transcript, as a whole and in two, with settings that come from its last four bytes.
#![no_main]

use std::collections::HashSet;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use memory_api::{Chunked, Chunker as _, Document};
use memory_chunker_transcript::{Config, TranscriptChunker};
use memory_conformance::check_chunked;
use memory_engine::fuzzing;
use memory_fuzz::{check_message, lines};
use memory_text::estimate_tokens;

const PATH: &str = "sessions/one.jsonl";

fuzz_target!(|data: &[u8]| {
    let (bytes, settings) = data.split_at(data.len().saturating_sub(4));
    let mut settings = settings.iter().copied().map(usize::from);
    let mut next = || settings.next().unwrap_or_default();
    // Small sizes cut often; now and then one that cuts nothing.
    let max_tokens = match next() {
        255 => 8192,
        size => 16 + size,
    };
    let redact = next() % 2 == 0;
    let share = next() * 256 + next();
    let config = Config { max_tokens, redact };
    let chunker = TranscriptChunker::new(config).expect("the settings are within their ranges");
    let text = fuzzing::decode(bytes);

    let whole = cut(&chunker, &Document::new("sessions", PATH, &text), config);
    check_halves(&chunker, &text, &whole, share, config);
    let entries = fuzzing::cut(Arc::new(chunker), PATH, bytes).expect("no text is an error");
    assert_eq!(entries.len(), whole.entries.len());
    let mut ids = HashSet::new();
    let n_lines = lines(&text);
    for entry in &entries {
        assert!(ids.insert(entry.id), "two entries have one id: {entry:?}");
        let (start, end) = (entry.lines.start, entry.lines.end);
        assert!(
            1 <= start && start <= end && end <= n_lines,
            "{} of {n_lines} lines",
            entry.lines
        );
    }
});

/// Cuts a transcript and holds the result against the contract of chunkers and against what this chunker says of itself.
fn cut(chunker: &TranscriptChunker, document: &Document<'_>, config: Config) -> Chunked {
    let chunked = chunker.chunk(document).expect("no text is an error");
    let again = chunker.chunk(document).expect("no text is an error");
    assert_eq!(chunked, again, "the second time gives another result");
    if let Err(broken) = check_chunked(document, &chunked) {
        panic!("{broken}");
    }
    for entry in &chunked.entries {
        assert!(
            entry.text.starts_with("user: ") || entry.text.starts_with("assistant: "),
            "nobody says {:?}",
            entry.text
        );
        assert!(
            estimate_tokens(&entry.text) <= config.max_tokens,
            "{:?} is longer than {} tokens",
            entry.text,
            config.max_tokens
        );
    }
    for warning in &chunked.warnings {
        let line = warning.line.unwrap_or(1);
        assert!((1..=lines(document.text)).contains(&line), "line {line}");
        check_message(&warning.message);
    }
    chunked
}

/// A file that grew has the same entries, whether it is cut as a whole or gone on with.
fn check_halves(
    chunker: &TranscriptChunker,
    text: &str,
    whole: &Chunked,
    share: usize,
    config: Config,
) {
    let mut len = text.len() * share / 0xffff;
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    let before = cut(
        chunker,
        &Document::new("sessions", PATH, &text[..len]),
        config,
    );
    let resume = before.resume.expect("a transcript can be gone on with");
    let head = Document::head_of(text);
    let rest = Document::continued("sessions", PATH, head, &text[resume..]);
    let after = cut(chunker, &rest, config);
    let mut pieces = before.entries;
    pieces.retain(|entry| entry.span.start < resume);
    pieces.extend(after.entries.into_iter().map(|mut entry| {
        entry.span = entry.span.start + resume..entry.span.end + resume;
        entry
    }));
    assert_eq!(
        pieces, whole.entries,
        "cut in two at {resume} after {len} bytes"
    );
}
