//! Batches of changes.

use std::collections::BTreeMap;

use memory_api::{Batch, EntryId, Error, ErrorKind, Result, VectorOp, unit_vector};
use memory_sqlite::projection::check_batch;
use memory_sqlite::rusqlite::{Connection, params};
use memory_sqlite::sqlite_error;

use crate::schema::State;
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
        remove(conn, *id, &mut state)?;
        if let Some(vector) = vector {
            add(conn, *id, vector, &mut state)?;
        }
    }

    state.watermark = Some(after);
    state.write(conn)
}

fn remove(conn: &Connection, id: EntryId, state: &mut State) -> Result<()> {
    let n_removed = conn
        .prepare_cached("DELETE FROM vectors WHERE id = ?1")
        .and_then(|mut delete| delete.execute([id.to_bytes()]))
        .map_err(sqlite_error)?;
    if n_removed > 0 {
        state.n_entries -= 1;
    }
    Ok(())
}

fn add(conn: &Connection, id: EntryId, vector: &[u8], state: &mut State) -> Result<()> {
    state.last_row += 1;
    state.n_entries += 1;
    conn.prepare_cached("INSERT INTO vectors (row, id, vector) VALUES (?1, ?2, ?3)")
        .and_then(|mut insert| insert.execute(params![state.last_row, id.to_bytes(), vector]))
        .map_err(sqlite_error)?;
    Ok(())
}
