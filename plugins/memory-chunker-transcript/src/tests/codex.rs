use serde_json::{Value, json};

use super::{chunk, jsonl, lines, texts, texts_of};

fn item(payload: &Value) -> Value {
    json!({ "timestamp": "2026-05-18T10:26:40.000Z", "type": "response_item", "payload": payload })
}

fn event(payload: &Value) -> Value {
    json!({ "timestamp": "2026-05-18T10:26:40.000Z", "type": "event_msg", "payload": payload })
}

fn said(role: &str, texts: &[&str]) -> Value {
    let kind = if role == "assistant" {
        "output_text"
    } else {
        "input_text"
    };
    let content: Vec<_> = texts
        .iter()
        .map(|text| json!({ "type": kind, "text": text }))
        .collect();
    item(&json!({ "type": "message", "role": role, "content": content }))
}

#[test]
fn words_are_read_once_and_nothing_else_is() {
    let text = jsonl(&[
        json!({ "timestamp": "2026-05-18T10:26:39.000Z", "type": "session_meta", "payload": {
            "id": "0199-a", "cwd": "/w", "originator": "codex_cli_rs", "cli_version": "0.50.0",
        }}),
        said("developer", &["be careful"]),
        said(
            "user",
            &["<environment_context>linux</environment_context>"],
        ),
        json!({ "type": "turn_context", "payload": { "cwd": "/w", "model": "m" } }),
        event(&json!({ "type": "user_message", "message": "rename the dock" })),
        said("user", &["rename the dock"]),
        item(
            &json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] }),
        ),
        item(&json!({ "type": "function_call", "name": "shell", "arguments": "{}" })),
        item(&json!({ "type": "function_call_output", "output": "ok" })),
        event(&json!({ "type": "token_count", "info": null })),
        event(&json!({ "type": "agent_message", "message": "Renamed." })),
        said("assistant", &["Renamed."]),
        json!({ "type": "compacted", "payload": { "message": "summary" } }),
    ]);
    let chunked = chunk(&text);
    assert_eq!(
        texts(&chunked),
        ["user: rename the dock\nassistant: Renamed."]
    );
    assert_eq!(lines(&text, &chunked), [(6, 12)]);
    assert_eq!(chunked.entries[0].tags, ["session:0199-a"]);
    assert_eq!(chunked.entries[0].time.unwrap().0, 1_779_100_000_000);
}

#[test]
fn injected_context_is_left_out() {
    for context in [
        "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>",
        "<user_instructions>\n\nbe kind\n\n</user_instructions>",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe kind\n</INSTRUCTIONS>",
        "<permissions instructions>\nread only\n</permissions instructions>",
        "<turn_aborted>\nx\n</turn_aborted>",
    ] {
        assert_eq!(texts_of(&[said("user", &[context])]), [""; 0], "{context}");
        assert_eq!(
            texts_of(&[said("user", &[context, "hello"])]),
            ["user: hello"],
            "{context}"
        );
    }
    let editor =
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nhello";
    assert_eq!(texts_of(&[said("user", &[editor])]), ["user: hello"]);
}

#[test]
fn rows_without_an_envelope_are_read_as_well() {
    let row = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Hello." }] });
    assert_eq!(texts_of(&[row]), ["assistant: Hello."]);
}
