//! Batches of changes.

use std::collections::BTreeMap;

use memory_api::{Batch, EntryId, Error, ErrorKind, Result, VectorOp, Watermark};
use memory_sqlite::rusqlite::{Connection, params};
use memory_sqlite::sqlite_error;

use crate::schema::{State, row_of, vec0_error};
use crate::vector::{to_bytes, unit};

/// Applies what is above the watermark, in the caller's transaction.
pub(crate) fn apply(conn: &Connection, batch: &Batch<VectorOp>, dimensions: usize) -> Result<()> {
    let mut state = State::read(conn)?;
    let applied = state.seq();
    if let Some(watermark) = state.watermark
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

    // Only the last change of an entry matters, but a bad vector spoils the batch wherever it stands.
    let mut last: BTreeMap<EntryId, Option<Vec<u8>>> = BTreeMap::new();
    for (seq, op) in &batch.ops {
        let (id, vector) = match op {
            VectorOp::Put(id, vector, _) => {
                let unit = unit(vector, dimensions)
                    .map_err(|err| err.with_context("entry", id.to_string()))?;
                (*id, Some(to_bytes(&unit)))
            }
            VectorOp::Delete(id) => (*id, None),
            // Filters are resolved by the engine.
            VectorOp::SetMeta(..) => continue,
            _ => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "the index does not know this kind of change",
                ));
            }
        };
        if *seq > applied {
            last.insert(id, vector);
        }
    }
    for (id, vector) in &last {
        match vector {
            Some(vector) => put(conn, *id, vector, &mut state)?,
            None => remove(conn, *id, &mut state)?,
        }
    }

    let last_seq = batch.ops.last().map(|(seq, _)| *seq).unwrap_or_default();
    state.watermark = Some(Watermark {
        store: batch.store,
        seq: applied.max(batch.through).max(last_seq),
    });
    state.write(conn)
}

fn remove(conn: &Connection, id: EntryId, state: &mut State) -> Result<()> {
    let Some(row) = row_of(conn, id)? else {
        return Ok(());
    };
    conn.prepare_cached("DELETE FROM entries WHERE row = ?1")
        .and_then(|mut delete| delete.execute([row]))
        .map_err(sqlite_error)?;
    conn.prepare_cached("DELETE FROM vectors WHERE rowid = ?1")
        .and_then(|mut delete| delete.execute([row]))
        .map_err(vec0_error)?;
    state.n_entries -= 1;
    Ok(())
}

/// Replaces a vector in its place: a deleted one leaves a hole that sqlite-vec does not fill.
fn put(conn: &Connection, id: EntryId, vector: &[u8], state: &mut State) -> Result<()> {
    if let Some(row) = row_of(conn, id)? {
        conn.prepare_cached("UPDATE vectors SET vector = ?2 WHERE rowid = ?1")
            .and_then(|mut update| update.execute(params![row, vector]))
            .map_err(vec0_error)?;
        return Ok(());
    }
    let row: i64 = conn
        .prepare_cached("INSERT INTO entries (id) VALUES (?1) RETURNING row")
        .and_then(|mut insert| insert.query_row([id.to_bytes()], |row| row.get(0)))
        .map_err(sqlite_error)?;
    conn.prepare_cached("INSERT INTO vectors (rowid, vector) VALUES (?1, ?2)")
        .and_then(|mut insert| insert.execute(params![row, vector]))
        .map_err(vec0_error)?;
    state.n_entries += 1;
    Ok(())
}
