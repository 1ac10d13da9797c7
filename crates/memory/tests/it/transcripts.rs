//! Transcripts of chats: read from where the last sync stopped, and found like notes.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use memory::{Filter, Growth, Query, SearchResult, SyncRequest};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::notes::Notes;

const CHAT: &str = "chats/one.jsonl";

fn chats() -> Notes {
    let notes = Notes::new().with("documents.transcripts", json!(["chats"]));
    fs::create_dir_all(notes.path("chats")).unwrap();
    notes
}

fn row(role: &str, content: &str) -> String {
    json!({"role": role, "content": content, "timestamp": "2026-05-18T10:00:00Z"}).to_string()
        + "\n"
}

fn exchange(question: &str, answer: &str) -> String {
    row("user", question) + &row("assistant", answer)
}

fn append(notes: &Notes, path: &str, text: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(notes.path(path))
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn lines_of(hits: &[SearchResult]) -> Vec<(u32, u32)> {
    hits.iter()
        .map(|hit| (hit.line_start, hit.line_end))
        .collect()
}

#[test]
fn what_was_said_is_found_with_its_lines_and_its_source() {
    let notes = chats();
    notes.write("notes/a.md", "basalt of the note");
    append(
        &notes,
        CHAT,
        &exchange("where is the harbour", "behind the hill"),
    );
    append(&notes, CHAT, &exchange("and the basalt", "in the quarry"));
    let report = notes.index();
    assert_eq!((report.new, report.failed.len()), (2, 0), "{report:?}");
    let hits = notes.search("quarry");
    assert_eq!(hits[0].citation.as_deref(), Some("chats/one.jsonl#L3-L4"));
    assert_eq!(
        (hits[0].source.as_str(), hits[0].kind.as_str()),
        ("sessions", "episodic")
    );
    assert!(hits[0].tags.contains(&"session:one".to_owned()), "{hits:?}");
    let only = |source: &str| {
        let filter = Filter {
            sources: vec![source.to_owned()],
            ..Filter::default()
        };
        let hits = notes.ask(&Query::new("basalt").with_filter(filter)).results;
        hits.into_iter().map(|hit| hit.path).collect::<Vec<_>>()
    };
    assert_eq!(only("sessions"), [CHAT]);
    assert_eq!(only("memory"), ["notes/a.md"]);
    assert_eq!(notes.index().unchanged, 2);
}

/// SW-15.
#[test]
fn a_row_that_is_being_written_waits_for_its_end() {
    let notes = chats();
    append(&notes, CHAT, &exchange("the pier", "is long"));
    let row = row("user", "the viaduct");
    let (begin, end) = row.split_at(row.len() / 2);
    append(&notes, CHAT, begin);
    assert_eq!(notes.index().warnings, Vec::<String>::new());
    assert!(notes.search("viaduct").is_empty());
    append(&notes, CHAT, end);
    assert_eq!(notes.index().updated, 1);
    assert_eq!(lines_of(&notes.search("viaduct")), [(3, 3)]);
    assert_eq!(lines_of(&notes.search("pier")), [(1, 2)]);
}

#[test]
fn only_what_is_new_is_cut_and_embedded() {
    let notes = chats().with_meaning();
    append(&notes, CHAT, &exchange("the first all", "answer one"));
    append(&notes, CHAT, &exchange("the second all", "answer two"));
    assert_eq!(notes.index().embedded, 2);
    let before = notes.entries("all");
    append(&notes, CHAT, &exchange("the third all", "answer three"));
    let report = notes.index();
    assert_eq!((report.updated, report.embedded), (1, 1), "{report:?}");
    let after = notes.entries("all");
    assert_eq!(lines_of(&after), [(1, 2), (3, 4), (5, 6)]);
    assert_eq!(
        before.iter().map(|hit| hit.id).collect::<Vec<_>>(),
        after[..2].iter().map(|hit| hit.id).collect::<Vec<_>>()
    );
    // An answer that comes later belongs to the last exchange.
    append(&notes, CHAT, &row("assistant", "and one thing more"));
    assert_eq!(notes.index().embedded, 1);
    assert_eq!(lines_of(&notes.entries("all")), [(1, 2), (3, 4), (5, 7)]);
}

#[test]
fn a_transcript_that_was_rewritten_starts_over() {
    let notes = chats();
    for n in 0..40 {
        append(
            &notes,
            CHAT,
            &exchange(&format!("all about word{n}"), "yes"),
        );
    }
    notes.index();
    // Shorter.
    notes.write(CHAT, exchange("all about gypsum", "no"));
    notes.index();
    assert_eq!(lines_of(&notes.entries("all")), [(1, 2)]);
    assert!(notes.search("word7").is_empty());
    // As long as before or longer, with another beginning, and with another end.
    let text = |words: [&str; 3]| {
        words
            .map(|word| exchange(&format!("all about {word}"), "maybe so"))
            .concat()
    };
    for words in [
        ["basalt", "granite", "marble"],
        ["slate12", "granite", "marble"],
        ["slate12", "chalk12", "marble"],
    ] {
        notes.write(CHAT, text(words));
        notes.index();
        let entries = notes.entries("all");
        assert_eq!(lines_of(&entries), [(1, 2), (3, 4), (5, 6)]);
        for (entry, word) in entries.iter().zip(words) {
            assert!(entry.snippet.contains(word), "{word}: {}", entry.snippet);
        }
    }
}

#[test]
fn secrets_are_neither_indexed_nor_shown() {
    let notes = chats();
    let key = "sk-proj-Zq83kfLw02mXc7Vb5NtR1yUe4HgJ6dSa";
    append(
        &notes,
        CHAT,
        &exchange(&format!("deploy with \"{key}\" please"), "done"),
    );
    notes.index();
    let hits = notes.search("deploy");
    assert!(hits[0].snippet.contains("[redacted"), "{}", hits[0].snippet);
    assert!(!hits[0].snippet.contains("Zq83kf"));
    assert!(
        notes
            .search("\"Zq83kfLw02mXc7Vb5NtR1yUe4HgJ6dSa\"")
            .is_empty()
    );
    let window = notes.get(CHAT).unwrap();
    assert!(window.text.contains("deploy with"), "{}", window.text);
    assert!(!window.text.contains("Zq83kf"), "{}", window.text);
    assert_eq!(window.total_lines, 2);
}

#[test]
fn a_transcript_has_to_grow_by_bytes_or_messages_where_that_is_asked() {
    let notes = chats();
    append(&notes, CHAT, &exchange("the pier", "is long"));
    let growth = |bytes, messages| SyncRequest {
        growth: Growth { bytes, messages },
        ..SyncRequest::default()
    };
    // One that is not known yet is read however long it is.
    assert_eq!(notes.index_with(&growth(100_000, 50)).unwrap().new, 1);
    append(&notes, CHAT, &exchange("the viaduct", "is high"));
    let report = notes.index_with(&growth(100_000, 50)).unwrap();
    assert_eq!((report.updated, report.unchanged), (0, 1));
    assert!(notes.search("viaduct").is_empty());
    assert_eq!(notes.index_with(&growth(100_000, 2)).unwrap().updated, 1);
    assert_eq!(lines_of(&notes.search("viaduct")), [(3, 4)]);
    append(&notes, CHAT, &row("user", &"the aqueduct ".repeat(10)));
    assert_eq!(notes.index_with(&growth(100_000, 2)).unwrap().updated, 0);
    assert_eq!(notes.index_with(&growth(100, 50)).unwrap().updated, 1);
    append(&notes, CHAT, &row("assistant", "yes"));
    assert_eq!(notes.index().updated, 1);
}

/// SW-12.
#[test]
fn what_a_reset_renamed_is_found_once_and_side_files_never() {
    let notes = chats();
    append(&notes, CHAT, &exchange("the orchard gate", "is green"));
    notes.index();
    let reset = "chats/one.jsonl.reset.2026-03-01T04-00-00Z";
    fs::rename(notes.path(CHAT), notes.path(reset)).unwrap();
    for name in [
        "chats/one.jsonl.bak.1",
        "chats/one.jsonl.checkpoint.2",
        "chats/one.jsonl.lock",
        "chats/one.jsonl.reset.2026.zst",
        "chats/sessions.json",
        "chats/.one.jsonl.swp",
    ] {
        notes.write(name, exchange("the orchard gate", "is red"));
    }
    let report = notes.index();
    assert_eq!(
        (report.new, report.removed, report.failed.len()),
        (1, 1, 0),
        "{report:?}"
    );
    assert_eq!(notes.found("orchard gate"), [reset]);
}

#[test]
fn a_transcript_of_many_megabytes_is_read_in_parts() {
    let notes = chats();
    let noise = json!({"type": "progress", "data": "x".repeat(700_000)}).to_string() + "\n";
    for n in 0..30 {
        append(
            &notes,
            CHAT,
            &exchange(&format!("all about word{n}"), "yes"),
        );
        append(&notes, CHAT, &noise);
    }
    let report = notes.index();
    assert_eq!(
        (report.new, report.updated, report.failed.len()),
        (1, 0, 0),
        "{report:?}"
    );
    let expected: Vec<_> = (0..30).map(|n| 3 * n + 1).collect();
    let starts: Vec<_> = notes
        .entries("all")
        .iter()
        .map(|hit| hit.line_start)
        .collect();
    assert_eq!(starts, expected);
    append(&notes, CHAT, &exchange("all about word30", "yes"));
    assert_eq!(notes.index().updated, 1);
    assert_eq!(notes.entries("all").len(), 31);
    assert_eq!(lines_of(&notes.search("word30")), [(91, 92)]);
}

#[test]
fn nothing_is_shown_around_what_was_said() {
    let notes = chats();
    append(&notes, CHAT, &exchange("the pier", "is long"));
    notes.index();
    let answer = notes.ask(&Query::new("pier").with_context(2));
    assert_eq!(answer.results[0].context, None);
    assert!(answer.warnings[0].contains(CHAT), "{:?}", answer.warnings);
    assert!(
        answer.warnings[0].contains("transcript"),
        "{:?}",
        answer.warnings
    );
}

/// SW-13.
#[test]
fn transcripts_that_are_turned_on_later_are_filled() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    for n in 0..50 {
        notes.write(
            &format!("chats/{n}.jsonl"),
            exchange(&format!("word{n}"), "yes"),
        );
    }
    notes.index();
    let notes = notes.with("documents.transcripts", json!(["chats"]));
    let force = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    assert_eq!(notes.index_with(&force).unwrap().new, 51);
    assert_eq!(notes.found("word37"), ["chats/37.jsonl"]);
    let status = notes.status();
    assert_eq!((status.files, status.documents), (51, 51));
}

/// Every entry: its lines, its text, its time, its id.
fn dump(notes: &Notes) -> Vec<Value> {
    let hits = notes.entries("all").into_iter();
    hits.map(|hit| {
        json!([
            hit.line_start,
            hit.line_end,
            hit.snippet,
            hit.tags,
            hit.id.to_string()
        ])
    })
    .collect()
}

fn any_row() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0..3_u8).prop_map(|n| row("user", &format!("all ask{n}"))),
        4 => (0..3_u8).prop_map(|n| row("assistant", &format!("all answer{n}"))),
        1 => Just("not json\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just(json!({"type": "reset"}).to_string() + "\n"),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_transcript_that_grew_has_the_entries_of_a_whole_one(
        rows in vec(any_row(), 1..14),
        cuts in vec(0..400_usize, 1..4),
    ) {
        let text = rows.concat();
        let (grown, whole) = (chats(), chats());
        let mut done = 0;
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % text.len()).collect();
        ends.sort_unstable();
        for end in ends.into_iter().chain([text.len()]) {
            append(&grown, CHAT, &text[done..end]);
            grown.index();
            done = end;
        }
        whole.write(CHAT, &text);
        whole.index();
        prop_assert_eq!(dump(&grown), dump(&whole));
    }
}
