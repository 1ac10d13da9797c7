use crate::program::Program;

fn lines(n: usize) -> String {
    (1..=n)
        .map(|line| format!("line {line}\n"))
        .collect::<Vec<_>>()
        .concat()
}

#[test]
fn a_window_says_how_to_go_on() {
    let program = Program::of(&[("memory/a.md", &lines(200))]);
    let run = program.run(&["get", "memory/a.md"]).exits(0);
    assert_eq!(run.stdout, lines(120));
    assert_eq!(
        run.stderr,
        "More content available. Use --from 121 to continue.\n"
    );
    let run = program
        .run(&["get", "memory/a.md", "--from", "121"])
        .exits(0);
    assert!(run.stdout.starts_with("line 121\n") && run.stdout.ends_with("line 200\n"));
    assert_eq!(run.stderr, "");
    let json = program
        .run(&[
            "get",
            "memory/a.md",
            "--from",
            "5",
            "--lines",
            "2",
            "--json",
        ])
        .exits(0)
        .json();
    assert_eq!(json["text"], "line 5\nline 6");
    assert_eq!(
        (&json["next_from"], &json["truncated"], &json["status"]),
        (&7.into(), &true.into(), &"ok".into())
    );
}

#[test]
fn a_citation_can_be_read() {
    let program = Program::of(&[("memory/a.md", &lines(9)), ("memory/b.md#L1", "not memory")]);
    let get = |place: &str| program.run(&["get", place]).exits(0).stdout;
    assert_eq!(get("memory/a.md#L3-L4"), "line 3\nline 4\n");
    assert_eq!(get("memory/a.md#L9"), "line 9\n");
    for bad in [
        "memory/a.md#L",
        "memory/a.md#Lx",
        "memory/a.md#L9-L3x",
        "memory/a.md#L0",
        "memory/a.md#L3-L1",
    ] {
        program.run(&["get", bad]).exits(2);
    }
}

#[test]
fn absent_empty_and_past_the_end_are_three_answers() {
    // PS-07.
    let program = Program::of(&[("memory/empty.md", ""), ("memory/ten.md", &lines(10))]);
    let run = program.run(&["get", "memory/2099-01-01.md"]).exits(1);
    assert!(
        run.stderr
            .contains("there is no memory file `memory/2099-01-01.md`"),
        "{}",
        run.stderr
    );
    let run = program.run(&["get", "memory/gone.md#L3-L5"]).exits(1);
    assert!(
        run.stderr
            .contains("there is no memory file `memory/gone.md`"),
        "{}",
        run.stderr
    );
    let run = program.run(&["get", "memory/empty.md"]).exits(0);
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str()),
        ("", "`memory/empty.md` is empty\n")
    );
    let run = program
        .run(&["get", "memory/ten.md", "--from", "50", "--lines", "11"])
        .exits(0);
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str()),
        ("", "The document has 10 lines.\n")
    );
}

#[test]
fn other_files_are_refused() {
    let program = Program::of(&[("memory/a.md", "pump"), ("secret.md", "secret")]);
    for path in [
        "secret.md",
        "../desk/secret.md",
        "memory/../secret.md",
        "/etc/hostname",
        "memory",
        "",
    ] {
        let run = program.run(&["get", path]).exits(2);
        assert!(
            run.stderr
                .contains("is not a memory file of this workspace"),
            "{path}: {}",
            run.stderr
        );
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn a_pipe_gets_the_bytes_as_they_are() {
    let text = "pump \u{1b}[31mred\u{1b}[0m\r\n";
    let program = Program::of(&[("memory/a.md", text)]);
    assert_eq!(program.run(&["get", "memory/a.md"]).exits(0).stdout, text);
}
