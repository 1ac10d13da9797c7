use std::collections::BTreeSet;

use memory_api::Plugin;
use memory_conformance::{Fixture, Subject, scenarios};
use serde_json::json;

/// A subject whose `fault` is chosen by its config; none for an honest plugin.
pub(crate) fn subject(plugin: &'static Plugin, fault: &str) -> Subject {
    let config = if fault.is_empty() {
        json!({})
    } else {
        json!({ "fault": fault })
    };
    Subject::new(plugin)
        .with_fixture(Fixture::config(config))
        .with_seed(1)
}

/// Checks that every scenario of the plugin's kind holds for it.
pub(crate) fn check_honest(plugin: &'static Plugin, fault: &str) {
    for scenario in scenarios(plugin.kind()) {
        if scenario.skipped_for(plugin).is_none() {
            let outcome = scenario.check(&subject(plugin, fault));
            assert_eq!(outcome, Ok(()), "{} {fault:?}", scenario.name());
        }
    }
}

/// Checks that a scenario fails for the plugin with this fault, and for its own reason.
pub(crate) fn check_caught(subject: &Subject, fault: &str, name: &str, words: &str) {
    let scenario = scenarios(subject.plugin().kind())
        .find(|scenario| scenario.name() == name)
        .unwrap_or_else(|| panic!("no scenario `{name}`"));
    assert_eq!(
        scenario.skipped_for(subject.plugin()),
        None,
        "{name}, {fault}"
    );
    let Err(failure) = scenario.check(subject) else {
        panic!("{name} does not see the fault `{fault}`");
    };
    let message = failure.to_string();
    assert!(message.contains(words), "{name}, {fault}: {message}");
}

/// Returns the names of the scenarios of this plugin's kind, without those that hold for any kind.
pub(crate) fn names_of_kind(plugin: &'static Plugin) -> BTreeSet<&'static str> {
    scenarios(plugin.kind())
        .map(memory_conformance::Scenario::name)
        .filter(|name| !name.starts_with("describe::"))
        .collect()
}

/// Returns the names of the scenarios that fail for the plugin with this fault.
pub(crate) fn failing(plugin: &'static Plugin, fault: &str) -> BTreeSet<&'static str> {
    scenarios(plugin.kind())
        .filter(|scenario| scenario.skipped_for(plugin).is_none())
        .filter(|scenario| scenario.check(&subject(plugin, fault)).is_err())
        .map(memory_conformance::Scenario::name)
        .collect()
}
