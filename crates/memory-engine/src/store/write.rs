use std::collections::HashMap;

use memory_api::{EntryId, Error, ErrorKind, Result, Seq};
use memory_sqlite::rusqlite::{self, Connection, params};
use memory_sqlite::sqlite_error;

use super::{Change, NewDocument, NewEntry, Sql, Store, read};

impl Store {
    /// Applies changes of documents in one transaction.
    pub(crate) async fn apply(&self, namespace: String, changes: Vec<Change>) -> Result<()> {
        self.db
            .write(move |tx| {
                let mut writer = Writer::new(tx)?;
                for change in &changes {
                    writer.change(&namespace, change).map_err(sqlite_error)?;
                }
                writer.finish()
            })
            .await
    }

    /// Removes the documents of a namespace.
    pub(crate) async fn remove_all(&self, namespace: String) -> Result<()> {
        self.db
            .write(move |tx| {
                let mut writer = Writer::new(tx)?;
                writer.remove_all(&namespace).map_err(sqlite_error)?;
                writer.finish()
            })
            .await
    }

    /// Forgets the tombstones up to `through`, which every index has passed.
    pub(crate) async fn prune_tombstones(&self, through: Seq) -> Result<()> {
        self.db
            .write(move |tx| {
                let n_pruned = tx
                    .execute(
                        "DELETE FROM tombstones WHERE seq <= ?1",
                        [through.0.cast_signed()],
                    )
                    .map_err(sqlite_error)?;
                if n_pruned == 0 {
                    Ok(())
                } else {
                    set_meta(tx, "tombstone_floor", &through.to_string())
                }
            })
            .await
    }
}

pub(super) fn set_meta(conn: &Connection, key: &str, value: &str) -> Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)",
        [key, value],
    )
    .map(drop)
    .map_err(sqlite_error)
}

struct Writer<'a> {
    conn: &'a Connection,
    last_seq: u64,
}

/// What the store has of an entry that may stay.
struct Old {
    entry: i64,
    kind: String,
    time: Option<i64>,
    tags: String,
}

impl<'a> Writer<'a> {
    fn new(conn: &'a Connection) -> Result<Self> {
        let last_seq = read::number(conn, "last_seq")?;
        Ok(Self { conn, last_seq })
    }

    fn finish(self) -> Result<()> {
        set_meta(self.conn, "last_seq", &self.last_seq.to_string())
    }

    fn next_seq(&mut self) -> i64 {
        self.last_seq += 1;
        self.last_seq.cast_signed()
    }

    fn change(&mut self, namespace: &str, change: &Change) -> Sql<()> {
        match change {
            Change::Put(document) => self.put(namespace, document),
            Change::Remove { doc } => self.remove(*doc),
        }
    }

    fn remove(&mut self, doc: i64) -> Sql<()> {
        let entries = self.old_entries(doc, 0)?;
        self.delete_all(entries)?;
        self.conn
            .prepare_cached("DELETE FROM documents WHERE doc = ?1")?
            .execute([doc])?;
        Ok(())
    }

    fn remove_all(&mut self, namespace: &str) -> Sql<()> {
        let docs: Vec<i64> = self
            .conn
            .prepare("SELECT doc FROM documents WHERE namespace = ?1 ORDER BY doc")?
            .query_map([namespace], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        docs.into_iter().try_for_each(|doc| self.remove(doc))
    }

    fn put(&mut self, namespace: &str, document: &NewDocument) -> Sql<()> {
        let position = document.position.as_ref();
        let doc: i64 = self
            .conn
            .prepare_cached(
                "INSERT INTO documents
                   (namespace, source, path, hash, cut_by, size, mtime_ns, inode, created, time,
                    read_bytes, resume_bytes, resume_lines, resume_mark)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
                 ON CONFLICT (namespace, source, path) DO UPDATE SET
                   hash = excluded.hash, cut_by = excluded.cut_by, size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode,
                   created = excluded.created, time = excluded.time, read_bytes = excluded.read_bytes,
                   resume_bytes = excluded.resume_bytes, resume_lines = excluded.resume_lines, resume_mark = excluded.resume_mark
                 RETURNING doc",
            )?
            .query_row(
                params![
                    namespace,
                    document.source,
                    document.path,
                    document.hash.0,
                    document.cut_by.0,
                    document.stamp.size.cast_signed(),
                    document.stamp.mtime_ns,
                    document.stamp.inode.cast_signed(),
                    document.created.map(|time| time.0),
                    document.time.0,
                    position.map(|position| position.read.cast_signed()),
                    position.map(|position| position.bytes.cast_signed()),
                    position.map(|position| position.lines),
                    position.map(|position| position.mark.0),
                ],
                |row| row.get(0),
            )?;
        let kept_lines = document.kept_lines;
        let mut old = self.old_entries(doc, kept_lines)?;
        let n_kept = if kept_lines > 0 {
            self.n_entries_until(doc, kept_lines)?
        } else {
            0
        };
        for (position, entry) in (n_kept..).zip(&document.entries) {
            match old.remove(&entry.id) {
                Some(old) => self.keep(position, entry, &old)?,
                None => self.insert(doc, position, entry)?,
            }
        }
        self.delete_all(old)
    }

    fn n_entries_until(&self, doc: i64, line: u32) -> Sql<usize> {
        let n: i64 = self
            .conn
            .prepare_cached("SELECT count(*) FROM entries WHERE doc = ?1 AND line_start <= ?2")?
            .query_row(params![doc, line], |row| row.get(0))?;
        Ok(usize::try_from(n).unwrap_or(0))
    }

    /// Returns the entries of a document that begin behind a line.
    fn old_entries(&self, doc: i64, after_line: u32) -> Sql<HashMap<EntryId, Old>> {
        let mut statement = self.conn.prepare_cached(
            "SELECT id, entry, kind, time, tags FROM entries WHERE doc = ?1 AND line_start > ?2",
        )?;
        statement
            .query_map(params![doc, after_line], |row| {
                let old = Old {
                    entry: row.get(1)?,
                    kind: row.get(2)?,
                    time: row.get(3)?,
                    tags: row.get(4)?,
                };
                Ok((EntryId::from_bytes(row.get(0)?), old))
            })?
            .collect()
    }

    /// Its text is the same: it may stand on other lines, and what filters look at may have changed.
    fn keep(&mut self, position: usize, entry: &NewEntry, old: &Old) -> Sql<()> {
        let tags = json(&entry.tags)?;
        let time = entry.time.map(|time| time.0);
        self.conn
            .prepare_cached(
                "UPDATE entries SET position = ?2, line_start = ?3, line_end = ?4 WHERE entry = ?1",
            )?
            .execute(params![
                old.entry,
                position.cast_signed(),
                entry.lines.start,
                entry.lines.end
            ])?;
        if (&old.kind, old.time, &old.tags) != (&entry.kind, time, &tags) {
            let seq = self.next_seq();
            self.conn
                .prepare_cached(
                    "UPDATE entries SET kind = ?2, time = ?3, tags = ?4, seq = ?5 WHERE entry = ?1",
                )?
                .execute(params![old.entry, entry.kind, time, tags, seq])?;
        }
        Ok(())
    }

    fn insert(&mut self, doc: i64, position: usize, entry: &NewEntry) -> Sql<()> {
        let seq = self.next_seq();
        self.conn
            .prepare_cached(
                "INSERT INTO entries
                   (id, doc, position, line_start, line_end, heading_path, kind, time, tags, text, text_seq, seq)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11)",
            )?
            .execute(params![
                entry.id.to_bytes(),
                doc,
                position.cast_signed(),
                entry.lines.start,
                entry.lines.end,
                json(&entry.heading_path)?,
                entry.kind,
                entry.time.map(|time| time.0),
                json(&entry.tags)?,
                entry.text,
                seq,
            ])?;
        Ok(())
    }

    /// In the order of their ids, so that the same change gives the same numbers.
    fn delete_all(&mut self, entries: HashMap<EntryId, Old>) -> Sql<()> {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_unstable_by_key(|(id, _)| *id);
        entries
            .into_iter()
            .try_for_each(|(id, old)| self.delete(id, old.entry))
    }

    fn delete(&mut self, id: EntryId, entry: i64) -> Sql<()> {
        let seq = self.next_seq();
        self.conn
            .prepare_cached("DELETE FROM entries WHERE entry = ?1")?
            .execute([entry])?;
        self.conn
            .prepare_cached("INSERT OR REPLACE INTO tombstones (seq, id) VALUES (?1, ?2)")?
            .execute(params![seq, id.to_bytes()])?;
        Ok(())
    }
}

/// Writes a list of strings as a JSON array.
fn json(strings: &[String]) -> Sql<String> {
    serde_json::to_string(strings).map_err(|err| {
        rusqlite::Error::ToSqlConversionFailure(Box::new(Error::new(
            ErrorKind::Internal,
            err.to_string(),
        )))
    })
}
