use std::collections::BTreeSet;
use std::path::Path;

use memory_api::Kind;
use memory_conformance::{Scenario, scenarios};

/// Returns what stands in brackets (escaped, since they are no links) and backticks and has the form of a scenario's name.
fn bracketed_names(source: &str) -> BTreeSet<String> {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    source
        .split(r"\[`")
        .skip(1)
        .filter_map(|rest| rest.split_once(r"`\]"))
        .map(|(name, _)| name)
        .filter(|name| {
            name.split_once("::")
                .is_some_and(|(group, statement)| is_word(group) && is_word(statement))
        })
        .map(str::to_owned)
        .collect()
}

/// Checks that the contract and the suite name the same scenarios, `describe` apart: it checks descriptors, not traits.
fn check(kind: Kind, files: &[&str]) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/memory-api/src");
    let promised: BTreeSet<_> = files
        .iter()
        .flat_map(|file| bracketed_names(&std::fs::read_to_string(sources.join(file)).unwrap()))
        .collect();
    let checked: BTreeSet<_> = scenarios(kind)
        .map(|scenario| scenario.name().to_owned())
        .collect();
    let unchecked: Vec<_> = promised.difference(&checked).collect();
    assert!(unchecked.is_empty(), "no scenario of {kind}: {unchecked:?}");
    let unpromised: Vec<_> = checked
        .difference(&promised)
        .filter(|name| !name.starts_with("describe::"))
        .collect();
    assert!(
        unpromised.is_empty(),
        "no contract line of {kind}: {unpromised:?}"
    );
}

#[test]
fn every_line_of_the_decay_contract_is_a_scenario() {
    check(Kind::Decay, &["id.rs", "decay.rs"]);
}

#[test]
fn every_line_of_the_reranker_contract_is_a_scenario() {
    check(Kind::Rerank, &["id.rs", "reranker.rs"]);
}

#[test]
fn every_line_of_the_chunker_contract_is_a_scenario() {
    check(Kind::Chunker, &["id.rs", "chunker.rs"]);
}

#[test]
fn every_line_of_the_lexical_contract_is_a_scenario() {
    check(Kind::Lexical, &["id.rs", "projection.rs", "lexical.rs"]);
}

#[test]
fn every_line_of_the_vector_contract_is_a_scenario() {
    check(Kind::Vector, &["id.rs", "projection.rs", "vector.rs"]);
}

#[test]
fn every_line_of_the_embedder_contract_is_a_scenario() {
    check(Kind::Embedder, &["id.rs", "embedder.rs"]);
}

#[test]
fn every_kind_has_the_scenarios_of_any_plugin() {
    for kind in Kind::ALL {
        let names: Vec<_> = scenarios(*kind).map(Scenario::name).collect();
        assert!(names.contains(&"describe::fingerprint_is_stable"), "{kind}");
        let distinct: BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{kind}");
    }
}

#[test]
fn brackets_are_read_from_docs() {
    let names = bracketed_names(
        r"/// A. \[`a::b_c`\] \[`Foo::bar`\] [`h::i`] \[`d::e2`\], [`crate`] `f::g`",
    );
    assert_eq!(names, ["a::b_c", "d::e2"].map(str::to_owned).into());
}
