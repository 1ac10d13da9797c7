use serde_json::Value;

use crate::program::Program;

#[test]
fn plugins_are_listed_with_what_is_in_use_also_without_a_workspace() {
    let program = Program::new();
    let elsewhere = program.root();
    let elsewhere = elsewhere.parent().unwrap();
    let rows = program
        .run_in(elsewhere, &["plugins", "list", "--json"])
        .exits(0)
        .json();
    let rows = rows.as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(row("markdown")["in_use"], true);
    assert_eq!(row("fts5")["kind"], "lexical");
    assert_eq!(row("fts5")["needs"], serde_json::json!(["disk"]));
    let capabilities = row("fts5")["capabilities"].as_array().unwrap();
    assert!(capabilities.contains(&Value::from("phrase_query")));

    let run = program.run(&["plugins", "list"]).exits(0);
    assert!(run.stdout.contains("in use"), "{}", run.stdout);
    assert!(run.stdout.contains("can: phrase_query, "), "{}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_schema_is_found_by_name_or_kind_and_name_whatever_the_config_says() {
    let program = Program::of(&[("memory.toml", "broken = ")]);
    let schema = program
        .run(&["plugins", "schema", "markdown"])
        .exits(0)
        .json();
    assert_eq!(schema["properties"]["max_tokens"]["default"], 400);
    let same = program
        .run(&["plugins", "schema", "chunker", "markdown"])
        .exits(0)
        .json();
    assert_eq!(schema, same);
    let run = program.run(&["plugins", "schema", "markdwn"]).exits(2);
    assert!(
        run.stderr.contains("unknown plugin `markdwn`")
            && run.stderr.contains("hint: linked: chunker markdown"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_schema_of_the_whole_config_is_printed_whatever_the_config_says() {
    let program = Program::of(&[("memory.toml", "broken = ")]);
    let schema = program.run(&["config", "schema"]).exits(0).json();
    let at = |pointer: &str| schema.pointer(pointer).unwrap();
    assert_eq!(at("/title"), "memory.toml");
    assert_eq!(at("/properties/embedder/properties/use/default"), "auto");
    assert_eq!(
        at("/$defs/chunker.markdown/properties/max_tokens/default"),
        400
    );
}

#[test]
fn every_shell_gets_a_script() {
    let program = Program::new();
    for (shell, word) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef memory"),
        ("fish", "complete -c memory"),
        ("powershell", "Register-ArgumentCompleter"),
        ("elvish", "edit:completion"),
    ] {
        let run = program.run(&["completions", shell]).exits(0);
        assert!(run.stdout.contains(word), "{shell}");
        assert!(run.stdout.contains("plugins"), "{shell}");
    }
    let run = program.run(&["completions", "dash"]).exits(2);
    assert!(run.stderr.contains("fish"), "{}", run.stderr);
}

#[test]
fn models_need_no_workspace_and_a_place() {
    let program = Program::new();
    let elsewhere = program.root();
    let elsewhere = elsewhere.parent().unwrap();
    let run = program
        .run_in(elsewhere, &["model", "list", "--json"])
        .exits(0);
    assert!(run.json().is_array());
    let run = program
        .run_in(elsewhere, &["model", "pull", "no-such-model"])
        .exits(2);
    assert_eq!(run.stdout, "");
    let run = program
        .run(&["model", "list", "--plugin", "no-such-embedder"])
        .exits(2);
    assert!(
        run.stderr
            .contains("unknown embedder plugin `no-such-embedder`"),
        "{}",
        run.stderr
    );
    let mut homeless = program.command(elsewhere, &["model", "list"]);
    let output = homeless.env_remove("HOME").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("XDG_CACHE_HOME"), "{stderr}");
}
