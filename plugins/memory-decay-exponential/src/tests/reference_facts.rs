//! Input-output facts of the reference system, area temporal-decay. The facts of that area about dates in paths and evergreen
//! files stand where those are decided, beside the engine.

use serde_json::Value;

use crate::retention;

/// JSON has no infinity; the facts write it as a word.
fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("Infinity") => f64::INFINITY,
        _ => value.as_f64().unwrap(),
    }
}

#[test]
fn scores_decay_as_in_the_reference() {
    let facts: Vec<Value> = serde_json::from_str(include_str!("reference-facts.json")).unwrap();
    assert_eq!(facts.len(), 6);
    for fact in facts {
        assert_eq!(fact["input"]["fn"], "decay_score");
        let input = |name: &str| number(&fact["input"][name]);
        let decayed = input("score") * retention(input("ageInDays"), input("halfLifeDays"));
        let expected = number(&fact["expected"]);
        assert!((decayed - expected).abs() < 1e-15, "{fact}: {decayed}");
    }
}
