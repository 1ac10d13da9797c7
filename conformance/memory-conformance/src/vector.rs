//! The scenarios of vector indexes.

mod input;
mod library;
mod probe;
mod search;

use memory_api::Capability;

use crate::{Scenario, index};

pub(crate) use probe::Vector;

pub(crate) const MODEL_SCENARIOS: &[Scenario] = &index::scenarios::<Vector>();

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("vector::hits_are_ranked", search::hits_are_ranked),
    Scenario::new("vector::scores_are_cosines", search::scores_are_cosines),
    Scenario::new(
        "vector::length_does_not_count",
        search::length_does_not_count,
    ),
    Scenario::new(
        "vector::stored_vector_finds_itself_first",
        search::stored_vector_finds_itself_first,
    ),
    Scenario::new(
        "vector::exact_search_equals_brute_force",
        search::exact_search_equals_brute_force,
    )
    .needs(Capability::ExactSearch),
    Scenario::new(
        "vector::ties_at_the_cut_ascend",
        search::ties_at_the_cut_ascend,
    )
    .needs(Capability::ExactSearch),
    Scenario::new(
        "vector::smaller_k_is_a_prefix",
        search::smaller_k_is_a_prefix,
    )
    .needs(Capability::ExactSearch),
    Scenario::new(
        "vector::approximate_search_recalls_most",
        search::approximate_search_recalls_most,
    )
    .lacks(Capability::ExactSearch),
    Scenario::new(
        "vector::allowed_ids_are_honoured",
        search::allowed_ids_are_honoured,
    ),
    Scenario::new(
        "vector::malformed_query_is_refused",
        input::malformed_query_is_refused,
    ),
    Scenario::new(
        "vector::malformed_vector_is_refused",
        input::malformed_vector_is_refused,
    ),
    Scenario::new(
        "vector::space_is_the_one_it_was_opened_with",
        input::space_is_the_one_it_was_opened_with,
    ),
    Scenario::new(
        "vector::another_space_is_refused",
        input::another_space_is_refused,
    )
    .needs(Capability::Persistent),
];
