use memory_api::{ErrorKind, Identity, Kind};
use serde_json::{Value, json};

use super::chunker;
use crate::{Config, NAME, PLUGIN};

#[test]
fn nothing_given_is_the_default() {
    for value in [Value::Null, json!({})] {
        let config = Config::read(&value).unwrap();
        assert_eq!((config.max_tokens, config.redact), (400, true));
    }
    assert_eq!((PLUGIN.name, PLUGIN.kind()), (NAME, Kind::Chunker));
}

#[test]
fn settings_that_cannot_be_are_refused_with_their_key() {
    for (value, key) in [
        (json!({ "max_tokens": 15 }), "max_tokens"),
        (json!({ "max_tokens": 8193 }), "max_tokens"),
        (json!({ "redact": "no" }), "redact"),
        (json!({ "redacted": true }), "redacted"),
    ] {
        let err = (PLUGIN.check_config)(&value).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Config, "{value}");
        assert_eq!(err.context("key"), Some(key), "{value}");
    }
}

#[test]
fn schema_describes_every_key() {
    let schema = (PLUGIN.schema)().to_value();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), 2);
    assert!(
        properties
            .values()
            .all(|property| property["description"].is_string()),
        "{schema:#}"
    );
    assert_eq!(properties["max_tokens"]["default"], 400);
    assert_eq!(properties["redact"]["default"], true);
}

#[test]
fn fingerprint_names_the_settings_that_change_the_cut() {
    let fingerprint = |value| chunker(Config::read(&value).unwrap()).fingerprint().0;
    let default = fingerprint(json!({}));
    assert_eq!(default, "transcript/1 max_tokens=400 redact=1");
    assert_ne!(default, fingerprint(json!({ "max_tokens": 401 })));
    assert_ne!(default, fingerprint(json!({ "redact": false })));
}
