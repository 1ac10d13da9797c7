use memory_api::{Chunker, Document};
use serde_json::json;

use super::{PATH, chunk, chunker, jsonl, resumed, texts};
use crate::Config;

#[test]
fn transcripts_and_their_archives_are_accepted() {
    let chunker = chunker(Config::default());
    let accepts = |path| chunker.accepts(&Document::new("sessions", path, ""));
    for path in [
        "a.jsonl",
        "agents/main/sessions/5b1e.JSONL",
        "one.jsonl.reset.2026-03-01T04-00-00Z",
        "one.jsonl.deleted.2026-03-01T04-00-00.000Z",
    ] {
        assert!(accepts(path), "{path}");
    }
    for path in [
        "a.md",
        "sessions.json",
        "jsonl",
        "a.jsonl/b",
        "one.jsonl.bak.1",
        "one.bak.2.jsonl",
        "one.checkpoint.7.jsonl",
        "one.jsonl.lock",
        "one.jsonl.reset.",
        "one.jsonl.reset.2026-03-01T04-00-00Z.zst",
        "one.jsonl.tmp",
        "",
    ] {
        assert!(!accepts(path), "{path}");
    }
}

#[test]
fn broken_rows_are_named_and_counted() {
    let text = "{\"role\":\"user\",\"content\":\"a\"}\nnot json\n[1]\n\n{\"role\":\n17\n\"x\"\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
    let chunked = chunk(text);
    assert_eq!(texts(&chunked), ["user: a\nassistant: b"]);
    let warnings: Vec<_> = chunked
        .warnings
        .iter()
        .map(|warning| (warning.line, warning.message.as_str()))
        .collect();
    let message = "the row is left out: it is no JSON object";
    assert_eq!(
        warnings,
        [
            (Some(2), message),
            (Some(3), message),
            (Some(5), message),
            (None, "2 more rows are left out: they are no JSON objects"),
        ]
    );
}

#[test]
fn a_file_is_gone_on_with_from_its_last_exchange() {
    let said = |role: &str, text: &str| json!({ "role": role, "content": text });
    let text = jsonl(&[
        said("user", "one"),
        said("assistant", "two"),
        said("user", "three"),
        said("assistant", "four"),
    ]);
    let third = text.find("{\"content\":\"three\"").unwrap();
    let len = text.find("{\"content\":\"four\"").unwrap();
    let (entries, resume) = resumed(&text, len, Config::default());
    assert_eq!(resume, third);
    assert_eq!(entries, chunk(&text).entries);
    assert_eq!(entries[1].text, "user: three\nassistant: four");
}

#[test]
fn the_session_is_known_from_the_beginning_of_the_file() {
    let said =
        |text: &str| json!({ "type": "message", "message": { "role": "user", "content": text } });
    let answer = json!({ "type": "message", "message": { "role": "assistant", "content": "b" } });
    for key in ["agent:main:main", "agent:main:cron:1"] {
        let text = jsonl(&[
            json!({ "type": "session", "id": "5b1e", "key": key }),
            said("a"),
            answer.clone(),
            said("c"),
        ]);
        let len = text.len() - 1;
        let (entries, _) = resumed(&text, len, Config::default());
        assert_eq!(entries, chunk(&text).entries, "{key}");
        assert!(entries.iter().all(|entry| entry.tags == ["session:5b1e"]));
    }
    // A row that comes after words names nothing: what was cut before would have to be cut again.
    let late = jsonl(&[
        said("a"),
        json!({ "type": "session", "id": "5b1e" }),
        said("b"),
    ]);
    assert_eq!(chunk(&late).entries[0].tags, ["session:one"]);
}

#[test]
fn warnings_of_a_later_part_do_not_ask_for_a_chat() {
    let text = "{\"x\":1}\n";
    let later = Document::continued("sessions", PATH, text, text);
    let chunked = chunker(Config::default()).chunk(&later).unwrap();
    assert_eq!(chunked.warnings, []);
}
