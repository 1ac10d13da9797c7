//! Input-output facts of the reference system, areas mmr and jaccard. Where this design differs on purpose, the check says why.

use memory_api::ErrorKind;
use memory_text::TokenSet;
use serde_json::{Value, json};

use super::rerank;
use crate::PLUGIN;
use crate::mmr::marginal;

/// Returns the facts about one function; checks that there are as many as there were.
fn facts(function: &str, n: usize) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("reference-facts.json")).unwrap();
    let facts: Vec<Value> = all
        .into_iter()
        .filter(|fact| fact["input"]["fn"] == function)
        .collect();
    assert_eq!(facts.len(), n, "{function}");
    facts
}

#[test]
fn marginal_relevance() {
    for fact in facts("mmr_score", 3) {
        let input = |name: &str| fact["input"][name].as_f64().unwrap();
        let got = marginal(input("lambda"), input("relevance"), input("maxSimilarity"));
        assert!(
            (got - fact["expected"].as_f64().unwrap()).abs() < 1e-15,
            "{fact}: {got}"
        );
    }
}

#[test]
fn share_of_tokens_in_common() {
    let jaccard = |a: &str, b: &str| TokenSet::of(a).jaccard(&TokenSet::of(b));
    let check = |fact: &Value, got: f64| {
        assert!(
            (got - fact["expected"].as_f64().unwrap()).abs() < 1e-15,
            "{fact}: {got}"
        );
    };
    for fact in facts("jaccard", 4) {
        let text = |name: &str| {
            let words = fact["input"][name].as_array().unwrap();
            words
                .iter()
                .map(|word| word.as_str().unwrap())
                .collect::<Vec<_>>()
                .join(" ")
        };
        check(&fact, jaccard(&text("a"), &text("b")));
    }
    for fact in facts("text_similarity", 2) {
        let text = |name: &str| fact["input"][name].as_str().unwrap();
        check(&fact, jaccard(text("a"), text("b")));
    }
}

#[test]
fn order_of_results() {
    for fact in facts("mmr_rerank_ids", 8) {
        let input = &fact["input"];
        let items = input["items"].as_array().unwrap();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "scores are f32 in this design"
        )]
        let candidates: Vec<(f32, &str)> = items
            .iter()
            .map(|item| {
                (
                    item["score"].as_f64().unwrap() as f32,
                    item["snippet"].as_str().unwrap(),
                )
            })
            .collect();
        let lambda = match (
            input["enabled"].as_bool().unwrap(),
            input["lambda"].as_f64(),
        ) {
            // Switched off means here that the plugin is not in `rerank.use`: the order of scores, which λ = 1 is as well.
            (false, _) => 1.0,
            // The reference brings λ back into its range; here the config is refused, and the range's end gives the same order.
            (true, Some(lambda)) if lambda < 0.0 => {
                let err = (PLUGIN.check_config)(&json!({ "lambda": lambda })).unwrap_err();
                assert_eq!(err.kind(), ErrorKind::Config);
                0.0
            }
            (true, lambda) => lambda.unwrap(),
        };
        let ids: Vec<&Value> = rerank(lambda, &candidates)
            .iter()
            .map(|index| &items[*index]["id"])
            .collect();
        assert_eq!(json!(ids), fact["expected"], "{fact}");
    }
}
