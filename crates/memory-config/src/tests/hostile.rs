use std::fmt::Write as _;
use std::fs;

use tempfile::TempDir;

use super::{check, given, registry, toml};
use crate::{Sources, load};

#[test]
fn empty_file_is_fine() {
    for text in [
        "",
        "\u{feff}",
        "\n\n# nothing\n",
        "[search]\n",
        "[chunker]\r\nuse = [\"markdown\"]\r\n",
    ] {
        assert_eq!(toml(text).loaded().config.search.max_results, 6);
    }
}

#[test]
fn byte_order_mark_and_crlf_keep_the_lines() {
    check(
        &toml("\u{feff}namespace = 1\r\n\r\n[search]\r\nmax_results = 0\r\n"),
        &[
            "memory.toml:1: namespace: invalid type: integer `1`, expected a string",
            "memory.toml:4: search.max_results: `0` is out of range, allowed: 1 to 1000",
        ],
    );
}

#[test]
fn text_that_is_not_utf8_has_a_place() {
    check(
        &toml(b"namespace = \"a\"\nx = \"\xc3\xa9\xff\"\n".as_slice()),
        &["memory.toml:2:7: is not UTF-8 text"],
    );
}

#[test]
fn huge_file_is_refused_unread() {
    check(
        &toml("# ten megabytes\n".repeat(10 * 1024 * 1024 / 16)),
        &["memory.toml: is larger than 1024 KiB"],
    );
}

#[test]
fn folder_in_place_of_a_file_is_named() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("memory.toml")).unwrap();
    let sources = Sources {
        workspace_file: Some(folder.path().join("memory.toml")),
        ..Sources::default()
    };
    let err = load(&sources, &registry()).unwrap_err().to_string();
    assert!(
        err.ends_with("memory.toml: is a folder, not a file"),
        "{err}"
    );
}

#[test]
fn duplicate_key_has_a_place() {
    check(
        &toml("[search]\nmax_results = 1\nmax_results = 2\n"),
        &["memory.toml:3:1: duplicate key"],
    );
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    for text in [
        format!("{} = 1\n", vec!["a"; 200_000].join(".")),
        format!("[{}]\n", vec!["a"; 200_000].join(".")),
        format!("a = {}\n", "[".repeat(500_000)),
        format!("a = {}1\n", "{a=".repeat(300_000)),
        format!("[lexical.fts5.headers]\n{} = 1\n", vec!["a"; 75].join(".")),
    ] {
        assert!(toml(text).load().is_err());
    }
    let levels: String = "__A".repeat(10_000);
    let name: &'static str = format!("MEMORY_LEXICAL__FTS5__HEADERS{levels}").leak();
    check(
        &given().env(name, "1"),
        &[&format!("env {name}: has too many levels")],
    );
    let deep: &'static str = "[".repeat(100_000).leak();
    assert!(
        given()
            .env("MEMORY_DOCUMENTS__INCLUDE", deep)
            .load()
            .is_err()
    );
}

#[test]
fn many_mistakes_are_all_reported() {
    let mut text = String::from("[lexical.fts5]\n");
    for n in 0..500 {
        writeln!(text, "key{n} = 1").unwrap();
    }
    assert_eq!(toml(text).problems().lines().count(), 500);
}

#[test]
fn odd_keys_are_quoted_and_control_characters_are_not_printed() {
    check(
        &toml(
            "\"a.b\" = 1\n\"\\u001B[31m\" = 1\n\"日本\" = 1\n\"\" = 1\n[search]\ncitations = \"\\u001B[31m\\n\"\n",
        ),
        &[
            "memory.toml:1: \"a.b\": unknown key",
            "memory.toml:2: \"\\u001B[31m\": unknown key",
            "memory.toml:3: \"日本\": unknown key",
            "memory.toml:4: \"\": unknown key",
            "memory.toml:6: search.citations: unknown variant `\\u{1b}[31m\\n`, expected one of `auto`, `on`, `off`",
        ],
    );
}

#[test]
fn keys_with_dots_in_a_map_are_found_again() {
    check(
        &toml("[lexical.fts5.headers]\na = \"1\"\n\"a.b\" = 2\n\"a[0]\" = 3\n"),
        &[
            "memory.toml:3: lexical.fts5.headers.\"a.b\": invalid type: integer `2`, expected a string",
            "memory.toml:4: lexical.fts5.headers.\"a[0]\": invalid type: integer `3`, expected a string",
        ],
    );
}

#[test]
fn endless_value_is_shown_shortened() {
    let found = toml(format!(
        "[search]\nmax_results = \"{}\"\n",
        "x".repeat(100_000)
    ))
    .problems();
    assert!(
        found.len() < 500 && found.ends_with("expected usize"),
        "{found}"
    );
}

#[test]
fn numbers_that_are_none_are_refused() {
    check(
        &toml(
            "[search]\nmin_score = nan\nmax_results = 1e3\nmax_chars = -inf\n[lexical.fts5]\ncache_kib = 9223372036854775807\n",
        ),
        &[
            "memory.toml:2: search.min_score: `NaN` is not a number",
            "memory.toml:3: search.max_results: invalid type: floating point `1000.0`, expected usize",
            "memory.toml:4: search.max_chars: `-inf` is not a number",
            "memory.toml:6: lexical.fts5.cache_kib: `9223372036854775807` is out of range, allowed: 1 to 4096",
        ],
    );
    check(
        &given().env("MEMORY_SEARCH__MIN_SCORE", "NaN"),
        &["env MEMORY_SEARCH__MIN_SCORE: invalid type: string \"NaN\", expected f64"],
    );
}

#[test]
fn broken_list_in_a_variable_is_an_error() {
    check(
        &given().env("MEMORY_DOCUMENTS__INCLUDE", "[\"a\""),
        &["env MEMORY_DOCUMENTS__INCLUDE: is not a TOML array: unclosed array, expected `]`"],
    );
}
