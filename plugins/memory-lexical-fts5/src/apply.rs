//! Batches of changes.

use std::collections::BTreeMap;

use memory_api::{Batch, EntryId, Error, ErrorKind, LexicalEntry, LexicalOp, Result};
use memory_sqlite::projection::check_batch;
use memory_sqlite::rusqlite::{Connection, params};
use memory_sqlite::sqlite_error;

use crate::schema::{State, row_of};
use crate::tokens::{Place, push_border, push_text};

/// Applies what is above the watermark, in the caller's transaction.
pub(crate) fn apply(conn: &Connection, batch: &Batch<LexicalOp>) -> Result<()> {
    let mut state = State::read(conn)?;
    let (applied, after) = check_batch(batch, state.watermark)?;

    // Only the last change of an entry matters. Removing first and adding in order of rows afterwards keeps FTS5 from writing a
    // segment per change.
    let mut last: BTreeMap<EntryId, Option<&LexicalEntry>> = BTreeMap::new();
    for (_, op) in batch.ops.iter().filter(|(seq, _)| *seq > applied) {
        match op {
            LexicalOp::Put(entry) => last.insert(entry.id, Some(entry)),
            LexicalOp::Delete(id) => last.insert(*id, None),
            // Filters are resolved by the engine; the path, of which the id is made, does not change under it.
            LexicalOp::SetMeta(..) => None,
            _ => {
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    "the index does not know this kind of change",
                ));
            }
        };
    }
    for id in last.keys() {
        remove(conn, *id, &mut state)?;
    }
    for entry in last.values().flatten() {
        add(conn, entry, &mut state)?;
    }

    state.watermark = Some(after);
    state.write(conn)
}

fn remove(conn: &Connection, id: EntryId, state: &mut State) -> Result<()> {
    let Some(row) = row_of(conn, id)? else {
        return Ok(());
    };
    let n_words: i64 = conn
        .prepare_cached("DELETE FROM ids WHERE row = ?1 RETURNING n_words")
        .and_then(|mut delete| delete.query_row([row], |row| row.get(0)))
        .map_err(sqlite_error)?;
    conn.prepare_cached("DELETE FROM entries WHERE rowid = ?1")
        .and_then(|mut delete| delete.execute([row]))
        .map_err(sqlite_error)?;
    state.n_entries -= 1;
    state.n_words -= n_words;
    Ok(())
}

fn add(conn: &Connection, entry: &LexicalEntry, state: &mut State) -> Result<()> {
    let (mut text, mut headings, mut path) = (String::new(), String::new(), String::new());
    let n_words = i64::from(push_text(&entry.text, Place::Content, &mut text));
    for heading in &entry.heading_path {
        push_text(heading, Place::Content, &mut headings);
        push_border(&mut headings);
    }
    push_text(&entry.fields.path, Place::Path, &mut path);

    state.last_row += 1;
    state.n_entries += 1;
    state.n_words += n_words;
    conn.prepare_cached("INSERT INTO ids (row, id, n_words) VALUES (?1, ?2, ?3)")
        .and_then(|mut insert| {
            insert.execute(params![state.last_row, entry.id.to_bytes(), n_words])
        })
        .map_err(sqlite_error)?;
    conn.prepare_cached(
        "INSERT INTO entries (rowid, text, headings, path) VALUES (?1, ?2, ?3, ?4)",
    )
    .and_then(|mut insert| insert.execute(params![state.last_row, text, headings, path]))
    .map_err(sqlite_error)?;
    Ok(())
}
