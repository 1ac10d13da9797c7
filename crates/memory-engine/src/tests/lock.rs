use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use futures::executor::block_on;

use crate::lock::{Holder, Waited, WriterLock};

#[test]
fn a_second_writer_learns_who_holds_the_lock_and_gets_it_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let first = WriterLock::try_take(dir.path()).unwrap().unwrap();
    let holder = WriterLock::try_take(dir.path()).unwrap().unwrap_err();
    assert_eq!(
        holder,
        Holder {
            pid: Some(std::process::id())
        }
    );
    assert_eq!(holder.into_error().context("lock"), Some("held"));
    let dir_of_waiter = dir.path().to_owned();
    let waiter = std::thread::spawn(move || {
        let taken = block_on(WriterLock::take(&dir_of_waiter, Arc::default(), None));
        matches!(taken.unwrap(), Waited::Taken(_))
    });
    drop(first);
    assert!(waiter.join().unwrap());
    assert!(WriterLock::try_take(dir.path()).unwrap().is_ok());
}

#[test]
fn who_waits_for_the_lock_can_be_told_to_stop() {
    let dir = tempfile::tempdir().unwrap();
    let held = WriterLock::try_take(dir.path()).unwrap().unwrap();
    let cancel = Arc::new(AtomicBool::new(true));
    let waited = block_on(WriterLock::take(dir.path(), cancel, None)).unwrap();
    assert!(matches!(waited, Waited::Cancelled));
    drop(held);
}

#[test]
fn a_lock_file_with_other_content_is_an_unknown_holder() {
    let dir = tempfile::tempdir().unwrap();
    let lock = WriterLock::try_take(dir.path()).unwrap().unwrap();
    std::fs::write(dir.path().join("lock"), "not a number").unwrap();
    let holder = WriterLock::try_take(dir.path()).unwrap().unwrap_err();
    assert_eq!(holder.name(), "another process");
    drop(lock);
}

#[test]
fn who_waits_for_the_lock_for_some_time_learns_who_has_it_still() {
    let dir = tempfile::tempdir().unwrap();
    let held = WriterLock::try_take(dir.path()).unwrap().unwrap();
    let limit = Some(Duration::from_millis(1));
    let waited = block_on(WriterLock::take(dir.path(), Arc::default(), limit)).unwrap();
    let pid = Some(std::process::id());
    assert!(matches!(waited, Waited::Held(holder) if holder == Holder { pid }));
    drop(held);
}
