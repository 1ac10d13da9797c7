use serde_json::json;

use super::{chunk, chunk_with, texts};
use crate::Config;

fn row(content: &str) -> String {
    format!("{{\"role\":\"user\",\"content\":{content}}}\n")
}

#[test]
fn half_a_character_costs_nothing_else() {
    for (content, expected) in [
        (r#""a\ud83cb""#, "ab"),
        (r#""a\udf38b""#, "ab"),
        (r#""a\ud83c\ud83c\udf38b""#, "a🌸b"),
        (r#""a\ud83c\\udf38b""#, "a\\udf38b"),
        (r#""a\ufffdb""#, "ab"),
        (r#""\\\ud83c\"b""#, "\\\"b"),
        (r#""\ud83cA\ud83c""#, "A"),
    ] {
        assert_eq!(
            texts(&chunk(&row(content))),
            [format!("user: {expected}")],
            "{content}"
        );
    }
    // One that stands in the file is what the file says.
    assert_eq!(texts(&chunk(&row("\"a\u{fffd}b\""))), ["user: a\u{fffd}b"]);
}

#[test]
fn depth_is_no_error() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let text = format!(
        "{{\"role\":\"user\",\"meta\":{deep},\"content\":\"a\"}}\n{}{}",
        row(&deep(100_000)),
        row("\"b\""),
        deep = deep(100_000)
    );
    let chunked = chunk(&text);
    assert_eq!(texts(&chunked), ["user: a\nb"]);
    assert_eq!(chunked.warnings, []);
}

#[test]
fn a_row_of_twenty_megabytes_is_no_error() {
    let noise = "x".repeat(20 << 20);
    let text = format!(
        "{}{{\"type\":\"message\",\"message\":{{\"role\":\"toolResult\",\"content\":\"{noise}\"}}}}\n{}",
        row("\"a\""),
        row("\"b\"")
    );
    assert_eq!(texts(&chunk(&text)), ["user: a\nb"]);
}

#[test]
fn a_long_message_is_cut_in_reasonable_time() {
    let words = "A sentence that ends. ".repeat(20_000);
    let chunked = chunk(&row(&json!(words).to_string()));
    assert!(chunked.entries.len() > 200);
    let word = "x".repeat(1 << 18);
    assert!(chunk(&row(&json!(word).to_string())).entries.len() > 100);
}

#[test]
fn many_messages_in_one_exchange_take_linear_time() {
    let rows: Vec<_> = (0..10_000)
        .map(|n| {
            format!("{{\"role\":\"assistant\",\"content\":\"step {n}\"}}\n{{\"role\":\"tool\"}}\n")
        })
        .collect();
    let text = row("\"go\"") + &rows.concat();
    let chunked = chunk(&text);
    assert!(chunked.entries.len() > 50);
}

#[test]
fn what_stands_around_a_row_is_no_part_of_it() {
    let text = "\u{feff}{\"role\":\"user\",\"content\":\"a\"}\r\n\0\0\0{\"role\":\"user\",\"content\":\"b\"} \r\n \t\n";
    let chunked = chunk(text);
    assert_eq!(texts(&chunked), ["user: a\nb"]);
    assert_eq!(chunked.warnings, []);
    let zeros = chunk("\0\0\0\n\0\0");
    assert_eq!((zeros.entries.len(), zeros.warnings.len()), (0, 1));
}

#[test]
fn fields_of_another_type_are_as_if_they_were_not_there() {
    for text in [
        "{\"role\":7,\"content\":\"a\"}\n",
        "{\"role\":\"user\"}\n",
        "{\"role\":\"user\",\"content\":null}\n",
        "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"a\"}}\n",
        "{\"role\":\"user\",\"content\":[\"a\",1,{\"type\":\"text\"},{\"type\":7,\"text\":\"a\"}]}\n",
        "{\"type\":\"message\",\"message\":[]}\n",
        "{\"type\":\"user\",\"message\":\"a\"}\n",
        "{\"type\":\"response_item\",\"payload\":7}\n",
    ] {
        let chunked = chunk(text);
        assert_eq!(
            (chunked.entries.len(), chunked.warnings.len()),
            (0, 0),
            "{text}"
        );
    }
    let text =
        "{\"role\":\"user\",\"content\":\"a\",\"timestamp\":1e999,\"session\":[],\"isMeta\":1}\n";
    assert_eq!(texts(&chunk(text)), ["user: a"]);
    // Of a key that comes twice the last one counts, as everywhere.
    let text = "{\"role\":\"user\",\"role\":\"assistant\",\"content\":\"a\"}\n";
    assert_eq!(texts(&chunk(text)), ["assistant: a"]);
}

#[test]
fn an_unfinished_row_that_is_whole_counts() {
    let text = "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}";
    let chunked = chunk(text);
    assert_eq!(texts(&chunked), ["user: a\nassistant: b"]);
    assert_eq!(chunked.resume, Some(0));
    // What comes behind it may yet break it, and then what it ended goes on.
    let more = "{\"role\":\"assistant\",\"content\":\"b\"}\n{\"role\":\"user\",\"content\":\"c\"}";
    assert_eq!(chunk(more).resume, Some(0));
}

#[test]
fn small_entries_hold_long_graphemes() {
    let config = Config {
        max_tokens: 16,
        ..Config::default()
    };
    let family = "👨‍👩‍👧‍👦".repeat(50);
    let tower = format!("a{}", "\u{301}".repeat(500));
    for text in [family, tower, "    indented".to_owned(), "字".repeat(100)] {
        chunk_with(&row(&json!(format!("x\n{text}\ny")).to_string()), config);
    }
}
