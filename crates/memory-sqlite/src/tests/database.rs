use std::sync::mpsc;
use std::time::Duration;

use futures::executor::block_on;
use futures::future::join_all;
use futures::poll;
use memory_api::{Error, ErrorKind, Result, Retry};
use tempfile::tempdir;

use super::{OPTIONS, insert, numbers, open};
use crate::connect::wal_path;
use crate::{Database, Options, Synchronous, sqlite_error};

#[test]
fn committed_rows_are_read_by_this_handle_and_the_next() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    insert(&database, 1);
    assert_eq!(numbers(&database), [1]);
    block_on(database.close());
    assert_eq!(numbers(&open(&path)), [1]);
}

#[test]
fn failed_write_job_leaves_nothing() {
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    let failed: Result<()> = block_on(database.write(|conn| {
        conn.execute("INSERT INTO numbers VALUES (1)", [])
            .map_err(sqlite_error)?;
        Err(Error::new(ErrorKind::InvalidInput, "changed my mind"))
    }));
    let err = failed.unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert!(err.context("path").unwrap().ends_with("a.db"));
    assert_eq!(numbers(&database), Vec::<i64>::new());
    insert(&database, 2);
    assert_eq!(numbers(&database), [2]);
}

#[test]
fn jobs_run_on_named_threads() {
    let name = |_: &_| Ok(std::thread::current().name().unwrap().to_owned());
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    assert_eq!(
        block_on(database.write(name)).unwrap(),
        "memory-sqlite-writer"
    );
    assert_eq!(
        block_on(database.read(name)).unwrap(),
        "memory-sqlite-reader-0"
    );
}

#[test]
fn readers_cannot_write() {
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    let err = block_on(database.read(|conn| {
        conn.execute("INSERT INTO numbers VALUES (1)", [])
            .map_err(sqlite_error)
    }))
    .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unavailable);
}

#[test]
fn read_job_sees_one_state_throughout() {
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    insert(&database, 1);
    let (started, is_started) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let count = |conn: &rusqlite::Connection| {
        conn.query_row("SELECT count(*) FROM numbers", [], |row| {
            row.get::<_, i64>(0)
        })
        .map_err(sqlite_error)
    };
    let reading = database.read(move |conn| {
        let before = count(conn)?;
        started.send(()).unwrap();
        may_go_on.recv().unwrap();
        Ok((before, count(conn)?))
    });
    let writing = async {
        is_started.recv().unwrap();
        database
            .write(|conn| {
                conn.execute("INSERT INTO numbers VALUES (2)", [])
                    .map_err(sqlite_error)
            })
            .await
            .unwrap();
        go_on.send(()).unwrap();
    };
    let (seen, ()) = block_on(futures::future::join(reading, writing));
    assert_eq!(seen.unwrap(), (1, 1));
    assert_eq!(numbers(&database), [1, 2]);
}

#[test]
fn reads_run_side_by_side() {
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    let (to_second, from_first) = mpsc::channel();
    let (to_first, from_second) = mpsc::channel();
    // Each waits for the other, so one thread alone would never end.
    let first = database.read(move |_| {
        to_second.send(()).unwrap();
        from_second.recv().unwrap();
        Ok(())
    });
    let second = database.read(move |_| {
        to_first.send(()).unwrap();
        from_first.recv().unwrap();
        Ok(())
    });
    let (first, second) = block_on(futures::future::join(first, second));
    first.and(second).unwrap();
}

#[test]
fn panic_in_a_job_is_internal_and_ends_the_database() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    for in_write in [true, false] {
        let database = open(&path);
        let err = if in_write {
            block_on(database.write(|conn| -> Result<()> {
                conn.execute("INSERT INTO numbers VALUES (1)", [])
                    .map_err(sqlite_error)?;
                panic!("boom")
            }))
        } else {
            block_on(database.read(|_| -> Result<()> { panic!("boom") }))
        }
        .unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Internal);
        assert_eq!(err.message(), "a database job panicked: boom");
        let read = block_on(database.read(|_| Ok(()))).unwrap_err();
        let write = block_on(database.write(|_| Ok(()))).unwrap_err();
        assert_eq!(
            [read.kind(), write.kind()],
            [ErrorKind::Closed, ErrorKind::Closed]
        );
        block_on(database.close());
    }
    assert_eq!(numbers(&open(&path)), Vec::<i64>::new());
}

#[test]
fn jobs_behind_a_panic_are_answered() {
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    let (begin, may_begin) = mpsc::channel::<()>();
    let first = database.write(move |_| -> Result<()> {
        may_begin.recv().unwrap();
        panic!("boom")
    });
    let second = database.write(|_| Ok(()));
    let (first, second, ()) = block_on(async {
        let mut first = std::pin::pin!(first);
        let mut second = std::pin::pin!(second);
        assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
        begin.send(()).unwrap();
        futures::join!(first, second, async {})
    });
    assert_eq!(first.unwrap_err().kind(), ErrorKind::Internal);
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn closed_database_says_so_and_closing_twice_is_no_error() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    insert(&database, 1);
    block_on(database.close());
    block_on(database.close());
    for err in [
        block_on(database.read(|_| Ok(()))).unwrap_err(),
        block_on(database.write(|_| Ok(()))).unwrap_err(),
        block_on(database.flush()).unwrap_err(),
    ] {
        assert_eq!(err.kind(), ErrorKind::Closed);
        assert_eq!(err.to_string(), "the database is closed");
    }
    assert!(
        !wal_path(&path).exists(),
        "the log is folded in and removed"
    );
}

#[test]
fn close_leaves_nothing_beside_the_file() {
    // Which of the threads ended last was a matter of luck.
    for _ in 0..30 {
        let dir = tempdir().unwrap();
        let database = open(&dir.path().join("a.db"));
        insert(&database, 1);
        assert_eq!(numbers(&database), [1]);
        block_on(database.close());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn close_finishes_what_was_accepted() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    block_on(async {
        let mut accepted = Vec::new();
        for n in 0..20 {
            let mut write = Box::pin(database.write(move |conn| {
                conn.execute("INSERT INTO numbers VALUES (?1)", [n])
                    .map_err(sqlite_error)
            }));
            // Polled once, it is in the queue.
            if poll!(&mut write).is_pending() {
                accepted.push(write);
            }
        }
        database.close().await;
        for write in join_all(accepted).await {
            write.unwrap();
        }
    });
    assert_eq!(numbers(&open(&path)), (0..20).collect::<Vec<_>>());
}

#[test]
fn full_queue_waits() {
    let dir = tempdir().unwrap();
    let mut options = OPTIONS;
    options.queue_len = 1;
    let database = block_on(Database::open(dir.path().join("a.db"), options)).unwrap();
    let writes = (0..50).map(|n| {
        database.write(move |conn| {
            conn.execute("INSERT INTO numbers VALUES (?1)", [n])
                .map_err(sqlite_error)
        })
    });
    for write in block_on(join_all(writes)) {
        write.unwrap();
    }
    assert_eq!(numbers(&database).len(), 50);
}

#[test]
fn job_that_nobody_waits_for_is_not_begun() {
    let dir = tempdir().unwrap();
    let database = open(&dir.path().join("a.db"));
    let (begin, may_begin) = mpsc::channel::<()>();
    block_on(async {
        let mut blocker = std::pin::pin!(database.write(move |_| {
            may_begin.recv().unwrap();
            Ok(())
        }));
        assert!(poll!(&mut blocker).is_pending());
        let mut dropped = Box::pin(database.write(|conn| {
            conn.execute("INSERT INTO numbers VALUES (1)", [])
                .map_err(sqlite_error)
        }));
        assert!(poll!(&mut dropped).is_pending());
        drop(dropped);
        begin.send(()).unwrap();
        blocker.await.unwrap();
    });
    assert_eq!(numbers(&database), Vec::<i64>::new());
}

#[test]
fn dropped_read_is_interrupted() {
    const FOREVER: &str =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    let dir = tempdir().unwrap();
    let mut options = OPTIONS;
    options.max_readers = 1;
    let database = block_on(Database::open(dir.path().join("a.db"), options)).unwrap();
    block_on(async {
        let (started, is_started) = mpsc::channel();
        let mut endless = Box::pin(database.read(move |conn| {
            started.send(()).unwrap();
            conn.query_row(FOREVER, [], |row| row.get::<_, i64>(0))
                .map_err(sqlite_error)
        }));
        assert!(poll!(&mut endless).is_pending());
        is_started.recv().unwrap();
        drop(endless);
        // The only reader is free again.
        database.read(|_| Ok(())).await.unwrap();
    });
}

#[test]
fn lock_of_another_handle_is_unavailable_with_retry() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let holder = open(&path);
    let options = OPTIONS.with_busy_timeout(Duration::from_millis(1));
    let other = block_on(Database::open(&path, options)).unwrap();
    let (locked, is_locked) = mpsc::channel();
    let (release, may_release) = mpsc::channel::<()>();
    let holding = holder.write(move |conn| {
        locked.send(()).unwrap();
        may_release.recv().unwrap();
        conn.execute("INSERT INTO numbers VALUES (1)", [])
            .map_err(sqlite_error)
    });
    let trying = async {
        is_locked.recv().unwrap();
        let err = other.write(|_| Ok(())).await.unwrap_err();
        // Readers are not held up.
        let n: i64 = other
            .read(|conn| {
                conn.query_row("SELECT count(*) FROM numbers", [], |row| row.get(0))
                    .map_err(sqlite_error)
            })
            .await
            .unwrap();
        release.send(()).unwrap();
        (err, n)
    };
    let (held, (err, n)) = block_on(futures::future::join(holding, trying));
    held.unwrap();
    assert_eq!(n, 0);
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    assert_eq!(err.retry(), Retry::After(None));
    insert(&other, 2);
    assert_eq!(numbers(&holder), [1, 2]);
}

#[test]
fn flush_folds_the_log_into_the_file() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    block_on(database.flush()).unwrap();
    let before = path.metadata().unwrap().len();
    block_on(database.write(|conn| {
        conn.execute_batch("CREATE TABLE more (x); INSERT INTO more VALUES (zeroblob(20000))")
            .map_err(sqlite_error)
    }))
    .unwrap();
    block_on(database.flush()).unwrap();
    assert!(path.metadata().unwrap().len() > before + 20_000);
}

#[test]
fn options_reach_the_connection() {
    let pragma = |options: Options, name: &'static str| -> i64 {
        let dir = tempdir().unwrap();
        let database = block_on(Database::open(dir.path().join("a.db"), options)).unwrap();
        block_on(database.write(move |conn| {
            conn.pragma_query_value(None, name, |row| row.get(0))
                .map_err(sqlite_error)
        }))
        .unwrap()
    };
    assert_eq!(pragma(OPTIONS, "synchronous"), 1);
    assert_eq!(
        pragma(OPTIONS.with_synchronous(Synchronous::Full), "synchronous"),
        2
    );
    assert_eq!(pragma(OPTIONS, "foreign_keys"), 1);
    assert_eq!(pragma(OPTIONS, "busy_timeout"), 5_000);
    assert_eq!(
        pragma(OPTIONS, "application_id"),
        i64::from(super::APPLICATION_ID)
    );
    assert_eq!(pragma(OPTIONS, "user_version"), 1);
}
