use crate::candidates::words_relevance;

#[test]
fn relevance_by_words_is_a_share_of_what_is_attainable() {
    let close = |score, expected: f64| {
        let relevance = words_relevance(score, 10.0);
        assert!((relevance - expected).abs() < 0.01, "{score}: {relevance}");
    };
    close(0.0, 0.0);
    // Every word once in an entry of average length, half of them, a third.
    close(4.545, 0.70);
    close(2.27, 0.40);
    close(1.515, 0.28);
    close(10.0, 1.0);
}

#[test]
fn relevance_by_words_stays_within_its_range() {
    for (score, attainable) in [(1.0, 0.0), (11.0, 10.0), (f32::MAX, 1.0), (0.0, 0.0)] {
        assert!(
            (0.0..=1.0).contains(&words_relevance(score, attainable)),
            "{score} of {attainable}"
        );
    }
}

#[test]
fn relevance_by_words_keeps_the_order_of_scores() {
    let relevances: Vec<f64> = (0..=100_u8)
        .map(|step| words_relevance(f32::from(step) / 10.0, 10.0))
        .collect();
    assert!(relevances.is_sorted_by(|a, b| a < b));
}
