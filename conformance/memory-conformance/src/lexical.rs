//! The scenarios of lexical indexes.

mod library;
mod probe;
mod query;
mod ranking;

use memory_api::Capability;

use crate::{Scenario, index};

pub(crate) use probe::Lexical;

pub(crate) const MODEL_SCENARIOS: &[Scenario] = &index::scenarios::<Lexical>();

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("lexical::hits_are_ranked", ranking::hits_are_ranked),
    Scenario::new(
        "lexical::one_word_finds_exactly_its_entries",
        ranking::one_word_finds_exactly_its_entries,
    ),
    Scenario::new(
        "lexical::many_words_find_the_entries_of_each",
        ranking::many_words_find_the_entries_of_each,
    ),
    Scenario::new(
        "lexical::heading_words_are_found",
        query::heading_words_are_found,
    ),
    Scenario::new(
        "lexical::words_of_every_script_are_found",
        query::words_of_every_script_are_found,
    ),
    Scenario::new("lexical::long_words_are_found", query::long_words_are_found),
    Scenario::new(
        "lexical::smaller_k_is_a_prefix",
        ranking::smaller_k_is_a_prefix,
    ),
    Scenario::new(
        "lexical::allowed_ids_are_honoured",
        ranking::allowed_ids_are_honoured,
    ),
    Scenario::new("lexical::score_equals_search", ranking::score_equals_search),
    Scenario::new(
        "lexical::scores_are_attainable",
        ranking::scores_are_attainable,
    ),
    Scenario::new(
        "lexical::rare_and_repeated_words_weigh_more",
        ranking::rare_and_repeated_words_weigh_more,
    ),
    Scenario::new(
        "lexical::hostile_query_is_no_error",
        query::hostile_query_is_no_error,
    ),
    Scenario::new(
        "lexical::query_without_words_finds_nothing",
        query::query_without_words_finds_nothing,
    ),
    Scenario::new(
        "lexical::phrase_words_stand_together",
        query::phrase_words_stand_together,
    )
    .needs(Capability::PhraseQuery),
    Scenario::new(
        "lexical::prefix_finds_word_beginnings",
        query::prefix_finds_word_beginnings,
    )
    .needs(Capability::PrefixQuery),
    Scenario::new(
        "lexical::excluded_word_removes_entries",
        query::excluded_word_removes_entries,
    )
    .needs(Capability::ExcludeQuery),
    Scenario::new(
        "lexical::undeclared_phrase_is_unsupported",
        query::undeclared_phrase_is_unsupported,
    )
    .lacks(Capability::PhraseQuery),
    Scenario::new(
        "lexical::undeclared_prefix_is_unsupported",
        query::undeclared_prefix_is_unsupported,
    )
    .lacks(Capability::PrefixQuery),
    Scenario::new(
        "lexical::undeclared_exclusion_is_unsupported",
        query::undeclared_exclusion_is_unsupported,
    )
    .lacks(Capability::ExcludeQuery),
];
