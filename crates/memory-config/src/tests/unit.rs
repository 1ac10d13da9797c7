use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::registry;
use crate::key::KeyPath;
use crate::redact::is_secret;
use crate::schema::Schema;
use crate::workspace::discover;
use crate::{config_schema, env};

#[test]
fn workspace_is_the_nearest_config_file_before_any_notes() {
    let root = TempDir::new().unwrap();
    let deep = root.path().join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    assert_eq!(discover(&deep), None);

    fs::create_dir(root.path().join("a/memory")).unwrap();
    assert_eq!(discover(&deep), Some(root.path().join("a")));
    fs::write(root.path().join("a/b/MEMORY.md"), "").unwrap();
    assert_eq!(discover(&deep), Some(root.path().join("a/b")));
    fs::write(root.path().join("memory.toml"), "").unwrap();
    assert_eq!(discover(&deep), Some(root.path().to_owned()));
    // Folders and files of the wrong sort do not count.
    fs::create_dir(deep.join("memory.toml")).unwrap();
    assert_eq!(discover(&deep), Some(root.path().to_owned()));
}

#[test]
fn schema_holds_every_plugin_and_resolves_its_references() {
    let schema = config_schema(&registry());
    let at = |pointer: &str| {
        schema
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{pointer}: {schema:#}"))
    };
    assert_eq!(
        at("/properties/lexical/properties/use/enum"),
        &json!(["fts5", "remote"])
    );
    assert_eq!(at("/properties/lexical/properties/use/default"), "fts5");
    assert_eq!(
        at("/properties/chunker/properties/use/default"),
        &json!(["markdown"])
    );
    assert_eq!(
        at("/properties/lexical/properties/fts5/$ref"),
        "#/$defs/lexical.fts5"
    );
    assert_eq!(at("/$defs/lexical.fts5/properties/cache_kib/maximum"), 4096);
    assert_eq!(at("/additionalProperties"), false);
    assert_eq!(
        at("/$defs/SearchConfig/properties/max_results/maximum"),
        1000
    );
    assert_references_resolve(&schema, &schema);

    let depth = KeyPath::new(["lexical", "fts5", "limits", "depth"]);
    let depth = Schema::new(&schema).find(&depth).unwrap();
    assert!(depth.allows("integer") && depth.allows("null") && !depth.allows("string"));
}

fn assert_references_resolve(root: &serde_json::Value, value: &serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(|target| target.as_str()) {
                assert!(root.pointer(&target[1..]).is_some(), "{target}");
            }
            for child in map.values() {
                assert_references_resolve(root, child);
            }
        }
        serde_json::Value::Array(items) => {
            for child in items {
                assert_references_resolve(root, child);
            }
        }
        _ => {}
    }
}

#[test]
fn schema_that_refers_to_itself_ends() {
    let schema = json!({
        "$ref": "#/$defs/tree",
        "$defs": {"tree": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}, "additionalProperties": false}]}},
    });
    let schema = Schema::new(&schema);
    assert!(schema.is_table() && !schema.is_open());
    assert_eq!(schema.defaults(), None);
    assert!(!schema.leaves().is_empty());
}

#[test]
fn printed_paths_are_found_in_the_value() {
    let value = json!({"a": {"b.c": [{"d": 1}]}, "a.b": 2, "e": "x"});
    for (printed, expect) in [
        ("a.b.c[0].d", "a.\"b.c\"[0].d"),
        ("a.b", "\"a.b\""),
        ("e.Variant", "e.Variant"),
        ("e.?", "e"),
        ("", ""),
    ] {
        assert_eq!(
            KeyPath::locate(&value, printed).to_string(),
            expect,
            "{printed}"
        );
    }
}

#[test]
fn names_tell_what_is_secret() {
    for name in [
        "api_key",
        "API-KEY",
        "token",
        "secret",
        "password",
        "access_token",
        "signing_key",
        "apiKey",
        "Authorization",
    ] {
        assert!(is_secret(name), "{name}");
    }
    for name in [
        "api_key_env",
        "max_tokens",
        "monkey",
        "tokenizer",
        "keys",
        "secretary",
    ] {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn folders_of_the_user_come_from_the_environment() {
    let env = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(own).collect()
    };
    let root = TempDir::new().unwrap();
    let (home, other) = (root.path().join("home"), root.path().join("other"));
    let (home_text, other_text) = (home.to_str().unwrap(), other.to_str().unwrap());

    let plain = env(&[("HOME", home_text), ("XDG_CACHE_HOME", "relative")]);
    assert_eq!(env::cache_dir(&plain), Some(home.join(".cache/memory")));
    assert_eq!(
        env::user_config_file(&plain),
        Some(home.join(".config/memory/config.toml"))
    );
    let named = env(&[
        ("HOME", home_text),
        ("XDG_CACHE_HOME", other_text),
        ("XDG_CONFIG_HOME", other_text),
    ]);
    assert_eq!(env::cache_dir(&named), Some(other.join("memory")));
    assert_eq!(
        env::user_config_file(&named),
        Some(other.join("memory/config.toml"))
    );
    assert_eq!(env::cache_dir(&env(&[("HOME", "")])), None);

    assert_eq!(env::hub(&[]), "https://huggingface.co");
    let mirror = env(&[("HF_ENDPOINT", "https://mirror.test/hub//")]);
    assert_eq!(env::hub(&mirror), "https://mirror.test/hub");
    for (word, offline) in [
        ("1", true),
        ("Yes", true),
        ("TRUE", true),
        ("0", false),
        ("", false),
    ] {
        let env = env(&[("HF_HUB_OFFLINE", word)]);
        assert_eq!(env::hub_offline(&env), offline, "{word}");
    }
    assert!(env::python(&[]).starts_with("python"));
    assert_eq!(env::python(&env(&[("MEMORY_PYTHON", "py -3")])), "py -3");
}
