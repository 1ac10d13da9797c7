use std::collections::HashSet;

use memory_api::{
    ContentHash, EntryId, Error, ErrorKind, Fields, LexicalEntry, LexicalOp, LineRange, Result,
    Seq, Timestamp,
};
use memory_sqlite::rusqlite::types::Value;
use memory_sqlite::rusqlite::{self, Connection, OptionalExtension as _, Row, params};
use memory_sqlite::sqlite_error;

use super::{Counts, Entry, Known, Position, Sql, Store};
use crate::document::Stamp;
use crate::filter::Filter;

impl Store {
    /// Returns what is known of the documents of a namespace and source with a path above `after`, by path, at most `limit`.
    pub(crate) async fn known_documents(
        &self,
        namespace: String,
        source: &'static str,
        after: String,
        limit: usize,
    ) -> Result<Vec<(String, Known)>> {
        self.db
            .read(move |conn| {
                known_documents(conn, &namespace, source, &after, limit).map_err(sqlite_error)
            })
            .await
    }

    /// Returns the hash of what a document held when it was indexed.
    pub(crate) async fn document_hash(
        &self,
        namespace: String,
        source: String,
        path: String,
    ) -> Result<Option<ContentHash>> {
        self.db
            .read(move |conn| {
                conn.prepare_cached(
                    "SELECT hash FROM documents WHERE namespace = ?1 AND source = ?2 AND path = ?3",
                )
                .and_then(|mut statement| {
                    statement
                        .query_row(params![namespace, source, path], |row| row.get(0))
                        .optional()
                })
                .map(|hash| hash.map(ContentHash))
                .map_err(sqlite_error)
            })
            .await
    }

    /// Returns the ids of the entries of a document that begin on one of so many first lines.
    pub(crate) async fn ids_until(&self, doc: i64, line: u32) -> Result<HashSet<EntryId>> {
        self.db
            .read(move |conn| ids_until(conn, doc, line).map_err(sqlite_error))
            .await
    }

    /// Returns the changes above `after`, in order, at most `limit`.
    pub(crate) async fn lexical_ops(
        &self,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<(Seq, LexicalOp)>> {
        self.db
            .read(move |conn| lexical_ops(conn, after, limit).map_err(sqlite_error))
            .await
    }

    /// Returns how many changes above `after` there are for an index by words.
    pub(crate) async fn n_lexical_changes(&self, after: Seq) -> Result<u64> {
        self.db
            .read(move |conn| n_changes(conn, "SELECT count(*) FROM entries WHERE seq > ?1", after))
            .await
    }

    /// Resolves a filter inside a namespace to the ids of the entries it lets through, ascending; `None` when those are all.
    pub(crate) async fn allowed(
        &self,
        namespace: String,
        filter: Filter,
    ) -> Result<Option<Vec<EntryId>>> {
        self.db
            .read(move |conn| {
                let resolve = || {
                    if filter.is_empty() && !has_other_namespace(conn, &namespace)? {
                        return Ok(None);
                    }
                    allowed(conn, &namespace, &filter).map(Some)
                };
                resolve().map_err(sqlite_error)
            })
            .await
    }

    /// Returns whether the store holds documents of another namespace.
    pub(crate) async fn has_other_namespace(&self, namespace: String) -> Result<bool> {
        self.db
            .read(move |conn| has_other_namespace(conn, &namespace).map_err(sqlite_error))
            .await
    }

    /// Returns the distinct sources, to name them to someone who asked for another one.
    pub(crate) async fn sources(&self) -> Result<Vec<String>> {
        self.db
            .read(|conn| {
                let query = || -> Sql<Vec<String>> {
                    let mut statement = conn
                        .prepare_cached("SELECT DISTINCT source FROM documents ORDER BY source")?;
                    statement.query_map([], |row| row.get(0))?.collect()
                };
                query().map_err(sqlite_error)
            })
            .await
    }
}

pub(super) fn meta(conn: &Connection, key: &str) -> Result<Option<String>> {
    conn.prepare_cached("SELECT value FROM meta WHERE key = ?1")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
        .map_err(sqlite_error)
}

/// Returns a number from the meta table; 0 when it was never set.
pub(super) fn number(conn: &Connection, key: &str) -> Result<u64> {
    meta(conn, key)?.map_or(Ok(0), |value| {
        value.parse().map_err(|_| {
            Error::new(
                ErrorKind::Corrupt,
                format!("the store's `{key}` is no number"),
            )
        })
    })
}

pub(super) fn counts(conn: &Connection, namespace: &str) -> Result<Counts> {
    let count = || -> Sql<(i64, i64)> {
        let number = |row: &Row<'_>| row.get(0);
        if has_other_namespace(conn, namespace)? {
            let of_namespace = |sql: &str| conn.query_row(sql, [namespace], number);
            return Ok((
                of_namespace("SELECT count(*) FROM documents WHERE namespace = ?1")?,
                of_namespace(
                    "SELECT count(*) FROM entries JOIN documents USING (doc) WHERE namespace = ?1",
                )?,
            ));
        }
        // Without a condition SQLite counts pages, not rows.
        let of_all = |sql: &str| conn.query_row(sql, [], number);
        Ok((
            of_all("SELECT count(*) FROM documents")?,
            of_all("SELECT count(*) FROM entries")?,
        ))
    };
    let (n_documents, n_entries) = count().map_err(sqlite_error)?;
    Ok(Counts {
        n_documents: n_documents.unsigned_abs(),
        n_entries: n_entries.unsigned_abs(),
    })
}

pub(super) fn is_empty(conn: &Connection) -> Result<bool> {
    conn.query_row("SELECT NOT EXISTS (SELECT 1 FROM entries)", [], |row| {
        row.get(0)
    })
    .map_err(sqlite_error)
}

pub(super) fn entries(
    conn: &Connection,
    namespace: &str,
    ids: &[EntryId],
) -> Result<Vec<Option<Entry>>> {
    let query = || -> Sql<Vec<Option<Entry>>> {
        let mut statement = conn.prepare_cached(
            "SELECT e.id, d.source, d.path, e.line_start, e.line_end, e.heading_path, e.kind, e.time, d.created, e.tags, e.text
             FROM entries e JOIN documents d USING (doc) WHERE e.id = ?1 AND d.namespace = ?2",
        )?;
        ids.iter()
            .map(|id| {
                statement
                    .query_row(params![id.to_bytes(), namespace], entry)
                    .optional()
            })
            .collect()
    };
    query().map_err(sqlite_error)
}

pub(super) fn entry_ids(
    conn: &Connection,
    after: Option<EntryId>,
    with_vector: bool,
    limit: usize,
) -> Result<Vec<EntryId>> {
    let query = || -> Sql<Vec<EntryId>> {
        let after = after.map(|id| id.to_bytes().to_vec()).unwrap_or_default();
        conn.prepare_cached(
            "SELECT id FROM entries WHERE id > ?1 AND (?2 = 0 OR vector_seq IS NOT NULL) ORDER BY id LIMIT ?3",
        )?
        .query_map(params![after, with_vector, limit.cast_signed()], |row| {
            row.get(0).map(EntryId::from_bytes)
        })?
        .collect()
    };
    query().map_err(sqlite_error)
}

fn entry(row: &Row<'_>) -> Sql<Entry> {
    Ok(Entry {
        id: EntryId::from_bytes(row.get(0)?),
        source: row.get(1)?,
        path: row.get(2)?,
        lines: LineRange {
            start: row.get(3)?,
            end: row.get(4)?,
        },
        heading_path: strings(row, 5)?,
        kind: row.get(6)?,
        time: row.get::<_, Option<i64>>(7)?.map(Timestamp),
        created: row.get::<_, Option<i64>>(8)?.map(Timestamp),
        tags: strings(row, 9)?,
        text: row.get(10)?,
    })
}

/// Reads a list of strings, kept as a JSON array.
pub(super) fn strings(row: &Row<'_>, idx: usize) -> Sql<Vec<String>> {
    let json: String = row.get(idx)?;
    serde_json::from_str(&json).map_err(|err| {
        rusqlite::Error::FromSqlConversionFailure(idx, rusqlite::types::Type::Text, Box::new(err))
    })
}

/// Counts what `sql` counts above `after`, and the tombstones there.
pub(super) fn n_changes(conn: &Connection, sql: &str, after: Seq) -> Result<u64> {
    let count = |sql: &str| -> Sql<i64> {
        conn.prepare_cached(sql)?
            .query_row([after.0.cast_signed()], |row| row.get(0))
    };
    let n_entries = count(sql).map_err(sqlite_error)?;
    let n_tombstones =
        count("SELECT count(*) FROM tombstones WHERE seq > ?1").map_err(sqlite_error)?;
    Ok((n_entries + n_tombstones).unsigned_abs())
}

fn known_documents(
    conn: &Connection,
    namespace: &str,
    source: &str,
    after: &str,
    limit: usize,
) -> Sql<Vec<(String, Known)>> {
    conn.prepare_cached(
        "SELECT path, doc, hash, cut_by, size, mtime_ns, inode, read_bytes, resume_bytes, resume_lines, resume_mark FROM documents
         WHERE namespace = ?1 AND source = ?2 AND path > ?3 ORDER BY path LIMIT ?4",
    )?
    .query_map(
        params![namespace, source, after, limit.cast_signed()],
        |row| {
            let stamp = Stamp {
                size: row.get::<_, i64>(4)?.cast_unsigned(),
                mtime_ns: row.get(5)?,
                inode: row.get::<_, i64>(6)?.cast_unsigned(),
            };
            let known = Known {
                doc: row.get(1)?,
                hash: ContentHash(row.get(2)?),
                cut_by: ContentHash(row.get(3)?),
                stamp,
                position: position(row)?,
            };
            Ok((row.get(0)?, known))
        },
    )?
    .collect()
}

/// Reads the last four columns of a known document.
fn position(row: &Row<'_>) -> Sql<Option<Position>> {
    let Some(mark) = row.get::<_, Option<[u8; 32]>>(10)? else {
        return Ok(None);
    };
    Ok(Some(Position {
        read: row.get::<_, i64>(7)?.cast_unsigned(),
        bytes: row.get::<_, i64>(8)?.cast_unsigned(),
        lines: row.get(9)?,
        mark: ContentHash(mark),
    }))
}

/// Returns the ids of the entries of a document that begin on one of its first lines.
fn ids_until(conn: &Connection, doc: i64, line: u32) -> Sql<HashSet<EntryId>> {
    conn.prepare_cached("SELECT id FROM entries WHERE doc = ?1 AND line_start <= ?2")?
        .query_map(params![doc, line], |row| {
            row.get(0).map(EntryId::from_bytes)
        })?
        .collect()
}

fn lexical_ops(conn: &Connection, after: Seq, limit: usize) -> Sql<Vec<(Seq, LexicalOp)>> {
    let mut ops = lexical_rows(conn, "e.seq", "e.seq > ?1 ORDER BY e.seq", after, limit)?;
    for (seq, id) in tombstones(conn, after, limit)? {
        ops.push((seq, LexicalOp::Delete(id)));
    }
    // Where this is not all, the text of an entry that changed later has to come at its own number: once the page is fed, its
    // number is below the watermark, and only the change would come.
    if ops.len() >= limit {
        ops.extend(lexical_rows(
            conn,
            "e.text_seq",
            "e.entry IN (SELECT entry FROM entries WHERE seq > ?1 AND text_seq > ?1 AND text_seq < seq ORDER BY text_seq LIMIT ?2)",
            after,
            limit,
        )?);
    }
    // Each part is complete up to its own last row, so the first `limit` of all together miss nothing.
    ops.sort_unstable_by_key(|(seq, _)| *seq);
    ops.truncate(limit);
    Ok(ops)
}

/// Returns the entries that a condition lets through as changes of this number; those whose text is below `after` are known.
fn lexical_rows(
    conn: &Connection,
    number: &str,
    condition: &str,
    after: Seq,
    limit: usize,
) -> Sql<Vec<(Seq, LexicalOp)>> {
    let mut ops = Vec::new();
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {number}, e.text_seq, e.id, d.namespace, d.source, d.path, e.kind, e.tags, e.time, e.heading_path, e.text
         FROM entries e JOIN documents d USING (doc) WHERE {condition} LIMIT ?2"
    ))?;
    let mut rows = statement.query(params![after.0.cast_signed(), limit.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let id = EntryId::from_bytes(row.get(2)?);
        let fields = fields(row, 3)?;
        let op = if row.get::<_, i64>(1)?.cast_unsigned() > after.0 {
            let mut entry = LexicalEntry::new(id, row.get::<_, String>(10)?, fields);
            entry.heading_path = strings(row, 9)?;
            LexicalOp::Put(Box::new(entry))
        } else {
            LexicalOp::SetMeta(id, fields)
        };
        ops.push((Seq(row.get::<_, i64>(0)?.cast_unsigned()), op));
    }
    Ok(ops)
}

/// Returns the tombstones above `after`, in order.
pub(super) fn tombstones(conn: &Connection, after: Seq, limit: usize) -> Sql<Vec<(Seq, EntryId)>> {
    conn.prepare_cached("SELECT seq, id FROM tombstones WHERE seq > ?1 ORDER BY seq LIMIT ?2")?
        .query_map(params![after.0.cast_signed(), limit.cast_signed()], |row| {
            let seq = Seq(row.get::<_, i64>(0)?.cast_unsigned());
            Ok((seq, EntryId::from_bytes(row.get(1)?)))
        })?
        .collect()
}

/// Reads namespace, source, path, kind, tags and time, in columns from `idx` on.
pub(super) fn fields(row: &Row<'_>, idx: usize) -> Sql<Fields> {
    let text = |at: usize| row.get::<_, String>(idx + at);
    let mut fields = Fields::new(text(0)?, text(1)?, text(2)?);
    fields.kind = row.get(idx + 3)?;
    fields.tags = strings(row, idx + 4)?;
    fields.time = row.get::<_, Option<i64>>(idx + 5)?.map(Timestamp);
    Ok(fields)
}

fn has_other_namespace(conn: &Connection, namespace: &str) -> Sql<bool> {
    // Two look-ups; `<>` would go through all documents.
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM documents WHERE namespace < ?1)
             OR EXISTS (SELECT 1 FROM documents WHERE namespace > ?1)",
    )?
    .query_row([namespace], |row| row.get(0))
}

fn allowed(conn: &Connection, namespace: &str, filter: &Filter) -> Sql<Vec<EntryId>> {
    let mut sql =
        "SELECT e.id FROM entries e JOIN documents d USING (doc) WHERE d.namespace = ?".to_owned();
    let mut values = vec![Value::Text(namespace.to_owned())];
    let mut any_of = |sql: &mut String,
                      condition: &str,
                      options: &[String],
                      to_values: fn(&str) -> Vec<Value>| {
        if options.is_empty() {
            return;
        }
        let all = vec![condition; options.len()].join(" OR ");
        sql.extend([" AND (", &all, ")"]);
        values.extend(options.iter().flat_map(|option| to_values(option)));
    };
    let text = |option: &str| vec![Value::Text(option.to_owned())];
    any_of(&mut sql, "d.source = ?", &filter.sources, text);
    any_of(&mut sql, "e.kind = ?", &filter.kinds, text);
    for tag in &filter.tags {
        let condition = "EXISTS (SELECT 1 FROM json_each(e.tags) WHERE value = ?)";
        any_of(&mut sql, condition, std::slice::from_ref(tag), text);
    }
    any_of(
        &mut sql,
        "d.path = ? OR substr(d.path, 1, length(?) + 1) = ? || '/'",
        &filter.paths,
        |path| {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            vec![Value::Text(path.to_owned()); 3]
        },
    );
    for (condition, bound) in [("e.time >= ?", filter.since), ("e.time < ?", filter.until)] {
        if let Some(Timestamp(bound)) = bound {
            sql.extend([" AND ", condition]);
            values.push(Value::Integer(bound));
        }
    }
    sql.push_str(" ORDER BY e.id");
    let mut statement = conn.prepare(&sql)?;
    statement
        .query_map(rusqlite::params_from_iter(values), |row| {
            row.get(0).map(EntryId::from_bytes)
        })?
        .collect()
}
