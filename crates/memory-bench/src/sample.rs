//! What many measurements say.

/// Returns the value that `share` of all values do not exceed (nearest rank); `None` without values.
pub(crate) fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank among a few thousand values, at least 0"
    )]
    let rank = (share.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Returns the middle value; 0 without values.
pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 0.5).unwrap_or_default()
}

/// Returns the ratio of two middle values; no number where one of them is not above 0, as a difference of two times may be.
pub(crate) fn ratio_of_medians(above: &[f64], below: &[f64]) -> f64 {
    let (above, below) = (median(above), median(below));
    if above > 0.0 && below > 0.0 {
        above / below
    } else {
        f64::NAN
    }
}

/// Returns the middle one of the ratios of neighbours: what disturbs the machine for a while disturbs both sides of a pair.
pub(crate) fn paired_ratio(above: &[f64], below: &[f64]) -> f64 {
    let ratios: Vec<f64> = above
        .iter()
        .zip(below)
        .map(|(above, below)| above / below)
        .collect();
    percentile(&ratios, 0.5).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::{median, paired_ratio, percentile, ratio_of_medians};

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(percentile(&values, 0.5), Some(10.0));
        assert_eq!(percentile(&values, 0.95), Some(19.0));
        assert_eq!(percentile(&values, 0.0), Some(1.0));
        assert_eq!(percentile(&values, 1.0), Some(20.0));
        assert_eq!(percentile(&[7.0], 0.95), Some(7.0));
        assert_eq!(percentile(&[], 0.5), None);
    }

    #[test]
    fn the_median_of_nothing_is_nothing() {
        assert!(median(&[]).abs() < f64::EPSILON);
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_disturbance_of_a_pair_does_not_count() {
        let above = [2.0, 2.0, 200.0, 2.0, 2.0];
        let below = [1.0, 1.0, 100.0, 1.0, 1.0];
        assert!((paired_ratio(&above, &below) - 2.0).abs() < f64::EPSILON);
        let once = [2.0, 2.0, 200.0, 2.0, 2.0];
        assert!((paired_ratio(&once, &[1.0; 5]) - 2.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_difference_that_is_lost_in_noise_has_no_ratio() {
        assert!((ratio_of_medians(&[6.0, 1.0, 7.0], &[2.0]) - 3.0).abs() < f64::EPSILON);
        assert!(ratio_of_medians(&[-0.1], &[2.0]).is_nan());
        assert!(ratio_of_medians(&[1.0], &[0.0]).is_nan());
    }

    #[test]
    fn a_ratio_without_pairs_is_no_number() {
        assert!(paired_ratio(&[], &[]).is_nan());
    }
}
