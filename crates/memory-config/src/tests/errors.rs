use memory_api::{Error, ErrorKind, Registry};

use super::{MARKDOWN, check, given, toml};
use crate::{Sources, load};

#[test]
fn wrong_type_names_file_line_and_key() {
    check(
        &toml(
            "[chunker]\nuse = [\"markdown\"]\n\n[lexical.fts5]\nfold = true\ncache_kib = \"lots\"\n",
        ),
        &["memory.toml:6: lexical.fts5.cache_kib: invalid type: string \"lots\", expected u32"],
    );
}

#[test]
fn wrong_variable_is_named_without_its_key() {
    check(
        &given().env("MEMORY_LEXICAL__FTS5__CACHE_KIB", "lots"),
        &["env MEMORY_LEXICAL__FTS5__CACHE_KIB: invalid type: string \"lots\", expected u32"],
    );
}

#[test]
fn wrong_flag_is_named_as_it_was_typed() {
    check(
        &given().flag("--max-results", "search.max_results", 0),
        &["flag --max-results: `0` is out of range, allowed: 1 to 1000"],
    );
}

#[test]
fn part_of_a_variables_value_is_named_below_it() {
    check(
        &given().env("MEMORY_LEXICAL__FTS5__WEIGHTS", "1, heavy"),
        &[
            "env MEMORY_LEXICAL__FTS5__WEIGHTS: lexical.fts5.weights[1]: invalid type: string \"heavy\", expected f32",
        ],
    );
}

#[test]
fn all_problems_come_together_by_source_and_line() {
    check(
        &given()
            .flag("--min-score", "search.min_score", 2)
            .env("MEMORY_SEARCH__CITATIONS", "of")
            .env("MEMORY_COLOUR", "red")
            .file(
                "memory.toml",
                "namespace = 7\n[search]\nmax_result = 3\ncandidate_multiplier = 99\n[lexical.fts5]\nlimits = { depth = 300 }\nlabel = []\nfold = 1\n",
            )
            .file("user.toml", "[documents]\nmax_file_kib = -1\nextra_paths = [\"a\",\n  \"\"]\n"),
        &[
            "user.toml:2: documents.max_file_kib: `-1` is out of range, allowed: 1 to 1048576",
            "user.toml:4: documents.extra_paths[1]: is blank",
            "memory.toml:1: namespace: invalid type: integer `7`, expected a string",
            "memory.toml:3: search.max_result: unknown key, did you mean `max_results`?",
            "memory.toml:4: search.candidate_multiplier: `99` is out of range, allowed: 1 to 20",
            "memory.toml:6: lexical.fts5.limits.depth: `300` is out of range, allowed: 0 to 255",
            "memory.toml:7: lexical.fts5.label: invalid type: sequence, expected a string",
            "memory.toml:8: lexical.fts5.fold: invalid type: integer `1`, expected a boolean",
            "env MEMORY_COLOUR: unknown variable",
            "env MEMORY_SEARCH__CITATIONS: unknown variant `of`, expected one of `auto`, `on`, `off`",
            "flag --min-score: `2` is out of range, allowed: 0 to 1",
        ],
    );
}

#[test]
fn unknown_key_names_the_nearest_anywhere() {
    check(
        &toml(
            "namespce = \"a\"\nmax_results = 3\nzzz = 1\n[serch]\nmin_score = 1\n[search]\nminScore = 1\n[lexical.fts5]\ncache-kib = 3\nlimits.deepth = 1\n",
        ),
        &[
            "memory.toml:1: namespce: unknown key, did you mean `namespace`?",
            "memory.toml:2: max_results: unknown key, did you mean `search.max_results`?",
            "memory.toml:3: zzz: unknown key",
            "memory.toml:4: serch: unknown key, did you mean `search`?",
            "memory.toml:7: search.minScore: unknown key, did you mean `min_score`?",
            "memory.toml:9: lexical.fts5.cache-kib: unknown key, did you mean `cache_kib`?",
            "memory.toml:10: lexical.fts5.limits.deepth: unknown key, did you mean `depth`?",
        ],
    );
}

#[test]
fn unknown_key_of_a_plugin_that_would_not_mind_is_refused() {
    check(
        &toml("[lexical.remote]\nurl = \"x\"\nulr = \"y\"\n"),
        &["memory.toml:3: lexical.remote.ulr: unknown key, did you mean `url`?"],
    );
}

#[test]
fn hint_lists_the_known_keys() {
    let err = toml("[documents]\nglobs = []\n").load().unwrap_err();
    let hints: Vec<_> = err.iter().filter_map(|p| p.hint.as_deref()).collect();
    assert_eq!(
        hints,
        ["known keys here: extra_paths, include, max_file_kib, transcripts"]
    );
}

/// CF-03: an unknown name lists the known ones.
#[test]
fn unknown_plugin_lists_the_linked_ones_wherever_it_stands() {
    check(
        &toml(
            "[chunker]\nuse = [\n  \"markdown\",\n  \"html\",\n]\n[lexical]\nuse = \"fts6\"\n[lexical.tantivy]\nx = 1\n",
        ),
        &[
            "memory.toml:4: chunker.use[1]: unknown chunker plugin `html`, linked: markdown, plain-text",
            "memory.toml:7: lexical.use: unknown lexical plugin `fts6`, linked: fts5, remote",
            "memory.toml:8: lexical.tantivy: unknown lexical plugin `tantivy`, linked: fts5, remote",
        ],
    );
    check(
        &given().env("MEMORY_LEXICAL__TANTIVY__X", "1"),
        &["env MEMORY_LEXICAL__TANTIVY__X: unknown lexical plugin `tantivy`, linked: fts5, remote"],
    );
}

#[test]
fn unlinked_default_says_so() {
    let registry = Registry::new([&MARKDOWN]).unwrap();
    let err = load(&Sources::default(), &registry).unwrap_err();
    assert_eq!(
        err.to_string(),
        "default: lexical.use: unknown lexical plugin `fts5`, linked: none"
    );
    let hint = err.iter().next().unwrap().hint.clone().unwrap();
    assert!(hint.contains("App::with_default_plugins"), "{hint}");
}

#[test]
fn a_pattern_has_to_be_a_glob() {
    check(
        &toml("[documents]\ninclude = [\"notes/*.md\", \"[a\"]\n[decay]\nevergreen = [\"{b\"]\n"),
        &[
            "memory.toml:2: documents.include[1]: `[a` is not a glob: unclosed character class; missing ']'",
            "memory.toml:4: decay.evergreen[0]: `{b` is not a glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
        ],
    );
}

#[test]
fn what_is_written_has_a_place_and_a_form() {
    check(
        &toml(
            "[write]\nfile = \"../{date}.md\"\nheading = \"## {hour}\"\nnote_heading = \"a\\nb\"\ntime_zone = \"Mars/Olympus\"\nmax_chars = 0\n",
        ),
        &[
            "memory.toml:2: write.file: `../{date}.md` is no file below the workspace",
            "memory.toml:3: write.heading: nothing is filled in for `{hour}`",
            "memory.toml:4: write.note_heading: is more than a line of text",
            "memory.toml:5: write.time_zone: `Mars/Olympus` is not a time zone",
            "memory.toml:6: write.max_chars: `0` is out of range, allowed: 1 to 1000000",
        ],
    );
    for file in ["/var/a.md", "memory//a.md", "memory\\\\a.md", ""] {
        let text = format!("[write]\nfile = \"{file}\"\n");
        assert!(toml(text).problems().contains("is no file below"), "{file}");
    }
    let fine = toml(
        "[write]\nfile = \"log/{year}/{month}/{day}.md\"\nheading = \"\"\ntime_zone = \"Asia/Tokyo\"\n",
    );
    assert_eq!(fine.loaded().config.write.heading, "");
    check(
        &toml("[flush]\nprompt = \" \"\n"),
        &["memory.toml:2: flush.prompt: is blank"],
    );
    check(
        &given().env("MEMORY_WRITE__TIME_ZONE", "nowhere"),
        &["env MEMORY_WRITE__TIME_ZONE: `nowhere` is not a time zone"],
    );
}

#[test]
fn use_has_to_name_plugins() {
    for (text, expect) in [
        (
            "[chunker]\nuse = []",
            "memory.toml:2: chunker.use: names no chunker plugin",
        ),
        (
            "[chunker]\nuse = \"\"",
            "memory.toml:2: chunker.use: names no chunker plugin",
        ),
        (
            "[chunker]\nuse = [\"\"]",
            "memory.toml:2: chunker.use: names no chunker plugin",
        ),
        (
            "[chunker]\nuse = 3",
            "memory.toml:2: chunker.use: has to be a list of plugin names",
        ),
        (
            "[chunker]\nuse = [3]",
            "memory.toml:2: chunker.use: has to be a list of plugin names",
        ),
        (
            "[chunker]\nuse = [\"markdown\", \"markdown\"]",
            "memory.toml:2: chunker.use: names `markdown` twice",
        ),
        (
            "[lexical]\nuse = \"\"",
            "memory.toml:2: lexical.use: names no lexical plugin",
        ),
        (
            "[lexical]\nuse = []",
            "memory.toml:2: lexical.use: has to be one plugin name",
        ),
        (
            "[lexical.use]\nfts5 = 1",
            "memory.toml:1: lexical.use: has to be one plugin name",
        ),
    ] {
        check(&toml(text), &[expect]);
    }
}

#[test]
fn idle_plugin_is_checked_too() {
    check(
        &toml("[lexical.remote]\nurl = 1\n"),
        &["memory.toml:2: lexical.remote.url: invalid type: integer `1`, expected a string"],
    );
}

#[test]
fn missing_key_is_shown_at_the_table_or_where_the_plugin_is_chosen() {
    check(
        &toml("[lexical]\nuse = \"remote\"\n"),
        &["memory.toml:2: lexical.remote: missing field `url`"],
    );
    check(
        &toml("[lexical]\nuse = \"remote\"\n\n[lexical.remote]\n"),
        &["memory.toml:4: lexical.remote: missing field `url`"],
    );
}

#[test]
fn missing_key_of_a_table_set_by_several_is_shown_in_the_file() {
    check(
        &toml("[lexical]\nuse = \"remote\"\n\n[lexical.remote]\n")
            .env("MEMORY_LEXICAL__REMOTE__TIMEOUT_MS", "1"),
        &["memory.toml:4: lexical.remote: missing field `url`"],
    );
}

#[test]
fn mistake_that_overrides_a_right_value_is_named_where_it_was_made() {
    check(
        &toml("[search]\nmax_results = 3\n").env("MEMORY_SEARCH__MAX_RESULTS", "0"),
        &["env MEMORY_SEARCH__MAX_RESULTS: `0` is out of range, allowed: 1 to 1000"],
    );
}

#[test]
fn unknown_preset_lists_the_known_ones() {
    check(
        &toml("preset = \"fast\"\n"),
        &["memory.toml:1: preset: unknown variant `fast`, expected `default` or `openclaw`"],
    );
    check(
        &given().env("MEMORY_PRESET", "fast"),
        &["env MEMORY_PRESET: unknown variant `fast`, expected `default` or `openclaw`"],
    );
}

#[test]
fn unknown_variant_of_a_plugin_has_a_hint() {
    let err = toml("[lexical.fts5]\ntokenizer = \"trigam\"\n")
        .load()
        .unwrap_err();
    let problem = err.iter().next().unwrap();
    assert_eq!(
        problem.message,
        "unknown variant `trigam`, expected `unicode61` or `trigram`"
    );
    assert_eq!(problem.hint.as_deref(), Some("did you mean `trigram`?"));
}

#[test]
fn unknown_variable_names_the_nearest() {
    for (name, expect) in [
        (
            "MEMORY_WORKSPCE",
            "unknown variable, did you mean `MEMORY_WORKSPACE`?",
        ),
        (
            "MEMORY_SEARCH_MAX_RESULTS",
            "unknown variable, did you mean `MEMORY_SEARCH__MAX_RESULTS`?",
        ),
        (
            "MEMORY_MAX_RESULTS",
            "unknown variable, did you mean `MEMORY_SEARCH__MAX_RESULTS`?",
        ),
        (
            "MEMORY_LEXICAL__FTS5__CACHE_KB",
            "unknown key `lexical.fts5.cache_kb`, did you mean `MEMORY_LEXICAL__FTS5__CACHE_KIB`?",
        ),
        ("MEMORY_SEARCH__", "unknown key `search.\"\"`"),
    ] {
        check(&given().env(name, "1"), &[&format!("env {name}: {expect}")]);
    }
}

#[test]
fn table_has_to_be_a_table() {
    check(
        &toml("search = [6, 0.35]\nlexical = \"fts5\"\n[[documents]]\ninclude = []\n[lexical_]\n"),
        &[
            "memory.toml:1: search: invalid type: sequence, expected a table",
            "memory.toml:2: lexical: invalid type: string \"fts5\", expected a table",
            "memory.toml:3: documents: invalid type: sequence, expected a table",
            "memory.toml:5: lexical_: unknown key, did you mean `lexical`?",
        ],
    );
}

#[test]
fn named_file_has_to_be_there() {
    check(
        &toml("[search]\nmax_results = 0\n").explicit("mine.toml"),
        &["mine.toml: no such file"],
    );
}

#[test]
fn syntax_error_has_line_and_column_and_hides_guesses() {
    check(
        &given()
            .file("user.toml", "[search]\nmax_results = 0\n")
            .file("memory.toml", "namespace = \"é\" x\n")
            .env("MEMORY_COLOUR", "red"),
        &[
            "memory.toml:1:17: unexpected key or value, expected newline, `#`",
            "env MEMORY_COLOUR: unknown variable",
        ],
    );
}

/// CF-02: unresolved variables are an error that names them.
#[test]
fn unset_variable_in_a_file_is_named() {
    check(
        &toml(
            "[lexical.remote]\nurl = \"${FAKE_URL}/v1/\"\n[lexical.fts5]\nlabel = \"${A:-b}\"\nstop_words = [\"${\"]\n",
        ),
        &[
            "memory.toml:2: lexical.remote.url: environment variable `FAKE_URL` is not set",
            "memory.toml:4: lexical.fts5.label: `${A:-b}` is not the name of a variable",
            "memory.toml:5: lexical.fts5.stop_words[0]: `${` without `}`",
        ],
    );
}

#[test]
fn paths_are_whole_and_not_blank() {
    check(
        &toml("state_dir = \"~/state\"\n[documents]\nextra_paths = [\"  \"]\n"),
        &[
            "memory.toml:1: state_dir: `~` is not expanded",
            "memory.toml:3: documents.extra_paths[0]: is blank",
        ],
    );
    check(
        &given().env("MEMORY_STATE", ""),
        &["env MEMORY_STATE: is blank"],
    );
}

#[test]
fn blank_namespace_is_refused() {
    check(
        &toml("namespace = ' '\n"),
        &["memory.toml:1: namespace: is blank"],
    );
}

#[test]
fn problems_become_one_config_error() {
    let problems = toml("[search]\nmax_result = 1\nmin_scor = 1\n")
        .load()
        .unwrap_err();
    let text = problems.to_string();
    let err = Error::from(problems);
    assert_eq!(err.kind(), ErrorKind::Config);
    assert_eq!(err.context("key"), Some("search.max_result"));
    assert_eq!(err.to_string(), text);
    assert_eq!(
        err.hint(),
        Some(
            "known keys here: candidate_multiplier, citations, fusion, max_chars, max_results, min_score, mode, snippet_chars, text_score, text_weight, threshold, vector_score, vector_weight"
        )
    );
}
