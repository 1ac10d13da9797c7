use memory_api::{ErrorKind, Identity, Kind, parse_config};
use serde_json::{Value, json};

use crate::{Config, ExponentialDecay, NAME, PLUGIN};

#[test]
fn nothing_given_is_thirty_days() {
    for value in [Value::Null, json!({})] {
        let config: Config = parse_config(&value).unwrap();
        assert_eq!(
            config,
            Config {
                half_life_days: 30.0
            }
        );
    }
    assert_eq!((PLUGIN.name, PLUGIN.kind()), (NAME, Kind::Decay));
}

#[test]
fn whole_numbers_and_fractions_are_half_lives() {
    for (value, expected) in [(json!(14), 14.0), (json!(0.25), 0.25), (json!(1e9), 1e9)] {
        let config: Config = parse_config(&json!({ "half_life_days": value })).unwrap();
        assert_eq!(
            config,
            Config {
                half_life_days: expected
            }
        );
    }
}

#[test]
fn half_life_that_cannot_be_is_refused_with_its_key_and_a_way_out() {
    for value in [json!(0), json!(-0.0), json!(-7), json!(-1e-9)] {
        let config = json!({ "half_life_days": value });
        let err = (PLUGIN.check_config)(&config).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Config, "{config}");
        assert_eq!(err.context("key"), Some("half_life_days"), "{config}");
        assert!(err.message().contains("`decay.use` to `none`"), "{err}");
    }
    for config in [
        json!({ "half_life_days": "30" }),
        json!({ "half_life_days": null }),
        json!({ "half_life": 30 }),
    ] {
        let err = (PLUGIN.check_config)(&config).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Config, "{config}");
    }
}

#[test]
fn half_life_that_is_not_finite_is_refused() {
    use serde::Deserialize;
    use serde::de::value::{Error, MapDeserializer};

    // JSON has no such numbers, a config file in TOML has.
    for days in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let table = MapDeserializer::<_, Error>::new([("half_life_days", days)].into_iter());
        let err = Config::deserialize(table).unwrap_err();
        assert!(err.to_string().contains("above 0"), "{err}");
    }
}

#[test]
fn schema_says_default_and_range() {
    let schema = (PLUGIN.schema)().to_value();
    let property = &schema["properties"]["half_life_days"];
    assert_eq!(property["default"], 30.0, "{schema:#}");
    assert_eq!(property["exclusiveMinimum"], 0, "{schema:#}");
}

#[test]
fn fingerprint_names_the_half_life() {
    let fingerprint = |half_life_days| {
        ExponentialDecay::new(Config { half_life_days })
            .fingerprint()
            .0
    };
    assert_eq!(fingerprint(30.0), "exponential/1 half_life_days=30");
    assert_eq!(fingerprint(0.5), "exponential/1 half_life_days=0.5");
}
