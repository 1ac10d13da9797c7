use std::fs;
use std::path::{Path, PathBuf};

use memory_api::Kind;
use serde_json::json;
use tempfile::TempDir;

use super::{given, registry, toml};
use crate::{Citations, DocumentsConfig, Preset, SearchConfig, Sources, load};

#[test]
fn nothing_given_means_the_defaults() {
    let loaded = given().loaded();
    let config = loaded.config;
    assert_eq!(config.preset, Preset::Default);
    assert_eq!(config.namespace, "default");
    assert_eq!(config.state_dir, None);
    assert_eq!(config.documents, DocumentsConfig::default());
    assert_eq!(config.documents.max_file_kib, 10_240);
    assert_eq!(config.search, SearchConfig::default());
    assert_eq!(config.search.snippet_budget(), Some(8000));
    let names = |kind| {
        config
            .plugins(kind)
            .iter()
            .map(|p| p.plugin.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(Kind::Chunker), ["markdown"]);
    assert_eq!(names(Kind::Lexical), ["fts5"]);
    assert!(config.plugins(Kind::Vector).is_empty());
    assert_eq!(config.plugin(Kind::Lexical).unwrap().config, json!({}));
    assert!(loaded.files.is_empty());
}

#[test]
fn later_sources_win_key_by_key() {
    let given = given()
        .file(
            "user.toml",
            "[search]\nmax_results = 1\ncandidate_multiplier = 1\nsnippet_chars = 101\nmax_chars = 101\n",
        )
        .file(
            "memory.toml",
            "[search]\ncandidate_multiplier = 2\nsnippet_chars = 102\nmax_chars = 102\n",
        )
        .env("MEMORY_SEARCH__SNIPPET_CHARS", "103")
        .env("MEMORY_SEARCH__MAX_CHARS", "103")
        .flag("--max-chars", "search.max_chars", 104);
    let search = given.loaded().config.search;
    assert_eq!(search.max_results, 1);
    assert_eq!(search.candidate_multiplier, 2);
    assert_eq!(search.snippet_chars, 103);
    assert_eq!(search.max_chars, 104);
    assert_eq!(search.citations, Citations::Auto);
}

#[test]
fn lists_are_replaced_and_tables_are_joined() {
    let given = given()
        .file("user.toml", "[documents]\ninclude = [\"a\", \"b\"]\n[lexical.fts5.headers]\n\"x.y\" = \"1\"\nz = \"1\"\n")
        .file("memory.toml", "[documents]\ninclude = [\"c\"]\n[lexical.fts5.headers]\nz = \"2\"\n");
    let config = given.loaded().config;
    assert_eq!(config.documents.include, ["c"]);
    assert_eq!(
        config.plugin(Kind::Lexical).unwrap().config,
        json!({"headers": {"x.y": "1", "z": "2"}})
    );
}

#[test]
fn named_file_replaces_the_workspaces() {
    let given = toml("namespace = \"a\"\n[search]\nmax_results = 0\n")
        .file("mine.toml", "[search]\nmin_score = 1\n")
        .explicit("mine.toml");
    let loaded = given.loaded();
    assert_eq!(loaded.config.namespace, "default");
    assert_eq!(loaded.config.search.min_score.to_bits(), 1f64.to_bits());
    let names: Vec<_> = loaded
        .files
        .iter()
        .map(|file| file.file_name().unwrap())
        .collect();
    assert_eq!(names, ["mine.toml"]);
}

#[test]
fn overridden_mistake_does_not_matter() {
    let given = toml("[search]\nmax_results = 0\n").env("MEMORY_SEARCH__MAX_RESULTS", "2");
    assert_eq!(given.loaded().config.search.max_results, 2);
}

#[test]
fn switching_a_plugin_is_one_word_and_its_table_waits() {
    let text =
        "[lexical]\nuse = \"fts5\"\n[lexical.fts5]\ncache_kib = 8\n[lexical.remote]\nurl = \"u\"\n";
    let used = |given: super::Given| {
        let config = given.loaded().config;
        let plugin = config.plugin(Kind::Lexical).unwrap();
        (plugin.plugin.name, plugin.config.clone())
    };
    assert_eq!(used(toml(text)), ("fts5", json!({"cache_kib": 8})));
    let switched = toml(text).env("MEMORY_LEXICAL__USE", "remote");
    assert_eq!(used(switched), ("remote", json!({"url": "u"})));
}

#[test]
fn chunkers_keep_their_order_and_one_needs_no_brackets() {
    let names = |given: super::Given| {
        let config = given.loaded().config;
        let plugins = config.plugins(Kind::Chunker);
        plugins
            .iter()
            .map(|plugin| plugin.plugin.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(toml("[chunker]\nuse = [\"plain-text\", \"markdown\"]\n")),
        ["plain-text", "markdown"]
    );
    assert_eq!(
        names(toml("[chunker]\nuse = \"plain-text\"\n")),
        ["plain-text"]
    );
    assert_eq!(
        names(given().env("MEMORY_CHUNKER__USE", "plain-text,markdown")),
        ["plain-text", "markdown"]
    );
}

#[test]
fn variables_take_the_type_of_their_key() {
    let given = given()
        .env("MEMORY_LEXICAL__FTS5__LABEL", "2024")
        .env("MEMORY_LEXICAL__FTS5__CACHE_KIB", " 12 ")
        .env("MEMORY_LEXICAL__FTS5__FOLD", "false")
        .env("MEMORY_LEXICAL__FTS5__STOP_WORDS", "7, the ,true,")
        .env("MEMORY_LEXICAL__FTS5__WEIGHTS", "[1, 0.5]")
        .env("MEMORY_LEXICAL__FTS5__LIMITS__DEPTH", "3")
        .env("MEMORY_LEXICAL__FTS5__HEADERS", "{ a = \"1\" }")
        .env("MEMORY_LEXICAL__FTS5__HEADERS__X_TRACE", "5")
        .env("MEMORY_SEARCH__MIN_SCORE", "0")
        .env("MEMORY_SEARCH__CITATIONS", "on")
        .env("MEMORY_DOCUMENTS__INCLUDE", "[\"a,b\", 'c']")
        .env("MEMORY_STATE", "12");
    let config = given.loaded().config;
    assert_eq!(
        config.plugin(Kind::Lexical).unwrap().config,
        json!({
            "label": "2024", "cache_kib": 12, "fold": false, "stop_words": ["7", "the", "true"],
            "weights": [1, 0.5], "limits": {"depth": 3}, "headers": {"a": "1", "x_trace": "5"},
        })
    );
    assert_eq!(config.search.min_score.to_bits(), 0f64.to_bits());
    assert_eq!(config.search.citations, Citations::On);
    assert_eq!(config.documents.include, ["a,b", "c"]);
    assert_eq!(config.state_dir, Some(PathBuf::from("12")));
}

#[test]
fn empty_variable_is_an_empty_list_or_text() {
    let given = toml("[documents]\ninclude = [\"x\"]\n[lexical.fts5]\nlabel = \"x\"\n")
        .env("MEMORY_DOCUMENTS__INCLUDE", "")
        .env("MEMORY_LEXICAL__FTS5__LABEL", "");
    let config = given.loaded().config;
    assert!(config.documents.include.is_empty());
    assert_eq!(
        config.plugin(Kind::Lexical).unwrap().config,
        json!({"label": ""})
    );
}

#[test]
fn names_of_the_front_end_tests_and_strangers_configure_nothing() {
    let mut given = given();
    for name in [
        "MEMORY_WORKSPACE",
        "MEMORY_CONFIG",
        "MEMORY_LOG",
        "MEMORY_PYTHON",
        "MEMORY_TEST_SEARCH__MAX_RESULTS",
        "MEMORY_PRESSURE_WATCH",
        "MEMORY_PRESSURE_WRITE",
        "MEMORYX",
        "memory_search__max_results",
        "HOME",
    ] {
        given = given.env(name, "0");
    }
    assert_eq!(given.loaded().config.search, SearchConfig::default());
}

/// CF-02: the same file means the same from every folder.
#[test]
fn relative_paths_are_relative_to_their_file() {
    let root = TempDir::new().unwrap();
    let (user, workspace) = (root.path().join("u"), root.path().join("w"));
    fs::create_dir(&user).unwrap();
    fs::create_dir(&workspace).unwrap();
    fs::write(
        user.join("config.toml"),
        "state_dir = \"../s\"\n[lexical.fts5]\nmodel = \"m.bin\"\n",
    )
    .unwrap();
    fs::write(
        workspace.join("memory.toml"),
        "[documents]\nextra_paths = [\"x\", \"/abs\"]\n",
    )
    .unwrap();
    let sources = Sources {
        user_file: Some(user.join("config.toml")),
        workspace_file: Some(workspace.join("memory.toml")),
        ..Sources::default()
    };
    let config = load(&sources, &registry()).unwrap().config;
    assert_eq!(config.state_dir, Some(user.join("../s")));
    assert_eq!(
        config.documents.extra_paths,
        [workspace.join("x"), PathBuf::from("/abs")]
    );
    let model = config.plugin(Kind::Lexical).unwrap().config["model"].clone();
    assert_eq!(Path::new(model.as_str().unwrap()), user.join("m.bin"));
}

/// CF-02: variables in values are filled in.
#[test]
fn variables_in_values_are_filled_in() {
    let given = toml("namespace = \"${WHO}-$5-$${WHO}\"\n[lexical.remote]\nurl = \"${FAKE_URL}/v1/\"\n[lexical]\nuse = \"remote\"\n")
        .env("FAKE_URL", "http://h")
        .env("WHO", "ann");
    let config = given.loaded().config;
    assert_eq!(config.namespace, "ann-$5-${WHO}");
    assert_eq!(
        config.plugin(Kind::Lexical).unwrap().config,
        json!({"url": "http://h/v1/"})
    );
}

#[test]
fn flag_without_a_value_says_nothing() {
    let given = given().flag(
        "--max-results",
        "search.max_results",
        serde_json::Value::Null,
    );
    assert_eq!(given.loaded().config.search.max_results, 6);
}
