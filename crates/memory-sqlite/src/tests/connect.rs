use std::fs;
use std::path::Path;

use futures::executor::block_on;
use memory_api::{Error, ErrorKind};
use rusqlite::Connection;
use tempfile::tempdir;

use super::{APPLICATION_ID, OPTIONS, SCHEMA, insert, numbers, open};
use crate::connect::wal_path;
use crate::{Database, Options, sqlite_error};

const READ_ONLY: Options = OPTIONS.with_read_only(true);

fn open_error(path: &Path, options: Options) -> Error {
    block_on(Database::open(path, options)).unwrap_err()
}

#[test]
fn empty_file_is_a_new_database() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    fs::write(&path, "").unwrap();
    let database = open(&path);
    insert(&database, 7);
    assert_eq!(numbers(&database), [7]);
}

#[test]
fn file_that_is_no_database_is_corrupt_and_left_alone() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let content = "This is a shopping list. ".repeat(400);
    fs::write(&path, &content).unwrap();
    for options in [OPTIONS, READ_ONLY] {
        let err = open_error(&path, options);
        assert_eq!(err.kind(), ErrorKind::Corrupt, "{err:?}");
        assert!(err.hint().is_some());
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), content);
}

#[test]
fn damaged_pages_are_corrupt() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    for n in 0..2_000 {
        insert(&database, n);
    }
    block_on(database.close());
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let database = open(&path);
    let err = block_on(database.read(|conn| {
        conn.query_row("SELECT sum(n) FROM numbers", [], |row| row.get::<_, i64>(0))
            .map_err(sqlite_error)
    }))
    .unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt);
}

#[test]
fn another_programs_database_is_refused_and_left_alone() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    let err = open_error(&path, OPTIONS);
    assert_eq!(err.kind(), ErrorKind::Corrupt);
    assert_eq!(
        err.to_string(),
        "the file belongs to another program (application id 0x00000000, not 0x6d656d31)"
    );
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn migrations_run_once_each_and_in_order() {
    const FIRST: &[&str] = &[SCHEMA];
    const BOTH: &[&str] = &[
        SCHEMA,
        "ALTER TABLE numbers ADD COLUMN note TEXT; UPDATE numbers SET note = 'old'",
    ];
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = block_on(Database::open(&path, Options::new(APPLICATION_ID, FIRST))).unwrap();
    insert(&database, 1);
    block_on(database.close());
    for _ in 0..2 {
        let database = block_on(Database::open(&path, Options::new(APPLICATION_ID, BOTH))).unwrap();
        let note: String = block_on(database.read(|conn| {
            conn.query_row("SELECT note FROM numbers", [], |row| row.get(0))
                .map_err(sqlite_error)
        }))
        .unwrap();
        assert_eq!(note, "old");
        block_on(database.close());
    }
}

#[test]
fn failed_migration_leaves_the_old_schema() {
    const BROKEN: &[&str] = &[SCHEMA, "CREATE TABLE more (x); CREATE TABLE more (x)"];
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    block_on(open(&path).close());
    let err = open_error(&path, Options::new(APPLICATION_ID, BROKEN));
    assert_eq!(err.kind(), ErrorKind::Internal);
    let database = open(&path);
    let n: i64 = block_on(database.read(|conn| {
        conn.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'more'",
            [],
            |row| row.get(0),
        )
        .map_err(sqlite_error)
    }))
    .unwrap();
    assert_eq!(n, 0);
}

/// One number more for each version.
const TWO_MORE: &[&str] = &[
    SCHEMA,
    "INSERT INTO numbers VALUES (2)",
    "INSERT INTO numbers VALUES (3)",
];
const BACKED_UP: Options = Options::new(APPLICATION_ID, TWO_MORE).with_backup(true);

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// Leaves a database of the first version with the number 1.
fn of_version_1(path: &Path) {
    let database = open(path);
    insert(&database, 1);
    block_on(database.close());
}

#[test]
fn a_file_is_copied_before_its_schema_changes() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    of_version_1(&path);
    // What an interrupted copy left is no hindrance, nor an earlier copy.
    fs::write(dir.path().join("a.db.before-v3.new"), "half").unwrap();
    fs::write(dir.path().join("a.db.before-v3"), "earlier").unwrap();
    let database = block_on(Database::open(&path, BACKED_UP)).unwrap();
    assert_eq!(numbers(&database), [1, 2, 3]);
    block_on(database.close());
    assert_eq!(names(dir.path()), ["a.db", "a.db.before-v3"]);
    let copy = open(&dir.path().join("a.db.before-v3"));
    assert_eq!(numbers(&copy), [1]);
    block_on(copy.close());
    // Nothing changes any more, so nothing is copied.
    for name in names(dir.path()) {
        if name != "a.db" {
            fs::remove_file(dir.path().join(name)).unwrap();
        }
    }
    block_on(block_on(Database::open(&path, BACKED_UP)).unwrap().close());
    assert_eq!(names(dir.path()), ["a.db"]);
}

#[test]
fn a_copy_holds_what_is_still_in_the_log() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let old = open(&path);
    insert(&old, 1);
    let database = block_on(Database::open(&path, BACKED_UP)).unwrap();
    let copy = open(&dir.path().join("a.db.before-v3"));
    assert_eq!(numbers(&copy), [1]);
    assert_eq!(numbers(&database), [1, 2, 3]);
}

#[test]
fn a_new_file_is_not_copied() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    for content in [None, Some("")] {
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        block_on(block_on(Database::open(&path, BACKED_UP)).unwrap().close());
        assert_eq!(names(dir.path()), ["a.db"]);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_file_that_cannot_be_copied_is_not_changed() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    // A folder in its place stands for a disk that takes no copy.
    for blocked in ["a.db.before-v3.new", "a.db.before-v3"] {
        of_version_1(&path);
        let before = fs::read(&path).unwrap();
        let blocked = dir.path().join(blocked);
        fs::create_dir_all(blocked.join("in the way")).unwrap();
        let err = open_error(&path, BACKED_UP);
        assert_eq!(err.kind(), ErrorKind::Unavailable, "{err:?}");
        assert!(
            err.message()
                .starts_with("the file cannot be copied before its schema changes: "),
            "{err}"
        );
        assert!(err.hint().is_some());
        assert_eq!(fs::read(&path).unwrap(), before);
        let database = open(&path);
        assert_eq!(numbers(&database), [1]);
        block_on(database.close());
        fs::remove_dir_all(blocked).unwrap();
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn newer_schema_is_unsupported() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    block_on(open(&path).close());
    Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", 9)
        .unwrap();
    for options in [OPTIONS, READ_ONLY] {
        let err = open_error(&path, options);
        assert_eq!(err.kind(), ErrorKind::Unsupported);
        assert_eq!(
            err.to_string(),
            "the schema has version 9, this program knows versions up to 1"
        );
    }
}

#[test]
fn many_handles_make_one_new_database() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..8)
            .map(|n| {
                let path = &path;
                scope.spawn(move || insert(&open(path), n))
            })
            .collect();
        for handle in handles {
            handle.join().unwrap();
        }
    });
    assert_eq!(numbers(&open(&path)).len(), 8);
}

#[test]
fn read_only_reads_and_refuses_to_write() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    let database = open(&path);
    insert(&database, 1);
    let reader = block_on(Database::open(&path, READ_ONLY)).unwrap();
    insert(&database, 2);
    assert_eq!(numbers(&reader), [1, 2]);
    block_on(reader.flush()).unwrap();
    let err = block_on(reader.write(|_| Ok(()))).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unavailable);
}

#[test]
fn read_only_open_of_nothing_is_not_found_and_makes_nothing() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    assert_eq!(open_error(&path, READ_ONLY).kind(), ErrorKind::NotFound);
    assert!(!path.exists());
}

#[test]
fn read_only_open_of_an_older_schema_says_so() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.db");
    fs::write(&path, "").unwrap();
    let err = open_error(&path, READ_ONLY);
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    assert_eq!(
        err.to_string(),
        "the schema has version 0, reading needs version 1"
    );
}

/// CS-09: where the files beside the database cannot be made, it is read all the same. A link in the place of one of them, which
/// SQLite does not follow, stands for a folder that cannot be written: permissions do not stop the superuser.
#[cfg(unix)]
#[test]
fn database_on_read_only_media_is_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("100% #1?.db");
    let database = open(&path);
    insert(&database, 1);
    block_on(database.close());
    std::os::unix::fs::symlink("nowhere", dir.path().join("100% #1?.db-shm")).unwrap();
    let reader = block_on(Database::open(&path, READ_ONLY)).unwrap();
    assert_eq!(numbers(&reader), [1]);
    block_on(reader.close());

    fs::write(wal_path(&path), "not folded in").unwrap();
    let err = open_error(&path, READ_ONLY);
    assert_eq!(err.kind(), ErrorKind::Unavailable, "{err:?}");
}

#[test]
fn file_in_a_missing_folder_is_unavailable() {
    let dir = tempdir().unwrap();
    let err = open_error(&dir.path().join("none/a.db"), OPTIONS);
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    assert!(err.hint().unwrap().contains("folder"));
}

#[test]
fn on_connect_runs_on_every_connection_before_migrations() {
    const USES_FUNCTION: &[&str] = &["CREATE TABLE answers AS SELECT answer() AS n"];
    let options = Options::new(APPLICATION_ID, USES_FUNCTION).with_on_connect(|conn| {
        let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
        conn.create_scalar_function("answer", 0, flags, |_| Ok(42))
            .map_err(sqlite_error)
    });
    let dir = tempdir().unwrap();
    let database = block_on(Database::open(dir.path().join("a.db"), options)).unwrap();
    let both: (i64, i64) = block_on(database.read(|conn| {
        conn.query_row("SELECT n, answer() FROM answers", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(sqlite_error)
    }))
    .unwrap();
    assert_eq!(both, (42, 42));
}
