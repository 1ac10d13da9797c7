mod chunker;
mod claude_code;
mod codex;
mod config;
mod exchange;
mod field_reports;
mod hostile;
mod openclaw;
mod plain;
mod property;

use memory_api::{Chunked, Chunker, Document, DraftEntry};
use memory_conformance::check_chunked;
use memory_text::estimate_tokens;
use serde_json::Value;

use crate::{Config, TranscriptChunker};

const PATH: &str = "sessions/one.jsonl";

fn chunker(config: Config) -> TranscriptChunker {
    TranscriptChunker::new(config).unwrap()
}

/// Writes rows as a program does.
fn jsonl(rows: &[Value]) -> String {
    rows.iter()
        .flat_map(|row| [row.to_string(), "\n".to_owned()])
        .collect()
}

/// Cuts a transcript with the default settings and holds the result against the contract.
fn chunk(text: &str) -> Chunked {
    chunk_with(text, Config::default())
}

fn chunk_with(text: &str, config: Config) -> Chunked {
    chunk_at(PATH, text, config)
}

/// Cuts a transcript and holds the result against the contract, so that every test is a test of the contract.
fn chunk_at(path: &str, text: &str, config: Config) -> Chunked {
    let document = Document::new("sessions", path, text);
    let chunked = chunker(config).chunk(&document).unwrap();
    if let Err(broken) = check(&document, &chunked, config) {
        panic!("{broken}\n{chunked:#?}");
    }
    chunked
}

fn check(document: &Document<'_>, chunked: &Chunked, config: Config) -> Result<(), String> {
    check_chunked(document, chunked).map_err(|broken| broken.to_string())?;
    for entry in &chunked.entries {
        if !entry.text.starts_with("user: ") && !entry.text.starts_with("assistant: ") {
            return Err(format!("nobody says {:?}", entry.text));
        }
        if estimate_tokens(&entry.text) > config.max_tokens {
            return Err(format!("{:?} is too long", entry.text));
        }
    }
    chunked
        .resume
        .map(drop)
        .ok_or_else(|| "there is no place to go on from".to_owned())
}

/// Cuts rows and returns the texts of the entries.
fn texts_of(rows: &[Value]) -> Vec<String> {
    texts(&chunk(&jsonl(rows)))
}

fn texts(chunked: &Chunked) -> Vec<String> {
    chunked
        .entries
        .iter()
        .map(|entry| entry.text.clone())
        .collect()
}

/// Returns the 1-based lines of every entry.
fn lines(text: &str, chunked: &Chunked) -> Vec<(usize, usize)> {
    let line_of = |idx: usize| text[..idx].matches('\n').count() + 1;
    chunked
        .entries
        .iter()
        .map(|entry| (line_of(entry.span.start), line_of(entry.span.end)))
        .collect()
}

/// Cuts a file that grew to `text` in two, having been as long as `len`, and returns all entries and where the second part began.
fn resumed(text: &str, len: usize, config: Config) -> (Vec<DraftEntry>, usize) {
    let chunker = chunker(config);
    let before = chunker
        .chunk(&Document::new("sessions", PATH, &text[..len]))
        .unwrap();
    let resume = before.resume.unwrap();
    let document = Document::continued("sessions", PATH, Document::head_of(text), &text[resume..]);
    let after = chunker.chunk(&document).unwrap();
    check(&document, &after, config).unwrap();
    let mut entries = before.entries;
    entries.retain(|entry| entry.span.start < resume);
    entries.extend(after.entries.into_iter().map(|mut entry| {
        entry.span = entry.span.start + resume..entry.span.end + resume;
        entry
    }));
    (entries, resume)
}
