//! Input-output facts of the reference system, areas citations, memory-get and select. Where this design differs on purpose,
//! the check says why.

use memory_api::LineRange;
use memory_api::Timestamp;
use serde_json::Value;

use crate::citation;
use crate::document::{NameDate, name_date, with_retry};
use crate::freshness::Freshness;
use crate::options::Evergreen;
use crate::select::{Graded, Strictness, select};
use crate::window::{WindowStatus, read_window};

fn facts(area: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("reference-facts.json")).unwrap();
    let facts: Vec<Value> = all
        .into_iter()
        .filter(|fact| fact["area"] == area)
        .collect();
    assert!(!facts.is_empty());
    facts
}

#[test]
fn citations() {
    for fact in facts("citations") {
        let input = &fact["input"];
        let line = |name: &str| u32::try_from(input[name].as_u64().unwrap()).unwrap();
        let lines = LineRange {
            start: line("startLine"),
            end: line("endLine"),
        };
        assert_eq!(
            citation(input["path"].as_str().unwrap(), lines),
            fact["expected"],
            "{fact}"
        );
    }
}

#[test]
fn select_keeps_what_the_reference_keeps() {
    for fact in facts("select") {
        let input = &fact["input"];
        let mut merged: Vec<Value> = input["merged"].as_array().cloned().unwrap_or_default();
        if input["merged"] == "result of previous fact" {
            // Reranking put a weak hit by words between two strict ones.
            let row = |path: &str, score: f64, vector: f64| serde_json::json!({ "path": path, "score": score, "vectorScore": vector });
            merged = vec![
                row("memory/strict-first.md", 0.9, 0.9),
                row("memory/weak.md", 0.1, 0.0),
                row("memory/strict-later.md", 0.5, 0.5),
            ];
        }
        let keyword: Vec<&Value> = input["keyword"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|row| &row["path"])
            .collect();
        let graded: Vec<Graded> = merged
            .iter()
            .map(|row| Graded {
                score: row["score"].as_f64().unwrap(),
                by_one_leg: keyword.contains(&&row["path"]),
            })
            .collect();
        let max_results = usize::try_from(input["maxResults"].as_u64().unwrap()).unwrap();
        let floor = input["minScore"].as_f64().unwrap();
        let chosen = select(&graded, max_results, floor, Strictness::Relaxed);
        let paths: Vec<&Value> = chosen.iter().map(|idx| &merged[*idx]["path"]).collect();
        let expected: Vec<&Value> = fact["expected"].as_array().unwrap().iter().collect();
        assert_eq!(paths, expected, "{fact}");
    }
}

#[test]
fn hits_by_words_fill_the_places_that_strict_hits_leave() {
    let graded = |score, by_one_leg| Graded { score, by_one_leg };
    let candidates = [
        graded(0.9, true),
        graded(0.3, false),
        graded(0.2, true),
        graded(0.1, true),
    ];
    assert_eq!(select(&candidates, 6, 0.35, Strictness::Relaxed), [0, 2, 3]);
    assert_eq!(select(&candidates, 2, 0.35, Strictness::Relaxed), [0, 2]);
    assert_eq!(select(&candidates, 6, 0.35, Strictness::Hard), [0]);
    // A reranker may put a weak one before a strict one: each stands where it stood, and the strict one is not the one to go.
    let reranked = [graded(0.1, true), graded(0.9, true)];
    assert_eq!(select(&reranked, 6, 0.35, Strictness::Relaxed), [0, 1]);
    assert_eq!(select(&reranked, 1, 0.35, Strictness::Relaxed), [1]);
}

#[test]
fn strict_hits_are_taken_first_and_all_stand_in_their_order() {
    // As after reranking.
    let graded = |score, by_one_leg| Graded { score, by_one_leg };
    let candidates = [graded(0.2, true), graded(0.9, false), graded(0.8, false)];
    assert_eq!(select(&candidates, 3, 0.35, Strictness::Relaxed), [0, 1, 2]);
    assert_eq!(select(&candidates, 2, 0.35, Strictness::Relaxed), [1, 2]);
}

#[test]
fn a_floor_that_the_caller_named_is_never_relaxed() {
    let weak = [Graded {
        score: 0.2,
        by_one_leg: true,
    }];
    assert_eq!(select(&weak, 6, 0.35, Strictness::Relaxed), [0]);
    assert_eq!(select(&weak, 6, 0.35, Strictness::Hard), [0; 0]);
    assert_eq!(select(&weak, 6, 0.2, Strictness::Hard), [0]);
}

/// The reference takes a date from a name only below `memory/`, and only of `.md` files. Here what a workspace counts as memory is
/// its own choice, and a date in a name is one wherever the file lies.
const DATED_ELSEWHERE: &[&str] = &["2026-02-10.md", "memory/2026-02-10.txt"];

#[test]
fn temporal_decay_dates_and_evergreen_documents() {
    let freshness = Freshness::new(None, &Evergreen::default()).unwrap();
    let mut n_checked = 0;
    for fact in facts("temporal-decay") {
        let (input, expected) = (&fact["input"], &fact["expected"]);
        match input["fn"].as_str().unwrap() {
            "date_from_path" => {
                let path = input["path"].as_str().unwrap();
                let date = match name_date(path) {
                    NameDate::Day(Timestamp(ms)) => {
                        jiff::Timestamp::from_millisecond(ms).unwrap().to_string()
                    }
                    NameDate::Impossible | NameDate::None => String::new(),
                };
                let expected = match expected.as_str() {
                    None if DATED_ELSEWHERE.contains(&path) => "2026-02-10",
                    expected => expected.unwrap_or_default(),
                };
                assert_eq!(
                    date.strip_suffix("T00:00:00Z").unwrap_or(&date),
                    expected,
                    "{fact}"
                );
            }
            "is_evergreen" => {
                let path = input["path"].as_str().unwrap();
                assert_eq!(
                    freshness.is_evergreen(path),
                    expected.as_bool().unwrap(),
                    "{fact}"
                );
            }
            // The formula is the decay plugin's.
            "decay_score" => continue,
            other => panic!("unknown: {other}"),
        }
        n_checked += 1;
    }
    assert_eq!(n_checked, 16);
}

#[test]
fn memory_get() {
    let mut n_windows = 0;
    for fact in facts("memory-get") {
        let (input, expected) = (&fact["input"], &fact["expected"]);
        match input["fn"].as_str().unwrap() {
            "build_read_result" => {
                window(input, expected);
                n_windows += 1;
            }
            "build_read_result default window" => {
                let content =
                    "x\n".repeat(usize::try_from(input["lines"].as_u64().unwrap()).unwrap());
                let window = read_window("a.md", &content, None, None, 12_000);
                assert_eq!(window.lines, expected["lines"]);
                assert_eq!(window.truncated, expected["truncated"]);
                assert_eq!(window.next_from, expected["nextFrom"].as_u64());
            }
            // Links: shown by the tests of discovery. A read that fails for a moment: below.
            "read_memory_file" => {}
            other => panic!("no check for `{other}`"),
        }
    }
    assert!(n_windows > 10);
}

fn window(input: &Value, expected: &Value) {
    let max_chars = input["maxChars"]
        .as_u64()
        .map_or(12_000, |n| usize::try_from(n).unwrap());
    let path = expected["path"].as_str().unwrap();
    let content = input["content"].as_str().unwrap();
    let window = read_window(
        path,
        content,
        input["from"].as_i64(),
        input["lines"].as_i64(),
        max_chars,
    );
    assert_eq!(window.status, WindowStatus::Ok, "{input}");
    assert_eq!(window.from, expected["from"], "{input}");
    assert_eq!(window.lines, expected["lines"], "{input}");
    assert_eq!(
        window.truncated,
        expected["truncated"].as_bool().unwrap_or(false),
        "{input}"
    );
    assert_eq!(window.next_from, expected["nextFrom"].as_u64(), "{input}");
    // The reference appends what to do next to the text. Here the text is the file's own words alone, and the advice stands
    // beside it, so that nobody takes the one for the other.
    let text = expected["text"].as_str().unwrap();
    match text.split_once("\n\n[") {
        None => {
            assert_eq!(window.text, text, "{input}");
            assert_eq!(window.notice, None, "{input}");
        }
        Some((text, advice)) => {
            assert_eq!(window.text, text, "{input}");
            let notice = window.notice.unwrap();
            // Of an over-long line the reference speaks of another tool; we say which line it is.
            let of_long_line =
                advice.starts_with("More content available. Requested excerpt exceeded");
            let expected = if of_long_line {
                "Line 1 is longer than 5 characters and was cut.]"
            } else {
                advice
            };
            assert_eq!(format!("{notice}]"), expected);
        }
    }
}

#[test]
fn reading_goes_on_behind_a_line_that_is_too_long() {
    // The reference stops there.
    let window = read_window("a.md", "xxxxxxxx\ntwo\n", None, None, 5);
    assert_eq!((window.text.as_str(), window.next_from), ("xxxxx", Some(2)));
    assert!(window.notice.unwrap().contains("Use from=2 to continue"));
    assert_eq!(
        read_window("a.md", "xxxxxxxx\ntwo\n", Some(2), None, 5).text,
        "two"
    );
}

#[test]
fn a_window_behind_the_end_says_so() {
    let window = read_window("a.md", "one\ntwo\n", Some(50), Some(10), 12_000);
    assert_eq!(
        (window.status, window.lines, window.total_lines),
        (WindowStatus::PastEnd, 0, 2)
    );
    assert_eq!(window.notice.as_deref(), Some("The document has 2 lines."));
    assert_eq!(window.next_from, None);
}

#[test]
fn a_final_line_end_is_no_line() {
    let ten = "x\n".repeat(10);
    for content in [ten.as_str(), ten.trim_end()] {
        let window = read_window("a.md", content, Some(1), Some(10), 12_000);
        assert_eq!(
            (window.lines, window.total_lines, window.truncated),
            (10, 10, false)
        );
    }
}

#[test]
fn a_window_is_cut_on_a_character_border() {
    let content = format!("{}{}", "─".repeat(40), "🌸".repeat(300));
    for max_chars in 0..360 {
        let window = read_window("a.md", &content, None, None, max_chars);
        assert_eq!(window.text.chars().count(), max_chars.min(340));
        assert_eq!(window.truncated, max_chars < 340);
    }
}

#[test]
fn a_read_that_fails_for_a_moment_is_tried_again() {
    let mut n_calls = 0;
    let answer = with_retry(|| {
        n_calls += 1;
        // EAGAIN, as network folders give it.
        if n_calls == 1 {
            Err(std::io::Error::from_raw_os_error(11))
        } else {
            Ok(n_calls)
        }
    });
    assert_eq!(answer.unwrap(), 2);
    let mut n_calls = 0;
    let answer = with_retry(|| -> std::io::Result<()> {
        n_calls += 1;
        Err(std::io::ErrorKind::NotFound.into())
    });
    assert_eq!(
        (answer.unwrap_err().kind(), n_calls),
        (std::io::ErrorKind::NotFound, 1)
    );
}
