//! `memory add`.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use crate::program::{Program, Run};

const NOON: &str = "2026-05-18T12:00:00Z";
const NOTE: &str = "memory/2026-05-18.md";

fn desk() -> Program {
    Program::new().env("MEMORY_WRITE__TIME_ZONE", "UTC")
}

fn add(program: &Program, args: &[&str]) -> Run {
    program.run(&[&["--now", NOON, "add"], args].concat())
}

/// Runs it with something piped in.
fn add_piped(program: &Program, args: &[&str], input: &[u8]) -> Run {
    let args = [&["--now", NOON, "add"], args].concat();
    let mut child = spawn(
        program
            .command(&program.root(), &args)
            .stdin(Stdio::piped()),
    );
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn spawn(command: &mut Command) -> Child {
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn text(program: &Program, path: &str) -> String {
    fs::read_to_string(program.path(path)).unwrap()
}

/// The names in a folder, those of unfinished files too.
fn names(program: &Program, dir: &str) -> Vec<String> {
    let entries = fs::read_dir(program.path(dir)).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_text_is_added_cited_and_found() {
    let program = desk();
    let run = add(&program, &["the port is 5433"]).exits(0);
    assert_eq!(run.stdout, "memory/2026-05-18.md#L1-L3\n");
    assert_eq!(run.stderr, "");
    let json = add(&program, &["- buy milk\n- call Ann", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        json,
        serde_json::json!({
            "path": NOTE, "line_start": 5, "line_end": 8, "citation": "memory/2026-05-18.md#L5-L8",
            "new_file": false, "indexed": true, "warnings": [],
        })
    );
    let search = program.run(&["search", "port"]).exits(0);
    assert!(
        search.stdout.starts_with("memory/2026-05-18.md#L1-L3 "),
        "{}",
        search.stdout
    );
    let run = add(&program, &["Ann likes tea", "--to", "MEMORY.md"]).exits(0);
    assert_eq!(run.stdout, "MEMORY.md#L1-L3\n");
    assert_eq!(
        text(&program, "MEMORY.md"),
        "## 2026-05-18 12:00\n\nAnn likes tea\n"
    );
}

#[test]
fn text_comes_from_a_pipe() {
    let program = desk();
    add_piped(&program, &[], b"one\r\ntwo\r\n").exits(0);
    add_piped(&program, &["-"], "\u{feff}三\n".as_bytes()).exits(0);
    assert_eq!(
        text(&program, NOTE),
        "## 12:00\n\none\ntwo\n\n## 12:00\n\n三\n"
    );
    let run = add_piped(&program, &[], b"caf\xe9").exits(2);
    assert!(run.stderr.contains("not UTF-8"), "{}", run.stderr);
    // Nothing is piped in, and nothing is said.
    let run = add(&program, &[]).exits(2);
    assert!(run.stderr.contains("the text is blank"), "{}", run.stderr);
}

#[test]
fn what_looks_like_an_option_is_none_of_the_text() {
    let program = desk();
    let run = add(&program, &["--too"]).exits(2);
    assert!(
        run.stderr.contains("no option of this command"),
        "{}",
        run.stderr
    );
    let run = add(&program, &["two", "words"]).exits(2);
    assert!(run.stderr.contains("words"), "{}", run.stderr);
    add(&program, &["-5 degrees"]).exits(0);
    add(&program, &["-- a rule of ours"]).exits(0);
    assert!(!program.path("MEMORY.md").exists());
}

#[test]
fn the_same_text_is_refused_with_its_place() {
    let program = desk();
    add(&program, &["the port is 5433"]).exits(0);
    let run = add(&program, &["the port is 5433 "]).exits(1);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr
            .starts_with("error: `memory/2026-05-18.md#L3` says the same already\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn other_files_are_not_written() {
    let program = desk();
    program.write("notes.md", "mine");
    program.write("memory/utf16.md", b"\xff\xfea\0");
    for to in [
        "notes.md",
        "../out.md",
        "/tmp/out.md",
        "memory/../notes.md",
        "memory/a.jsonl",
        "memory/.x/a.md",
        "memory/utf16.md",
        "memory.toml",
        ".memory/a.md",
    ] {
        let run = add(&program, &["text", "--to", to]).exits(2);
        assert!(run.stderr.contains("hint: "), "{to}: {}", run.stderr);
    }
    assert_eq!(text(&program, "notes.md"), "mine");
    assert_eq!(names(&program, "memory"), ["utf16.md"]);
}

#[test]
fn eight_processes_at_once_lose_nothing() {
    let program = desk();
    program.write(NOTE, "morning");
    let children: Vec<Child> = (0..8)
        .map(|n| {
            let text = format!("line number{n}");
            let args = ["--now", NOON, "add", &text];
            spawn(&mut program.command(&program.root(), &args))
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stderr}");
    }
    let day = text(&program, NOTE);
    assert!(day.starts_with("morning\n"), "{day}");
    let blocks: Vec<&str> = day.split("\n\n## 12:00\n\n").collect();
    let mut lines: Vec<&str> = blocks[1..].iter().map(|block| block.trim_end()).collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        (0..8)
            .map(|n| format!("line number{n}"))
            .collect::<Vec<_>>()
    );
    assert_eq!(names(&program, "memory"), ["2026-05-18.md"]);
    program.run(&["index"]).exits(0);
    for n in 0..8 {
        let word = format!("number{n}");
        let found = program.run(&["search", &word]).exits(0);
        assert!(found.stdout.starts_with(NOTE), "{}", found.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_is_killed_leaves_the_old_note_or_the_new_one() {
    let program = desk().env("MEMORY_WRITE__MAX_CHARS", "1000000");
    let line = "all work and no play makes a note\n";
    program.write(NOTE, line.repeat(60_000));
    let mut n_unfinished = 0;
    for round in 0..16 {
        let before = text(&program, NOTE);
        let added = format!("round number{round}\n{}", line.repeat(10_000));
        let args = ["--now", NOON, "add"];
        let mut command = program.command(&program.root(), &args);
        let mut child = spawn(command.stdin(Stdio::piped()));
        child
            .stdin
            .take()
            .unwrap()
            .write_all(added.as_bytes())
            .unwrap();
        // From the moment that something is seen beside the note it is being written.
        let is_beside = || names(&program, "memory").len() > 1;
        while !is_beside() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        // At once, or as soon as the note is another one; whoever reads meanwhile sees one of the two as well.
        let whole = format!("{before}\n## 12:00\n\n{added}");
        let waits = round % 2 == 1;
        while waits && child.try_wait().unwrap().is_none() {
            let seen = text(&program, NOTE);
            if seen == whole {
                break;
            }
            assert!(seen == before, "{} bytes of a note", seen.len());
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let after = text(&program, NOTE);
        n_unfinished += usize::from(is_beside());
        if after != before {
            assert!(after == whole, "{} bytes of a note", after.len());
            // Small again, for the next round.
            program.write(NOTE, &before);
        }
    }
    assert!(n_unfinished > 0, "no process died while it wrote");
    add(&program, &["after all"]).exits(0);
    assert_eq!(names(&program, "memory"), ["2026-05-18.md"]);
    let found = program.run(&["search", "after all"]).exits(0);
    assert!(found.stdout.contains(NOTE), "{}", found.stdout);
}
