use memory_api::EntryId;

use crate::scan::{Best, dot, dots};

/// Numbers between -1 and 1, the same ones for a seed.
fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bits = u16::try_from(state >> 48).unwrap();
        f32::from(bits) / 32_768.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

#[test]
fn a_dot_product_of_any_length_is_that_of_f64() {
    for n in 1..200 {
        let (a, b) = (numbers(1, n), numbers(2, n));
        let expected: f64 = a
            .iter()
            .zip(&b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum();
        let got = f64::from(dot(&a, &b));
        assert!((got - expected).abs() < 1e-5, "{n}: {got} for {expected}");
    }
}

#[test]
fn a_row_has_the_same_product_alone_and_among_others() {
    let (rows, query) = (numbers(3, 37 * 100), numbers(4, 37));
    let mut all = [0.0; 100];
    dots(&rows, &query, &mut all);
    for (row, product) in rows.chunks_exact(37).zip(all) {
        assert_eq!(dot(row, &query).to_bits(), product.to_bits());
    }
}

#[test]
fn the_best_are_kept_and_ties_go_to_the_smaller_id() {
    let mut best = Best::new(3, 6);
    for (id, product) in [(9, 0.5), (4, 1.5), (7, 0.5), (3, 1.0), (8, 0.5), (1, 0.2)] {
        best.offer(EntryId(id), product, |_| true);
    }
    let hits: Vec<_> = best
        .into_hits()
        .iter()
        .map(|hit| (hit.id.0, hit.score))
        .collect();
    // Beyond 1 there is no cosine, so 4 ties with 3.
    assert_eq!(hits, [(3, 1.0), (4, 1.0), (7, 0.5)]);
}

#[test]
fn a_zero_with_a_sign_is_a_zero() {
    let mut best = Best::new(2, 2);
    best.offer(EntryId(1), -0.0, |_| true);
    best.offer(EntryId(2), 0.0, |_| true);
    let ids: Vec<_> = best.into_hits().iter().map(|hit| hit.id.0).collect();
    assert_eq!(ids, [1, 2]);
}
