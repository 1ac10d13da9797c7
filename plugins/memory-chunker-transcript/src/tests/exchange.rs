use memory_text::estimate_tokens;
use serde_json::{Value, json};

use super::{chunk, chunk_with, jsonl, lines, texts};
use crate::Config;

fn said(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

fn small(max_tokens: usize) -> Config {
    Config {
        max_tokens,
        ..Config::default()
    }
}

fn sentences(range: std::ops::Range<usize>) -> String {
    let sentences: Vec<_> = range.map(|n| format!("This is sentence {n}.")).collect();
    sentences.join(" ")
}

#[test]
fn a_long_exchange_is_cut_between_messages() {
    let text = jsonl(&[
        said("user", &sentences(0..6)),
        said("assistant", &sentences(10..16)),
        said("tool", "x"),
        said("assistant", &sentences(20..26)),
    ]);
    let chunked = chunk_with(&text, small(60));
    assert_eq!(
        texts(&chunked),
        [
            format!("user: {}", sentences(0..6)),
            format!("assistant: {}", sentences(10..16)),
            format!("assistant: {}", sentences(20..26)),
        ]
    );
    assert_eq!(lines(&text, &chunked), [(1, 1), (2, 2), (4, 4)]);
    assert_eq!(chunked.excluded.len(), 1);
}

#[test]
fn every_part_of_a_long_message_says_who_speaks() {
    let text = jsonl(&[
        said("user", "Tell me all."),
        said("assistant", &sentences(0..60)),
    ]);
    let chunked = chunk_with(&text, small(60));
    let texts = texts(&chunked);
    assert!(texts.len() > 5);
    assert!(
        texts[0].starts_with("user: Tell me all.\nassistant: This is sentence 0."),
        "{}",
        texts[0]
    );
    for part in &texts[1..] {
        assert!(
            part.starts_with("assistant: This is") && part.ends_with('.'),
            "{part}"
        );
        assert!(estimate_tokens(part) <= 60);
    }
    let told: Vec<_> = texts
        .iter()
        .map(|part| part.rsplit_once("assistant: ").unwrap().1)
        .collect();
    assert_eq!(told.join(" "), sentences(0..60));
    assert_eq!(lines(&text, &chunked)[..2], [(1, 2), (2, 2)]);
}

#[test]
fn parts_have_the_time_of_their_first_message() {
    let row = |role: &str, text: String, time: u32| json!({ "role": role, "content": text, "timestamp": time });
    let text = jsonl(&[
        row("user", sentences(0..6), 1),
        row("assistant", sentences(10..16), 2),
        said("assistant", &sentences(20..26)),
    ]);
    let chunked = chunk_with(&text, small(60));
    let times: Vec<_> = chunked
        .entries
        .iter()
        .map(|entry| entry.time.unwrap().0)
        .collect();
    // What has no time of its own was said in this exchange.
    assert_eq!(times, [1_000, 2_000, 1_000]);
}

#[test]
fn lines_of_a_message_stay_as_they_are() {
    let code = "Do this:\r\n\r\n```sh\r\nrun fan\r\n```";
    let text = jsonl(&[said("assistant", code)]);
    assert_eq!(
        texts(&chunk(&text)),
        ["assistant: Do this:\n\n```sh\nrun fan\n```"]
    );
}

#[test]
fn secrets_are_taken_out_of_words_and_sessions() {
    let key = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6";
    let text = jsonl(&[
        json!({ "role": "user", "content": format!("my key is {key}, {}", sentences(0..20)), "session": format!("s {key}") }),
    ]);
    for max_tokens in [16, 60, 400] {
        let chunked = chunk_with(&text, small(max_tokens));
        assert!(!format!("{chunked:?}").contains("a1B2"), "{chunked:?}");
    }
    let chunked = chunk(&text);
    assert!(
        chunked.entries[0]
            .text
            .starts_with("user: my key is [redacted: api key], This")
    );
    assert_eq!(chunked.entries[0].tags, ["session:s [redacted: api key]"]);
    let kept = Config {
        redact: false,
        ..Config::default()
    };
    assert!(chunk_with(&text, kept).entries[0].text.contains(key));
}
