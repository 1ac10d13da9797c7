use super::rerank;

#[test]
fn repeated_text_moves_behind_a_new_one() {
    let candidates = [
        (1.0, "the pump sits in the cellar"),
        (0.9, "The pump sits in the cellar!"),
        (0.8, "valves are checked on mondays"),
        (0.2, "pipes freeze in winter"),
    ];
    assert_eq!(rerank(0.7, &candidates), [0, 2, 1, 3]);
    assert_eq!(rerank(0.5, &candidates), [0, 2, 3, 1]);
    assert_eq!(rerank(1.0, &candidates), [0, 1, 2, 3]);
}

#[test]
fn equal_texts_with_equal_scores_keep_their_places() {
    assert_eq!(rerank(0.7, &[(0.5, "same"); 4]), [0, 1, 2, 3]);
    assert_eq!(rerank(0.0, &[(0.0, "same"); 4]), [0, 1, 2, 3]);
}

#[test]
fn few_candidates_are_no_special_case() {
    assert_eq!(rerank(0.7, &[]), [0; 0]);
    assert_eq!(rerank(0.7, &[(0.0, "")]), [0]);
}

#[test]
fn word_counts_once_however_often_it_stands_there() {
    // As lists of words the first two differ, as sets they are the same.
    let candidates = [
        (0.9, "pump pump pump valve"),
        (0.8, "valve pump"),
        (0.7, "roof"),
        (0.1, "door"),
    ];
    assert_eq!(rerank(0.5, &candidates), [0, 2, 3, 1]);
}
