//! Disks that are full and folders that cannot be written: what is indexed goes on answering, and nothing is lost.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{Program, Run};

/// Twenty notes, indexed by words and by meaning.
fn harbour() -> Program {
    let program = Program::new()
        .with_meaning()
        .env("MEMORY_EMBEDDER__USE", "hash");
    for n in 0..20 {
        program.write(&format!("memory/{n}.md"), format!("pump number{n} basalt"));
    }
    program.run(&["index"]).exits(0);
    program
}

/// More than fits into the limits below.
fn add_many(program: &Program) {
    for n in 20..300 {
        let line = format!("valve number{n} gypsum {}\n", "word".repeat(n % 50));
        program.write(&format!("memory/{n}.md"), line.repeat(20));
    }
}

/// Runs the program while no file may grow beyond a number of blocks of 512 bytes. That stands for a full disk: each write
/// beyond it fails.
fn run_limited(program: &Program, n_blocks: u32, args: &[&str]) -> Run {
    let plain = program.command(&program.root(), args);
    let mut limited = Command::new("sh");
    limited
        .arg("-c")
        // Without the trap the system ends the process. Shells count in blocks of 512 bytes or 1024.
        .arg(format!(
            "trap '' XFSZ; ulimit -f {n_blocks} && exec \"$0\" \"$@\""
        ))
        .arg(plain.get_program())
        .args(args)
        .current_dir(program.root())
        .env_clear()
        .envs(
            plain
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    Run::of(&mut limited)
}

#[track_caller]
fn finds(run: &Run, word: &str) {
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains(word), "{}\n{}", run.stdout, run.stderr);
}

/// The folders of generations, by name.
fn generations(program: &Program) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(program.path(".memory/gen"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_full_disk_leaves_the_old_index_answering_and_loses_nothing() {
    let program = harbour();
    let live = generations(&program);
    add_many(&program);
    // From no room at all to nearly enough.
    for n_blocks in [0, 1, 8, 160, 640] {
        for args in [&["index", "--force"][..], &["index"]] {
            forget_shared_memory(&program);
            let what = format!("{args:?} with {n_blocks} blocks");
            let run = run_limited(&program, n_blocks, args);
            if n_blocks <= 8 || run.code != 0 {
                assert_eq!(run.code, 1, "{what}: {}", run.stderr);
                assert!(run.stderr.contains("error: "), "{what}: {}", run.stderr);
                assert!(run.stderr.contains("hint: "), "{what}: {}", run.stderr);
                assert!(run.stderr.contains("disk"), "{what}: {}", run.stderr);
                assert_eq!(generations(&program), live, "{what}");
            }
            finds(
                &run_limited(&program, n_blocks, &["search", "number7"]),
                "memory/7.md",
            );
            finds(&program.run(&["search", "number7"]), "memory/7.md");
        }
    }
    for args in [&["index"][..], &["index", "--force"]] {
        assert_eq!(program.run(args).exits(0).stderr, "");
    }
    finds(&program.run(&["search", "number299"]), "memory/299.md");
    finds(&program.run(&["search", "number7"]), "memory/7.md");
    let doctor = program.run(&["doctor"]).exits(0);
    assert!(
        doctor.stdout.lines().all(|line| line.starts_with("green")),
        "{}",
        doctor.stdout
    );
}

#[test]
fn a_full_disk_is_told_when_it_keeps_a_search_from_writing() {
    let program = harbour();
    forget_shared_memory(&program);
    let run = run_limited(&program, 0, &["search", "number7"]);
    finds(&run, "memory/7.md");
    let warnings: Vec<_> = run.stderr.lines().collect();
    assert_eq!(warnings.len(), 1, "{}", run.stderr);
    assert!(
        warnings[0].contains("is full or fails: what is indexed can be searched"),
        "{}",
        run.stderr
    );
    assert_eq!(program.run(&["search", "number7"]).exits(0).stderr, "");
}

/// Removes the files beside the databases that the last process may have left: on a full disk no new ones can be made.
fn forget_shared_memory(program: &Program) {
    for path in files_below(&program.path(".memory")) {
        if path.to_str().unwrap().ends_with("-shm") {
            fs::remove_file(path).unwrap();
        }
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn set_writable(dir: &Path, is_writable: bool) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            set_writable(&path, is_writable);
        } else {
            let mode = if is_writable { 0o644 } else { 0o444 };
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
    let mode = if is_writable { 0o755 } else { 0o555 };
    fs::set_permissions(dir, fs::Permissions::from_mode(mode)).unwrap();
}

/// Runs the program as somebody whom permissions stop. They do not stop the superuser, who becomes another user for it.
fn run_as_reader(program: &Program, args: &[&str]) -> Run {
    let home = program.root().parent().unwrap().to_owned();
    let mut command = program.command(&program.root(), args);
    if fs::metadata(&home).unwrap().uid() == 0 {
        const NOBODY: u32 = 65_534;
        // The program itself may lie where nobody else may look.
        let copy = home.join("program");
        if !copy.exists() {
            fs::copy(command.get_program(), &copy).unwrap();
            fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let plain = command;
        command = Command::new(copy);
        command
            .args(args)
            .current_dir(program.root())
            .env_clear()
            .envs(
                plain
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .uid(NOBODY)
            .gid(NOBODY);
    }
    Run::of(&mut command)
}

/// CS-09.
#[test]
fn who_may_only_read_searches_with_one_warning() {
    let program = harbour();
    let state = program.path(".memory");
    let files = files_below(&state);
    set_writable(&program.root(), false);
    let run = run_as_reader(&program, &["search", "number7"]);
    let index = run_as_reader(&program, &["index"]);
    let status = run_as_reader(&program, &["status"]);
    let doctor = run_as_reader(&program, &["doctor"]);
    let get = run_as_reader(&program, &["get", "memory/7.md"]);
    set_writable(&program.root(), true);
    finds(&run, "memory/7.md");
    let warnings: Vec<_> = run.stderr.lines().collect();
    assert_eq!(warnings.len(), 1, "{}", run.stderr);
    assert!(
        warnings[0].starts_with("warning: ")
            && warnings[0].contains("cannot be written: what is indexed can be searched"),
        "{}",
        run.stderr
    );
    assert_eq!(index.code, 1, "{}", index.stderr);
    assert_eq!(index.stderr.lines().count(), 2, "{}", index.stderr);
    assert!(index.stderr.contains("hint: check its permissions"));
    finds(&status, "20 on disk, 20 indexed");
    finds(&doctor, "yellow  folder");
    finds(&get, "number7");
    assert_eq!(files_below(&state).len(), files.len());
    // A folder of notes that cannot be written is none of our business.
    set_writable(&program.path("memory"), false);
    fs::set_permissions(program.root(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(program.run(&["index"]).exits(0).stderr, "");
    set_writable(&program.path("memory"), true);
    finds(&program.run(&["search", "number7"]), "memory/7.md");
}

/// Lets everybody write everything below a folder.
fn open_to_all(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = if path.is_dir() {
            open_to_all(&path);
            0o777
        } else {
            0o666
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn vectors_that_cannot_be_written_do_not_keep_words_from_being_found() {
    let program = harbour();
    program.write("memory/new.md", "valve gypsum");
    open_to_all(&program.root());
    let vectors = program.path(".memory/vectors.db");
    fs::set_permissions(&vectors, fs::Permissions::from_mode(0o444)).unwrap();
    let index = run_as_reader(&program, &["index"]);
    assert_eq!(index.code, 0, "{}", index.stderr);
    assert!(index.stdout.contains("1 new"), "{}", index.stdout);
    assert!(index.stdout.contains("1 pending"), "{}", index.stdout);
    assert!(index.stderr.contains("vectors.db"), "{}", index.stderr);
    finds(
        &run_as_reader(&program, &["search", "gypsum"]),
        "memory/new.md",
    );
    open_to_all(&program.root());
    let index = program.run(&["index"]).exits(0);
    assert!(!index.stdout.contains("pending"), "{}", index.stdout);
}

#[test]
fn a_store_in_a_folder_that_cannot_be_written_is_searched() {
    let program = harbour();
    open_to_all(&program.root());
    let store = program.path(".memory/gen/1-store");
    forget_shared_memory(&program);
    fs::set_permissions(&store, fs::Permissions::from_mode(0o555)).unwrap();
    let search = run_as_reader(&program, &["search", "number7"]);
    let status = run_as_reader(&program, &["status"]);
    open_to_all(&program.root());
    finds(&search, "memory/7.md");
    assert!(
        search.stderr.contains("cannot be written"),
        "{}",
        search.stderr
    );
    finds(&status, "20 on disk, 20 indexed");
}

#[test]
fn a_pipe_among_the_folders_of_the_index_keeps_nobody_waiting() {
    let program = harbour();
    let pipe = program.path(".memory/gen/9-store");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    program.run(&["index"]).exits(0);
    program.run(&["index", "--force"]).exits(0);
    finds(&program.run(&["search", "number7"]), "memory/7.md");
    assert!(pipe.exists());
}

#[test]
fn a_full_disk_leaves_a_note_whole_and_nothing_beside_it() {
    let program = harbour();
    let note = "line\n".repeat(1_000);
    program.write("memory/0.md", &note);
    for n_blocks in [0, 1, 4] {
        let run = run_limited(
            &program,
            n_blocks,
            &["add", "basalt", "--to", "memory/0.md"],
        );
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(
            run.stderr.contains("hint: free some disk space"),
            "{}",
            run.stderr
        );
        assert_eq!(
            fs::read_to_string(program.path("memory/0.md")).unwrap(),
            note
        );
    }
    let run = run_limited(&program, 0, &["add", "basalt", "--to", "memory/new/one.md"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    // 20 notes, and neither a new folder nor an unfinished file.
    assert_eq!(fs::read_dir(program.path("memory")).unwrap().count(), 20);
}

#[test]
fn notes_that_cannot_be_written_are_named_and_stay() {
    let program = harbour();
    set_writable(&program.path("memory"), false);
    open_to_all(&program.path(".memory"));
    fs::set_permissions(program.root(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = run_as_reader(&program, &["add", "basalt", "--to", "memory/0.md"]);
    let new = run_as_reader(&program, &["add", "basalt", "--to", "memory/new/one.md"]);
    set_writable(&program.path("memory"), true);
    for run in [run, new] {
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stderr.contains("error: cannot "), "{}", run.stderr);
        assert!(
            run.stderr.contains("hint: the file and its folder"),
            "{}",
            run.stderr
        );
    }
    let note = fs::read_to_string(program.path("memory/0.md")).unwrap();
    assert_eq!(note, "pump number0 basalt");
}

#[test]
fn an_index_that_cannot_be_written_keeps_nobody_from_a_note_or_a_flush() {
    let program = harbour();
    let check = [
        "flush", "check", "--tokens", "9", "--window", "8", "--cycle", "a",
    ];
    program.run(&check).exits(5);
    set_writable(&program.path(".memory"), false);
    open_to_all(&program.path("memory"));
    let run = run_as_reader(&program, &["add", "gypsum", "--to", "memory/0.md"]);
    let again = run_as_reader(&program, &check);
    let next = run_as_reader(&program, &[&check[..7], &["b"]].concat());
    set_writable(&program.path(".memory"), true);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.starts_with("memory/0.md#L3-L5"),
        "{}",
        run.stdout
    );
    assert!(
        run.stderr.starts_with("warning: not indexed yet: "),
        "{}",
        run.stderr
    );
    // What was remembered before can be read.
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert_eq!(next.code, 5, "{}{}", next.stdout, next.stderr);
    assert!(next.stderr.contains("not remembered"), "{}", next.stderr);
    finds(&program.run(&["index"]), "1 updated");
}
