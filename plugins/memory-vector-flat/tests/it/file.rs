//! Files that other programs, older or newer ones, left.

use futures::executor::block_on;
use memory_api::{ErrorKind, VectorQuery};
use memory_sqlite::rusqlite::Connection;
use memory_vector_flat::PLUGIN;

use crate::case::{Case, DIMENSIONS, Random, open_in, space};

/// Changes the file of an index of 20 entries and returns the kind of what its next search answers.
fn after(sql: &str) -> ErrorKind {
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(20, &mut Random(1));
    block_on(case.index.close()).unwrap();
    let conn = Connection::open(case.dir.path().join("index.db")).unwrap();
    conn.execute_batch(sql).unwrap();
    drop(conn);
    open_in(&PLUGIN, case.dir.path(), &space(DIMENSIONS), false)
        .and_then(|index| block_on(index.search(&VectorQuery::new(&[1.0; DIMENSIONS], 3))))
        .unwrap_err()
        .kind()
}

#[test]
fn content_that_cannot_be_is_damage() {
    for sql in [
        "DELETE FROM state",
        "UPDATE state SET space = '{}'",
        "UPDATE state SET store = x'00'",
        "UPDATE state SET space = NULL",
        "UPDATE state SET store = NULL, seq = 0, n_entries = 0",
        "UPDATE state SET n_entries = 21",
        "UPDATE state SET n_entries = -1",
        "DELETE FROM vectors WHERE row = 5",
        "UPDATE vectors SET id = x'00' WHERE row = 5",
        "UPDATE vectors SET vector = x'0000' WHERE row = 5",
        "UPDATE vectors SET vector = zeroblob(32) WHERE row = 5",
        // A number that is none.
        "UPDATE vectors SET vector = unhex(replace(printf('%8s', ''), ' ', '0000c07f')) WHERE row = 5",
    ] {
        assert_eq!(after(sql), ErrorKind::Corrupt, "{sql}");
    }
}

#[test]
fn a_file_of_another_program_is_refused() {
    assert_eq!(after("PRAGMA application_id = 1"), ErrorKind::Corrupt);
}

#[test]
fn a_file_of_a_newer_program_is_refused() {
    assert_eq!(after("PRAGMA user_version = 99"), ErrorKind::Unsupported);
}
