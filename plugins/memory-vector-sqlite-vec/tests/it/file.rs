//! Files that other programs, older or newer ones, left.

use futures::executor::block_on;
use memory_api::{ErrorKind, VectorQuery};
use memory_sqlite::rusqlite::Connection;
use memory_vector_sqlite_vec::PLUGIN;

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
        .and_then(|index| {
            block_on(index.watermark())?;
            block_on(index.search(&VectorQuery::new(&[1.0; DIMENSIONS], 3)))
        })
        .unwrap_err()
        .kind()
}

#[test]
fn content_that_cannot_be_is_damage() {
    for sql in [
        "DELETE FROM state",
        "UPDATE state SET space = '{}'",
        "UPDATE state SET store = x'00'",
        "DELETE FROM entries",
        "UPDATE entries SET id = substr(id, 2)",
        "DELETE FROM vectors_vector_chunks00",
        "UPDATE vectors_chunks SET validity = x'00'",
        "UPDATE vectors_chunks SET rowids = x'00'",
        "UPDATE vectors_vector_chunks00 SET vectors = x'00'",
        // A vector without direction has no distance, which must not sort first.
        "UPDATE vectors_vector_chunks00 SET vectors = zeroblob(256 * 32)",
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
