//! Reports of `memory/tests/it/indexing-reports.json` that need a process of its own.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Program, Run};

/// Who owns nothing.
const NOBODY: u32 = 65_534;

/// Runs the program as somebody who may only read what lies there: permissions do not stop the superuser.
struct Guest<'a> {
    program: &'a Program,
    binary: PathBuf,
}

impl<'a> Guest<'a> {
    fn of(program: &'a Program) -> Self {
        let home = program.root().parent().unwrap().to_owned();
        // Where it was built, others may have no business.
        let binary = home.join("memory-binary");
        let built = env!("CARGO_BIN_EXE_memory");
        fs::hard_link(built, &binary)
            .or_else(|_| fs::copy(built, &binary).map(|_| ()))
            .unwrap();
        allow(&home, 0o755);
        Self { program, binary }
    }

    fn run(&self, args: &[&str]) -> Run {
        let named = self.program.command(&self.program.root(), args);
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .current_dir(self.program.root())
            .env_clear();
        command.envs(
            named
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        if fs::metadata(self.program.root()).unwrap().uid() == 0 {
            command.uid(NOBODY).gid(NOBODY);
        }
        Run::of(&mut command)
    }
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Lets everybody read what lies in a folder and nobody change it, or its owner again.
fn lock_up(dir: &Path, is_locked: bool) {
    let (of_folder, of_file) = if is_locked {
        (0o555, 0o444)
    } else {
        (0o755, 0o644)
    };
    allow(dir, 0o755);
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            lock_up(&path, is_locked);
        } else {
            allow(&path, of_file);
        }
    }
    allow(dir, of_folder);
}

/// Returns the name and content of every file below a folder.
fn content(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(content(&path));
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    files.sort_unstable();
    files
}

fn harbour() -> Program {
    let program = Program::new()
        .with_meaning()
        .env("MEMORY_EMBEDDER__USE", "hash");
    for n in 0..10 {
        program.write(&format!("memory/{n}.md"), format!("pump number{n}"));
    }
    program
}

// CS-09; that a watcher is quiet about it comes with it.
#[test]
fn who_may_only_read_an_index_searches_it_and_is_told_once_that_it_stays_as_it_is() {
    let program = harbour();
    program.run(&["index"]).exits(0);
    let guest = Guest::of(&program);
    let state = program.path(".memory");
    lock_up(&state, true);
    let before = content(&state);
    for _ in 0..2 {
        let run = guest.run(&["search", "number7"]).exits(0);
        assert!(run.stdout.starts_with("memory/7.md"), "{}", run.stdout);
        assert!(run.stderr.lines().count() <= 1, "{}", run.stderr);
    }
    for args in [&["index"][..], &["index", "--force"], &["doctor", "--fix"]] {
        let run = guest.run(args).exits(1);
        let errors = run
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{}", run.stderr);
        assert!(run.stderr.contains("cannot be written"), "{}", run.stderr);
        assert!(
            run.stderr.contains("hint: check its permissions"),
            "{}",
            run.stderr
        );
    }
    guest.run(&["status"]).exits(0);
    assert!(content(&state) == before);
    lock_up(&state, false);
    program.write("memory/new.md", "harbour");
    program.run(&["index"]).exits(0);
}

#[test]
fn notes_that_can_only_be_read_are_indexed_like_others() {
    let program = harbour();
    program.write("state/keep", "");
    fs::remove_file(program.path("state/keep")).unwrap();
    allow(&program.path("state"), 0o777);
    let guest = Guest::of(&program);
    allow(&program.root(), 0o555);
    lock_up(&program.path("memory"), true);
    let state = ["--state", "state/index"];
    for args in [&["index"][..], &["index", "--force"]] {
        let run = guest.run(&[&state[..], args].concat()).exits(0);
        assert!(run.stdout.contains("10 new, 0 updated"), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
    let run = guest
        .run(&[&state[..], &["search", "number7"]].concat())
        .exits(0);
    assert!(run.stdout.starts_with("memory/7.md"), "{}", run.stdout);
    lock_up(&program.path("memory"), false);
    allow(&program.root(), 0o755);
}

// RS-03; the handles of a watcher come with it.
#[test]
fn ignored_folders_are_not_walked_and_few_handles_are_enough() {
    let program = Program::of(&[
        ("memory/a.md", "pump"),
        ("memory/.memoryignore", "node_modules/\n"),
    ]);
    for n in 0..150 {
        program.write(&format!("memory/.venv/lib{n}/read.md"), "pump");
        program.write(&format!("memory/node_modules/part{n}/README.md"), "pump");
        program.write(&format!("memory/wide/{n}/note.md"), format!("valve{n}"));
    }
    // A link that a walk comes by is told.
    for ignored in ["memory/.venv/link", "memory/node_modules/link"] {
        symlink("nowhere", program.path(ignored)).unwrap();
    }
    let deep = "down/".repeat(100);
    program.write(&format!("memory/{deep}c.md"), "anchor");
    let with_few_handles = |args: &str| {
        let script = format!(
            "ulimit -n 48 && exec '{}' {args}",
            env!("CARGO_BIN_EXE_memory")
        );
        let named = program.command(&program.root(), &[]);
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .current_dir(program.root())
            .env_clear();
        command.envs(
            named
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        Run::of(&mut command)
    };
    let run = with_few_handles("index").exits(0);
    assert_eq!(
        run.stdout,
        "152 new, 0 updated, 0 unchanged (152 entries)\n"
    );
    assert_eq!(run.stderr, "");
    let run = with_few_handles("index --force").exits(0);
    assert_eq!(run.stderr, "");
    let run = with_few_handles("search anchor").exits(0);
    assert!(run.stdout.contains("down/c.md"), "{}", run.stdout);
}

#[test]
fn a_note_that_may_not_be_read_is_told_as_such() {
    // PS-06 of `memory-mcp/src/tests/interface-reports.json`.
    let program = Program::of(&[("memory/a.md", "pump"), ("memory/closed/x.md", "pump")]);
    let guest = Guest::of(&program);
    allow(&program.path("memory/closed"), 0o000);
    let run = guest.run(&["get", "memory/closed/x.md"]).exits(1);
    assert!(run.stderr.contains("ermission denied"), "{}", run.stderr);
    assert_eq!(guest.run(&["get", "memory/a.md"]).exits(0).stdout, "pump\n");
    allow(&program.path("memory/closed"), 0o755);
}
