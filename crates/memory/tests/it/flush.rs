//! Flush before compaction.

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;

use memory::flush::{Budget, MAX_FAILURES, decide, is_no_reply, pressure, prompt_tokens};
use memory::{FlushAnswer, FlushCheck, FlushCycle, FlushReason, config};
use memory_api::{ErrorKind, Result};
use serde_json::Value;

use crate::notes::Notes;

fn desk() -> Notes {
    Notes::new().with("write.time_zone", "UTC")
}

/// A conversation that fills its window of 200,000.
fn full(cycle: &str) -> FlushCheck {
    FlushCheck {
        tokens: 176_000,
        window: 200_000,
        cycle: cycle.to_owned(),
        ..FlushCheck::default()
    }
}

fn failed(cycle: &str) -> FlushCheck {
    FlushCheck {
        failed: true,
        ..full(cycle)
    }
}

fn check(notes: &Notes, check: &FlushCheck) -> Result<FlushAnswer> {
    notes.once(async |memory| memory.check_flush(check).await)
}

#[track_caller]
fn answers(notes: &Notes, asked: &FlushCheck, reason: FlushReason) -> FlushAnswer {
    let answer = check(notes, asked).unwrap();
    assert_eq!(answer.reason, reason, "{answer:?}");
    assert_eq!(answer.due, reason.is_due());
    assert_eq!(answer.prompt.is_some(), answer.due);
    assert_eq!(answer.system_prompt.is_some(), answer.due);
    answer
}

/// The facts of the reference system, area flush.
#[test]
fn facts_of_the_reference_system() {
    let facts: Vec<Value> = serde_json::from_str(include_str!("flush-facts.json")).unwrap();
    assert_eq!(facts.len(), 17);
    let config = desk_config().flush;
    for fact in facts {
        let (input, expected) = (&fact["input"], &fact["expected"]);
        let number = |name: &str| input[name].as_u64();
        let budget = || {
            Budget::new(
                number("contextWindow").unwrap(),
                config.reserve_floor_tokens,
                config.soft_tokens,
            )
        };
        match input["fn"].as_str().unwrap() {
            "compaction_threshold" => {
                // There the reserve is given; here it is bounded first, and a minimum is for whoever wants one.
                let rest = number("contextWindow").unwrap() - number("reserve").unwrap();
                assert_eq!(
                    rest.max(number("minimum").unwrap_or(0)),
                    *expected,
                    "{fact}"
                );
            }
            "effective_reserve (floor 20000, ratio 0.25)" => {
                assert_eq!(budget().reserve, *expected, "{fact}");
            }
            "flush_plan" => {
                let budget = budget();
                assert_eq!(budget.reserve, expected["reserve"], "{fact}");
                assert_eq!(budget.soft, expected["soft"], "{fact}");
                assert_eq!(budget.threshold, expected["triggerAtTokens"], "{fact}");
                assert_eq!(
                    config.transcript_kib * 1024,
                    expected["forceBytes"],
                    "{fact}"
                );
                // 2026-01-31.
                let notes = desk().on_day(20_484);
                let answer = check(&notes, &full("1")).unwrap();
                assert_eq!(answer.path, expected["path"], "{fact}");
            }
            "should_run_memory_flush" => {
                let entry = &input["entry"];
                let known = match (
                    &entry["memoryFlush"]["compactionCount"],
                    &entry["compactionCount"],
                ) {
                    (Value::Number(flushed), Value::Number(now)) if flushed == now => FlushCycle {
                        asked: 1,
                        failed: 0,
                    },
                    _ => FlushCycle::default(),
                };
                if entry.is_null() {
                    // Without a session there is no cycle to speak of.
                    let err = check(&desk(), &full(" ")).unwrap_err();
                    assert_eq!(err.kind(), ErrorKind::InvalidInput);
                    continue;
                }
                let asked = FlushCheck {
                    // A number that is given goes before one that is remembered.
                    tokens: number("tokenCount")
                        .or(entry["totalTokens"].as_u64())
                        .unwrap_or(0),
                    ..FlushCheck::default()
                };
                let mut budget = Budget::new(100, 0, 0);
                budget.threshold = number("threshold").unwrap();
                let (_, reason) = decide(pressure(&asked, budget, &config), false, known);
                assert_eq!(reason.is_due(), *expected, "{fact}");
            }
            "effective_prompt_tokens" => {
                let sum = prompt_tokens(
                    number("base").unwrap(),
                    number("lastOutput").unwrap(),
                    number("estimate").unwrap(),
                );
                assert_eq!(sum, *expected, "{fact}");
            }
            other => panic!("{other}"),
        }
    }
}

fn desk_config() -> config::Config {
    let app = Notes::new().app();
    config::load(&config::Sources::default(), app.registry())
        .unwrap()
        .config
}

#[test]
fn windows_are_divided_whatever_their_size() {
    let threshold = |window: u64| Budget::new(window, 20_000, 4_000).threshold;
    for (window, expected) in [
        (200_000, 176_000),
        (100_000, 76_000),
        (32_768, 20_576),
        (8_192, 3_072),
        (4_096, 1_536),
        (1, 1),
        (0, 0),
    ] {
        assert_eq!(threshold(window), expected, "{window}");
    }
    let all = Budget::new(u64::MAX, u64::MAX, u64::MAX);
    assert!(all.threshold > 0 && all.reserve + all.soft + all.threshold == u64::MAX);
}

#[test]
fn a_cycle_asks_once() {
    let notes = desk();
    let below = FlushCheck {
        tokens: 175_999,
        ..full("s:1")
    };
    let answer = answers(&notes, &below, FlushReason::Below);
    assert!(
        answer
            .message
            .contains("175999 tokens are below the threshold of 176000")
    );
    // Nothing to remember yet.
    assert!(!notes.path(".memory").exists());
    let answer = answers(&notes, &full("s:1"), FlushReason::Tokens);
    assert_eq!(answer.path, "memory/2026-06-01.md");
    assert_eq!(answer.warnings, [""; 0]);
    let prompt = answer.prompt.unwrap();
    assert!(prompt.contains("00:00 on 2026-06-01"), "{prompt}");
    assert!(prompt.contains("memory/2026-06-01.md") && prompt.contains("NO_REPLY"));
    assert!(prompt.contains("MEMORY.md") && !prompt.contains('{'));
    answers(&notes, &full("s:1"), FlushReason::Asked);
    answers(&notes, &full("s:2"), FlushReason::Tokens);
    answers(&notes, &full("other:1"), FlushReason::Tokens);
    answers(&notes, &full("s:2"), FlushReason::Asked);
}

#[test]
fn three_failures_end_a_cycle() {
    let notes = desk();
    answers(&notes, &full("s:1"), FlushReason::Tokens);
    for n in 1..MAX_FAILURES {
        let answer = answers(&notes, &failed("s:1"), FlushReason::Again);
        assert_eq!(answer.failures, n);
        assert_eq!(answer.warnings, [""; 0]);
    }
    let answer = answers(&notes, &failed("s:1"), FlushReason::GivenUp);
    assert_eq!(answer.failures, MAX_FAILURES);
    assert!(answer.warnings[0].contains("3 flushes of this cycle failed"));
    answers(&notes, &full("s:1"), FlushReason::GivenUp);
    answers(&notes, &full("s:2"), FlushReason::Tokens);
}

#[test]
fn a_failure_below_the_threshold_counts_and_asks_nothing() {
    let notes = desk();
    answers(&notes, &full("s:1"), FlushReason::Tokens);
    let below = FlushCheck {
        tokens: 1,
        ..failed("s:1")
    };
    assert_eq!(answers(&notes, &below, FlushReason::Below).failures, 1);
    answers(&notes, &failed("s:1"), FlushReason::Again);
    answers(&notes, &failed("s:1"), FlushReason::GivenUp);
}

#[test]
fn a_long_transcript_is_a_reason_too() {
    let notes = desk();
    let transcript = |bytes: u64| FlushCheck {
        tokens: 1,
        transcript_bytes: Some(bytes),
        ..full("s:1")
    };
    answers(&notes, &transcript(2 * 1024 * 1024 - 1), FlushReason::Below);
    answers(
        &notes,
        &transcript(2 * 1024 * 1024),
        FlushReason::Transcript,
    );
    let never = desk().with("flush.transcript_kib", 0);
    answers(&never, &transcript(u64::MAX), FlushReason::Below);
}

#[test]
fn the_config_decides() {
    let off = desk().with("flush.enabled", false);
    answers(&off, &full("s:1"), FlushReason::Off);
    assert!(!off.path(".memory").exists());
    let own = desk()
        .with("flush.prompt", "write to {path} {\"json\": {date}}")
        .with("flush.system_prompt", "at {time}")
        .with("flush.soft_tokens", 10_000)
        .with("write.file", "notes/{date}.md");
    let answer = answers(
        &own,
        &FlushCheck {
            tokens: 170_000,
            ..full("s:1")
        },
        FlushReason::Tokens,
    );
    assert_eq!(
        answer.prompt.unwrap(),
        "write to notes/2026-06-01.md {\"json\": 2026-06-01}"
    );
    assert_eq!(answer.system_prompt.unwrap(), "at 00:00");
}

#[test]
fn of_several_that_ask_at_once_one_hears_yes() {
    let notes = Arc::new(desk());
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (notes, barrier) = (Arc::clone(&notes), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                check(&notes, &full("s:1")).unwrap()
            })
        })
        .collect();
    let answers: Vec<FlushAnswer> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(
        answers.iter().filter(|answer| answer.due).count(),
        1,
        "{answers:?}"
    );
    assert!(
        answers.iter().all(|answer| answer.warnings.is_empty()),
        "{answers:?}"
    );
}

#[test]
fn what_cannot_be_remembered_is_said() {
    let notes = desk().with("state_dir", "/proc/none/of/ours");
    let answer = answers(&notes, &full("s:1"), FlushReason::Tokens);
    assert!(answer.warnings[0].contains("not remembered"), "{answer:?}");
}

#[test]
fn a_damaged_memory_of_cycles_is_kept_aside() {
    let notes = desk();
    answers(&notes, &full("s:1"), FlushReason::Tokens);
    fs::write(notes.path(".memory/state.db"), "rubbish".repeat(1_000)).unwrap();
    let answer = answers(&notes, &full("s:1"), FlushReason::Tokens);
    assert!(
        answer.warnings[0].contains("state.db.damaged-1"),
        "{answer:?}"
    );
    assert!(notes.path(".memory/state.db.damaged-1").exists());
    answers(&notes, &full("s:1"), FlushReason::Asked);
}

#[test]
fn an_index_built_anew_forgets_no_cycle() {
    let notes = desk();
    notes.write("notes/a.md", "one");
    answers(&notes, &full("s:1"), FlushReason::Tokens);
    notes
        .index_with(&memory::SyncRequest {
            force: true,
            ..Default::default()
        })
        .unwrap();
    answers(&notes, &full("s:1"), FlushReason::Asked);
}

#[test]
fn no_reply_is_understood_whatever_it_wears() {
    for text in [
        "NO_REPLY",
        " no_reply\n",
        "NO_REPLY.",
        "\"NO_REPLY\"",
        "“NO_REPLY”",
        "`NO_REPLY`",
        "**NO_REPLY**",
        "_NO_REPLY_",
        "(NO_REPLY)!",
        "```\nNO_REPLY\n```",
        "```text\nNO_REPLY\n```\n",
        "~~~\nNO_REPLY\n~~~",
        "```NO_REPLY```",
        "NO\\_REPLY",
        "\u{feff}NO_REPLY\u{200b}",
        "「NO_REPLY」。",
        "> NO_REPLY",
    ] {
        assert!(is_no_reply(text), "{text:?}");
    }
    for text in [
        "",
        "```\n```",
        "NO_REPLY because nothing happened",
        "I would say NO_REPLY",
        "NOREPLY",
        "NO REPLY",
        "no_reply_needed",
        "XNO_REPLY",
        "NO_REPLY\nNO_REPLY",
        "```NO_REPLY\nthe port is 5433\n```",
    ] {
        assert!(!is_no_reply(text), "{text:?}");
    }
}
