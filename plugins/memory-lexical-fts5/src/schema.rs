//! What is on disk.

use memory_api::{EntryId, Result, Watermark};
use memory_sqlite::projection::{damaged, read_state, watermark_of, watermark_values};
use memory_sqlite::rusqlite::{Connection, OptionalExtension as _, params};
use memory_sqlite::{Options, fts5, sqlite_error};

use crate::bm25::{self, Ranker};
use crate::tokens;

/// Marks our files: `mft5`.
const APPLICATION_ID: i32 = 0x6d66_7435;

/// Part of the fingerprint: an index of another version is built anew.
pub(crate) const SCHEMA_VERSION: usize = MIGRATIONS.len();

/// `state` has one row. `entries` keeps no text (`content = ''`): the store has it. A row number is never used twice, so a
/// replaced entry gets a new one and FTS5 can append.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        store BLOB,
        seq INTEGER NOT NULL DEFAULT 0,
        n_entries INTEGER NOT NULL DEFAULT 0,
        n_words INTEGER NOT NULL DEFAULT 0,
        last_row INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO state (id) VALUES (1);
    CREATE TABLE ids (
        row INTEGER PRIMARY KEY,
        id BLOB NOT NULL UNIQUE,
        n_words INTEGER NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE entries USING fts5 (
        text, headings, path,
        content = '', contentless_delete = 1, tokenize = 'memory_tokens'
    );
"];

/// Columns of `entries`.
pub(crate) const TEXT: usize = 0;
pub(crate) const HEADINGS: usize = 1;

pub(crate) fn options(read_only: bool) -> Options {
    Options::new(APPLICATION_ID, MIGRATIONS)
        .with_read_only(read_only)
        .with_on_connect(|conn| {
            fts5::create_tokenizer(conn, tokens::TOKENIZER, tokens::tokenize)?;
            fts5::create_function(conn, bm25::FUNCTION, Ranker::score)
        })
}

/// The row of `state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) watermark: Option<Watermark>,
    pub(crate) n_entries: i64,
    /// Positions of all texts together.
    pub(crate) n_words: i64,
    pub(crate) last_row: i64,
}

impl State {
    pub(crate) fn read(conn: &Connection) -> Result<Self> {
        let select = "SELECT store, seq, n_entries, n_words, last_row FROM state";
        read_state(conn, select, |row| {
            Ok(Self {
                watermark: watermark_of(row)?,
                n_entries: row.get("n_entries")?,
                n_words: row.get("n_words")?,
                last_row: row.get("last_row")?,
            })
        })
    }

    pub(crate) fn write(&self, conn: &Connection) -> Result<()> {
        let (store, seq) = watermark_values(self.watermark);
        conn.execute(
            "UPDATE state SET store = ?1, seq = ?2, n_entries = ?3, n_words = ?4, last_row = ?5",
            params![store, seq, self.n_entries, self.n_words, self.last_row],
        )
        .map_err(sqlite_error)?;
        Ok(())
    }
}

/// Returns the row of an entry.
pub(crate) fn row_of(conn: &Connection, id: EntryId) -> Result<Option<i64>> {
    conn.prepare_cached("SELECT row FROM ids WHERE id = ?1")
        .and_then(|mut select| {
            select
                .query_row([id.to_bytes()], |row| row.get(0))
                .optional()
        })
        .map_err(sqlite_error)
}

/// Returns the entry of a row.
pub(crate) fn id_of(conn: &Connection, row: i64) -> Result<EntryId> {
    conn.prepare_cached("SELECT id FROM ids WHERE row = ?1")
        .and_then(|mut select| select.query_row([row], |row| row.get(0)))
        .map(EntryId::from_bytes)
        .map_err(|err| damaged("a row of the index has no entry").with_source(err))
}
