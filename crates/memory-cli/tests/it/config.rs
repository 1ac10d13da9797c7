use crate::program::Program;

#[test]
fn a_wrong_value_names_its_file_line_and_key_and_exits_with_2() {
    let program = Program::of(&[(
        "memory.toml",
        "[search]\nmax_results = 6\n\n[chunker.markdown]\n\nmax_tokens = \"lots\"\n",
    )]);
    for args in [&["config", "check"][..], &["index"], &["search", "pump"]] {
        let run = program.run(args).exits(2);
        let error = run.stderr.lines().next().unwrap();
        assert!(
            error.starts_with("error: memory.toml:6: chunker.markdown.max_tokens: invalid type: string \"lots\", expected "),
            "{error}"
        );
    }
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let program = Program::of(&[("memory.toml", "[search]\nmax_result = 6\n")]);
    let run = program.run(&["config", "check"]).exits(2);
    assert!(
        run.stderr.contains("search.max_result") && run.stderr.contains("max_results"),
        "{}",
        run.stderr
    );
    let program = Program::new().env("MEMORY_WORKSPCE", "x");
    let run = program.run(&["config", "check"]).exits(2);
    assert!(
        run.stderr.contains("MEMORY_WORKSPCE") && run.stderr.contains("MEMORY_WORKSPACE"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_unknown_plugin_lists_what_is_linked() {
    let program = Program::of(&[("memory.toml", "[lexical]\nuse = \"fts6\"\n")]);
    let run = program.run(&["config", "check"]).exits(2);
    assert!(
        run.stderr
            .contains("memory.toml:2: lexical.use: unknown lexical plugin `fts6`, linked: fts5"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_configuration_in_force_shows_where_it_comes_from() {
    let program = Program::of(&[("memory.toml", "[search]\nmin_score = 0.5\n")])
        .env("MEMORY_SEARCH__MAX_RESULTS", "9");
    let run = program
        .run(&["config", "show", "--origin", "--state", "x"])
        .exits(0);
    let line = |key: &str| {
        run.stdout
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap()
            .to_owned()
    };
    assert!(
        line("search.min_score").ends_with("memory.toml:2"),
        "{}",
        run.stdout
    );
    assert!(
        line("search.max_results")
            .starts_with("search.max_results = 9  # env MEMORY_SEARCH__MAX_RESULTS")
    );
    assert!(line("state_dir").ends_with("# flag --state"));
    assert!(line("lexical.use").ends_with("# default"));
    assert!(line("chunker.markdown.max_tokens").starts_with("chunker.markdown.max_tokens = 400"));
    let shown = program.run(&["config", "show"]).exits(0).stdout;
    program.write("shown.toml", &shown);
    let again = program
        .run(&["--config", "shown.toml", "config", "show"])
        .exits(0)
        .stdout;
    assert_eq!(shown, again);
}

#[test]
fn a_good_configuration_names_its_files() {
    let program = Program::of(&[("memory.toml", "[search]\nmin_score = 0.5\n")]);
    let run = program.run(&["config", "check"]).exits(0);
    assert!(run.stdout.ends_with("memory.toml: ok\n"), "{}", run.stdout);
    let run = Program::new().run(&["config", "check"]).exits(0);
    assert_eq!(run.stdout, "no config file; the defaults are in force\n");
    let run = program
        .run(&["--config", "nowhere.toml", "config", "check"])
        .exits(2);
    assert!(run.stderr.contains("nowhere.toml"), "{}", run.stderr);
}

#[test]
fn a_bad_glob_is_named() {
    let program = Program::new();
    let run = program.run(&["--include", "a[", "index"]).exits(2);
    assert!(run.stderr.contains("`a[` is not a glob"), "{}", run.stderr);
}
