//! Reads any text as a note, and as the front matter of one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memory_api::{Chunked, DocumentMeta};
use memory_chunker_markdown::Config;
use memory_fuzz::cut;

const BODY: &str = "# Pump\n\nIt sits in the cellar.\n\n## Filter\n\n- wash it in May\n";

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    check(&text);
    check(&format!("---\n{text}\n---\n{BODY}"));
});

fn check(text: &str) {
    let chunked = cut(text, Config::default());
    check_meta(&chunked.meta);
    if let Some(end) = front_matter(text, &chunked) {
        check_body(text, end, &chunked);
    } else {
        assert_eq!(
            chunked.meta,
            DocumentMeta::default(),
            "what is no front matter says something"
        );
    }
}

/// Returns where front matter that was understood ends. A rule, which is left out as well, has one line.
fn front_matter(text: &str, chunked: &Chunked) -> Option<usize> {
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let span = chunked
        .excluded
        .iter()
        .find(|span| span.start == start.min('\u{feff}'.len_utf8()))?;
    let left_out = &text[span.clone()];
    (left_out.starts_with("---") && left_out.trim_end().contains(['\n', '\r'])).then_some(span.end)
}

/// The body is cut as if it stood alone, so that its lines are those of the file.
fn check_body(text: &str, end: usize, chunked: &Chunked) {
    // The line end keeps what follows from being front matter itself.
    let alone = format!("\n{}", &text[end..]);
    let alone = cut(&alone, Config::default());
    let place =
        |span: &std::ops::Range<usize>, offset: usize| span.start + offset..span.end + offset;
    let expected: Vec<_> = alone
        .entries
        .iter()
        .map(|entry| (place(&entry.span, end), &entry.heading_path))
        .collect();
    let found: Vec<_> = chunked
        .entries
        .iter()
        .map(|entry| (place(&entry.span, 1), &entry.heading_path))
        .collect();
    assert_eq!(found, expected, "front matter changes how its body is cut");
}

fn check_meta(meta: &DocumentMeta) {
    for text in [&meta.title, &meta.kind]
        .into_iter()
        .flatten()
        .chain(&meta.tags)
    {
        assert!(!text.is_empty() && text.trim() == text, "{text:?}");
    }
    for (idx, tag) in meta.tags.iter().enumerate() {
        assert!(!meta.tags[..idx].contains(tag), "{tag:?} stands twice");
    }
}
