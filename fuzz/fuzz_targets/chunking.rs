//! Cuts any text, with settings that come from its last four bytes.
#![no_main]

use std::collections::HashSet;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use memory_chunker_markdown::{Config, MarkdownChunker, Split};
use memory_engine::fuzzing::{self, CutEntry};

fuzz_target!(|data: &[u8]| {
    let (bytes, settings) = data.split_at(data.len().saturating_sub(4));
    let mut settings = settings.iter().copied().map(usize::from);
    let mut next = || settings.next().unwrap_or_default();
    // Small sizes cut often; now and then one that cuts nothing.
    let max_tokens = match next() {
        255 => 8192,
        size => 16 + size,
    };
    let overlap_tokens = match next() {
        255 => None,
        share => Some((max_tokens - 1) * share / 254),
    };
    let split = if next() % 2 == 0 {
        Split::Section
    } else {
        Split::Block
    };
    let config = Config {
        split,
        max_tokens,
        overlap_tokens,
    };
    let text = fuzzing::decode(bytes);
    let chunked = memory_fuzz::cut(&text, config);
    let chunker = MarkdownChunker::new(config).expect("the settings are within their ranges");
    let entries =
        fuzzing::cut(Arc::new(chunker), "memory/note.md", bytes).expect("no text is an error");
    assert_eq!(entries.len(), chunked.entries.len());
    check_entries(&text, &entries);
});

/// What the store gets: every entry with an id of its own and the lines that it stands in.
fn check_entries(text: &str, entries: &[CutEntry]) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut ids = HashSet::new();
    let mut last_start = 1;
    for entry in entries {
        assert!(ids.insert(entry.id), "two entries have one id: {entry:?}");
        let (start, end) = (entry.lines.start as usize, entry.lines.end as usize);
        assert!(
            last_start <= start && start <= end && end <= lines.len(),
            "{} of {} lines, behind {last_start}",
            entry.lines,
            lines.len()
        );
        last_start = start;
        let part = &lines[start - 1..end];
        assert!(
            part.concat().contains(&entry.text),
            "{entry:?} is not in its lines"
        );
        let spared = [&part[1..], &part[..part.len() - 1]];
        let is_tight = spared
            .iter()
            .all(|fewer| !fewer.concat().contains(&entry.text));
        assert!(
            is_tight || repeats(text, &entry.text),
            "{entry:?} has lines too many"
        );
    }
}

/// Returns whether a text stands at several places, so that none of them tells its lines.
fn repeats(text: &str, part: &str) -> bool {
    let first = text.find(part).unwrap_or_default();
    let next = text
        .get(first..)
        .and_then(|rest| rest.char_indices().nth(1));
    next.is_some_and(|(skipped, _)| text[first + skipped..].contains(part))
}
