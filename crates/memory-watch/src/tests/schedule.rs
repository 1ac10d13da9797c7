use std::time::Duration;

use crate::schedule::Schedule;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn schedule() -> Schedule {
    let mut schedule = Schedule::new(ms(1_500), None);
    schedule.end(ms(0), false);
    schedule
}

#[test]
fn nothing_is_due_while_nothing_happens() {
    assert_eq!(schedule().due(), None);
}

#[test]
fn a_change_is_due_when_files_were_quiet() {
    let mut schedule = schedule();
    schedule.event(ms(10_000));
    assert_eq!(schedule.due(), Some(ms(11_500)));
    schedule.event(ms(10_900));
    assert_eq!(schedule.due(), Some(ms(12_400)));
    schedule.begin();
    assert_eq!(schedule.due(), None);
}

#[test]
fn changes_without_end_wait_ten_times_as_long_at_most() {
    let mut schedule = schedule();
    for step in 0..100 {
        schedule.event(ms(10_000 + 500 * step));
    }
    assert_eq!(schedule.due(), Some(ms(25_000)));
}

#[test]
fn a_change_during_a_sync_makes_another_one_due() {
    let mut schedule = schedule();
    schedule.event(ms(1_000));
    schedule.begin();
    schedule.event(ms(3_000));
    schedule.end(ms(4_000), false);
    assert_eq!(schedule.due(), Some(ms(4_500)));
}

#[test]
fn a_sync_knows_whether_something_happened_or_only_its_time_came() {
    let mut schedule = Schedule::new(ms(1_500), Some(ms(60_000)));
    schedule.begin_at(ms(5));
    schedule.event(ms(5));
    assert_eq!(schedule.due(), Some(ms(5)));
    assert!(!schedule.begin());
    schedule.end(ms(10), false);
    assert_eq!(schedule.due(), Some(ms(60_010)));
    assert!(!schedule.begin());
    schedule.event(ms(60_020));
    assert!(schedule.begin());
    schedule.ask(ms(60_030));
    assert!(schedule.begin());
}

#[test]
fn a_question_is_due_at_once_and_the_next_one_after_a_rest() {
    let mut schedule = schedule();
    schedule.ask(ms(60_000));
    assert_eq!(schedule.due(), Some(ms(60_000)));
    schedule.begin();
    schedule.end(ms(61_000), false);
    schedule.ask(ms(61_100));
    assert_eq!(schedule.due(), Some(ms(62_500)));
}

#[test]
fn an_interval_counts_from_the_end_of_the_last_sync() {
    let mut schedule = schedule();
    schedule.set_interval(Some(ms(600_000)));
    assert_eq!(schedule.due(), Some(ms(600_000)));
    schedule.event(ms(5_000));
    assert_eq!(schedule.due(), Some(ms(6_500)));
    schedule.begin();
    schedule.end(ms(7_000), false);
    assert_eq!(schedule.due(), Some(ms(607_000)));
}

#[test]
fn what_failed_is_tried_again_each_time_later() {
    let mut schedule = schedule();
    let mut now = ms(0);
    for wait in [2, 4, 8, 16, 32, 64, 120, 120] {
        schedule.event(now);
        schedule.begin();
        schedule.end(now, true);
        assert_eq!(schedule.due(), Some(now + ms(wait * 1_000)));
        // Not earlier, whatever happens.
        schedule.ask(now);
        assert_eq!(schedule.due(), Some(now + ms(wait * 1_000)));
        now += ms(wait * 1_000);
    }
    schedule.begin();
    schedule.end(now, false);
    assert_eq!(schedule.due(), None);
}
