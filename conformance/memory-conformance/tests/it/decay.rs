use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_api::{
    DecayPolicy, Factory, Facts, Fingerprint, Identity, OpenContext, Plugin, Result, Timestamp,
    parse_config,
};
use memory_conformance::oracle;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{check_caught, check_honest, failing, names_of_kind, subject};

static PLUGIN: Plugin = Plugin::new::<Config>(
    "broken",
    "0.1.0",
    "fades as wrong as it is told to",
    Factory::Decay(open),
);

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// What it does wrong.
    fault: String,
}

fn open(context: &OpenContext<'_>) -> Result<Arc<dyn DecayPolicy>> {
    let Factory::Decay(open) = oracle::DECAY.factory else {
        unreachable!("the oracle is a decay policy")
    };
    Ok(Arc::new(Broken {
        inner: open(&OpenContext::new(&serde_json::Value::Null))?,
        fault: parse_config::<Config>(context.config)?.fault,
        n_calls: AtomicUsize::new(0),
    }))
}

#[derive(Debug)]
struct Broken {
    inner: Arc<dyn DecayPolicy>,
    fault: String,
    n_calls: AtomicUsize,
}

impl Identity for Broken {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!("broken {}", self.fault))
    }
}

const DAY_MS: i64 = 86_400_000;

/// The age in days, where there is one that counts.
fn age(facts: &Facts<'_>, now: Timestamp) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "these faults are coarse")]
    let age = |time| now.days_since(time) as f32;
    facts.time.filter(|_| !facts.evergreen).map(age)
}

impl DecayPolicy for Broken {
    fn retention(&self, facts: &[Facts<'_>], now: Timestamp, out: &mut [f32]) {
        let before = out.to_vec();
        self.inner.retention(facts, now, out);
        let n_calls = self.n_calls.fetch_add(1, Ordering::Relaxed);
        if self.fault == "wants_one_at_least" {
            assert!(!facts.is_empty(), "no facts");
        }
        let first = out.first().copied();
        for ((facts, before), out) in facts.iter().zip(before).zip(out) {
            let age = age(facts, now);
            match (self.fault.as_str(), age) {
                // A line that goes on below 0.
                ("a_line_without_end", Some(age)) if age > 0.0 => *out = 1.0 - age / 100.0,
                ("divides_by_the_age", Some(age)) => *out = (1.0 / age).min(1.0),
                ("root_of_the_age", Some(age)) => *out = 1.0 / (1.0 + age.sqrt()),
                ("evergreen_fades", None) if facts.time.is_some() => *out = 0.5,
                ("a_kind_overrules_evergreen", None) if facts.kind == Some("episodic") => {
                    let mut mortal = *facts;
                    mortal.evergreen = false;
                    let mut share = [0.0];
                    self.inner.retention(&[mortal], now, &mut share);
                    [*out] = share;
                }
                ("no_time_is_half", None) if !facts.evergreen => *out = 0.5,
                ("future_within_a_day_fades", Some(age)) if (-0.9..0.0).contains(&age) => {
                    *out = 0.9;
                }
                ("future_is_as_old_as_past", Some(age)) => *out = 1.0 / (1.0 + age.abs()),
                ("wakes_up_after_a_year", Some(age)) if (360.0..4_000.0).contains(&age) => {
                    *out = 1.0;
                }
                ("keeps_the_lesser", _) => *out = out.min(before),
                ("writes_only_what_fades", _) if *out >= 1.0 => *out = before,
                ("tires_with_every_call", Some(age)) if age > 0.0 => *out /= 1.0 + n_calls as f32,
                ("first_stands_for_all", _) => *out = first.unwrap_or(1.0),
                // An age that does not fit into 64 bits comes round to the other side.
                ("wraps", Some(_)) => {
                    let time = facts.time.map_or(0, |time| time.0);
                    let age = (now.0.wrapping_sub(time) / DAY_MS).max(0);
                    *out = 1.0 / (1.0 + age as f32);
                }
                ("overflows", Some(_)) => {
                    let time = facts.time.map_or(0, |time| time.0);
                    assert!(now.0.checked_sub(time).is_some(), "overflow");
                }
                _ => {}
            }
        }
    }
}

/// A fault, the scenario that has to find it, and words of its message.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "a_line_without_end",
        "decay::retention_is_a_share",
        "not within 0 and 1",
    ),
    (
        "divides_by_the_age",
        "decay::nothing_fades_before_its_time",
        "instead of 1",
    ),
    ("root_of_the_age", "decay::retention_is_a_share", "has NaN"),
    (
        "evergreen_fades",
        "decay::evergreen_keeps_all",
        "has 0.5 instead of 1",
    ),
    (
        "a_kind_overrules_evergreen",
        "decay::evergreen_keeps_all",
        "instead of 1",
    ),
    (
        "no_time_is_half",
        "decay::no_time_keeps_all",
        "has 0.5 instead of 1",
    ),
    (
        "future_within_a_day_fades",
        "decay::nothing_fades_before_its_time",
        "has 0.9 instead of 1",
    ),
    (
        "future_is_as_old_as_past",
        "decay::nothing_fades_before_its_time",
        "instead of 1",
    ),
    (
        "wakes_up_after_a_year",
        "decay::older_is_never_more",
        "more than the",
    ),
    (
        "keeps_the_lesser",
        "decay::same_facts_same_retention",
        "held 0 before",
    ),
    (
        "writes_only_what_fades",
        "decay::same_facts_same_retention",
        "held 0 before",
    ),
    (
        "tires_with_every_call",
        "decay::same_facts_same_retention",
        "once, and",
    ),
    (
        "first_stands_for_all",
        "decay::batch_is_its_singles",
        "one by one",
    ),
    (
        "wraps",
        "decay::extreme_times_are_no_error",
        "more than the",
    ),
    (
        "overflows",
        "decay::extreme_times_are_no_error",
        "the plugin panicked: overflow",
    ),
    (
        "wants_one_at_least",
        "decay::empty_batch_is_no_error",
        "the plugin panicked: no facts",
    ),
];

#[test]
fn honest_policy_passes() {
    check_honest(&PLUGIN, "");
}

#[test]
fn broken_policies_are_caught() {
    for (fault, scenario, words) in FAULTS {
        check_caught(&subject(&PLUGIN, fault), fault, scenario, words);
    }
}

#[test]
fn every_decay_scenario_alone_catches_something() {
    let alone: BTreeSet<_> = FAULTS
        .iter()
        .filter(|(fault, scenario, _)| failing(&PLUGIN, fault) == [*scenario].into())
        .map(|(_, scenario, _)| *scenario)
        .collect();
    assert_eq!(alone, names_of_kind(&PLUGIN));
}
