//! The bare work that the program is held against, in processes of their own: what nobody could leave out.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use memory_sqlite::rusqlite::{self, Connection, OpenFlags, params};

use crate::{Result, USAGE, print};

/// The word that asks this program for bare work.
pub(crate) const NAME: &str = "bare";

/// Files per transaction, as the program takes them.
const BATCH: usize = 256;
/// Hits, as a search for six results wants them of an index.
const K: usize = 24;
/// Results with their text.
const RESULTS: usize = 6;

/// Does one kind of work: `walk DIR`, `insert DIR DATABASE` or `search DATABASE QUESTION`.
pub(crate) fn run(args: &[OsString]) -> Result<bool> {
    match args {
        [what, dir] if what == "walk" => print(&walk(Path::new(dir), &mut |_| Ok(()))?.to_string()),
        [what, dir, database] if what == "insert" => insert(Path::new(dir), Path::new(database))?,
        [what, database, question] if what == "search" => {
            let conn = open(Path::new(database))?;
            for text in search(&conn, &question.to_string_lossy())? {
                print(&text);
            }
        }
        _ => return Err(USAGE.into()),
    }
    Ok(true)
}

/// Lists every folder and looks at every file, and returns how many there are.
fn walk(dir: &Path, each: &mut dyn FnMut(&Path) -> Result<()>) -> Result<u64> {
    let mut n = 0;
    let mut entries = fs::read_dir(dir)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            n += walk(&path, each)?;
        } else if fs::symlink_metadata(&path)?.len() > 0 {
            each(&path)?;
            n += 1;
        }
    }
    Ok(n)
}

/// Reads every file, cuts it at its headings, and writes the pieces into a table and, as words and stems, into an index by FTS5.
fn insert(dir: &Path, database: &Path) -> Result<()> {
    let mut conn = Connection::open(database)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.execute_batch(
        "CREATE TABLE entries (entry INTEGER PRIMARY KEY, path TEXT, line INTEGER, text TEXT);
         CREATE VIRTUAL TABLE words USING fts5 (text, content = '');",
    )?;
    let mut batch: Vec<(String, String)> = Vec::new();
    walk(dir, &mut |path| {
        batch.push((path.display().to_string(), fs::read_to_string(path)?));
        if batch.len() == BATCH {
            write(&mut conn, &batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    write(&mut conn, &batch)
}

fn write(conn: &mut Connection, files: &[(String, String)]) -> Result<()> {
    let tx = conn.transaction()?;
    for (path, text) in files {
        let mut line = 1_i64;
        for stored in pieces(text) {
            tx.prepare_cached("INSERT INTO entries (path, line, text) VALUES (?1, ?2, ?3)")?
                .execute(params![path, line, stored])?;
            let mut words = String::with_capacity(stored.len() * 2);
            memory_text::analyze(stored, &mut |token| {
                words.push_str(token.text);
                words.push(' ');
            });
            tx.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?
                .execute(params![tx.last_insert_rowid(), words])?;
            line += i64::try_from(stored.matches('\n').count())?;
        }
    }
    tx.commit()?;
    Ok(())
}

/// Cuts a text before its headings.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let end = text.find("\n\n#").map_or(text.len(), |end| end + 2);
        let (piece, after) = text.split_at(end);
        rest = (!after.is_empty()).then_some(after);
        Some(piece)
    })
}

/// Opens what [`insert`] wrote.
pub(crate) fn open(database: &Path) -> Result<Connection> {
    Ok(Connection::open_with_flags(
        database,
        OpenFlags::SQLITE_OPEN_READ_ONLY,
    )?)
}

/// Asks for any of the words, in the order of FTS5's own BM25, and returns the texts of the first.
pub(crate) fn search(conn: &Connection, question: &str) -> Result<Vec<String>> {
    let mut words = Vec::new();
    memory_text::analyze(question, &mut |token| {
        words.push(format!("\"{}\"", token.text));
    });
    let ids = conn
        .prepare_cached("SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT ?2")?
        .query_map(params![words.join(" OR "), K.cast_signed()], |row| {
            row.get(0)
        })?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let mut select = conn.prepare_cached("SELECT text FROM entries WHERE entry = ?1")?;
    let texts = ids.iter().take(RESULTS);
    Ok(texts
        .map(|id| select.query_row([id], |row| row.get(0)))
        .collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{insert, open, pieces, search, walk};
    use crate::sync::notes;

    #[test]
    fn the_bare_work_has_as_many_pieces_as_the_program_has_entries() {
        let dir = tempfile::tempdir().unwrap();
        notes::write(dir.path(), 60).unwrap();
        assert_eq!(walk(dir.path(), &mut |_| Ok(())).unwrap(), 60);
        let database = dir.path().join("bare.db");
        insert(&dir.path().join("memory"), &database).unwrap();
        let conn = open(&database).unwrap();
        let n: i64 = conn
            .query_row("SELECT count(*) FROM entries", [], |row| row.get(0))
            .unwrap();
        assert_eq!(n.cast_unsigned(), notes::n_entries(60) as u64);
    }

    #[test]
    fn pieces_begin_with_their_headings_and_lose_nothing() {
        let text = "# One\n\npumps\n\n## Two\n\nvalve\n";
        let cut: Vec<&str> = pieces(text).collect();
        assert_eq!(cut, ["# One\n\npumps\n\n", "## Two\n\nvalve\n"]);
    }

    #[test]
    fn the_bare_search_finds_a_word() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("notes");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("a.md"), "# One\n\npumps\n\n## Two\n\nvalve\n").unwrap();
        let database = dir.path().join("bare.db");
        insert(&folder, &database).unwrap();
        let found = search(&open(&database).unwrap(), "pump").unwrap();
        assert_eq!(found, ["# One\n\npumps\n\n"]);
    }
}
