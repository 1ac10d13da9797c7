use std::collections::BTreeSet;

use memory_api::{Capabilities, Capability, Factory, Limits, Need, Plugin};
use memory_conformance::{Fixture, Subject, scenarios};

use crate::check::{check_caught, check_honest, names_of_kind, subject};

mod broken;

use broken::{Config, open, open_plain};

const CAPABILITIES: &[Capability] = &[
    Capability::AtomicApply,
    Capability::Persistent,
    Capability::ExactSearch,
];

/// Can all that an index can.
static FULL: Plugin = Plugin::new::<Config>(
    "broken",
    "0.1.0",
    "searches as wrong as it is told to",
    Factory::Vector(open),
)
.with_capabilities(Capabilities::of(CAPABILITIES))
.with_needs(&[Need::Disk]);

/// Declares nothing: neither exactness nor durability.
static PLAIN: Plugin = Plugin::new::<Config>(
    "plain",
    "0.1.0",
    "searches nearly, as wrong as it is told to",
    Factory::Vector(open_plain),
)
.with_needs(&[Need::Disk]);

/// Refuses what is beyond its limits, which are close.
static NARROW: Plugin = FULL.with_limits(
    Limits::NONE
        .with_max_ops(2)
        .with_max_k(5)
        .with_max_dimensions(40),
);

const MACHINE: &str = "machine::any_history_equals_the_model";

/// A fault of [`FULL`], the scenario that has to find it, and words of its message.
const FAULTS: &[(&str, &str, &str)] = &[
    ("takes_old_ops", "model::old_ops_are_skipped", "the model"),
    ("takes_old_ops", MACHINE, "smallest case"),
    ("replay_duplicates", "model::replay_is_idempotent", "twice"),
    ("replay_duplicates", MACHINE, "twice"),
    ("put_adds", "model::put_replaces", "which no put vector has"),
    ("put_adds", MACHINE, "smallest case"),
    ("put_keeps_the_first", "model::put_replaces", "the model"),
    (
        "set_meta_removes",
        "model::set_meta_keeps_the_content",
        "the index has nothing",
    ),
    ("set_meta_removes", MACHINE, "the index has nothing"),
    (
        "set_meta_puts",
        "model::set_meta_keeps_the_content",
        "the model",
    ),
    (
        "forgets_deletes",
        "model::deleted_entry_is_never_returned",
        "the model nothing",
    ),
    ("forgets_deletes", MACHINE, "the model nothing"),
    (
        "takes_any_store",
        "model::another_store_is_refused",
        "is applied",
    ),
    (
        "sorts_batches",
        "model::unordered_batch_is_refused",
        "are applied",
    ),
    (
        "stands_at_its_last_op",
        "model::watermark_follows_the_store",
        "the watermark is",
    ),
    (
        "flushes_later",
        "model::flushed_changes_are_searchable",
        "the watermark is",
    ),
    (
        "counts_the_deleted",
        "model::flushed_changes_are_searchable",
        "stats count",
    ),
    (
        "forgets_at_close",
        "model::reopened_index_equals_the_model",
        "opened again",
    ),
    (
        "watermark_runs_ahead",
        "model::content_equals_the_watermark",
        "at watermark",
    ),
    (
        "answers_after_close",
        "model::closed_index_says_so",
        "after close",
    ),
    (
        "claims_more",
        "model::capabilities_are_declared",
        "native_filter",
    ),
    ("ties_descend", "vector::hits_are_ranked", "stands before"),
    ("ties_descend", MACHINE, "stands before"),
    ("one_hit_more", "vector::hits_are_ranked", "hits for k"),
    ("drops_the_far", "vector::hits_are_ranked", "hits of"),
    ("drops_the_far", MACHINE, "the model"),
    (
        "gives_distances",
        "vector::scores_are_cosines",
        "instead of",
    ),
    (
        "scores_zero_for_strangers",
        "vector::scores_are_cosines",
        "instead of None",
    ),
    ("scores_sorted", "vector::scores_are_cosines", "instead of"),
    (
        "scores_the_allowed",
        "vector::scores_are_cosines",
        "has the score None",
    ),
    (
        "scores_in_bytes",
        "vector::scores_are_cosines",
        "instead of",
    ),
    (
        "trusts_the_length",
        "vector::length_does_not_count",
        "a query of length",
    ),
    (
        "misses_the_first",
        "vector::stored_vector_finds_itself_first",
        "finds",
    ),
    (
        "misses_the_third",
        "vector::exact_search_equals_brute_force",
        "brute force finds",
    ),
    (
        "cuts_before_sorting",
        "vector::exact_search_equals_brute_force",
        "brute force finds",
    ),
    (
        "cuts_ties_at_random",
        "vector::ties_at_the_cut_ascend",
        "of entries with equal vectors",
    ),
    (
        "misses_the_third",
        "vector::smaller_k_is_a_prefix",
        "is no prefix",
    ),
    (
        "filters_after_the_cut",
        "vector::allowed_ids_are_honoured",
        "allowed ids",
    ),
    ("filters_after_the_cut", MACHINE, "hits of"),
    (
        "ignores_allowed",
        "vector::allowed_ids_are_honoured",
        "allowed ids",
    ),
    ("ignores_allowed", MACHINE, "hits of"),
    (
        "refuses_strangers",
        "vector::allowed_ids_are_honoured",
        "no such entry",
    ),
    (
        "takes_few_allowed",
        "vector::allowed_ids_are_honoured",
        "too many",
    ),
    (
        "finds_nothing_malformed",
        "vector::malformed_query_is_refused",
        "gives an answer",
    ),
    (
        "checks_after_the_filter",
        "vector::malformed_query_is_refused",
        "where nothing is allowed",
    ),
    (
        "panics_at_dimensions",
        "vector::malformed_query_is_refused",
        "the plugin panicked",
    ),
    (
        "skips_malformed",
        "vector::malformed_vector_is_refused",
        "gives an answer",
    ),
    (
        "applies_half",
        "vector::malformed_vector_is_refused",
        "moves the watermark",
    ),
    (
        "makes_up_a_space",
        "vector::space_is_the_one_it_was_opened_with",
        "has",
    ),
    (
        "takes_any_space",
        "vector::another_space_is_refused",
        "gives an answer",
    ),
    (
        "compares_dimensions",
        "vector::another_space_is_refused",
        "gives an answer",
    ),
    (
        "empties_at_another_space",
        "vector::another_space_is_refused",
        "changes the watermark",
    ),
];

/// The same for [`PLAIN`].
const PLAIN_FAULTS: &[(&str, &str, &str)] = &[
    (
        "misses_one_in_four",
        "vector::approximate_search_recalls_most",
        "the recall of 10",
    ),
    ("ties_descend", "vector::hits_are_ranked", "stands before"),
    (
        "filters_after_the_cut",
        "vector::allowed_ids_are_honoured",
        "allowed ids",
    ),
    ("forgets_deletes", MACHINE, "the model nothing"),
];

#[test]
fn honest_index_passes() {
    check_honest(&FULL, "");
}

#[test]
fn approximate_index_without_capabilities_passes() {
    check_honest(&PLAIN, "");
    check_honest(&PLAIN, "misses_one_in_twenty");
}

#[test]
fn index_that_shows_changes_at_flush_alone_passes() {
    check_honest(&FULL, "buffers");
    check_honest(&PLAIN, "buffers");
}

#[test]
fn index_whose_watermark_waits_for_the_flush_passes() {
    check_honest(&PLAIN, "watermark_waits");
}

#[test]
fn suite_keeps_within_the_limits() {
    check_honest(&NARROW, "refuses_beyond_limits");
}

#[test]
fn index_of_too_few_dimensions_is_told_so() {
    static FLAT: Plugin = FULL.with_limits(Limits::NONE.with_max_dimensions(8));
    let scenario = scenarios(FLAT.kind()).find(|scenario| scenario.name() == MACHINE);
    let subject = Subject::new(&FLAT).with_fixture(Fixture::default());
    let failure = scenario.unwrap().check(&subject).unwrap_err().to_string();
    assert!(failure.contains("needs vectors of 40 numbers"), "{failure}");
}

#[test]
fn broken_indexes_are_caught() {
    for (fault, scenario, words) in FAULTS {
        check_caught(&subject(&FULL, fault), fault, scenario, words);
    }
}

#[test]
fn broken_plain_indexes_are_caught() {
    for (fault, scenario, words) in PLAIN_FAULTS {
        check_caught(&subject(&PLAIN, fault), fault, scenario, words);
    }
}

#[test]
fn every_vector_scenario_catches_something() {
    let catching: BTreeSet<_> = FAULTS
        .iter()
        .chain(PLAIN_FAULTS)
        .map(|(_, scenario, _)| *scenario)
        .collect();
    assert_eq!(catching, names_of_kind(&FULL));
}
