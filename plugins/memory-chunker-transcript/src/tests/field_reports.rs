//! Faults of similar systems, by the id of their report.

use memory_api::{Chunker, Document};
use serde_json::json;

use super::{PATH, chunk, chunker, jsonl, resumed, texts};
use crate::Config;

#[test]
fn cu_05_words_without_spaces_come_out_as_they_were_said() {
    let text = jsonl(&[json!({ "role": "user", "content": "屋根の修理はいつですか" })]);
    assert_eq!(texts(&chunk(&text)), ["user: 屋根の修理はいつですか"]);
}

#[test]
fn sw_12_a_transcript_that_a_reset_renamed_is_still_one() {
    let text = jsonl(&[json!({ "role": "user", "content": "the orchard gate" })]);
    let chunker = chunker(Config::default());
    let cut = |path: &str| {
        let document = Document::new("sessions", path, &text);
        assert!(chunker.accepts(&document), "{path}");
        chunker.chunk(&document).unwrap()
    };
    let before = cut("chats/one.jsonl");
    assert_eq!(before, cut("chats/one.jsonl.reset.2026-03-01T04-00-00Z"));
    assert_eq!(texts(&before), ["user: the orchard gate"]);
    for other in ["chats/one.jsonl.bak.1", "chats/one.jsonl.lock"] {
        assert!(
            !chunker.accepts(&Document::new("sessions", other, &text)),
            "{other}"
        );
    }
}

#[test]
fn sw_14_only_a_line_feed_ends_a_row() {
    for separator in ["\u{2028}", "\u{2029}", "\u{85}"] {
        let text =
            format!("{{\"role\":\"user\",\"content\":\"first{separator}second wharf\"}}\r\n");
        let chunked = chunk(&text);
        assert_eq!(
            texts(&chunked),
            [format!("user: first{separator}second wharf")]
        );
        assert_eq!(chunked.warnings, []);
    }
}

#[test]
fn sw_15_a_row_that_is_half_written_waits() {
    let text = jsonl(&[
        json!({ "role": "user", "content": "what is next?" }),
        json!({ "role": "assistant", "content": "the viaduct" }),
    ]);
    let second = text.find("{\"content\":\"the viaduct").unwrap();
    for len in second + 1..text.len() - 1 {
        let half = &text[..len];
        let chunked = chunk(half);
        assert_eq!(texts(&chunked), ["user: what is next?"]);
        assert_eq!(chunked.warnings, []);
        assert_eq!(chunked.excluded.last().unwrap().start, second);
        assert!(chunked.resume.unwrap() <= second);
        let (entries, _) = resumed(&text, len, Config::default());
        assert_eq!(entries, chunk(&text).entries);
        assert_eq!(
            entries[0].text,
            "user: what is next?\nassistant: the viaduct"
        );
    }
}

#[test]
fn ps_09_keys_are_taken_out_and_words_are_not() {
    let key = "sk-test-0000EXAMPLE0000";
    let tool = json!({ "type": "message", "message": { "role": "toolResult", "content": key } });
    let said = |text: &str| json!({ "type": "message", "message": { "role": "assistant", "content": text } });
    let text = jsonl(&[tool, said(&format!("The key is {key}; it is no sk-etch."))]);
    let chunked = chunk(&text);
    assert_eq!(
        texts(&chunked),
        ["assistant: The key is [redacted: api key]; it is no sk-etch."]
    );
    assert!(!format!("{chunked:?}").contains("EXAMPLE"));
}

#[test]
fn rs_06_what_was_appended_is_cut_without_what_was_before() {
    let rows: Vec<_> = (0..2_000)
        .flat_map(|n| {
            ["user", "assistant"]
                .map(|role| json!({ "role": role, "content": format!("{role} {n}") }))
        })
        .collect();
    let text = jsonl(&rows);
    let len = text.len() - 40;
    let (entries, resume) = resumed(&text, len, Config::default());
    assert_eq!(entries, chunk(&text).entries);
    assert_eq!(entries.len(), 2_000);
    assert!(text.len() - resume < 200);
    assert!(chunker(Config::default()).accepts(&Document::continued("sessions", PATH, "", "")));
}
