use std::fs;
use std::process::Stdio;

use crate::program::Program;

#[test]
fn a_result_shows_where_it_stands_what_is_above_it_and_what_it_says() {
    let program = Program::of(&[(
        "memory/2026-05-18.md",
        "# Monday\n\n## Pump\n\nThe pump was moved to the cellar.\n",
    )]);
    program.run(&["index"]).exits(0);
    let run = program
        .run(&["search", "where", "is", "the", "pump"])
        .exits(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines[0].starts_with("memory/2026-05-18.md#L3-L5  0."),
        "{}",
        run.stdout
    );
    assert_eq!(lines[1], "  Monday › Pump");
    assert_eq!(lines.last(), Some(&"  The pump was moved to the cellar."));
    assert_eq!(run.stderr, "");
}

#[test]
fn the_first_search_builds_the_index() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    let run = program.run(&["search", "pump"]).exits(0);
    assert!(
        run.stderr.contains("no index yet; building it first"),
        "{}",
        run.stderr
    );
    assert!(run.stdout.contains("memory/a.md"), "{}", run.stdout);
}

#[test]
fn no_result_is_no_failure() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    let run = program.run(&["search", "zyzzyva"]).exits(0);
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str()),
        ("", "nothing found\n")
    );
    let run = program.run(&["search", ""]).exits(0);
    assert!(
        run.stderr
            .contains("warning: the query has no word to search for"),
        "{}",
        run.stderr
    );
    let json = program.run(&["search", "--json", "()*"]).exits(0).json();
    assert_eq!(json["results"], serde_json::json!([]));
    assert_eq!(json["warnings"][0], "the query has no word to search for");
}

#[test]
fn words_that_look_like_flags_can_be_searched_for() {
    let program = Program::of(&[
        ("memory/a.md", "run it with --force to rebuild"),
        ("memory/b.md", "force of habit"),
    ]);
    program.run(&["index"]).exits(0);
    assert!(
        program
            .run(&["search", "--", "--force"])
            .exits(0)
            .stdout
            .contains("memory/a.md")
    );
    let run = program.run(&["search", "force", "-habit"]).exits(0);
    assert!(
        run.stdout.contains("memory/a.md") && !run.stdout.contains("memory/b.md"),
        "{}",
        run.stdout
    );
}

#[test]
fn options_stand_before_and_behind_the_question() {
    let program = Program::of(&[("memory/a.md", "pump"), ("memory/b.md", "pump")]);
    program.run(&["index"]).exits(0);
    let json = program
        .run(&["search", "pump", "-n", "1", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        (json["results"].as_array().unwrap().len(), &json["query"]),
        (1, &"pump".into())
    );
    let run = program.run(&["search", "pump", "--jsn"]).exits(2);
    assert!(run.stderr.contains("--json"), "{}", run.stderr);
    program.run(&["search", "--bogus", "pump"]).exits(2);
}

#[test]
fn limits_out_of_range_are_refused_in_plain_words() {
    // MC-04.
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    for limit in ["-1", "1001", "99999999999999999999", "five"] {
        let run = program
            .run(&["search", &format!("--max-results={limit}"), "pump"])
            .exits(2);
        assert!(run.stderr.contains("--max-results"), "{}", run.stderr);
    }
    assert_eq!(
        program
            .run(&["search", "--max-results", "0", "pump"])
            .exits(0)
            .stdout,
        ""
    );
    for score in ["1.1", "-0.1", "NaN", "x"] {
        program
            .run(&["search", &format!("--min-score={score}"), "pump"])
            .exits(2);
    }
}

#[test]
fn filters_are_taken_from_flags() {
    let program = Program::of(&[
        ("memory/2026-05-18.md", "---\ntags: [home]\n---\npump"),
        ("memory/2026-05-20.md", "pump"),
        ("memory/sub/a.md", "---\ntype: note\n---\npump"),
    ]);
    program.run(&["index"]).exits(0);
    let found = |args: &[&str]| -> Vec<String> {
        let json = program
            .run(&[&["search", "--json"], args, &["pump"]].concat())
            .exits(0)
            .json();
        let mut paths: Vec<String> = json["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["path"].as_str().unwrap().to_owned())
            .collect();
        paths.sort_unstable();
        paths
    };
    assert_eq!(found(&["--tag", "home"]), ["memory/2026-05-18.md"]);
    assert_eq!(found(&["--kind", "note"]), ["memory/sub/a.md"]);
    assert_eq!(found(&["--path", "memory/sub"]), ["memory/sub/a.md"]);
    assert_eq!(
        found(&["--since", "2026-05-19", "--until", "2026-05-21"]),
        ["memory/2026-05-20.md"]
    );
    assert_eq!(
        found(&["--until", "2026-05-18T00:00:01Z"]),
        ["memory/2026-05-18.md"]
    );
    let run = program
        .run(&["search", "--since", "yesterday", "pump"])
        .exits(2);
    assert!(
        run.stderr.contains("not a day (2026-05-18)"),
        "{}",
        run.stderr
    );
    let run = program
        .run(&["search", "--source", "chats", "pump"])
        .exits(2);
    assert!(
        run.stderr
            .contains("there is no source `chats`, but: memory"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_note_cannot_write_to_the_terminal() {
    // Escape sequences that would clear the screen and change the title.
    let program = Program::of(&[(
        "memory/a.md",
        "pump \u{1b}[2J\u{1b}]0;title\u{7} end \u{9b}31m\n# \u{1b}[31mred\n\npump\n",
    )]);
    program.run(&["index"]).exits(0);
    let run = program.run(&["search", "pump"]).exits(0);
    assert!(
        !run.stdout.contains(['\u{1b}', '\u{7}', '\u{9b}']),
        "{:?}",
        run.stdout
    );
    assert!(run.stdout.contains("end"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    let mut child = program
        .command(&program.root(), &["search", "pump"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_workspace_is_found_from_below_and_can_be_named() {
    let program = Program::of(&[("MEMORY.md", "pump"), ("memory/deep/a.md", "valve")]);
    let below = program.path("memory/deep");
    assert!(
        program
            .run_in(&below, &["search", "pump"])
            .exits(0)
            .stdout
            .contains("MEMORY.md")
    );
    let outside = program.root().parent().unwrap().to_owned();
    let run = program.run_in(&outside, &["search", "pump"]).exits(2);
    assert!(
        run.stderr.contains("is not in a workspace") && run.stderr.contains("memory init"),
        "{}",
        run.stderr
    );
    let named = program
        .run_in(&outside, &["--workspace", "desk", "search", "pump"])
        .exits(0);
    assert!(named.stdout.contains("MEMORY.md"));
    let run = program
        .run_in(&outside, &["--workspace", "nowhere", "search", "pump"])
        .exits(2);
    assert!(run.stderr.contains("there is no folder"), "{}", run.stderr);
    let program = program.env("MEMORY_WORKSPACE", "desk");
    assert!(
        program
            .run_in(&outside, &["search", "pump"])
            .exits(0)
            .stdout
            .contains("MEMORY.md")
    );
}

#[test]
fn the_state_folder_can_be_elsewhere() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["--state", "elsewhere", "index"]).exits(0);
    assert!(program.path("elsewhere/MANIFEST.json").is_file() && !program.path(".memory").exists());
    let outside = program.root().parent().unwrap().join("state");
    let program = program.env("MEMORY_STATE", outside.to_str().unwrap());
    program.run(&["index"]).exits(0);
    assert!(outside.join("MANIFEST.json").is_file());
    fs::remove_dir_all(program.path("elsewhere")).unwrap();
    assert!(
        program
            .run(&["search", "pump"])
            .exits(0)
            .stdout
            .contains("memory/a.md")
    );
}

#[test]
fn without_its_model_it_answers_by_words_and_says_what_to_run() {
    let program =
        Program::of(&[("memory/a.md", "The tide tables are in the chart room.")]).with_meaning();
    let run = program.run(&["index"]).exits(0);
    let advice = "warning: vector: the model `multilingual-e5-small-q4` is not here; run `memory model pull` (74 MB)\n";
    assert_eq!(
        run.stdout,
        "1 new, 0 updated, 0 unchanged (1 entries, 1 pending)\n"
    );
    assert_eq!(run.stderr, advice);
    let run = program.run(&["search", "tide"]).exits(0);
    assert!(run.stdout.starts_with("memory/a.md#L1  "), "{}", run.stdout);
    assert_eq!(run.stderr, advice);
    let json = program.run(&["search", "tide", "--json"]).exits(0).json();
    assert_eq!(json["mode"], "lexical");
    assert_eq!(json["embedder"], serde_json::Value::Null);
    assert_eq!(json["degraded"].as_array().unwrap().len(), 1);
    let status = program.run(&["status"]).exits(0).stdout;
    assert!(status.contains("1 pending"), "{status}");
    // Whoever wants words alone says so once, and hears nothing more of it.
    program.write("memory.toml", "[embedder]\nuse = \"none\"\n");
    let run = program.run(&["search", "tide"]).exits(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_damaged_model_says_how_to_get_it_again() {
    let program = Program::of(&[("memory/a.md", "the pump stands in the cellar")]).with_models();
    program.run(&["index"]).exits(0);
    let cache = program.root().parent().unwrap().join("cache");
    let models = cache.join("memory/models");
    fs::create_dir_all(&models).unwrap();
    fs::write(models.join("multilingual-e5-small-q4_0.gguf"), "no model").unwrap();
    let program = program.env("XDG_CACHE_HOME", cache.to_str().unwrap());
    let run = program.run(&["search", "pump"]).exits(0);
    assert!(run.stdout.starts_with("memory/a.md"), "{}", run.stdout);
    let remedy =
        "has another length than the catalogue says; remove it and run `memory model pull`";
    assert!(run.stderr.contains(remedy), "{}", run.stderr);
}

#[test]
fn the_first_search_says_once_what_is_missing() {
    let program =
        Program::of(&[("memory/a.md", "The tide tables are in the chart room.")]).with_meaning();
    let run = program.run(&["search", "tide"]).exits(0);
    assert_eq!(
        run.stderr.matches("memory model pull").count(),
        1,
        "{}",
        run.stderr
    );
}

#[test]
fn a_mode_is_asked_for_by_name() {
    let program = Program::of(&[("memory/a.md", "The tide tables are in the chart room.")])
        .env("MEMORY_EMBEDDER__USE", "hash");
    program.run(&["index"]).exits(0);
    for (mode, lexical, vector) in [
        ("hybrid", true, true),
        ("lexical", true, false),
        ("vector", false, true),
    ] {
        let json = program
            .run(&["search", "tide", "--mode", mode, "--json"])
            .exits(0)
            .json();
        assert_eq!(json["mode"], mode);
        let scores = &json["results"][0]["scores"];
        assert_eq!(scores["lexical"].is_number(), lexical, "{mode}");
        assert_eq!(scores["vector"].is_number(), vector, "{mode}");
        assert_eq!(json["embedder"].is_object(), vector, "{mode}");
    }
    program
        .run(&["search", "tide", "--mode", "psychic"])
        .exits(2);
}

#[test]
fn context_shows_the_lines_around_a_result() {
    let program = Program::of(&[(
        "memory/a.md",
        "# One\n\nfirst\n\n# Two\n\npump\n\n# Three\n\nlast\n",
    )]);
    let run = program.run(&["search", "pump", "--context", "3"]).exits(0);
    let lines: Vec<&str> = run.stdout.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "  Two",
            "  ",
            "  first",
            "  ",
            "  # Two",
            "  ",
            "  pump",
            "  ",
            "  # Three",
            "  "
        ]
    );
    let json = program
        .run(&["search", "pump", "--context=3", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        json["results"][0]["context"],
        serde_json::json!({"before": "\nfirst\n", "after": "\n# Three\n"})
    );
    let run = program
        .run(&["search", "pump", "--context", "101"])
        .exits(2);
    assert!(run.stderr.contains("--context"), "{}", run.stderr);
}
