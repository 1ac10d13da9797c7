use libtest_mimic::{Arguments, Conclusion, Trial};

use crate::suite::ran_nothing;
use crate::{Fixture, Suite, oracle};

const CAPABILITIES: &[&str] = &[
    "phrase_query",
    "prefix_query",
    "exclude_query",
    "atomic_apply",
    "persistent",
    "deterministic",
];

fn suite() -> Suite {
    Suite::new(&oracle::LEXICAL).with_manifest(CAPABILITIES)
}

fn find<'a>(trials: &'a [Trial], name: &str) -> &'a Trial {
    let name = format!("oracle::{name}");
    trials.iter().find(|trial| trial.name() == name).unwrap()
}

/// Runs tests as a program with these arguments does, without its words.
fn run_with(arguments: &[&str], trials: Vec<Trial>) -> Conclusion {
    let log = tempfile::NamedTempFile::new().unwrap();
    let log = log.path().to_str().unwrap();
    let arguments = [&["conformance", "--logfile", log], arguments].concat();
    libtest_mimic::run(&Arguments::from_iter(arguments), trials)
}

/// Runs one test; returns how many passed and failed.
fn run(trials: Vec<Trial>, name: &str) -> (u64, u64) {
    let conclusion = run_with(&["--exact", &format!("oracle::{name}")], trials);
    (conclusion.num_passed, conclusion.num_failed)
}

#[test]
fn scenarios_of_other_capabilities_are_listed_as_ignored_with_the_reason() {
    let trials = suite().trials(None);
    let declared = find(&trials, "lexical::phrase_words_stand_together");
    assert!(!declared.has_ignored_flag() && declared.kind().is_empty());
    let opposite = find(&trials, "lexical::undeclared_phrase_is_unsupported");
    assert!(opposite.has_ignored_flag());
    assert_eq!(opposite.kind(), "declares phrase_query");
}

#[test]
fn manifest_has_to_equal_the_descriptor() {
    let name = "manifest::matches_descriptor";
    assert_eq!(run(suite().trials(None), name), (1, 0));
    for wrong in [
        &CAPABILITIES[1..],
        &[CAPABILITIES, &["native_filter"]].concat(),
    ] {
        let trials = suite().with_manifest(wrong).trials(None);
        assert_eq!(run(trials, name), (0, 1), "{wrong:?}");
    }
}

#[test]
fn expected_failure_that_passes_fails() {
    let trials = suite()
        .with_xfail(&["lexical::hits_are_ranked: issue 1"])
        .trials(None);
    assert_eq!(
        find(&trials, "lexical::hits_are_ranked").kind(),
        "xfail: issue 1"
    );
    assert_eq!(run(trials, "lexical::hits_are_ranked"), (0, 1));
}

#[test]
fn expected_failure_that_fails_passes() {
    // A config that no index opens with.
    let trials = suite()
        .with_fixture(Fixture::config(serde_json::json!({ "no_such_key": 1 })))
        .with_xfail(&["describe::config_opens: issue 2"])
        .trials(None);
    assert_eq!(run(trials, "describe::config_opens"), (1, 0));
}

#[test]
fn expected_failures_have_a_known_name_and_a_reason() {
    let name = "manifest::xfails_are_known";
    let check = |entry| run(suite().with_xfail(&[entry]).trials(None), name);
    assert_eq!(check("lexical::hits_are_ranked: issue 1"), (1, 0));
    for wrong in [
        "lexical::hits_are_ranked",
        "lexical::hits_are_ranked: ",
        "lexical::hits_are_sorted: issue 1",
        "chunker::no_entry_is_blank: issue 1",
        "lexical::undeclared_phrase_is_unsupported: issue 1",
    ] {
        assert_eq!(check(wrong), (0, 1), "{wrong}");
    }
}

#[test]
fn missing_environment_fails_unless_the_plugin_is_named() {
    let missing = || suite().with_fixture(Fixture::unavailable("no server"));
    let name = "lexical::hits_are_ranked";
    for others in [None, Some(""), Some("oracle-2,other")] {
        let trials = missing().trials(others);
        assert!(!find(&trials, name).has_ignored_flag());
        assert_eq!(run(trials, name), (0, 1), "{others:?}");
    }
    let trials = missing().trials(Some("other, oracle"));
    assert!(find(&trials, name).has_ignored_flag());
    assert_eq!(find(&trials, name).kind(), "not run: no server");
    // What needs no environment runs all the same.
    assert_eq!(run(trials, "describe::version_is_semver"), (1, 0));
}

#[test]
fn program_that_runs_nothing_is_told_from_a_filter_that_matches_nothing() {
    assert!(ran_nothing(&run_with(&[], Vec::new())));
    let ignored = Trial::test("a", || Ok(())).with_ignored_flag(true);
    assert!(ran_nothing(&run_with(&[], vec![ignored])));
    let trials = vec![Trial::test("a", || Ok(()))];
    assert!(!ran_nothing(&run_with(&["nothing"], trials)));
}
