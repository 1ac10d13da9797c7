use memory_api::Timestamp;
use serde_json::{Value, json};

use super::{chunk, chunk_at, jsonl, lines, texts, texts_of};
use crate::Config;

fn said(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

#[test]
fn a_question_and_its_answer_are_one_entry() {
    let text = jsonl(&[
        said("user", "When does the ferry leave?"),
        said("assistant", "At six.\nDon't be late."),
        said("system", "be kind"),
        said("user", "And"),
        said("user", "where?"),
        said("assistant", "North dock."),
        said("tool", "map"),
        said("assistant", "See the map."),
    ]);
    let chunked = chunk(&text);
    assert_eq!(
        texts(&chunked),
        [
            "user: When does the ferry leave?\nassistant: At six.\nDon't be late.",
            "user: And\nwhere?\nassistant: North dock.\nSee the map.",
        ]
    );
    assert_eq!(lines(&text, &chunked), [(1, 2), (4, 8)]);
    assert_eq!(chunked.excluded.len(), 1);
    assert_eq!(
        chunked.resume,
        Some(text.find("{\"content\":\"And\"").unwrap())
    );
    assert_eq!(chunked.warnings, []);
    for entry in &chunked.entries {
        assert_eq!(entry.kind.as_deref(), Some("episodic"));
        assert_eq!(entry.tags, ["session:one"]);
        assert_eq!(entry.heading_path, [""; 0]);
    }
}

#[test]
fn an_answer_without_a_question_is_an_entry() {
    let rows = [said("assistant", "Good morning."), said("user", "hi")];
    assert_eq!(texts_of(&rows), ["assistant: Good morning.", "user: hi"]);
}

#[test]
fn a_session_is_named_by_its_rows_or_the_file() {
    let tags = |path: &str, row: Value| {
        let text = jsonl(&[row]);
        let chunked = chunk_at(path, &text, Config::default());
        chunked.entries[0].tags.clone()
    };
    let named = |session: Value| json!({ "role": "user", "content": "x", "session": session });
    assert_eq!(tags("a/b.jsonl", named(json!("s 1"))), ["session:s 1"]);
    for none in [json!(null), json!(7), json!(""), json!(" ")] {
        assert_eq!(tags("a/b.JSONL", named(none)), ["session:b"]);
    }
    assert_eq!(
        tags("b.c.jsonl.reset.2026-05-18T04-00-00Z", said("user", "x")),
        ["session:b.c"]
    );
    let long = "x".repeat(1000);
    assert_eq!(
        tags("b.jsonl", named(json!(long)))[0].len(),
        "session:".len() + 128
    );
}

#[test]
fn another_session_begins_another_entry() {
    let row =
        |role: &str, session: &str| json!({ "role": role, "content": session, "session": session });
    let chunked = chunk(&jsonl(&[
        row("user", "a"),
        row("assistant", "b"),
        row("assistant", "b2"),
        row("user", "a"),
    ]));
    assert_eq!(
        texts(&chunked),
        ["user: a", "assistant: b", "assistant: b2", "user: a"]
    );
}

#[test]
fn times_are_seconds_milliseconds_or_dates() {
    let time = |value: Value| {
        let row = json!({ "role": "user", "content": "x", "timestamp": value });
        chunk(&jsonl(&[row])).entries[0].time
    };
    for (value, millis) in [
        (json!(1_779_100_000), 1_779_100_000_000),
        (json!(1_779_100_000.25), 1_779_100_000_250),
        (json!(99_999_999_999_i64), 99_999_999_999_000),
        (json!(100_000_000_000_i64), 100_000_000_000),
        (json!(1_779_100_000_123_i64), 1_779_100_000_123),
        (json!("2026-05-18T10:26:40Z"), 1_779_100_000_000),
        (json!("2026-05-18T12:26:40.000+02:00"), 1_779_100_000_000),
        (json!("2026-05-18T10:26:40"), 1_779_100_000_000),
        (json!(" 2026-05-18 "), 1_779_062_400_000),
    ] {
        assert_eq!(time(value.clone()), Some(Timestamp(millis)), "{value}");
    }
    for rubbish in [
        json!(0),
        json!(-5),
        json!(1e300),
        json!("yesterday"),
        json!(""),
        json!("0001-01-01T00:00:00Z"),
        json!(null),
        json!(true),
        json!([1_779_100_000]),
        json!({ "seconds": 1 }),
    ] {
        assert_eq!(time(rubbish.clone()), None, "{rubbish}");
    }
}

#[test]
fn an_entry_has_the_time_of_its_first_message_that_has_one() {
    let row = |role: &str, time: Value| json!({ "role": role, "content": "x", "timestamp": time });
    let times = |rows: &[Value]| -> Vec<_> {
        let chunked = chunk(&jsonl(rows));
        chunked
            .entries
            .iter()
            .map(|entry| entry.time.map(|time| time.0))
            .collect()
    };
    assert_eq!(
        times(&[row("user", json!(5)), row("assistant", json!(9))]),
        [Some(5_000)]
    );
    assert_eq!(
        times(&[row("user", json!("?")), row("assistant", json!(9))]),
        [Some(9_000)]
    );
}

#[test]
fn content_in_blocks_is_read_as_well() {
    let row = json!({ "role": "user", "content": [
        { "type": "text", "text": "one" },
        { "type": "image", "source": "…" },
        { "type": "text", "text": "two" },
    ]});
    assert_eq!(texts_of(&[row]), ["user: one\ntwo"]);
}

#[test]
fn rows_of_no_chat_are_named_once() {
    let chunked = chunk("{\"query\":\"a\"}\n{\"query\":\"b\"}\n");
    assert_eq!(chunked.entries, []);
    assert_eq!(chunked.warnings.len(), 1);
    assert!(chunked.warnings[0].message.contains("none has a `role`"));
}

#[test]
fn what_an_assistant_says_for_nothing_is_left_out() {
    for nothing in [
        "NO_REPLY",
        " NO_REPLY.\n",
        "**NO_REPLY**",
        "`NO_REPLY`",
        "NO_REPLY (nothing to save)",
        "{\"action\":\"NO_REPLY\"}",
        "HEARTBEAT_OK",
        "HEARTBEAT_OK - all quiet",
    ] {
        assert_eq!(
            texts_of(&[said("user", "a"), said("assistant", nothing)]),
            ["user: a"],
            "{nothing}"
        );
    }
    let rows = [
        said("user", "a"),
        said("assistant", "Saved it.\n\nNO_REPLY"),
    ];
    assert_eq!(texts_of(&rows), ["user: a\nassistant: Saved it."]);
    for said_of_it in [
        "`NO_REPLY` is what it answers.",
        "NO_REPLYING is no word",
        "It says HEARTBEAT_OK then.",
    ] {
        let rows = [said("assistant", said_of_it)];
        assert_eq!(texts_of(&rows), [format!("assistant: {said_of_it}")]);
    }
}
