use memory_api::{Kind, Registry};
use serde_json::json;

use super::{
    EXPONENTIAL, FLAT, HASH, LOCAL, MMR, OPENAI, SQLITE_VEC, WORDS, check, every_kind, given, toml,
};
use crate::schema::Schema;
use crate::slot::{SLOTS, USE};
use crate::{Config, DecayConfig, Fallback, config_schema};

fn linked(more: &[&'static memory_api::Plugin]) -> Registry {
    Registry::new(WORDS.iter().chain(more).copied()).unwrap()
}

fn names(config: &Config, kind: Kind) -> Vec<&'static str> {
    let plugins = config.plugins(kind).iter();
    plugins.map(|plugin| plugin.plugin.name).collect()
}

#[test]
fn linked_plugins_are_used_where_they_do_no_harm() {
    let config = given().linked(every_kind()).loaded().config;
    assert_eq!(names(&config, Kind::Vector), ["flat"]);
    assert_eq!(names(&config, Kind::Embedder), ["local"]);
    assert!(names(&config, Kind::Rerank).is_empty());
    assert!(names(&config, Kind::Decay).is_empty());
}

#[test]
fn optional_slots_without_plugins_are_empty() {
    let config = given().loaded().config;
    for kind in [Kind::Vector, Kind::Embedder, Kind::Rerank, Kind::Decay] {
        assert!(config.plugin(kind).is_none(), "{kind}");
    }
    assert!(config.embedder.is_auto);
}

#[test]
fn second_choice_is_used_where_the_first_is_not_linked() {
    let config = given().linked(linked(&[&SQLITE_VEC])).loaded().config;
    assert_eq!(names(&config, Kind::Vector), ["sqlite-vec"]);
}

#[test]
fn none_empties_optional_slots_alone() {
    for none in ["\"none\"", "\"\""] {
        let text = format!(
            "vector.use = {none}\nembedder.use = {none}\nrerank.use = {none}\ndecay.use = {none}\n"
        );
        let config = toml(text).linked(every_kind()).loaded().config;
        for kind in [Kind::Vector, Kind::Embedder, Kind::Rerank, Kind::Decay] {
            assert!(config.plugin(kind).is_none(), "{kind}");
        }
        assert!(!config.embedder.is_auto);
    }
    check(
        &toml("lexical.use = \"none\"\n"),
        &["memory.toml:1: lexical.use: unknown lexical plugin `none`, linked: fts5, remote"],
    );
}

#[test]
fn variable_empties_a_list_and_fills_it() {
    let rerank = |value| {
        let given = toml("rerank.use = [\"mmr\"]\n").linked(linked(&[&MMR]));
        let config = given.env("MEMORY_RERANK__USE", value).loaded().config;
        names(&config, Kind::Rerank)
    };
    assert!(rerank("none").is_empty());
    assert!(rerank("").is_empty());
    assert_eq!(rerank("mmr"), ["mmr"]);
}

#[test]
fn auto_takes_what_embeds_here_and_never_the_test_double_or_a_provider() {
    let config = given().linked(linked(&[&HASH, &OPENAI])).loaded().config;
    assert!(config.plugin(Kind::Embedder).is_none());
    assert!(config.embedder.is_auto);

    let loaded = toml("[embedder]\nuse = \"auto\"\n[embedder.local]\n")
        .linked(every_kind())
        .loaded();
    let plugin = loaded.config.plugin(Kind::Embedder).unwrap();
    assert_eq!((plugin.plugin.name, &plugin.config), ("local", &json!({})));
    assert!(loaded.config.embedder.is_auto);
    let using = loaded.settings().find(|s| s.key == "embedder.use").unwrap();
    assert_eq!(using.value, "\"auto\"");

    for name in ["local", "hash"] {
        let text = format!("embedder.use = \"{name}\"\n");
        let config = toml(text).linked(every_kind()).loaded().config;
        assert_eq!(names(&config, Kind::Embedder), [name]);
        assert!(!config.embedder.is_auto);
    }
}

#[test]
fn auto_belongs_to_the_embedder() {
    check(
        &toml("vector.use = \"auto\"\nembedder.use = \"atuo\"\n").linked(linked(&[&FLAT, &LOCAL])),
        &[
            "memory.toml:1: vector.use: unknown vector plugin `auto`, linked: flat",
            "memory.toml:2: embedder.use: unknown embedder plugin `atuo`, linked: local",
        ],
    );
}

#[test]
fn fallback_is_words_and_says_so_otherwise() {
    let config = toml("embedder.fallback = \"words\"\n").loaded().config;
    assert_eq!(config.embedder.fallback, Fallback::Words);
    let given = toml("[embedder]\nfallback = \"openai\"\n").linked(every_kind());
    check(
        &given,
        &[
            "memory.toml:2: embedder.fallback: `openai` is an embedder, and those are not supported as a fallback yet",
        ],
    );
    let problems = given.load().unwrap_err();
    let hint = problems.iter().next().unwrap().hint.clone();
    assert_eq!(hint.as_deref(), Some("possible: words"));
    check(
        &given_env_fallback("wrods"),
        &["env MEMORY_EMBEDDER__FALLBACK: unknown variant `wrods`, expected `words`"],
    );
    check(
        &toml("[embedder]\nfallback = 1\n"),
        &["memory.toml:2: embedder.fallback: invalid type: integer `1`, expected string or map"],
    );
}

fn given_env_fallback(value: &'static str) -> super::Given {
    given().env("MEMORY_EMBEDDER__FALLBACK", value)
}

#[test]
fn keys_of_a_slot_stand_beside_its_plugins() {
    let text = "[decay]\nuse = \"exponential\"\nevergreen = [\"people/**\"]\n[decay.exponential]\nhalf_life_days = 7\n";
    let given = || toml(text).linked(linked(&[&EXPONENTIAL]));
    let config = given().loaded().config;
    assert_eq!(config.decay.evergreen, ["people/**"]);
    assert!(config.decay.evergreen_undated);
    let plugin = config.plugin(Kind::Decay).unwrap();
    assert_eq!(plugin.config, json!({"half_life_days": 7}));

    let config = given()
        .env("MEMORY_DECAY__EVERGREEN", "a.md, b/**")
        .env("MEMORY_DECAY__EVERGREEN_UNDATED", "false")
        .loaded()
        .config;
    let expected = ["a.md", "b/**"].map(str::to_owned).to_vec();
    assert_eq!(
        (config.decay.evergreen, config.decay.evergreen_undated),
        (expected, false)
    );
    assert_eq!(super::given().loaded().config.decay, DecayConfig::default());
}

#[test]
fn wrong_key_of_a_slot_has_a_place_and_a_neighbour() {
    check(
        &toml(
            "[decay]\nevergreen = [1]\nevergreen_undatd = true\n[embedder]\nfalback = \"words\"\n[vector]\nuse = 3\n[rerank.mmr]\nlambda = 2\n",
        )
        .linked(every_kind()),
        &[
            "memory.toml:2: decay.evergreen[0]: invalid type: integer `1`, expected a string",
            "memory.toml:3: decay.evergreen_undatd: unknown key, did you mean `evergreen_undated`?",
            "memory.toml:5: embedder.falback: unknown key, did you mean `fallback`?",
            "memory.toml:7: vector.use: has to be one plugin name",
            "memory.toml:9: rerank.mmr.lambda: `2` is out of range, allowed: 0 to 1",
        ],
    );
    check(
        &given().env("MEMORY_DECAY__EVERGREEEN", "a"),
        &[
            "env MEMORY_DECAY__EVERGREEEN: unknown key `decay.evergreeen`, did you mean `MEMORY_DECAY__EVERGREEN`?",
        ],
    );
    check(
        &toml("decay = 3\n"),
        &["memory.toml:1: decay: invalid type: integer `3`, expected a table"],
    );
}

/// A key that a slot has and does not list would be taken for a plugin and read by nobody.
#[test]
fn every_key_of_a_slot_is_listed() {
    let registry = every_kind();
    let schema = config_schema(&registry);
    for slot in SLOTS {
        let table = Schema::new(&schema).child(slot.kind.as_str()).unwrap();
        let mut own: Vec<_> = table
            .names()
            .filter(|name| *name != USE && registry.get(slot.kind, name).is_err())
            .collect();
        own.sort_unstable();
        assert_eq!(own, slot.keys, "{}", slot.kind);
    }
}

#[test]
fn schema_says_what_use_may_be() {
    let schema = config_schema(&every_kind());
    let using = |slot: &str| &schema["properties"][slot]["properties"]["use"];
    assert_eq!(
        using("embedder")["enum"],
        json!(["hash", "local", "openai", "auto", "none"])
    );
    assert_eq!(using("embedder")["default"], "auto");
    assert_eq!(
        using("vector")["enum"],
        json!(["flat", "sqlite-vec", "none"])
    );
    assert_eq!(using("vector")["default"], "flat");
    assert_eq!(using("rerank")["anyOf"][1]["enum"], json!(["mmr", "none"]));
    assert_eq!(using("rerank")["default"], json!([]));
    let evergreen = &schema["properties"]["decay"]["properties"]["evergreen"];
    assert_eq!(evergreen["default"], json!(["MEMORY.md", "USER.md"]));
    assert!(evergreen["description"].is_string());
    assert_eq!(
        schema["properties"]["embedder"]["properties"]["fallback"]["default"],
        "words"
    );
}
