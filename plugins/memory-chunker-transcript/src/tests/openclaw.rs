use serde_json::{Value, json};

use super::{chunk, jsonl, lines, texts, texts_of};

fn message(role: &str, content: impl Into<Value>) -> Value {
    let content: Value = content.into();
    json!({ "type": "message", "id": "1", "message": { "role": role, "content": content } })
}

#[test]
fn words_of_user_and_assistant_are_kept_and_nothing_else() {
    let text = jsonl(&[
        json!({ "type": "session", "version": 3, "id": "5b1e-7", "cwd": "/home/ann" }),
        json!({ "type": "model_change", "modelId": "m" }),
        message("user", "where is the wharf?"),
        message(
            "assistant",
            json!([
                { "type": "thinking", "thinking": "the map" },
                { "type": "text", "text": "North of the kiosk." },
                { "type": "toolCall", "name": "map", "arguments": {} },
                { "type": "text", "text": "Two minutes." },
            ]),
        ),
        message("toolResult", json!([{ "type": "text", "text": "map" }])),
        message("assistant", "Here is the way."),
        json!({ "type": "custom", "data": { "role": "user", "content": "no" } }),
        json!({ "type": "compaction", "summary": "s" }),
    ]);
    let chunked = chunk(&text);
    assert_eq!(
        texts(&chunked),
        [
            "user: where is the wharf?\nassistant: North of the kiosk.\nTwo minutes.\nHere is the way."
        ]
    );
    assert_eq!(chunked.entries[0].tags, ["session:5b1e-7"]);
    assert_eq!(lines(&text, &chunked), [(3, 6)]);
    assert_eq!(chunked.warnings, []);
}

#[test]
fn the_time_is_that_of_the_message_or_else_of_the_record() {
    let row = |own: Value| {
        json!({ "type": "message", "timestamp": "1970-01-01T00:00:09Z", "message": {
            "role": "user", "content": "x", "timestamp": own,
        }})
    };
    let time = |own: Value| chunk(&jsonl(&[row(own)])).entries[0].time.unwrap().0;
    assert_eq!(time(json!(5)), 5_000);
    assert_eq!(time(json!(1_779_100_000_123_i64)), 1_779_100_000_123);
    for rubbish in [json!(null), json!("soon"), json!(-1)] {
        assert_eq!(time(rubbish), 9_000);
    }
}

#[test]
fn sessions_of_cron_and_heartbeat_are_left_out() {
    for key in ["agent:main:cron:7", "agent:main:main:heartbeat"] {
        for name in ["key", "sessionKey"] {
            let text = jsonl(&[
                json!({ "type": "session", "id": "1", name: key }),
                message("user", "tidy up"),
                message("assistant", "Tidied."),
            ]);
            let chunked = chunk(&text);
            assert_eq!(
                (texts(&chunked), chunked.resume),
                (vec![], Some(text.len()))
            );
        }
    }
    let kept = [
        json!({ "type": "session", "id": "1", "key": "agent:acron:main" }),
        message("user", "tidy up"),
    ];
    assert_eq!(texts_of(&kept), ["user: tidy up"]);
}

#[test]
fn turns_that_a_program_began_are_left_out_with_their_answers() {
    for prompt in [
        "[cron:7f3e tidy] Tidy up the notes",
        "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK.",
        "Pre-compaction memory flush. Store durable memories now.",
        "[Mon 2026-05-18 08:00 UTC] [cron:7f3e tidy] Tidy up the notes",
    ] {
        let rows = [
            message("user", "hi"),
            message("assistant", "Hello."),
            message("user", prompt),
            message("assistant", "Tidied."),
            message("user", "System: [now] a job has ended"),
            message("assistant", "All of it."),
            message("user", "thanks"),
            message("assistant", "Gladly."),
        ];
        let kept = [
            "user: hi\nassistant: Hello.",
            "user: thanks\nassistant: Gladly.",
        ];
        assert_eq!(texts_of(&rows), kept, "{prompt}");
        assert_eq!(texts_of(&rows[2..6]), [""; 0], "{prompt}");
    }
}

#[test]
fn what_the_system_says_in_the_place_of_the_user_is_left_out() {
    for text in [
        "System: [2026-05-18 08:00] Node connected",
        "System (untrusted): [x] y",
        "HEARTBEAT_OK",
        "NO_REPLY",
    ] {
        let rows = [
            message("user", text),
            message("assistant", "Your ferry leaves in an hour."),
        ];
        assert_eq!(
            texts_of(&rows),
            ["assistant: Your ferry leaves in an hour."],
            "{text}"
        );
    }
    let about = "System: it hangs";
    assert_eq!(
        texts_of(&[message("user", about)]),
        [format!("user: {about}")]
    );
}

#[test]
fn recalled_memory_is_never_learned_again() {
    for tool in ["memory_search", "memory_get"] {
        let content = "Ann likes plums";
        let recalled = [
            json!({ "type": "message", "sourceTool": tool, "message": { "role": "user", "content": content } }),
            json!({ "type": "message", "message": { "role": "user", "content": content, "sourceTool": tool } }),
            json!({ "type": "message", "message": { "role": "user", "content": content, "provenance": { "kind": "tool", "sourceTool": tool } } }),
            json!({ "type": "message", "provenance": { "sourceTool": tool }, "message": { "role": "assistant", "content": content } }),
            message(
                "user",
                json!([{ "type": "text", "text": content, "sourceTool": tool }]),
            ),
        ];
        for row in recalled {
            let rows = [
                message("user", "what do I like?"),
                row.clone(),
                message("assistant", "Plums."),
            ];
            assert_eq!(
                texts_of(&rows),
                ["user: what do I like?\nassistant: Plums."],
                "{row}"
            );
        }
    }
    let other = json!({ "type": "message", "message": { "role": "user", "content": "x", "provenance": { "sourceTool": "browser" } } });
    assert_eq!(texts_of(&[other]), ["user: x"]);
}

#[test]
fn envelopes_are_taken_from_the_words() {
    let fence = "```json\n{\"chat_id\": \"7\"}\n```";
    for text in [
        format!("Conversation info (untrusted metadata):\n{fence}\n\nhello"),
        format!(
            "Conversation info (untrusted metadata):\n{fence}\n\nSender (untrusted metadata):\n{fence}\n\nhello"
        ),
        format!("Replied message (untrusted, for context):\n{fence}\nhello"),
        "[Telegram Ann id:7 +5m 2026-05-18 08:00 UTC] hello".to_owned(),
        "[Mon 2026-05-18 08:00 GMT+2] hello".to_owned(),
        "[WhatsApp 2026-05-18T08:00Z] hello\n[message_id: 42]".to_owned(),
    ] {
        assert_eq!(
            texts_of(&[message("user", text.as_str())]),
            ["user: hello"],
            "{text}"
        );
    }
    for text in [
        "[draft] hello",
        "[see 2026-05-18] hello",
        "metadata:\nhello",
        "[message_id: 42]",
    ] {
        assert_eq!(
            texts_of(&[message("user", text)]),
            [format!("user: {text}")]
        );
    }
}

#[test]
fn no_entry_crosses_a_reset() {
    let text = jsonl(&[
        message("user", "before"),
        json!({ "type": "reset", "timestamp": "2026-05-18T04:00:00Z" }),
        message("assistant", "after"),
    ]);
    let chunked = chunk(&text);
    assert_eq!(texts(&chunked), ["user: before", "assistant: after"]);
    assert_eq!(lines(&text, &chunked), [(1, 1), (3, 3)]);
    // What is before it is settled.
    let after = text.find("after").unwrap();
    let two = &text[..=text[..after].rfind('\n').unwrap()];
    assert_eq!(chunk(two).resume, Some(two.len()));
}

#[test]
fn an_answer_that_is_delivered_twice_is_said_once() {
    let rows = [
        message("user", "hi"),
        message("assistant", "Hello."),
        message("assistant", "Hello."),
    ];
    assert_eq!(texts_of(&rows), ["user: hi\nassistant: Hello."]);
}
