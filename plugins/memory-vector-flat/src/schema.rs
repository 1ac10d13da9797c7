//! What is on disk.

use memory_api::{EmbeddingSpace, Error, ErrorKind, Result, Seq, Watermark};
use memory_sqlite::projection::{damaged, read_state, watermark_of, watermark_values};
use memory_sqlite::rusqlite::{Connection, params};
use memory_sqlite::{Options, sqlite_error};

/// Marks our files: `mvfl`.
const APPLICATION_ID: i32 = 0x6d76_666c;

/// Part of the fingerprint: an index of another version is built anew.
pub(crate) const SCHEMA_VERSION: usize = MIGRATIONS.len();

/// `state` has one row. A row number of `vectors` is never used twice and a replaced vector gets a new one, so what comes after
/// the last row that a reader knows is all that is new. The index over `id` holds every id: it tells which entries are gone
/// without a look at their vectors.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        store BLOB,
        seq INTEGER NOT NULL DEFAULT 0,
        space TEXT,
        n_entries INTEGER NOT NULL DEFAULT 0,
        last_row INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO state (id) VALUES (1);
    CREATE TABLE vectors (
        row INTEGER PRIMARY KEY,
        id BLOB NOT NULL UNIQUE,
        vector BLOB NOT NULL
    ) STRICT;
"];

pub(crate) fn options(read_only: bool) -> Options {
    Options::new(APPLICATION_ID, MIGRATIONS).with_read_only(read_only)
}

/// The row of `state` without its space, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) watermark: Option<Watermark>,
    pub(crate) n_entries: i64,
    pub(crate) last_row: i64,
}

impl State {
    pub(crate) fn read(conn: &Connection) -> Result<Self> {
        let select = "SELECT store, seq, n_entries, last_row FROM state";
        read_state(conn, select, |row| {
            Ok(Self {
                watermark: watermark_of(row)?,
                n_entries: row.get("n_entries")?,
                last_row: row.get("last_row")?,
            })
        })
    }

    pub(crate) fn write(&self, conn: &Connection) -> Result<()> {
        let (store, seq) = watermark_values(self.watermark);
        conn.execute(
            "UPDATE state SET store = ?1, seq = ?2, n_entries = ?3, last_row = ?4",
            params![store, seq, self.n_entries, self.last_row],
        )
        .map_err(sqlite_error)?;
        Ok(())
    }

    /// Returns the last change that the index has; 0 before the first batch.
    pub(crate) fn seq(&self) -> Seq {
        self.watermark.map_or(Seq(0), |watermark| watermark.seq)
    }
}

/// Returns whether the index is bound to the space; `false` when it is bound to none yet.
pub(crate) fn is_bound(conn: &Connection, configured: &EmbeddingSpace) -> Result<bool> {
    let stored: Option<String> = read_state(conn, "SELECT space FROM state", |row| row.get(0))?;
    let Some(stored) = stored else {
        let is_empty = conn
            .query_row("SELECT NOT EXISTS (SELECT 1 FROM vectors)", [], |row| {
                row.get(0)
            })
            .map_err(sqlite_error)?;
        return if is_empty {
            Ok(false)
        } else {
            Err(damaged("the index has lost its space"))
        };
    };
    let stored: EmbeddingSpace = serde_json::from_str(&stored)
        .map_err(|err| damaged("the index has lost its space").with_source(err))?;
    let EmbeddingSpace {
        id,
        dimensions,
        metric,
        ..
    } = &stored;
    if *id == configured.id && *dimensions == configured.dimensions && *metric == configured.metric
    {
        return Ok(true);
    }
    let message = format!(
        "the index holds vectors of another space: stored `{id}` with {dimensions} numbers, configured `{}` with {}",
        configured.id, configured.dimensions
    );
    Err(Error::new(ErrorKind::InvalidInput, message)
        .with_hint("build the index anew for the configured embedder, or configure the stored one"))
}

/// Binds an index that is bound to no space yet.
pub(crate) fn bind(conn: &Connection, space: &EmbeddingSpace) -> Result<()> {
    // Again, under the lock: another process may have been faster.
    if is_bound(conn, space)? {
        return Ok(());
    }
    let space = serde_json::to_string(space).map_err(|err| {
        Error::new(ErrorKind::Internal, "the space cannot be written as JSON").with_source(err)
    })?;
    conn.execute("UPDATE state SET space = ?1", [space])
        .map_err(sqlite_error)?;
    Ok(())
}
