//! What the hashed vectors are, beyond the contract of every embedder.
#![cfg(test)]

use futures::executor::block_on;
use memory_api::{Embedder, ErrorKind, Role, parse_config};
use memory_embedder_hash::{Config, HashEmbedder, PLUGIN};
use serde_json::json;

fn embedder(dimensions: usize) -> HashEmbedder {
    HashEmbedder::new(Config { dimensions })
}

fn embed(dimensions: usize, text: &str, role: Role) -> Vec<f32> {
    let matrix = block_on(embedder(dimensions).embed(&[text], role)).unwrap();
    let mut rows = matrix.rows();
    rows.next().unwrap().to_vec()
}

fn similarity(one: &str, other: &str) -> f32 {
    let [one, other] = [one, other].map(|text| embed(256, text, Role::Document));
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[test]
fn vectors_of_the_first_version_stay_what_they_are() {
    // Bump `VERSION` in src/feature.rs when this changes: vectors of two kinds in one space find nothing.
    let sums = [0.0, 2.0, -1.0, -1.0, 1.0, -1.0, 0.0, 0.0];
    let vector = embed(8, "The ferries leave at six", Role::Document);
    for (number, sum) in vector.iter().zip(sums) {
        let expected = sum / 8.0_f32.sqrt();
        assert!((number - expected).abs() < 1e-6, "{vector:?}");
    }
}

#[test]
fn space_names_version_dimensions_and_analysis() {
    let embedder = HashEmbedder::new(Config::default());
    let version = memory_text::ANALYSIS_VERSION;
    assert_eq!(embedder.space().id, format!("hash/1/256/{version}"));
    assert_eq!(embedder.space().dimensions, 256);
    assert!(embedder.space().unit_norm);
}

#[test]
fn both_roles_have_the_same_vector() {
    let text = "the ferry leaves at six";
    assert_eq!(
        embed(64, text, Role::Query),
        embed(64, text, Role::Document)
    );
}

#[test]
fn text_without_words_has_the_first_axis() {
    for text in ["", " \n", "?!", "\u{feff}"] {
        assert_eq!(
            embed(8, text, Role::Query),
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            "{text:?}"
        );
    }
}

#[test]
fn common_words_bring_texts_together() {
    let question = "when does the ferry leave";
    let near = similarity(question, "the ferries are leaving at six");
    let far = similarity(question, "bake bread for forty minutes");
    assert!(near > 0.3 && far < 0.25, "{near} {far}");
    // Forms of a word share its stem.
    assert!(similarity("ferry", "ferries") > 0.3);
    let chinese = similarity("港湾工事", "工事は来月");
    assert!(chinese > 0.2, "{chinese}");
}

#[test]
fn dimensions_have_a_range() {
    for dimensions in [8, 256, 4096] {
        let config: Config = parse_config(&json!({ "dimensions": dimensions })).unwrap();
        assert_eq!(HashEmbedder::new(config).space().dimensions, dimensions);
    }
    for wrong in [json!(0), json!(7), json!(4097), json!(-8), json!("256")] {
        let config = json!({ "dimensions": wrong });
        let err = (PLUGIN.check_config)(&config).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Config, "{config}");
        assert_eq!(err.context("key"), Some("dimensions"), "{config}");
    }
}

#[test]
fn refused_call_says_how_many_texts_it_may_hold() {
    let texts = ["x"; 257];
    let err = block_on(embedder(8).embed(&texts, Role::Query)).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert!(format!("{err:?}").contains("at most 256"), "{err:?}");
}
