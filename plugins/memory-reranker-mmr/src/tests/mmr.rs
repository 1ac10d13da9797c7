use crate::mmr::{order, relevances};

#[test]
fn relevance_lies_between_the_worst_and_the_best_score() {
    assert_eq!(relevances(&[0.5, 0.25, 0.375]), [1.0, 0.0, 0.5]);
    assert_eq!(relevances(&[-1.0, -3.0]), [1.0, 0.0]);
    assert_eq!(relevances(&[0.25; 3]), [1.0; 3]);
    assert_eq!(relevances(&[0.0; 2]), [1.0; 2]);
    assert_eq!(relevances(&[0.25]), [1.0]);
    assert_eq!(relevances(&[]), [0.0; 0]);
}

#[test]
fn equals_stand_by_score_then_by_place() {
    // With λ = 0 nothing but similarity counts, and there is none.
    let none = |_, _| 0.0;
    assert_eq!(order(0.0, &[0.1, 0.9, 0.5, 0.9], none), [1, 3, 2, 0]);
    assert_eq!(order(0.5, &[0.5; 4], none), [0, 1, 2, 3]);
}

#[test]
fn lambda_of_1_is_the_order_of_scores() {
    let scores = [0.2, 0.9, 0.9, 0.1, 0.7];
    assert_eq!(order(1.0, &scores, |_, _| 1.0), [1, 2, 4, 0, 3]);
}

#[test]
fn most_similar_one_counts_not_the_last_one() {
    // 1 is a copy of 0, and nothing is like 2; taking 2 does not make 1 new again.
    let alike = |one: usize, other: usize| if one + other == 1 { 1.0 } else { 0.0 };
    assert_eq!(order(0.5, &[1.0, 0.8, 0.6, 0.1], alike), [0, 2, 3, 1]);
}

#[test]
fn scores_that_are_no_numbers_lose_no_candidate() {
    let scores = [f64::NAN, 0.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut taken = order(0.7, &scores, |_, _| f64::NAN);
    taken.sort_unstable();
    assert_eq!(taken, [0, 1, 2, 3, 4]);
}

#[test]
fn every_pair_is_compared_once() {
    let n_compared = std::cell::Cell::new(0);
    order(0.7, &[0.5; 20], |_, _| {
        n_compared.set(n_compared.get() + 1);
        0.0
    });
    assert_eq!(n_compared.get(), 20 * 19 / 2);
}
