use std::path::Path;

use serde_json::json;

use crate::describe::is_semver;
use crate::index::{Word, entry_id, model_ids};
use crate::{Failure, Fixture, Subject, oracle, random};

#[test]
fn folder_is_filled_into_every_string_of_the_config() {
    let config = json!({ "path": "{dir}/a.db", "deep": [{ "x": "{dir}" }], "n": 1 });
    let filled = Fixture::config(config).config_in(Path::new("/tmp/x"));
    let expected = json!({ "path": "/tmp/x/a.db", "deep": [{ "x": "/tmp/x" }], "n": 1 });
    assert_eq!(filled, expected);
}

#[test]
fn fixture_shows_no_config() {
    let fixture = Fixture::config(json!({ "api_key": "s3cr3t" }));
    assert!(!format!("{fixture:?}").contains("s3cr3t"));
}

#[test]
fn versions_are_told_from_other_words() {
    for version in [
        "0.1.0",
        "1.20.300",
        "1.0.0-rc.1",
        "1.0.0-0a.b-c+build.01",
        "1.0.0+x",
    ] {
        assert!(is_semver(version), "{version}");
    }
    for other in [
        "", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0+", "v1.0.0", "1..0",
        "1.0.x",
    ] {
        assert!(!is_semver(other), "{other}");
    }
}

#[test]
fn ids_of_the_model_are_in_no_order_of_their_number() {
    let made: Vec<_> = (0..16).map(entry_id).collect();
    assert!(!made.is_sorted());
    let sorted = model_ids();
    assert!(sorted.is_sorted() && sorted.len() == 16);
    // Half of them are negative to an index that keeps them as signed numbers.
    assert!(sorted.iter().any(|id| id.0 >> 127 == 1) && sorted.iter().any(|id| id.0 >> 127 == 0));
}

#[test]
fn words_of_the_model_differ_and_none_begins_another() {
    let words: Vec<_> = Word::all().map(|word| word.to_string()).collect();
    assert_eq!(
        (words[0].as_str(), words[39].as_str()),
        ("tokbbk", "tokgpk")
    );
    for word in &words {
        let begun = words
            .iter()
            .filter(|other| other.starts_with(word.as_str()));
        assert_eq!(begun.count(), 1, "{word}");
    }
}

#[test]
fn random_failure_names_its_smallest_case_and_its_seed() {
    let subject = Subject::new(&oracle::CHUNKER);
    let failure = random::for_all(&subject, &(0..1000_u32), |n| {
        if n < 7 {
            Ok(())
        } else {
            Err(Failure::new("seven or more"))
        }
    })
    .unwrap_err()
    .to_string();
    assert!(
        failure.starts_with("seven or more\nsmallest case: 7\n"),
        "{failure}"
    );
    assert!(failure.contains("MEMORY_CONFORMANCE_SEED="), "{failure}");
}

#[test]
fn executor_of_the_fixture_runs_the_futures() {
    let fixture = Fixture::default().with_executor(|future| futures::executor::block_on(future));
    let subject = Subject::new(&oracle::CHUNKER).with_fixture(fixture);
    assert_eq!(subject.run(async { Ok(3) }), Ok(3));
    let lazy = Fixture::default().with_executor(|_| ());
    let subject = Subject::new(&oracle::CHUNKER).with_fixture(lazy);
    assert!(subject.run(async { Ok(3) }).is_err());
}
