use memory_api::{Chunker, Document};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PATH, check, chunker, resumed};
use crate::Config;

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,8}( [a-z]{1,8}){0,12}[.?!]",
        2 => "[一-龥]{1,30}。",
        1 => (1..300_usize).prop_map(|n| "A sentence. ".repeat(n)),
        1 => (1..300_usize).prop_map(|n| "x".repeat(n)),
        1 => "\\PC{0,12}",
        1 => prop::sample::select(vec![
            "", "NO_REPLY", "[cron:1] go", "System: [x]", "password = hunter2", "\u{200b}", "🌸", "a\r\nb\n\n\nc",
            "<command-name>x</command-name>", "<environment_context>", "sk-test-0000EXAMPLE0000",
        ]).prop_map(str::to_owned),
    ]
}

fn row() -> impl Strategy<Value = Value> {
    let role = prop::sample::select(vec!["user", "assistant", "assistant", "tool"]);
    (0..6_u8, role, words(), 0..3_u8).prop_map(|(format, role, text, n)| match format {
        0 => json!({ "role": role, "content": text, "session": n.to_string() }),
        1 => json!({ "type": "message", "message": { "role": role, "content": text } }),
        2 => json!({ "type": role, "sessionId": n.to_string(), "message": { "id": n.to_string(), "content": text } }),
        3 => json!({ "type": "response_item", "payload": { "type": "message", "role": role, "content": [{ "type": "text", "text": text }] } }),
        4 => json!({ "type": if n == 0 { "reset" } else { "session" }, "id": text }),
        _ => json!({ "role": role, "content": text, "timestamp": n }),
    })
}

fn transcript() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        12 => row().prop_map(|row| row.to_string()),
        1 => "\\PC{0,12}",
        1 => prop::sample::select(vec!["", " ", "{", "{}", "null", "\u{feff}", "\0"]).prop_map(str::to_owned),
    ];
    let end = prop_oneof![9 => Just("\n"), 1 => Just("\r\n"), 1 => Just("")];
    prop::collection::vec((line, end), 0..30).prop_map(|lines| {
        lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.to_owned()])
            .collect()
    })
}

fn settings() -> impl Strategy<Value = Config> {
    let size = prop_oneof![Just(16), Just(17), Just(400), 16..200_usize];
    (size, any::<bool>()).prop_map(|(max_tokens, redact)| Config { max_tokens, redact })
}

proptest! {
    #[test]
    fn contract_holds_for_any_transcript(text in transcript(), config in settings()) {
        let chunker = chunker(config);
        let document = Document::new("sessions", PATH, &text);
        let chunked = chunker.chunk(&document).unwrap();
        prop_assert_eq!(&chunked, &chunker.chunk(&document).unwrap());
        let checked = check(&document, &chunked, config);
        prop_assert!(checked.is_ok(), "{checked:?}: {chunked:#?}");
        if config.redact {
            let shown = format!("{chunked:?}");
            prop_assert!(!shown.contains("hunter2"), "{}", shown);
        }
    }

    #[test]
    fn a_file_that_grew_is_cut_the_same_in_two(text in transcript(), config in settings(), share in 0.0..=1.0_f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
        let mut len = (text.len() as f64 * share) as usize;
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        let whole = chunker(config).chunk(&Document::new("sessions", PATH, &text)).unwrap();
        let (entries, _) = resumed(&text, len, config);
        prop_assert_eq!(entries, whole.entries);
    }
}
