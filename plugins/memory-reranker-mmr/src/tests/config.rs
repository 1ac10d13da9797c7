use memory_api::{ErrorKind, Identity, Kind, parse_config};
use memory_text::ANALYSIS_VERSION;
use serde_json::{Value, json};

use crate::{Config, MmrReranker, NAME, PLUGIN};

#[test]
fn nothing_given_is_the_default() {
    for value in [Value::Null, json!({})] {
        let config: Config = parse_config(&value).unwrap();
        assert_eq!(config, Config { lambda: 0.7 });
    }
    assert_eq!((PLUGIN.name, PLUGIN.kind()), (NAME, Kind::Rerank));
}

#[test]
fn lambda_goes_from_0_to_1() {
    for (value, lambda) in [(json!(0), 0.0), (json!(0.5), 0.5), (json!(1), 1.0)] {
        let config: Config = parse_config(&json!({ "lambda": value })).unwrap();
        assert_eq!(config, Config { lambda });
    }
    for value in [json!(-1), json!(-1e-9), json!(1.000_001), json!(70)] {
        let config = json!({ "lambda": value });
        let err = (PLUGIN.check_config)(&config).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Config, "{config}");
        assert_eq!(err.context("key"), Some("lambda"), "{config}");
        assert!(err.message().contains("between 0 and 1"), "{err}");
    }
}

#[test]
fn schema_says_default_and_range() {
    let schema = (PLUGIN.schema)().to_value();
    let property = &schema["properties"]["lambda"];
    assert_eq!(property["default"], 0.7, "{schema:#}");
    assert_eq!(
        (&property["minimum"], &property["maximum"]),
        (&json!(0), &json!(1)),
        "{schema:#}"
    );
}

#[test]
fn fingerprint_names_lambda_and_the_analysis() {
    let reranker = MmrReranker::new(Config { lambda: 0.25 });
    let expected = format!("mmr/1 lambda=0.25 analysis={ANALYSIS_VERSION}");
    assert_eq!(reranker.fingerprint().0, expected);
}
