use memory_api::{Document, ErrorKind, Identity, Kind, OpenContext};
use serde_json::{Value, json};

use crate::{Config, MarkdownChunker, NAME, PLUGIN, Split};

#[test]
fn nothing_given_is_the_default() {
    for value in [Value::Null, json!({})] {
        let config = Config::read(&value).unwrap();
        assert_eq!(config, Config::default());
        assert_eq!(
            (config.split, config.max_tokens, config.overlap_tokens()),
            (Split::Section, 400, 80)
        );
    }
}

#[test]
fn settings_that_cannot_be_are_refused_with_their_key() {
    for (value, key) in [
        (json!({ "max_tokens": 15 }), "max_tokens"),
        (json!({ "max_tokens": 8193 }), "max_tokens"),
        (json!({ "max_tokens": "many" }), "max_tokens"),
        (
            json!({ "max_tokens": 100, "overlap_tokens": 100 }),
            "overlap_tokens",
        ),
        (json!({ "split": "page" }), "split"),
        (json!({ "max_token": 100 }), "max_token"),
    ] {
        let err = (PLUGIN.check_config)(&value).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Config, "{value}");
        assert_eq!(err.context("key"), Some(key), "{value}");
    }
}

#[test]
fn overlap_follows_the_size_unless_it_is_given() {
    let overlap = |value| Config::read(&value).unwrap().overlap_tokens();
    assert_eq!(overlap(json!({ "max_tokens": 64 })), 12);
    assert_eq!(overlap(json!({ "max_tokens": 64, "overlap_tokens": 0 })), 0);
}

#[test]
fn schema_describes_every_key() {
    let schema = (PLUGIN.schema)().to_value();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 3);
    assert!(
        properties
            .values()
            .all(|property| property["description"].is_string()),
        "{schema:#}"
    );
    assert_eq!(properties["max_tokens"]["default"], 400);
}

#[test]
fn fingerprint_names_the_settings_that_change_the_cut() {
    let fingerprint = |value| {
        MarkdownChunker::new(Config::read(&value).unwrap())
            .unwrap()
            .fingerprint()
            .0
    };
    let default = fingerprint(json!({}));
    assert_eq!(
        default,
        "markdown/1 split=section max_tokens=400 overlap_tokens=80"
    );
    assert_eq!(default, fingerprint(json!({ "overlap_tokens": 80 })));
    assert_ne!(default, fingerprint(json!({ "split": "block" })));
    assert_ne!(default, fingerprint(json!({ "max_tokens": 401 })));
}

#[test]
fn accepts_text_files_in_any_case() {
    let config = json!({});
    assert_eq!((PLUGIN.name, PLUGIN.kind()), (NAME, Kind::Chunker));
    let memory_api::Factory::Chunker(open) = PLUGIN.factory else {
        panic!("not a chunker");
    };
    let chunker = open(&OpenContext::new(&config)).unwrap();
    let accepts = |path| chunker.accepts(&Document::new("memory", path, ""));
    for path in [
        "MEMORY.md",
        "a/b.MD",
        "a.markdown",
        "a.mdx",
        "notes/新.txt",
        "a/.md",
    ] {
        assert!(accepts(path), "{path}");
    }
    for path in ["a.jsonl", "md", "a.md/b", "a.mdown.json", "", "a.md.bak"] {
        assert!(!accepts(path), "{path}");
    }
}
