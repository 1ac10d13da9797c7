//! Batches of changes.

use std::collections::BTreeMap;

use memory_api::{Batch, EntryId, Error, ErrorKind, Result, VectorOp, unit_vector};
use memory_sqlite::projection::check_batch;
use memory_sqlite::rusqlite::{Connection, params};
use memory_sqlite::sqlite_error;

use crate::schema::{State, row_of, vec0_error};
use crate::vector::to_bytes;

/// Applies what is above the watermark, in the caller's transaction.
pub(crate) fn apply(conn: &Connection, batch: &Batch<VectorOp>, dimensions: usize) -> Result<()> {
    let mut state = State::read(conn)?;
    let (applied, after) = check_batch(batch, state.watermark)?;

    // Only the last change of an entry matters, but a bad vector spoils the batch wherever it stands.
    let mut last: BTreeMap<EntryId, Option<Vec<u8>>> = BTreeMap::new();
    for (seq, op) in &batch.ops {
        let (id, vector) = match op {
            VectorOp::Put(id, vector, _) => {
                let unit = unit_vector(vector, dimensions)
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

    state.watermark = Some(after);
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
