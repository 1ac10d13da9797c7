//! `memory watch`: a line per change, until it is told to end.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::Program;

/// Puts a file in its place at once, so that it is never seen half-written.
fn put(program: &Program, path: &str, text: &str) {
    program.write("made", text);
    fs::rename(program.path("made"), program.path(path)).unwrap();
}

#[test]
fn watching_says_what_changes_and_ends_when_told() {
    for is_json in [false, true] {
        let program =
            Program::of(&[("memory/a.md", "basalt")]).env("MEMORY_SYNC__WATCH_DEBOUNCE_MS", "20");
        let args: &[&str] = if is_json {
            &["watch", "--json"]
        } else {
            &["watch"]
        };
        let mut child = program
            .command(&program.root(), args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut said = || stderr.next().unwrap().unwrap();
        assert_eq!(said(), "1 new, 0 updated, 0 unchanged (1 entries)");
        assert_eq!(said(), "watching; Ctrl-C ends it");
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = || {
            let mut line = String::new();
            stdout.read_line(&mut line).unwrap();
            let line = line.trim_end().to_owned();
            if !is_json {
                return line;
            }
            let value: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(
                value,
                json!({"change": value["change"], "path": value["path"]})
            );
            format!(
                "{} {}",
                value["change"].as_str().unwrap(),
                value["path"].as_str().unwrap()
            )
        };
        put(&program, "memory/b.md", "gypsum");
        assert_eq!(line(), "new memory/b.md");
        put(&program, "memory/b.md", "granite");
        assert_eq!(line(), "updated memory/b.md");
        fs::remove_file(program.path("memory/a.md")).unwrap();
        assert_eq!(line(), "removed memory/a.md");
        // A line is printed when the change is known; that it is indexed is told by the next sync.
        put(&program, "memory/c.md", "marble");
        assert_eq!(line(), "new memory/c.md");
        let found = program.run(&["search", "granite"]).exits(0).stdout;
        assert!(found.contains("memory/b.md"), "{found}");
        let status = Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status();
        assert!(status.unwrap().success());
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}
