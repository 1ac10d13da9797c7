//! The scenarios of decay policies: properties of a share over ordinary, random and extreme times.

use std::sync::Arc;

use memory_api::{DecayPolicy, Facts, Timestamp};
use proptest::collection::vec;
use proptest::strategy::Strategy;

use crate::failure::ensure;
use crate::subject::{Home, Instance};
use crate::{Failure, Outcome, Scenario, Subject, random};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new("decay::retention_is_a_share", retention_is_a_share),
    Scenario::new("decay::evergreen_keeps_all", evergreen_keeps_all),
    Scenario::new("decay::no_time_keeps_all", no_time_keeps_all),
    Scenario::new(
        "decay::nothing_fades_before_its_time",
        nothing_fades_before_its_time,
    ),
    Scenario::new("decay::older_is_never_more", older_is_never_more),
    Scenario::new(
        "decay::same_facts_same_retention",
        same_facts_same_retention,
    ),
    Scenario::new("decay::batch_is_its_singles", batch_is_its_singles),
    Scenario::new(
        "decay::extreme_times_are_no_error",
        extreme_times_are_no_error,
    ),
    Scenario::new("decay::empty_batch_is_no_error", empty_batch_is_no_error),
];

const DAY: i64 = 86_400_000;
/// 2026-05-18T00:00:00Z.
const NOW: Timestamp = Timestamp(1_779_062_400_000);
/// Ages in milliseconds, rising.
const AGES: &[i64] = &[
    0,
    1,
    1_000,
    3_600_000,
    DAY - 1,
    DAY,
    7 * DAY,
    30 * DAY,
    31 * DAY,
    90 * DAY,
    180 * DAY,
    365 * DAY,
    3_650 * DAY,
    100_000 * DAY,
];
const KINDS: &[Option<&str>] = &[
    None,
    Some("semantic"),
    Some("episodic"),
    Some(""),
    Some("种"),
];
/// The borders of time. Two of them are equal or far apart.
const EXTREMES: [i64; 3] = [i64::MIN, 0, i64::MAX];

fn facts(time: Option<i64>, kind: Option<&str>) -> Facts<'_> {
    let mut facts = Facts::default();
    facts.time = time.map(Timestamp);
    facts.kind = kind;
    facts
}

fn evergreen(time: Option<i64>, kind: Option<&str>) -> Facts<'_> {
    let mut facts = facts(time, kind);
    facts.evergreen = true;
    facts
}

/// Ordinary facts: times within a century of now, every kind, now and then evergreen or without a time.
fn random_batch() -> impl Strategy<Value = Vec<Facts<'static>>> {
    let time = proptest::option::weighted(0.9, -36_500 * DAY..36_500 * DAY);
    let one = (
        time,
        proptest::sample::select(KINDS),
        proptest::bool::weighted(0.1),
    );
    let one = one.prop_map(|(age, kind, is_evergreen)| {
        let time = age.map(|age| NOW.0 - age);
        if is_evergreen {
            evergreen(time, kind)
        } else {
            facts(time, kind)
        }
    });
    vec(one, 1..12)
}

async fn open(home: &Home<'_>) -> Outcome<Arc<dyn DecayPolicy>> {
    match home.open().await? {
        Instance::Decay(policy) => Ok(policy),
        _ => Err(Failure::new("the plugin is no decay policy")),
    }
}

/// Runs a check with the open policy.
fn with_policy(subject: &Subject, check: impl Fn(&dyn DecayPolicy) -> Outcome) -> Outcome {
    let home = subject.home()?;
    let policy = subject.run(open(&home))?;
    check(&*policy)
}

/// Asks about a batch. What the policy does not write is not a number.
fn ask(policy: &dyn DecayPolicy, facts: &[Facts<'_>], now: Timestamp) -> Vec<f32> {
    let mut out = vec![f32::NAN; facts.len()];
    policy.retention(facts, now, &mut out);
    out
}

fn ask_one(policy: &dyn DecayPolicy, facts: Facts<'_>, now: Timestamp) -> f32 {
    let mut out = [f32::NAN];
    policy.retention(&[facts], now, &mut out);
    let [share] = out;
    share
}

fn keeps_all(policy: &dyn DecayPolicy, facts: Facts<'_>, now: Timestamp) -> Outcome {
    let share = ask_one(policy, facts, now);
    ensure!(
        share.to_bits() == 1_f32.to_bits(),
        "{facts:?} at {now:?} has {share} instead of 1"
    );
    Ok(())
}

/// Answers that have to be equal are equal bit by bit, as are two answers that are not numbers.
fn bits(shares: &[f32]) -> Vec<u32> {
    shares.iter().map(|share| share.to_bits()).collect()
}

fn retention_is_a_share(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        let check = |batch: &[Facts<'_>], now: Timestamp| {
            for (facts, share) in batch.iter().zip(ask(policy, batch, now)) {
                ensure!(
                    (0.0..=1.0).contains(&share),
                    "{facts:?} at {now:?} has {share}, which is not within 0 and 1"
                );
            }
            Ok(())
        };
        for kind in KINDS {
            let batch: Vec<_> = AGES
                .iter()
                .map(|age| facts(Some(NOW.0 - age), *kind))
                .collect();
            check(&batch, NOW)?;
            for now in EXTREMES {
                let batch = EXTREMES.map(|time| facts(Some(time), *kind));
                check(&batch, Timestamp(now))?;
            }
        }
        random::for_all(subject, &random_batch(), |batch| check(&batch, NOW))
    })
}

fn evergreen_keeps_all(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        for kind in KINDS {
            keeps_all(policy, evergreen(None, *kind), NOW)?;
            for age in AGES {
                keeps_all(policy, evergreen(Some(NOW.0 - age), *kind), NOW)?;
            }
            for time in EXTREMES {
                keeps_all(policy, evergreen(Some(time), *kind), NOW)?;
            }
        }
        Ok(())
    })
}

fn no_time_keeps_all(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        for kind in KINDS {
            for now in EXTREMES.map(Timestamp).into_iter().chain([NOW]) {
                keeps_all(policy, facts(None, *kind), now)?;
            }
        }
        Ok(())
    })
}

fn nothing_fades_before_its_time(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        for kind in KINDS {
            for age in AGES {
                // Before 1970 the numbers are negative.
                for now in [NOW, Timestamp(0), Timestamp(-40_000 * DAY)] {
                    keeps_all(policy, facts(Some(now.0 + age), *kind), now)?;
                }
            }
        }
        Ok(())
    })
}

fn check_order(younger: (Facts<'_>, f32), older: (Facts<'_>, f32), now: Timestamp) -> Outcome {
    // Bound as a negation, because a share that is not a number is another scenario's matter.
    let is_more = older.1 > younger.1;
    ensure!(
        !is_more,
        "at {now:?} {:?} has {}, more than the {} of {:?}",
        older.0,
        older.1,
        younger.1,
        younger.0
    );
    Ok(())
}

fn older_is_never_more(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        let check = |ages: &[i64], kind: Option<&str>| {
            let batch: Vec<_> = ages
                .iter()
                .map(|age| facts(Some(NOW.0 - age), kind))
                .collect();
            let shares = ask(policy, &batch, NOW);
            let pairs: Vec<_> = batch.iter().copied().zip(shares).collect();
            for pair in pairs.windows(2) {
                if let [younger, older] = pair {
                    check_order(*younger, *older, NOW)?;
                }
            }
            Ok(())
        };
        for kind in KINDS {
            check(AGES, *kind)?;
            // An entry that grows old while time goes on.
            let entry = facts(Some(NOW.0), *kind);
            let mut last = 1.0;
            for age in AGES {
                let now = Timestamp(NOW.0 + age);
                let share = ask_one(policy, entry, now);
                check_order((entry, last), (entry, share), now)?;
                last = share;
            }
        }
        let ages = vec(0..36_500 * DAY, 2..12);
        let kind = proptest::sample::select(KINDS);
        random::for_all(subject, &(ages, kind), |(mut ages, kind)| {
            ages.sort_unstable();
            check(&ages, kind)
        })
    })
}

fn same_facts_same_retention(subject: &Subject) -> Outcome {
    let (here, there) = (subject.home()?, subject.home()?);
    let (first, second) = subject.run(async { Ok((open(&here).await?, open(&there).await?)) })?;
    random::for_all(subject, &random_batch(), |batch| {
        let expected = ask(&*first, &batch, NOW);
        for policy in [&first, &second] {
            for before in [f32::NAN, 0.0, 1.0, -7.0, f32::INFINITY] {
                let mut out = vec![before; batch.len()];
                policy.retention(&batch, NOW, &mut out);
                ensure!(
                    bits(&out) == bits(&expected),
                    "{batch:?} has {expected:?} once, and {out:?} where `out` held {before} before"
                );
            }
        }
        Ok(())
    })
}

fn batch_is_its_singles(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        random::for_all(subject, &random_batch(), |batch| {
            let together = ask(policy, &batch, NOW);
            let singles: Vec<_> = batch
                .iter()
                .map(|facts| ask_one(policy, *facts, NOW))
                .collect();
            ensure!(
                bits(&together) == bits(&singles),
                "{batch:?} has {together:?} in one batch and {singles:?} one by one"
            );
            Ok(())
        })
    })
}

fn extreme_times_are_no_error(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        for now in EXTREMES.map(Timestamp) {
            // From the youngest to the oldest.
            let mut last: Option<(Facts<'_>, f32)> = None;
            for time in EXTREMES.into_iter().rev() {
                let entry = facts(Some(time), None);
                let share = ask_one(policy, entry, now);
                ensure!(share.is_finite(), "{entry:?} at {now:?} has {share}");
                if time >= now.0 {
                    keeps_all(policy, entry, now)?;
                }
                if let Some(younger) = last {
                    check_order(younger, (entry, share), now)?;
                }
                last = Some((entry, share));
            }
        }
        Ok(())
    })
}

fn empty_batch_is_no_error(subject: &Subject) -> Outcome {
    with_policy(subject, |policy| {
        for now in EXTREMES.map(Timestamp).into_iter().chain([NOW]) {
            policy.retention(&[], now, &mut []);
        }
        Ok(())
    })
}
