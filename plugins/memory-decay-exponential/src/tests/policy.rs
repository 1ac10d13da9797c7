use memory_api::{DecayPolicy, Facts, Timestamp};

use crate::{Config, ExponentialDecay, retention};

const DAY: i64 = 86_400_000;
/// 2026-05-18T00:00:00Z.
const NOW: Timestamp = Timestamp(1_779_062_400_000);

fn aged(days: i64) -> Facts<'static> {
    let mut facts = Facts::default();
    facts.time = Some(Timestamp(NOW.0 - days * DAY));
    facts
}

fn retained(facts: &[Facts<'_>], now: Timestamp) -> Vec<f32> {
    let policy: &dyn DecayPolicy = &ExponentialDecay::new(Config::default());
    let mut out = vec![f32::NAN; facts.len()];
    policy.retention(facts, now, &mut out);
    out
}

#[test]
fn half_is_left_after_every_half_life() {
    let days = [0, 7, 30, 60, 90, 180];
    let expected = [1.0, 0.851, 0.5, 0.25, 0.125, 0.015_625];
    let facts = days.map(aged);
    for ((days, got), expected) in days.iter().zip(retained(&facts, NOW)).zip(expected) {
        assert!((got - expected).abs() < 5e-4, "{days} days: {got}");
    }
    // Whole half-lives are exact.
    assert!((retention(30.0, 30.0) - 0.5).abs() < 1e-15);
    assert!((retention(180.0, 30.0) - 1.0 / 64.0).abs() < 1e-15);
}

#[test]
fn part_of_a_day_counts() {
    let mut facts = Facts::default();
    facts.time = Some(Timestamp(NOW.0 - DAY / 2));
    let expected = 2_f32.powf(-0.5 / 30.0);
    assert!((retained(&[facts], NOW)[0] - expected).abs() < 1e-6);
}

#[test]
fn what_has_no_age_keeps_all() {
    let mut evergreen = aged(3_000);
    evergreen.evergreen = true;
    let tomorrow = aged(-1);
    let year_9999 = aged(-2_912_000);
    let facts = [evergreen, Facts::default(), aged(0), tomorrow, year_9999];
    assert_eq!(retained(&facts, NOW), [1.0; 5]);
}

#[test]
fn kind_changes_nothing() {
    let mut facts = aged(30);
    facts.kind = Some("episodic");
    assert_eq!(retained(&[facts], NOW), retained(&[aged(30)], NOW));
}

#[test]
fn borders_of_the_numbers_give_a_share() {
    for half_life_days in [f64::MIN_POSITIVE, 1e-9, 30.0, f64::MAX] {
        for age_days in [
            f64::NEG_INFINITY,
            f64::MIN,
            -0.0,
            0.0,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
        ] {
            let share = retention(age_days, half_life_days);
            assert!((0.0..=1.0).contains(&share), "{age_days} {half_life_days}");
            if age_days <= 0.0 || !age_days.is_finite() {
                assert!(share >= 1.0, "{age_days} {half_life_days}");
            }
        }
    }
    assert!(retention(1.0, f64::MIN_POSITIVE) <= 0.0);
}
