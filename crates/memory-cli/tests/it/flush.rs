//! `memory flush check`.

use crate::program::{Program, Run};

fn check(program: &Program, args: &[&str]) -> Run {
    let command = ["--now", "2026-01-31T12:00:00Z", "flush", "check"];
    program.run(&[&command, args].concat())
}

#[test]
fn a_flush_is_due_once_in_a_cycle() {
    let program = Program::new().env("MEMORY_WRITE__TIME_ZONE", "UTC");
    let args = |tokens: &'static str| ["--tokens", tokens, "--window", "200000", "--cycle", "s:1"];
    let run = check(&program, &args("175999")).exits(0);
    assert_eq!(
        run.stdout,
        "not due: 175999 tokens are below the threshold of 176000 (of a window of 200000)\n"
    );
    let run = check(&program, &args("176000")).exits(5);
    assert_eq!(
        run.stdout,
        "due: 176000 tokens reach the threshold of 176000 (of a window of 200000)\n"
    );
    let run = check(&program, &args("176000")).exits(0);
    assert_eq!(
        run.stdout,
        "not due: it was asked for in this cycle already\n"
    );
    let failed = [&args("176000")[..], &["--failed"]].concat();
    check(&program, &failed).exits(5);
    check(&program, &failed).exits(5);
    let run = check(&program, &failed).exits(0);
    assert!(
        run.stderr
            .starts_with("warning: 3 flushes of this cycle failed"),
        "{}",
        run.stderr
    );
}

#[test]
fn json_holds_what_to_tell_the_agent() {
    let program = Program::new().env("MEMORY_WRITE__TIME_ZONE", "UTC");
    let args = [
        "--tokens",
        "1",
        "--window",
        "200000",
        "--cycle",
        "s:1",
        "--transcript-bytes",
        "2097152",
        "--json",
    ];
    let json = check(&program, &args).exits(5).json();
    assert_eq!(json["due"], true);
    assert_eq!(json["reason"], "transcript");
    assert_eq!(json["path"], "memory/2026-01-31.md");
    assert_eq!(
        json["budget"],
        serde_json::json!({"window": 200_000, "reserve": 20_000, "soft": 4_000, "threshold": 176_000})
    );
    let prompt = json["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("memory/2026-01-31.md") && prompt.contains("12:00"),
        "{prompt}"
    );
    let json = check(&program, &args).exits(0).json();
    assert_eq!(
        (&json["reason"], &json["prompt"]),
        (&"asked".into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_cycle_needs_a_name() {
    let program = Program::new();
    check(
        &program,
        &["--tokens", "1", "--window", "1", "--cycle", " "],
    )
    .exits(2);
    check(
        &program,
        &["--tokens", "-1", "--window", "1", "--cycle", "a"],
    )
    .exits(2);
}
