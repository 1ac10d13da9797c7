use std::collections::BTreeSet;

use memory_api::{Capabilities, Capability, Factory, Need, Plugin};

use crate::check::{check_caught, check_honest, names_of_kind, subject};

mod broken;

use broken::{Config, open, open_plain};

const CAPABILITIES: &[Capability] = &[
    Capability::PhraseQuery,
    Capability::PrefixQuery,
    Capability::ExcludeQuery,
    Capability::AtomicApply,
    Capability::Persistent,
];

/// Can all that an index can.
static FULL: Plugin = Plugin::new::<Config>(
    "broken",
    "0.1.0",
    "searches as wrong as it is told to",
    Factory::Lexical(open),
)
.with_capabilities(Capabilities::of(CAPABILITIES))
.with_needs(&[Need::Disk]);

/// Declares nothing: neither query language nor durability.
static PLAIN: Plugin = Plugin::new::<Config>(
    "plain",
    "0.1.0",
    "searches words alone, as wrong as it is told to",
    Factory::Lexical(open_plain),
)
.with_needs(&[Need::Disk]);

const MACHINE: &str = "machine::any_history_equals_the_model";

/// A fault of [`FULL`], the scenario that has to find it, and words of its message.
const FAULTS: &[(&str, &str, &str)] = &[
    ("takes_old_ops", "model::old_ops_are_skipped", "the model"),
    ("takes_old_ops", MACHINE, "smallest case"),
    ("replay_duplicates", "model::replay_is_idempotent", "twice"),
    ("replay_duplicates", MACHINE, "twice"),
    ("put_adds", "model::put_replaces", "the model"),
    ("put_adds", MACHINE, "the model"),
    (
        "set_meta_puts",
        "model::set_meta_keeps_the_content",
        "the model",
    ),
    ("set_meta_puts", MACHINE, "the model"),
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
    ("stands_at_its_last_op", MACHINE, "the watermark is"),
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
    ("counts_the_deleted", MACHINE, "stats count"),
    (
        "forgets_at_close",
        "model::reopened_index_equals_the_model",
        "opened again",
    ),
    ("forgets_at_close", MACHINE, "the watermark is"),
    (
        "watermark_runs_ahead",
        "model::content_equals_the_watermark",
        "at watermark",
    ),
    ("watermark_runs_ahead", MACHINE, "at watermark"),
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
    ("ties_descend", "lexical::hits_are_ranked", "stands before"),
    ("ties_descend", MACHINE, "stands before"),
    (
        "finds_a_stranger",
        "lexical::one_word_finds_exactly_its_entries",
        "without a word of it",
    ),
    (
        "joins_by_and",
        "lexical::many_words_find_the_entries_of_each",
        "misses",
    ),
    ("joins_by_and", MACHINE, "hits of"),
    (
        "ignores_headings",
        "lexical::heading_words_are_found",
        "`dune` finds {}",
    ),
    (
        "reads_ascii",
        "lexical::words_of_every_script_are_found",
        "does not find",
    ),
    (
        "drops_long_words",
        "lexical::long_words_are_found",
        "is not found",
    ),
    (
        "cuts_before_sorting",
        "lexical::smaller_k_is_a_prefix",
        "is no prefix",
    ),
    (
        "filters_after_the_cut",
        "lexical::allowed_ids_are_honoured",
        "instead of",
    ),
    ("filters_after_the_cut", MACHINE, "hits of"),
    (
        "ignores_allowed",
        "lexical::allowed_ids_are_honoured",
        "instead of",
    ),
    ("ignores_allowed", MACHINE, "hits of"),
    (
        "scores_differ",
        "lexical::score_equals_search",
        "search gives",
    ),
    ("scores_differ", MACHINE, "search gives"),
    (
        "no_match_is_no_entry",
        "lexical::score_equals_search",
        "the score None",
    ),
    (
        "attains_less",
        "lexical::scores_are_attainable",
        "is attainable",
    ),
    (
        "scores_are_flat",
        "lexical::rare_and_repeated_words_weigh_more",
        "before",
    ),
    (
        "refuses_colons",
        "lexical::hostile_query_is_no_error",
        "status: wharf",
    ),
    (
        "empty_on_colons",
        "lexical::hostile_query_is_no_error",
        "does not find",
    ),
    (
        "panics_at_quotes",
        "lexical::hostile_query_is_no_error",
        "the plugin panicked",
    ),
    (
        "finds_all_for_nothing",
        "lexical::query_without_words_finds_nothing",
        "instead of {}",
    ),
    (
        "phrases_are_words",
        "lexical::phrase_words_stand_together",
        "instead of",
    ),
    (
        "prefixes_are_words",
        "lexical::prefix_finds_word_beginnings",
        "instead of",
    ),
    (
        "exclusions_are_words",
        "lexical::excluded_word_removes_entries",
        "instead of",
    ),
];

/// The same for [`PLAIN`].
const PLAIN_FAULTS: &[(&str, &str, &str)] = &[
    (
        "understands_all",
        "lexical::undeclared_phrase_is_unsupported",
        "declare the capability",
    ),
    (
        "understands_all",
        "lexical::undeclared_prefix_is_unsupported",
        "declare the capability",
    ),
    (
        "understands_all",
        "lexical::undeclared_exclusion_is_unsupported",
        "declare the capability",
    ),
    ("forgets_deletes", MACHINE, "the model nothing"),
];

#[test]
fn honest_index_passes() {
    check_honest(&FULL, "");
}

#[test]
fn index_without_capabilities_passes() {
    check_honest(&PLAIN, "");
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
fn every_lexical_scenario_catches_something() {
    let catching: BTreeSet<_> = FAULTS
        .iter()
        .chain(PLAIN_FAULTS)
        .map(|(_, scenario, _)| *scenario)
        .collect();
    assert_eq!(catching, names_of_kind(&FULL));
}
