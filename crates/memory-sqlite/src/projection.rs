//! What every index in a SQLite file does alike.
//!
//! Such an index has a table `state` of its own with one row. Two of its columns are the watermark: `store BLOB`, null before the
//! first batch, and `seq INTEGER NOT NULL`. What else it counts is up to the index.

use memory_api::{Batch, Error, ErrorKind, IndexStats, Result, Seq, StoreId, Watermark};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::sqlite_error;

/// Reads the row of `state` with this query.
///
/// # Errors
///
/// `Corrupt` when the row is gone; those of [`sqlite_error`].
pub fn read_state<T>(
    conn: &Connection,
    select: &str,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<T> {
    conn.prepare_cached(select)
        .and_then(|mut select| select.query_row([], read).optional())
        .map_err(sqlite_error)?
        .ok_or_else(|| damaged("the index has lost its state"))
}

/// Returns the watermark in the columns `store` and `seq` of a row.
///
/// # Errors
///
/// For a column that is missing or of another type.
pub fn watermark_of(row: &Row<'_>) -> rusqlite::Result<Option<Watermark>> {
    let store: Option<[u8; 16]> = row.get("store")?;
    let seq: i64 = row.get("seq")?;
    Ok(store.map(|store| Watermark {
        store: StoreId::from_bytes(store),
        seq: Seq(seq.cast_unsigned()),
    }))
}

/// Returns what the columns `store` and `seq` keep of a watermark.
pub fn watermark_values(watermark: Option<Watermark>) -> (Option<[u8; 16]>, i64) {
    let store = watermark.map(|watermark| watermark.store.to_bytes());
    let seq = watermark.map_or(0, |watermark| watermark.seq.0);
    (store, seq.cast_signed())
}

/// Returns the change up to which the index has all, and the watermark after the batch. Changes of the batch that are not above
/// the first are known.
///
/// # Errors
///
/// `InvalidInput` for a batch of another store than the watermark's, or with changes out of order.
pub fn check_batch<Op>(
    batch: &Batch<Op>,
    watermark: Option<Watermark>,
) -> Result<(Seq, Watermark)> {
    if let Some(watermark) = watermark
        && watermark.store != batch.store
    {
        let message = format!(
            "the batch comes from store {}, the index follows {}",
            batch.store, watermark.store
        );
        return Err(Error::new(ErrorKind::InvalidInput, message)
            .with_hint("build the index anew for this store"));
    }
    if !batch.ops.is_sorted_by_key(|(seq, _)| *seq) {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "the changes of a batch are not in order",
        ));
    }
    let applied = watermark.map_or(Seq(0), |watermark| watermark.seq);
    // `through` is a field that anybody may set too low.
    let last = batch.ops.last().map(|(seq, _)| *seq).unwrap_or_default();
    let after = Watermark {
        store: batch.store,
        seq: applied.max(batch.through).max(last),
    };
    Ok((applied, after))
}

/// Returns the counts of an index: entries as it counted them, bytes as SQLite does.
///
/// # Errors
///
/// Those of [`sqlite_error`].
pub fn stats(conn: &Connection, n_entries: i64) -> Result<IndexStats> {
    let bytes: i64 = conn
        .query_row(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
            [],
            |row| row.get(0),
        )
        .map_err(sqlite_error)?;
    Ok(IndexStats::new(
        u64::try_from(n_entries).unwrap_or_default(),
        u64::try_from(bytes).ok(),
    ))
}

/// The error of a file that does not hold what it should.
pub fn damaged(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Corrupt, message).with_hint("build the index again")
}
