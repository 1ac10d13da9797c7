use memory_api::{Batch, ErrorKind, Seq, StoreId, Watermark};
use rusqlite::Connection;

use crate::projection::{check_batch, read_state, stats, watermark_of, watermark_values};

const STORE: StoreId = StoreId(0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
const OTHER: StoreId = StoreId(2);
const SELECT: &str = "SELECT seq, store FROM state";

/// A batch with changes of these numbers, which are not looked at.
fn batch(store: StoreId, seqs: &[u64]) -> Batch<()> {
    Batch::new(store, seqs.iter().map(|seq| (Seq(*seq), ())).collect())
}

fn watermark(store: StoreId, seq: u64) -> Watermark {
    let seq = Seq(seq);
    Watermark { store, seq }
}

fn with_state() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(
        "CREATE TABLE state (store BLOB, seq INTEGER NOT NULL DEFAULT 0);
         INSERT INTO state DEFAULT VALUES;",
    )
    .unwrap();
    conn
}

#[test]
fn a_watermark_is_read_as_it_was_written() {
    let conn = with_state();
    assert_eq!(read_state(&conn, SELECT, watermark_of).unwrap(), None);
    for written in [
        Some(watermark(STORE, 0)),
        Some(watermark(STORE, 41)),
        Some(watermark(OTHER, u64::MAX)),
        None,
    ] {
        conn.execute(
            "UPDATE state SET store = ?1, seq = ?2",
            watermark_values(written),
        )
        .unwrap();
        let read = read_state(&conn, SELECT, watermark_of).unwrap();
        assert_eq!(read, written);
    }
}

#[test]
fn the_bytes_of_a_store_are_in_the_order_of_its_name() {
    let (store, seq) = watermark_values(Some(watermark(STORE, 5)));
    let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
    assert_eq!((store, seq), (Some(bytes), 5));
}

#[test]
fn a_state_that_is_lost_or_of_another_form_is_damage() {
    for sql in [
        "DELETE FROM state",
        "UPDATE state SET store = x'00'",
        "UPDATE state SET store = 'text'",
        "UPDATE state SET store = zeroblob(16), seq = 'text'",
    ] {
        let conn = with_state();
        conn.execute_batch(sql).unwrap();
        let err = read_state(&conn, SELECT, watermark_of).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Corrupt, "{sql}");
        assert!(err.hint().is_some(), "{sql}");
    }
}

#[test]
fn a_batch_moves_the_watermark_to_its_end_and_never_back() {
    for (known, seqs, through, expected) in [
        (None, &[][..], 0, (0, 0)),
        (None, &[3, 4], 4, (0, 4)),
        (None, &[3, 4], 9, (0, 9)),
        (Some(4), &[5, 5, 7], 7, (4, 7)),
        (Some(4), &[3, 5], 5, (4, 5)),
        // All of it is known.
        (Some(4), &[1, 2], 2, (4, 4)),
        (Some(4), &[], 0, (4, 4)),
        (Some(4), &[], 6, (4, 6)),
        // The end is told too low.
        (Some(4), &[8], 6, (4, 8)),
    ] {
        let mut batch = batch(STORE, seqs);
        batch.through = Seq(through);
        let known = known.map(|seq| watermark(STORE, seq));
        let (applied, after) = check_batch(&batch, known).unwrap();
        assert_eq!((applied.0, after.seq.0), expected, "{known:?} {batch:?}");
        assert_eq!(after.store, STORE);
    }
}

#[test]
fn a_batch_of_another_store_is_refused() {
    let known = Some(watermark(OTHER, 4));
    for seqs in [&[][..], &[5], &[3]] {
        let err = check_batch(&batch(STORE, seqs), known).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            err.message(),
            "the batch comes from store 01020304-0506-0708-090a-0b0c0d0e0f10, \
             the index follows 00000000-0000-0000-0000-000000000002"
        );
        assert_eq!(err.hint(), Some("build the index anew for this store"));
    }
}

#[test]
fn changes_out_of_order_are_refused_also_where_they_are_known() {
    for seqs in [&[6, 5][..], &[5, 7, 6], &[2, 1]] {
        for known in [None, Some(watermark(STORE, 4))] {
            let err = check_batch(&batch(STORE, seqs), known).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidInput, "{seqs:?}");
        }
    }
}

#[test]
fn the_size_of_an_index_is_the_size_of_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("index.db");
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE numbers (n INTEGER)")
        .unwrap();
    let stats_of = |n_entries| stats(&conn, n_entries).unwrap();
    assert_eq!(stats_of(3).n_entries, 3);
    assert_eq!(stats_of(3).bytes, Some(path.metadata().unwrap().len()));
    assert_eq!(stats_of(-1).n_entries, 0);
}
