mod block;
mod config;
mod cut;
mod field_reports;
mod front_matter;
mod property;
mod section;

use memory_api::{Chunked, Chunker, Document};
use memory_text::estimate_tokens;

use crate::{Config, MarkdownChunker, Split};

fn config(split: Split, max_tokens: usize) -> Config {
    Config {
        split,
        max_tokens,
        overlap_tokens: None,
    }
}

/// Cuts a note with the default settings.
fn sections(text: &str) -> Chunked {
    chunk(text, Config::default())
}

/// Cuts a note into blocks.
fn blocks(text: &str) -> Chunked {
    chunk(text, config(Split::Block, 400))
}

/// Cuts a note and holds the result against the contract, so that every test is a test of the contract.
fn chunk(text: &str, config: Config) -> Chunked {
    let markdown = MarkdownChunker::new(config).unwrap();
    let document = Document::new("memory", "memory/note.md", text);
    let chunked = markdown.chunk(&document).unwrap();
    let again = markdown.chunk(&document).unwrap();
    assert_eq!(chunked, again, "the second time gives the same");
    if let Err(broken) = check_contract(text, &chunked, config.max_tokens) {
        panic!("{broken}\n{chunked:#?}");
    }
    chunked
}

fn check_contract(text: &str, chunked: &Chunked, max_tokens: usize) -> Result<(), String> {
    let mut covered = vec![false; text.len()];
    let mut last_start = None;
    for entry in &chunked.entries {
        let span = entry.span.clone();
        if text.get(span.clone()) != Some(entry.text.as_str()) {
            return Err(format!(
                "the text of {span:?} is not that piece of the file"
            ));
        }
        if entry.text.trim().is_empty() {
            return Err(format!("{span:?} is blank"));
        }
        if entry.text.trim_end() != entry.text || entry.text.starts_with(['\n', '\r']) {
            return Err(format!("{span:?} is not trimmed"));
        }
        if estimate_tokens(&entry.text) > max_tokens {
            return Err(format!("{span:?} is longer than {max_tokens} tokens"));
        }
        if last_start.is_some_and(|last| last >= span.start) {
            return Err(format!(
                "{span:?} does not begin behind the entry before it"
            ));
        }
        last_start = Some(span.start);
        covered[span].fill(true);
    }
    let mut last_end = 0;
    for span in &chunked.excluded {
        if text.get(span.clone()).is_none() || span.start < last_end {
            return Err(format!("{span:?} is excluded out of order"));
        }
        last_end = span.end;
        if covered[span.clone()].contains(&true) {
            return Err(format!("{span:?} is excluded and in an entry"));
        }
        covered[span.clone()].fill(true);
    }
    match text
        .char_indices()
        .find(|(idx, ch)| !ch.is_whitespace() && !covered[*idx])
    {
        Some((idx, ch)) => Err(format!("{ch:?} at {idx} is lost")),
        None => Ok(()),
    }
}

fn texts(chunked: &Chunked) -> Vec<&str> {
    chunked
        .entries
        .iter()
        .map(|entry| entry.text.as_str())
        .collect()
}

fn paths(chunked: &Chunked) -> Vec<String> {
    chunked
        .entries
        .iter()
        .map(|entry| entry.heading_path.join(" / "))
        .collect()
}

/// Returns the 1-based lines of every entry, counted as an editor does.
fn line_ranges(text: &str, chunked: &Chunked) -> Vec<(usize, usize)> {
    let line_of = |idx: usize| text[..idx].matches('\n').count() + 1;
    chunked
        .entries
        .iter()
        .map(|entry| (line_of(entry.span.start), line_of(entry.span.end)))
        .collect()
}

fn messages(chunked: &Chunked) -> Vec<String> {
    chunked
        .warnings
        .iter()
        .map(|warning| format!("{}: {}", warning.line.unwrap_or_default(), warning.message))
        .collect()
}
