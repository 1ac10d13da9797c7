//! What really broke for users of systems like this, at the interface: each report of `interface-reports.json` has tests, here
//! or where the thing is done, or a reason why it has none yet.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

const ANSWERS: &str = "crates/memory-mcp/src/tests/answers.rs";
const CALLS: &str = "crates/memory-mcp/src/tests/calls.rs";
const PARAMS: &str = "crates/memory-mcp/src/tests/params.rs";
const CLIENT: &str = "crates/memory-cli/tests/it/mcp.rs";
const PYTHON: &str = "crates/memory-mcp/tests/python/drive.py";
const GET: &str = "crates/memory-cli/tests/it/get.rs";
const INDEX: &str = "crates/memory-cli/tests/it/index.rs";
const DISK: &str = "crates/memory-cli/tests/it/disk.rs";
const GUEST: &str = "crates/memory-cli/tests/it/indexing_reports.rs";
const SEARCH: &str = "crates/memory-cli/tests/it/search.rs";
const DISCOVERY: &str = "crates/memory-engine/src/tests/discovery.rs";

/// A file and a test in it, by report.
#[rustfmt::skip]
const TESTS: &[(&str, &[(&str, &str)])] = &[
    ("PS-02", &[(ANSWERS, "files_outside_and_links_are_refused_with_one_clear_error"), (PYTHON, "get_refuses_what_is_no_memory"), (DISCOVERY, "links_are_neither_followed_nor_read")]),
    ("PS-03", &[(ANSWERS, "files_outside_and_links_are_refused_with_one_clear_error"), (PYTHON, "get_refuses_what_is_no_memory"), (DISCOVERY, "a_folder_beside_the_workspace_with_a_longer_name_is_outside")]),
    ("PS-04", &[(DISCOVERY, "a_link_inside_an_extra_folder_is_refused_but_the_folder_itself_may_be_one")]),
    ("PS-05", &[(DISCOVERY, "another_spelling_of_a_top_file_counts_only_without_the_exact_one")]),
    ("PS-06", &[(GUEST, "a_note_that_may_not_be_read_is_told_as_such"), (DISCOVERY, "documents_below_a_folder_that_cannot_be_listed_are_known_by_their_components")]),
    ("PS-07", &[(ANSWERS, "absent_empty_and_past_the_end_are_three_answers"), (GET, "absent_empty_and_past_the_end_are_three_answers"), (DISCOVERY, "an_absent_memory_file_is_told_apart_from_a_refused_one")]),
    ("PS-08", &[(DISCOVERY, "the_case_of_a_suffix_does_not_matter")]),
    ("PS-10", &[(DISCOVERY, "the_root_of_a_file_system_and_an_empty_path_are_no_workspace")]),
    ("PS-12", &[(ANSWERS, "what_a_note_says_stays_inside_a_field")]),
    ("MC-02", &[(CLIENT, "nothing_but_the_protocol_is_on_stdout_and_nothing_ends_the_server")]),
    ("MC-03", &[(PARAMS, "numbers_may_be_written_as_text_and_with_a_zero_behind_the_point"), (PARAMS, "null_and_an_empty_text_leave_an_optional_parameter_out"), (PYTHON, "wrong_calls_are_refused_in_plain_words")]),
    ("MC-04", &[(PARAMS, "what_is_no_number_or_out_of_range_is_refused_with_the_range"), (SEARCH, "limits_out_of_range_are_refused_in_plain_words")]),
    ("MC-05", &[(ANSWERS, "an_answer_is_bounded_and_counts_what_is_left_out")]),
    ("MC-06", &[(DISK, "a_full_disk_leaves_the_old_index_answering_and_loses_nothing"), (ANSWERS, "an_index_that_cannot_be_built_is_an_answer_with_the_cure"), (CLIENT, "a_workspace_that_is_not_there_is_an_error_at_the_start")]),
    ("MC-08", &[(INDEX, "an_empty_workspace_names_where_it_looked")]),
    ("MC-09", &[(ANSWERS, "windows_end_where_the_file_ends")]),
    ("MC-10", &[(ANSWERS, "leaving_out_the_source_asks_all_and_an_unknown_one_is_named")]),
    ("MC-11", &[(CALLS, "what_is_no_call_is_an_error_of_the_protocol"), (PARAMS, "what_is_required_is_named_when_it_is_missing")]),
    ("MC-12", &[(ANSWERS, "every_result_can_be_read_back"), (DISCOVERY, "names_with_odd_characters_round_trip")]),
];

const NONE_YET: &[(&str, &str)] = &[(
    "PS-09",
    "no chat is indexed yet; redaction comes with the chunker that reads them",
)];

#[test]
fn every_report_has_a_test() {
    let reports: Vec<Value> = serde_json::from_str(include_str!("interface-reports.json")).unwrap();
    let mut reported: Vec<&str> = reports
        .iter()
        .map(|report| report["id"].as_str().unwrap())
        .collect();
    let mut known: Vec<&str> = TESTS.iter().map(|(id, _)| *id).collect();
    known.extend(NONE_YET.iter().map(|(id, _)| *id));
    reported.sort_unstable();
    known.sort_unstable();
    assert_eq!(known, reported);
}

#[test]
fn every_test_that_is_named_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files: BTreeMap<&str, String> = BTreeMap::new();
    for (file, test) in TESTS.iter().flat_map(|(_, tests)| *tests) {
        let text = files
            .entry(file)
            .or_insert_with(|| fs::read_to_string(root.join(file)).unwrap());
        assert!(
            text.contains(&format!(" {test}(")),
            "{file} has no `{test}`"
        );
    }
}
