use memory_api::{Kind, Registry};
use serde_json::json;

use super::{FLAT, LOCAL, WORDS, check, every_kind, given, toml};
use crate::{Fusion, Loaded, Preset, SearchConfig, SearchMode, TextScore, Threshold, VectorScore};

fn line(loaded: &Loaded, key: &str) -> String {
    let setting = loaded.settings().find(|setting| setting.key == key);
    let setting = setting.unwrap_or_else(|| panic!("no {key}"));
    let origin = setting.origin.to_string();
    format!("{} # {}", setting.value, origin.rsplit('/').next().unwrap())
}

#[test]
fn preset_is_the_recipe_to_the_letter() {
    let loaded = toml("preset = \"openclaw\"\n")
        .linked(every_kind())
        .loaded();
    let config = &loaded.config;
    assert_eq!(config.preset, Preset::OpenClaw);
    let expected = SearchConfig {
        max_results: 6,
        min_score: 0.35,
        candidate_multiplier: 4,
        mode: SearchMode::Auto,
        fusion: Fusion::Weighted,
        vector_weight: 0.7,
        text_weight: 0.3,
        text_score: TextScore::Position,
        vector_score: VectorScore::Cosine,
        threshold: Threshold::Freshness,
        ..SearchConfig::default()
    };
    assert_eq!(config.search, expected);
    let used: Vec<_> = [Kind::Vector, Kind::Embedder, Kind::Rerank, Kind::Decay]
        .iter()
        .flat_map(|kind| config.plugins(*kind))
        .map(|plugin| (plugin.plugin.name, plugin.config.clone()))
        .collect();
    assert_eq!(
        used,
        [
            ("flat", json!({})),
            ("local", json!({})),
            ("mmr", json!({"lambda": 0.7})),
            ("exponential", json!({"half_life_days": 30})),
        ]
    );
    assert!(config.embedder.is_auto);
}

#[test]
fn preset_is_above_the_defaults_and_below_the_user_file() {
    let given = toml("[search]\nthreshold = \"relevance\"\n")
        .file("user.toml", "preset = \"openclaw\"\n[rerank]\nuse = []\n")
        .env("MEMORY_SEARCH__TEXT_SCORE", "share")
        .flag("--max-results", "search.max_results", 3)
        .linked(every_kind());
    let loaded = given.loaded();
    for (key, expected) in [
        ("preset", "\"openclaw\" # user.toml:1"),
        ("rerank.use", "[] # user.toml:3"),
        ("rerank.mmr.lambda", "0.7 # preset openclaw"),
        ("search.threshold", "\"relevance\" # memory.toml:2"),
        (
            "search.text_score",
            "\"share\" # env MEMORY_SEARCH__TEXT_SCORE",
        ),
        ("search.max_results", "3 # flag --max-results"),
        ("search.vector_score", "\"cosine\" # preset openclaw"),
        ("search.min_score", "0.35 # preset openclaw"),
        ("decay.use", "\"exponential\" # preset openclaw"),
        ("decay.exponential.half_life_days", "30 # preset openclaw"),
        ("decay.evergreen_undated", "true # default"),
        ("search.snippet_chars", "700 # default"),
    ] {
        assert_eq!(line(&loaded, key), expected, "{key}");
    }
}

#[test]
fn last_source_that_names_a_preset_chooses_it() {
    let text_score = |user: &'static str, workspace: &'static str, env: Option<&'static str>| {
        let mut given = toml(workspace).file("user.toml", user).linked(every_kind());
        if let Some(env) = env {
            given = given.env("MEMORY_PRESET", env);
        }
        given.loaded().config.search.text_score
    };
    let (openclaw, default) = ("preset = \"openclaw\"\n", "preset = \"default\"\n");
    assert_eq!(text_score("", "", None), TextScore::Share);
    assert_eq!(text_score(openclaw, "", None), TextScore::Position);
    assert_eq!(text_score("", openclaw, None), TextScore::Position);
    assert_eq!(text_score(openclaw, default, None), TextScore::Share);
    assert_eq!(
        text_score(openclaw, default, Some("openclaw")),
        TextScore::Position
    );
    assert_eq!(
        text_score(openclaw, openclaw, Some("default")),
        TextScore::Share
    );
}

#[test]
fn plugin_of_a_preset_that_is_not_linked_is_an_error_that_names_both() {
    let linked = || Registry::new(WORDS.iter().copied().chain([&FLAT, &LOCAL])).unwrap();
    check(
        &given().env("MEMORY_PRESET", "openclaw").linked(linked()),
        &[
            "preset openclaw: rerank.use[0]: unknown rerank plugin `mmr`, linked: none",
            "preset openclaw: decay.use: unknown decay plugin `exponential`, linked: none",
        ],
    );
    let config = toml("preset = \"openclaw\"\nrerank.use = []\ndecay.use = \"none\"\n")
        .linked(linked())
        .loaded()
        .config;
    assert_eq!(config.search.text_score, TextScore::Position);
}

#[test]
fn misspelt_preset_names_the_nearest() {
    let problems = toml("preset = \"openclaws\"\n").load().unwrap_err();
    let problem = problems.iter().next().unwrap();
    assert_eq!(
        problem.message,
        "unknown variant `openclaws`, expected `default` or `openclaw`"
    );
    assert_eq!(problem.hint.as_deref(), Some("did you mean `openclaw`?"));
    check(
        &toml("preset = 3\n"),
        &["memory.toml:1: preset: invalid type: integer `3`, expected string or map"],
    );
}

#[test]
fn rendered_preset_is_a_config_file_of_the_same_meaning() {
    let first = toml("preset = \"openclaw\"\n")
        .linked(every_kind())
        .loaded();
    let second = toml(first.render()).linked(every_kind()).loaded();
    assert_eq!(second.render(), first.render());
    assert_eq!(second.config.search, first.config.search);
}
