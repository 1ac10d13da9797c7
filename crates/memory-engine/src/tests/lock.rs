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
    let waiter = std::thread::spawn(move || block_on(WriterLock::take(&dir_of_waiter)).map(drop));
    drop(first);
    waiter.join().unwrap().unwrap();
    assert!(WriterLock::try_take(dir.path()).unwrap().is_ok());
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
