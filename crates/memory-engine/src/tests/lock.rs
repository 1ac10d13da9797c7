use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures::executor::block_on;

use crate::lock::{Holder, WriterLock};

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
        let taken = block_on(WriterLock::take(&dir_of_waiter, Arc::default()));
        taken.unwrap().is_some()
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
    assert!(
        block_on(WriterLock::take(dir.path(), cancel))
            .unwrap()
            .is_none()
    );
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
