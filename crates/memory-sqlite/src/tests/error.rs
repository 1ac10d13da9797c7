use memory_api::{ErrorKind, Retry};
use rusqlite::{Connection, ffi};

use crate::sqlite_error;

#[test]
fn result_codes_have_kinds() {
    let check = |code, kind, retry| {
        let err = sqlite_error(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        assert_eq!(
            (err.kind(), err.retry()),
            (kind, retry),
            "code {code}: {err:?}"
        );
    };
    check(ffi::SQLITE_BUSY, ErrorKind::Unavailable, Retry::After(None));
    check(
        ffi::SQLITE_LOCKED,
        ErrorKind::Unavailable,
        Retry::After(None),
    );
    check(ffi::SQLITE_FULL, ErrorKind::Unavailable, Retry::Never);
    check(ffi::SQLITE_READONLY, ErrorKind::Unavailable, Retry::Never);
    check(ffi::SQLITE_CANTOPEN, ErrorKind::Unavailable, Retry::Never);
    check(ffi::SQLITE_IOERR_READ, ErrorKind::Unavailable, Retry::Never);
    check(ffi::SQLITE_CORRUPT, ErrorKind::Corrupt, Retry::Never);
    check(ffi::SQLITE_CORRUPT_VTAB, ErrorKind::Corrupt, Retry::Never);
    check(ffi::SQLITE_NOTADB, ErrorKind::Corrupt, Retry::Never);
    check(ffi::SQLITE_TOOBIG, ErrorKind::InvalidInput, Retry::Never);
    check(ffi::SQLITE_CONSTRAINT, ErrorKind::Internal, Retry::Never);
}

#[test]
fn full_disk_has_a_hint() {
    let conn = Connection::open_in_memory().unwrap();
    conn.pragma_update(None, "max_page_count", 2).unwrap();
    let err = conn
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(100000))")
        .unwrap_err();
    let err = sqlite_error(err);
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    assert_eq!(err.hint(), Some("free some disk space"));
}

#[test]
fn missing_row_is_not_found_and_the_message_is_a_fragment() {
    let conn = Connection::open_in_memory().unwrap();
    let err = conn
        .query_row("SELECT 1 WHERE 0", [], |_| Ok(()))
        .unwrap_err();
    let err = sqlite_error(err);
    assert_eq!(err.kind(), ErrorKind::NotFound);
    assert_eq!(err.to_string(), "query returned no rows");
}
