use std::fs;

use crate::program::Program;

#[test]
fn a_new_workspace_is_made_indexed_and_searched() {
    let program = Program::new();
    fs::remove_dir_all(program.root()).unwrap();
    fs::create_dir(program.root()).unwrap();
    let init = program.run(&["init"]).exits(0);
    assert!(
        init.stdout
            .ends_with("desk: made memory/, memory.toml, MEMORY.md\n"),
        "{}",
        init.stdout
    );
    assert!(init.stderr.contains("memory index"));
    program.run(&["config", "check"]).exits(0);
    let again = program.run(&["init"]).exits(0);
    assert!(again.stdout.contains("everything was there already"));
    let index = program.run(&["index"]).exits(0);
    assert_eq!(index.stdout, "1 new, 0 updated, 0 unchanged (1 entries)\n");
    assert_eq!(index.stderr, "");
    let search = program
        .run(&["search", "decisions", "preferences"])
        .exits(0);
    assert!(
        search.stdout.starts_with("MEMORY.md#L1-L4  "),
        "{}",
        search.stdout
    );
}

#[test]
fn init_keeps_what_is_there() {
    let program = Program::of(&[
        ("MEMORY.md", "mine"),
        ("memory.toml", "namespace = \"mine\"\n"),
    ]);
    program.run(&["init"]).exits(0);
    assert_eq!(
        fs::read_to_string(program.path("MEMORY.md")).unwrap(),
        "mine"
    );
    assert_eq!(
        fs::read_to_string(program.path("memory.toml")).unwrap(),
        "namespace = \"mine\"\n"
    );
    let other = program.path("sub/new");
    fs::create_dir_all(program.path("sub")).unwrap();
    program.run(&["init", "sub/new"]).exits(0);
    assert!(other.join("memory.toml").is_file() && other.join("memory").is_dir());
}

#[test]
fn what_changed_is_counted() {
    let program = Program::of(&[("memory/a.md", "basalt"), ("memory/b.md", "gypsum")]);
    assert_eq!(
        program.run(&["index"]).exits(0).stdout,
        "2 new, 0 updated, 0 unchanged (2 entries)\n"
    );
    program.write("memory/a.md", "granite and more");
    fs::remove_file(program.path("memory/b.md")).unwrap();
    program.write("memory/c.md", "slate");
    assert_eq!(
        program.run(&["index"]).exits(0).stdout,
        "1 new, 1 updated, 0 unchanged, 1 removed (2 entries)\n"
    );
    let json = program.run(&["index", "--json"]).exits(0).json();
    assert_eq!(
        (&json["unchanged"], &json["entries"]),
        (&2.into(), &2.into())
    );
}

#[test]
fn an_empty_workspace_names_where_it_looked() {
    // MC-08.
    let program = Program::of(&[("memory/a.txt", "text")]);
    let root = fs::canonicalize(program.root()).unwrap();
    let expected = format!("0 files found in {} (0 entries)\n", root.display());
    let run = program.run(&["index"]).exits(0);
    assert_eq!(run.stdout, expected);
    assert!(
        run.stderr.contains("hint: memory files are `MEMORY.md`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_that_cannot_be_indexed_is_named_and_exits_with_3() {
    let program = Program::of(&[
        ("memory/a.md", "pump"),
        ("memory/b.md", &"x ".repeat(2_000)),
    ]);
    let run = program.run(&["--config", "small.toml", "index"]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    program.write("small.toml", "[documents]\nmax_file_kib = 1\n");
    let run = program.run(&["--config", "small.toml", "index"]).exits(3);
    assert_eq!(
        run.stdout,
        "1 new, 0 updated, 0 unchanged, 1 failed (1 entries)\n"
    );
    assert!(
        run.stderr.starts_with("warning: memory/b.md: "),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("documents.max_file_kib"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_state_folder_with_other_content_is_refused() {
    let program = Program::of(&[("memory/a.md", "pump"), ("gen/1-store/main.c", "int main;")]);
    for state in [".", "gen", "memory"] {
        let run = program.run(&["--state", state, "index"]).exits(2);
        assert!(
            run.stderr.contains("hint: name a new or empty folder"),
            "{}",
            run.stderr
        );
    }
    assert_eq!(
        fs::read_to_string(program.path("gen/1-store/main.c")).unwrap(),
        "int main;"
    );
}

#[test]
fn a_held_lock_exits_with_4() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    let lock = fs::File::options()
        .write(true)
        .open(program.path(".memory/lock"))
        .unwrap();
    lock.lock().unwrap();
    let run = program.run(&["index", "--no-wait"]).exits(4);
    assert!(
        run.stderr.contains("is writing to this index"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("hint: "), "{}", run.stderr);
    assert!(
        program
            .run(&["search", "pump"])
            .exits(0)
            .stdout
            .contains("memory/a.md")
    );
}

#[test]
fn the_doctor_says_how_each_part_is_and_mends_what_can_be() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    let first = program.run(&["doctor"]).exits(0);
    assert!(first.stdout.contains("yellow  store"), "{}", first.stdout);
    program.run(&["doctor", "--fix"]).exits(0);
    program.write(".memory/gen/1-store/store.db", "no database");
    let ill = program.run(&["doctor"]).exits(1);
    assert!(ill.stdout.contains("red     store"), "{}", ill.stdout);
    assert!(
        ill.stderr.contains("hint: run `memory index --force`"),
        "{}",
        ill.stderr
    );
    let mended = program.run(&["doctor", "--fix", "--json"]).exits(0).json();
    for finding in mended.as_array().unwrap() {
        // What was damaged is left for a person to look at.
        let is_folder = finding["part"] == "folder";
        let expected = if is_folder { "yellow" } else { "green" };
        assert_eq!(finding["health"], expected, "{mended}");
    }
    fs::remove_dir_all(program.path(".memory/1-store.damaged-1")).unwrap();
    let left = program.run(&["doctor"]).exits(0);
    assert!(!left.stdout.contains("yellow"), "{}", left.stdout);
}

#[cfg(unix)]
#[test]
fn who_is_told_to_end_ends_in_good_order() {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    for signal in ["-INT", "-TERM"] {
        let program = Program::of(&[("memory/a.md", "pump")]);
        program.run(&["index"]).exits(0);
        let lock = fs::File::options()
            .write(true)
            .open(program.path(".memory/lock"))
            .unwrap();
        lock.lock().unwrap();
        let mut child = program
            .command(&program.root(), &["index"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It listens for signals before it asks for the lock.
        let mut line = String::new();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("waiting for "), "{line}");
        let id = child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        drop(lock);
        program.run(&["index", "--no-wait"]).exits(0);
    }
}

#[test]
fn a_damaged_index_says_what_to_run_and_is_built_anew() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    program.write(".memory/MANIFEST.json", "{");
    let run = program.run(&["search", "pump"]).exits(1);
    assert!(
        run.stderr.contains("is damaged") && run.stderr.contains("hint: run `memory index"),
        "{}",
        run.stderr
    );
    let run = program.run(&["index"]).exits(0);
    assert!(
        run.stderr.contains("the index is built anew"),
        "{}",
        run.stderr
    );
    assert!(
        program
            .run(&["search", "pump"])
            .exits(0)
            .stdout
            .contains("memory/a.md")
    );
}

#[test]
fn status_compares_files_and_index() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    let run = program.run(&["status"]).exits(0);
    assert!(run.stderr.contains("no index yet"), "{}", run.stderr);
    program
        .run(&["index", "--now", "2026-05-18T09:30:00Z"])
        .exits(0);
    program.write("memory/b.md", "valve");
    let run = program.run(&["status"]).exits(0);
    assert!(
        run.stdout.contains("2 on disk, 1 indexed"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("2026-05-18T09:30:00Z"),
        "{}",
        run.stdout
    );
    let json = program.run(&["status", "--json"]).exits(0).json();
    assert_eq!(json["indexed"], true);
    assert_eq!(json["lexical"]["entries"], 1);
}

#[test]
fn a_damaged_store_is_named_with_its_remedy() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    let store = ".memory/gen/1-store/store.db";
    program.write(store, "no database ".repeat(1_000));
    let run = program.run(&["search", "pump"]).exits(1);
    assert!(run.stderr.contains(store), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("hint: run `memory index --force` to build the index anew"),
        "{}",
        run.stderr
    );
    let run = program.run(&["index"]).exits(0);
    assert!(run.stderr.contains("is built anew"), "{}", run.stderr);
    program.run(&["doctor"]).exits(0);
}

#[test]
fn a_damaged_index_by_words_is_told_with_its_remedy() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    program.write(
        ".memory/gen/1-lexical-fts5/index.db",
        "no database ".repeat(1_000),
    );
    let run = program.run(&["search", "pump"]).exits(0);
    assert!(
        run.stderr
            .contains("warning: words: fts5: failed to open: "),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("; run `memory index` to build it anew; nothing else is lost"),
        "{}",
        run.stderr
    );
    program.run(&["index"]).exits(0);
    assert!(
        program
            .run(&["search", "pump"])
            .exits(0)
            .stdout
            .contains("memory/a.md")
    );
}
