//! Files that other programs, older or newer ones, left.

use futures::executor::block_on;
use memory_api::{ErrorKind, VectorQuery};
use memory_sqlite::rusqlite::Connection;
use memory_vector_sqlite_vec::PLUGIN;
use tempfile::tempdir;

use crate::case::{Case, DIMENSIONS, Random, delete, open_in, put, space};

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
            block_on(index.search(&VectorQuery::new(&[1.0; DIMENSIONS], 20)))
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
        "UPDATE state SET space = NULL",
        "UPDATE state SET n_entries = 21",
        "UPDATE state SET n_entries = -1",
        "DELETE FROM entries",
        "DELETE FROM entries WHERE row = 5",
        "DELETE FROM vectors_rowids WHERE rowid = 5",
        "UPDATE entries SET id = substr(id, 2)",
        "DELETE FROM vectors_vector_chunks00",
        "UPDATE vectors_chunks SET validity = x'00'",
        "UPDATE vectors_chunks SET validity = CAST(x'fe' || substr(validity, 2) AS BLOB)",
        "UPDATE vectors_chunks SET rowids = x'00'",
        "UPDATE vectors_vector_chunks00 SET vectors = x'00'",
        // A vector without direction has no distance, which must not sort first.
        "UPDATE vectors_vector_chunks00 SET vectors = zeroblob(256 * 32)",
        // Half of a vector is lost, and its direction is another.
        "UPDATE vectors_vector_chunks00 SET vectors = CAST(
            zeroblob(16) || substr(vectors, 17) AS BLOB)",
        // Two vectors have changed their places.
        "UPDATE vectors_chunks SET rowids = CAST(
            substr(rowids, 9, 8) || substr(rowids, 1, 8) || substr(rowids, 17) AS BLOB)",
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

/// Returns how many blobs the vectors lie in.
fn n_blobs(case: &Case) -> i64 {
    let conn = Connection::open(case.dir.path().join("index.db")).unwrap();
    conn.query_row("SELECT count(*) FROM vectors_vector_chunks00", [], |row| {
        row.get(0)
    })
    .unwrap()
}

#[test]
fn a_blob_is_free_again_when_all_its_vectors_are_deleted() {
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    let mut random = Random(2);
    let mut put_next = |case: &mut Case, ids: std::ops::Range<u128>| {
        let vectors = ids.map(|id| put(id, &random.vector(DIMENSIONS)));
        case.apply(vectors.collect());
    };
    put_next(&mut case, 0..512);
    assert_eq!(n_blobs(&case), 2);
    case.apply((0..255).map(delete).collect());
    put_next(&mut case, 512..513);
    assert_eq!(n_blobs(&case), 3);
    case.apply(vec![delete(255)]);
    assert_eq!(n_blobs(&case), 2);
}

#[test]
fn a_replaced_vector_stays_in_its_place() {
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    let mut random = Random(3);
    // sqlite-vec fills holes of the last blob alone.
    case.fill(512, &mut random);
    for id in 1..=10 {
        case.apply(vec![put(id, &random.vector(DIMENSIONS))]);
    }
    assert_eq!(n_blobs(&case), 2);
    case.check(&random.vector(DIMENSIONS), 512, None);
}

#[test]
fn content_that_changes_under_an_open_index_is_damage() {
    for n_entries in [19, 21, -1] {
        let mut case = Case::new(&PLUGIN, DIMENSIONS);
        case.fill(20, &mut Random(4));
        let conn = Connection::open(case.dir.path().join("index.db")).unwrap();
        conn.execute("UPDATE state SET n_entries = ?1", [n_entries])
            .unwrap();
        let query = VectorQuery::new(&[1.0; DIMENSIONS], 30);
        let err = block_on(case.index.search(&query)).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Corrupt, "{n_entries}");
    }
}

#[test]
fn an_index_whose_maker_died_before_it_had_a_space_gets_one() {
    let dir = tempdir().unwrap();
    let index = open_in(&PLUGIN, dir.path(), &space(DIMENSIONS), false).unwrap();
    block_on(index.close()).unwrap();
    let conn = Connection::open(dir.path().join("index.db")).unwrap();
    conn.execute_batch(
        "UPDATE state SET space = NULL;
         PRAGMA writable_schema = ON;
         DELETE FROM sqlite_schema WHERE name LIKE '%vectors%';",
    )
    .unwrap();
    drop(conn);
    let err = open_in(&PLUGIN, dir.path(), &space(DIMENSIONS), true).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    let index = open_in(&PLUGIN, dir.path(), &space(DIMENSIONS), false).unwrap();
    assert_eq!(block_on(index.stats()).unwrap().n_entries, 0);
    open_in(&PLUGIN, dir.path(), &space(DIMENSIONS), true).unwrap();
}
