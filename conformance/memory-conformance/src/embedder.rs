//! The scenarios of embedders: few and short texts, because a model may be slow.

mod input;
mod row;
mod state;

use memory_api::Capability;

use crate::Scenario;

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "embedder::space_is_told_at_open",
        state::space_is_told_at_open,
    ),
    Scenario::new("embedder::one_row_per_text", row::one_row_per_text),
    Scenario::new("embedder::rows_are_in_order", row::rows_are_in_order),
    Scenario::new(
        "embedder::no_texts_have_no_rows",
        row::no_texts_have_no_rows,
    ),
    Scenario::new(
        "embedder::rows_are_finite_and_have_a_direction",
        row::rows_are_finite_and_have_a_direction,
    ),
    Scenario::new("embedder::batch_equals_singles", row::batch_equals_singles),
    Scenario::new(
        "embedder::concurrent_calls_agree",
        state::concurrent_calls_agree,
    ),
    Scenario::new("embedder::two_opens_agree", state::two_opens_agree),
    Scenario::new(
        "embedder::same_text_has_the_same_bits",
        row::same_text_has_the_same_bits,
    )
    .needs(Capability::Deterministic),
    Scenario::new(
        "embedder::blank_text_has_a_row",
        input::blank_text_has_a_row,
    ),
    Scenario::new(
        "embedder::text_of_any_script_has_a_row",
        input::text_of_any_script_has_a_row,
    ),
    Scenario::new(
        "embedder::long_text_is_cut_or_refused",
        input::long_text_is_cut_or_refused,
    ),
    Scenario::new(
        "embedder::too_many_texts_are_refused",
        input::too_many_texts_are_refused,
    ),
    Scenario::new(
        "embedder::text_is_nearest_to_itself",
        row::text_is_nearest_to_itself,
    ),
    Scenario::new("embedder::roles_do_not_mix", state::roles_do_not_mix),
    Scenario::new(
        "embedder::dropped_call_breaks_nothing",
        state::dropped_call_breaks_nothing,
    ),
];
