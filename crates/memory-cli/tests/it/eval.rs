use serde_json::Value;

use crate::program::Program;

#[test]
fn questions_are_answered_measured_and_written() {
    let program = Program::of(&[
        (
            "memory/a.md",
            "# Pump\n\nthe pump stands in the cellar\n\n# Valve\n\nthe valve is checked weekly\n",
        ),
        ("memory/b.md", "the boat needs a coat of paint\n"),
        (
            "queries.jsonl",
            r#"{"id":"q1","text":"where does the pump stand","relevant":[{"path":"memory/a.md","line_start":3,"line_end":3}],"type":"extra"}

{"id":"q2","text":"zyzzyva","relevant":[{"path":"memory/b.md","line_start":1,"line_end":1}]}
"#,
        ),
    ]);
    let run = program
        .run(&["eval", "run", "queries.jsonl", "--out", "out.jsonl"])
        .exits(0);
    let figure = |name: &str| {
        run.stdout
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap()
            .trim()
            .to_owned()
    };
    assert_eq!(figure("questions"), "2");
    assert_eq!(figure("ndcg@10"), "50.0");
    assert_eq!(figure("mrr@10"), "50.0");
    assert_eq!(figure("recall@8kc"), "50.0");
    let out = std::fs::read_to_string(program.path("out.jsonl")).unwrap();
    let rows: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["id"], "q1");
    let best = &rows[0]["results"][0];
    assert_eq!(
        (&best["path"], &best["line_start"], &best["line_end"]),
        (&"memory/a.md".into(), &1.into(), &3.into())
    );
    assert!(best["score"].as_f64().unwrap() > 0.0);
    assert_eq!(rows[1]["results"], serde_json::json!([]));
    let json = program
        .run(&["eval", "run", "queries.jsonl", "--json"])
        .exits(0)
        .json();
    assert_eq!(json["figures"]["recall@1"], 0.5);
}

#[test]
fn only_results_are_replaced_by_results() {
    let questions = r#"{"id":"q1","text":"pump","relevant":[{"path":"memory/a.md","line_start":1,"line_end":1}]}"#;
    let program = Program::of(&[
        ("memory/a.md", "the pump stands in the cellar"),
        ("queries.jsonl", questions),
    ]);
    for (file, content) in [
        ("memory/a.md", "the pump stands in the cellar"),
        ("queries.jsonl", questions),
    ] {
        let run = program
            .run(&["eval", "run", "queries.jsonl", "--out", file])
            .exits(2);
        assert!(
            run.stderr.contains("holds something else than results"),
            "{}",
            run.stderr
        );
        let text = std::fs::read_to_string(program.path(file)).unwrap();
        assert_eq!(text, content);
    }
    for _ in 0..2 {
        program
            .run(&["eval", "run", "queries.jsonl", "--out", "out.jsonl"])
            .exits(0);
    }
}

#[test]
fn a_bad_row_is_named_by_its_line() {
    let program = Program::of(&[
        ("memory/a.md", "pump"),
        (
            "q.jsonl",
            "{\"id\":\"q1\",\"text\":\"x\",\"relevant\":[]}\n{\"id\": 5}\n",
        ),
        ("none.jsonl", "\n"),
    ]);
    let run = program.run(&["eval", "run", "q.jsonl"]).exits(2);
    assert!(
        run.stderr.contains("q.jsonl:2: ") && run.stderr.contains("hint: a row is"),
        "{}",
        run.stderr
    );
    let run = program.run(&["eval", "run", "none.jsonl"]).exits(2);
    assert!(
        run.stderr.contains("there is no question"),
        "{}",
        run.stderr
    );
    program.run(&["eval", "run", "nowhere.jsonl"]).exits(1);
    program.write(
        "range.jsonl",
        r#"{"id":"q","text":"x","relevant":[{"path":"a","line_start":5,"line_end":4}]}"#,
    );
    let run = program.run(&["eval", "run", "range.jsonl"]).exits(2);
    assert!(
        run.stderr
            .contains("range.jsonl:1: the lines 5 to 4 are no range"),
        "{}",
        run.stderr
    );
    program
        .run(&["eval", "run", "range.jsonl", "--out", "range.jsonl"])
        .exits(2);
}

#[test]
fn half_an_index_is_not_measured() {
    let program = Program::of(&[
        ("memory/a.md", "pump"),
        ("q.jsonl", r#"{"id":"q","text":"pump","relevant":[]}"#),
    ]);
    program.run(&["index"]).exits(0);
    std::fs::remove_dir_all(program.path(".memory/gen/1-lexical-fts5")).unwrap();
    let run = program.run(&["eval", "run", "q.jsonl"]).exits(1);
    assert!(
        run.stderr.contains("cannot measure: words: "),
        "{}",
        run.stderr
    );
}
