//! What the store knows of its entries' vectors: which are there, which are pending and why. The vectors themselves lie in
//! `vectors.db`.

use std::collections::HashSet;

use memory_api::{ContentHash, EntryId, Fields, LineRange, Result, Seq};
use memory_sqlite::rusqlite::{Connection, Row, params};
use memory_sqlite::sqlite_error;

use super::{Sql, Store, read, write};
use crate::background::{self, Background};
use crate::embedding::embedded_text;

/// The name of the background, which names the space that `vector_seq` speaks of.
const BACKGROUND: &str = "background";

/// An entry whose vector is pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    /// Its number in the store.
    pub(crate) entry: i64,
    /// What of it is embedded.
    pub(crate) text: String,
}

/// A change for a vector index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum VectorChange {
    /// The entry has a vector, kept under this name.
    Put {
        entry: i64,
        id: EntryId,
        key: ContentHash,
        /// What of it was embedded.
        text: String,
        fields: Fields,
    },
    /// What filters look at changed.
    SetMeta(EntryId, Fields),
    /// The entry is gone.
    Delete(EntryId),
}

impl Store {
    /// Returns the background of the space that the entries' vectors belong to.
    pub(crate) async fn background(&self) -> Result<Option<Background>> {
        self.db
            .read(|conn| {
                read::meta(conn, BACKGROUND)?
                    .map(|json| background::from_json(&json))
                    .transpose()
            })
            .await
    }

    /// Makes every vector pending, in the space of this background.
    pub(crate) async fn begin_space(&self, background: &Background) -> Result<()> {
        let json = background::to_json(background)?;
        self.db
            .write(move |tx| {
                tx.execute(
                    "UPDATE entries SET vector_seq = NULL, vector_key = NULL, pending = NULL",
                    [],
                )
                .map_err(sqlite_error)?;
                write::set_meta(tx, BACKGROUND, &json)
            })
            .await
    }

    /// Returns entries of a namespace whose vector is pending, those above the number `after`, at most `limit`; with a place only
    /// those that stand on these lines of a document.
    pub(crate) async fn pending(
        &self,
        namespace: String,
        place: Option<(String, LineRange)>,
        after: i64,
        limit: usize,
    ) -> Result<Vec<Pending>> {
        self.db
            .read(move |conn| {
                match place {
                    None => pending(conn, &namespace, after, limit),
                    Some((path, lines)) => pending_in(conn, &namespace, &path, lines, after, limit),
                }
                .map_err(sqlite_error)
            })
            .await
    }

    /// Returns how many vectors of a namespace are pending.
    pub(crate) async fn n_pending(&self, namespace: String) -> Result<u64> {
        self.db
            .read(move |conn| {
                let count = || -> Sql<i64> {
                    conn.prepare_cached(
                        "SELECT count(*) FROM entries JOIN documents USING (doc)
                         WHERE vector_seq IS NULL AND namespace = ?1",
                    )?
                    .query_row([&namespace], |row| row.get(0))
                };
                count().map(i64::unsigned_abs).map_err(sqlite_error)
            })
            .await
    }

    /// Returns why vectors of a namespace are pending, the most frequent reason first.
    pub(crate) async fn pending_reasons(&self, namespace: String) -> Result<Vec<(String, u64)>> {
        self.db
            .read(move |conn| {
                let query = || -> Sql<Vec<(String, u64)>> {
                    let mut statement = conn.prepare_cached(
                        "SELECT pending, count(*) FROM entries JOIN documents USING (doc)
                         WHERE vector_seq IS NULL AND pending IS NOT NULL AND namespace = ?1
                         GROUP BY pending ORDER BY count(*) DESC, pending",
                    )?;
                    statement
                        .query_map([&namespace], |row| {
                            Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()))
                        })?
                        .collect()
                };
                query().map_err(sqlite_error)
            })
            .await
    }

    /// Writes down that these entries have a vector, and its name.
    pub(crate) async fn assign_vectors(&self, vectors: Vec<(i64, ContentHash)>) -> Result<()> {
        self.db
            .write(move |tx| {
                let mut seq = read::number(tx, "last_seq")?;
                for (entry, key) in &vectors {
                    seq += 1;
                    tx.prepare_cached(
                        "UPDATE entries SET vector_seq = ?2, vector_key = ?3, pending = NULL WHERE entry = ?1",
                    )
                    .and_then(|mut statement| {
                        statement.execute(params![entry, seq.cast_signed(), key.0])
                    })
                    .map_err(sqlite_error)?;
                }
                write::set_meta(tx, "last_seq", &seq.to_string())
            })
            .await
    }

    /// Makes the vectors of these entries pending, with a reason if one is known.
    pub(crate) async fn set_pending(
        &self,
        entries: Vec<i64>,
        reason: Option<String>,
    ) -> Result<()> {
        self.db
            .write(move |tx| {
                for entry in &entries {
                    tx.prepare_cached(
                        "UPDATE entries SET vector_seq = NULL, vector_key = NULL, pending = ?2 WHERE entry = ?1",
                    )
                    .and_then(|mut statement| statement.execute(params![entry, reason]))
                    .map_err(sqlite_error)?;
                }
                Ok(())
            })
            .await
    }

    /// Gives every pending vector of a namespace this reason.
    pub(crate) async fn explain_pending(&self, namespace: String, reason: String) -> Result<()> {
        self.db
            .write(move |tx| {
                tx.execute(
                    "UPDATE entries SET pending = ?2
                     WHERE vector_seq IS NULL AND doc IN (SELECT doc FROM documents WHERE namespace = ?1)",
                    params![namespace, reason],
                )
                .map(drop)
                .map_err(sqlite_error)
            })
            .await
    }

    /// Returns the changes of vectors above `after`, in order, at most `limit`.
    pub(crate) async fn vector_changes(
        &self,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<(Seq, VectorChange)>> {
        self.db
            .read(move |conn| vector_changes(conn, after, limit).map_err(sqlite_error))
            .await
    }

    /// Returns how many changes above `after` there are for an index by meaning.
    pub(crate) async fn n_vector_changes(&self, after: Seq) -> Result<u64> {
        self.db
            .read(move |conn| {
                read::n_changes(
                    conn,
                    "SELECT count(*) FROM entries WHERE vector_seq IS NOT NULL AND max(seq, vector_seq) > ?1",
                    after,
                )
            })
            .await
    }

    /// Returns the names of all vectors that entries have.
    pub(crate) async fn vector_keys(&self) -> Result<HashSet<ContentHash>> {
        self.db
            .read(|conn| {
                keys(
                    conn,
                    "SELECT vector_key FROM entries WHERE vector_seq IS NOT NULL",
                )
                .map_err(sqlite_error)
            })
            .await
    }
}

fn pending(conn: &Connection, namespace: &str, after: i64, limit: usize) -> Sql<Vec<Pending>> {
    let mut statement = conn.prepare_cached(
        "SELECT e.entry, e.heading_path, e.text FROM entries e JOIN documents d USING (doc)
         WHERE e.vector_seq IS NULL AND e.entry > ?1 AND d.namespace = ?2 ORDER BY e.entry LIMIT ?3",
    )?;
    statement
        .query_map(params![after, namespace, limit.cast_signed()], pending_row)?
        .collect()
}

fn pending_in(
    conn: &Connection,
    namespace: &str,
    path: &str,
    lines: LineRange,
    after: i64,
    limit: usize,
) -> Sql<Vec<Pending>> {
    let mut statement = conn.prepare_cached(
        "SELECT e.entry, e.heading_path, e.text FROM entries e JOIN documents d USING (doc)
         WHERE e.vector_seq IS NULL AND e.entry > ?1 AND d.namespace = ?2 AND d.path = ?3
           AND e.line_start <= ?5 AND e.line_end >= ?4 ORDER BY e.entry LIMIT ?6",
    )?;
    let values = params![
        after,
        namespace,
        path,
        lines.start,
        lines.end,
        limit.cast_signed()
    ];
    statement.query_map(values, pending_row)?.collect()
}

fn pending_row(row: &Row<'_>) -> Sql<Pending> {
    Ok(Pending {
        entry: row.get(0)?,
        text: text(row, 1)?,
    })
}

fn vector_changes(conn: &Connection, after: Seq, limit: usize) -> Sql<Vec<(Seq, VectorChange)>> {
    let mut changes = vector_rows(
        conn,
        "max(e.seq, e.vector_seq)",
        "e.vector_seq IS NOT NULL AND max(e.seq, e.vector_seq) > ?1 ORDER BY max(e.seq, e.vector_seq)",
        after,
        limit,
    )?;
    for (seq, id) in read::tombstones(conn, after, limit)? {
        changes.push((seq, VectorChange::Delete(id)));
    }
    // As for words: where this is not all, a vector comes at its own number, also where its entry changed later.
    if changes.len() >= limit {
        changes.extend(vector_rows(
            conn,
            "e.vector_seq",
            "e.entry IN (SELECT entry FROM entries WHERE vector_seq IS NOT NULL AND max(seq, vector_seq) > ?1
                         AND vector_seq > ?1 AND vector_seq < seq ORDER BY vector_seq LIMIT ?2)",
            after,
            limit,
        )?);
    }
    // Each part is complete up to its own last row, so the first `limit` of all together miss nothing.
    changes.sort_unstable_by_key(|(seq, _)| *seq);
    changes.truncate(limit);
    Ok(changes)
}

/// Returns the entries that a condition lets through as changes of this number; those whose vector is below `after` are known.
fn vector_rows(
    conn: &Connection,
    number: &str,
    condition: &str,
    after: Seq,
    limit: usize,
) -> Sql<Vec<(Seq, VectorChange)>> {
    let mut changes = Vec::new();
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {number}, e.vector_seq, e.entry, e.id, e.vector_key,
                d.namespace, d.source, d.path, e.kind, e.tags, e.time, e.heading_path, e.text
         FROM entries e JOIN documents d USING (doc) WHERE {condition} LIMIT ?2"
    ))?;
    let mut rows = statement.query(params![after.0.cast_signed(), limit.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let id = EntryId::from_bytes(row.get(3)?);
        let fields = read::fields(row, 5)?;
        let change = if row.get::<_, i64>(1)?.cast_unsigned() > after.0 {
            VectorChange::Put {
                entry: row.get(2)?,
                id,
                key: ContentHash(row.get(4)?),
                text: text(row, 11)?,
                fields,
            }
        } else {
            VectorChange::SetMeta(id, fields)
        };
        changes.push((Seq(row.get::<_, i64>(0)?.cast_unsigned()), change));
    }
    Ok(changes)
}

/// Reads what of an entry is embedded, from its heading path and its text in columns from `idx` on.
fn text(row: &Row<'_>, idx: usize) -> Sql<String> {
    let heading_path = read::strings(row, idx)?;
    Ok(embedded_text(
        &heading_path,
        row.get_ref(idx + 1)?.as_str()?,
    ))
}

fn keys(conn: &Connection, sql: &str) -> Sql<HashSet<ContentHash>> {
    conn.prepare(sql)?
        .query_map([], |row| row.get(0).map(ContentHash))?
        .collect()
}
