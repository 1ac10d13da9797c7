use crate::fusion::{Fusion, Legs, Rule, TextScore};

fn legs(text: Option<f64>, vector: Option<f64>) -> Legs {
    Legs { text, vector }
}

fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }
}

#[test]
fn weighted_is_the_mean_of_both_scores() {
    let fusion = Fusion::default();
    close(
        &fusion.relevance(&[
            legs(Some(0.5), Some(1.0)),
            legs(Some(0.0), Some(0.9)),
            legs(Some(0.6), Some(0.0)),
        ]),
        &[0.85, 0.63, 0.18],
    );
}

#[test]
fn words_that_are_sure_weigh_more() {
    // The best entry has 0.8, half the way from 0.6 to 1: words weigh 0.3 + 0.7 / 2.
    let candidates = [legs(Some(0.8), Some(0.1)), legs(Some(0.0), Some(0.9))];
    close(
        &Fusion::default().relevance(&candidates),
        &[0.65 * 0.8 + 0.35 * 0.1, 0.35 * 0.9],
    );
    // A place in a list says nothing about that: the first always has 1.
    let fusion = Fusion {
        text_score: TextScore::Position,
        ..Fusion::default()
    };
    close(
        &fusion.relevance(&[legs(Some(1.0), Some(0.1))]),
        &[0.3 * 1.0 + 0.7 * 0.1],
    );
}

#[test]
fn only_the_ratio_of_the_weights_counts() {
    let fusion = |vector_weight, text_weight| Fusion {
        vector_weight,
        text_weight,
        ..Fusion::default()
    };
    let candidates = [legs(Some(0.2), Some(0.8))];
    close(&fusion(0.35, 0.15).relevance(&candidates), &[0.62]);
    close(&fusion(0.0, 1.0).relevance(&candidates), &[0.2]);
    close(&fusion(1.0, 0.0).relevance(&candidates), &[0.8]);
    close(&fusion(0.0, 0.0).relevance(&candidates), &[0.5]);
}

#[test]
fn an_entry_that_one_leg_does_not_know_is_judged_by_the_other() {
    close(
        &Fusion::default().relevance(&[
            legs(Some(0.4), None),
            legs(None, Some(0.4)),
            legs(None, None),
        ]),
        &[0.4, 0.4, 0.0],
    );
}

#[test]
fn convex_takes_shares_of_the_best_and_keeps_the_scale() {
    let fusion = Fusion {
        rule: Rule::Convex,
        ..Fusion::default()
    };
    // Weighted means: 0.325 and 0.29. Shares of the best: (0.25, 1) and (1, 0.5), their means 0.775 and 0.65.
    close(
        &fusion.relevance(&[legs(Some(0.15), Some(0.4)), legs(Some(0.6), Some(0.2))]),
        &[0.325, 0.325 * 0.65 / 0.775],
    );
}

#[test]
fn convex_of_nothing_is_nothing() {
    let fusion = Fusion {
        rule: Rule::Convex,
        ..Fusion::default()
    };
    close(&fusion.relevance(&[]), &[]);
    close(&fusion.relevance(&[legs(Some(0.0), Some(0.0))]), &[0.0]);
}
