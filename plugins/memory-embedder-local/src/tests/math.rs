//! The parts of a transformer that are no products.

use pulp::Arch;

use crate::math::{bias_gelu, softmax};

fn close(numbers: &[f32], wanted: &[f32]) {
    assert_eq!(numbers.len(), wanted.len());
    for (number, wanted) in numbers.iter().zip(wanted) {
        assert!((number - wanted).abs() < 1e-6, "{numbers:?}");
    }
}

#[test]
fn shares_of_large_scores_are_numbers() {
    // The exponential of 100 fits no f32; only what lies between two scores counts.
    let mut scores = [100.0, 101.0, -900.0, -901.0];
    softmax(Arch::new(), &mut scores, 2);
    close(
        &scores,
        &[0.268_941_4, 0.731_058_6, 0.731_058_6, 0.268_941_4],
    );
}

#[test]
fn gelu_is_the_exact_one() {
    // By tanh, 1 would have 0.841192 and 2 would have 1.954598.
    let mut row = [0.5, 1.5, -1.5, -0.5];
    bias_gelu(Arch::new(), &mut row, &[0.5, 0.5, 0.5, 0.5]);
    close(&row, &[0.841_344_7, 1.954_499_7, -0.158_655_3, 0.0]);
}
