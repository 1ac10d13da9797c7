//! What is on disk.

use memory_api::{EmbeddingSpace, EntryId, Error, ErrorKind, Result, Watermark};
use memory_sqlite::projection::{damaged, read_state, watermark_of, watermark_values};
use memory_sqlite::rusqlite::{self, Connection, OptionalExtension as _, params, vtab::array};
use memory_sqlite::{Options, sqlite_error};

use crate::extension;

/// Marks our files: `mvsv`.
const APPLICATION_ID: i32 = 0x6d76_7376;

/// Part of the fingerprint: an index of another version is built anew.
pub(crate) const SCHEMA_VERSION: usize = MIGRATIONS.len();

/// `state` has one row. `entries` gives each entry the row of its vector. The table of vectors is made by [`bind`], which knows
/// their dimensions.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        store BLOB,
        seq INTEGER NOT NULL DEFAULT 0,
        space TEXT,
        n_entries INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO state (id) VALUES (1);
    CREATE TABLE entries (
        row INTEGER PRIMARY KEY,
        id BLOB NOT NULL UNIQUE
    ) STRICT;
"];

/// How many vectors sqlite-vec keeps in one blob. It writes a blob at its full size for the first vector, and picks the best of
/// each blob in a time that grows with this number times `k`.
const CHUNK_SIZE: usize = 256;

pub(crate) fn options(read_only: bool) -> Options {
    Options::new(APPLICATION_ID, MIGRATIONS)
        .with_read_only(read_only)
        .with_on_connect(|conn| {
            array::load_module(conn).map_err(sqlite_error)?;
            extension::register(conn)
        })
}

/// The row of `state` without its space, which never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) watermark: Option<Watermark>,
    pub(crate) n_entries: i64,
}

impl State {
    pub(crate) fn read(conn: &Connection) -> Result<Self> {
        let select = "SELECT store, seq, n_entries FROM state";
        read_state(conn, select, |row| {
            Ok(Self {
                watermark: watermark_of(row)?,
                n_entries: row.get("n_entries")?,
            })
        })
    }

    pub(crate) fn write(&self, conn: &Connection) -> Result<()> {
        let (store, seq) = watermark_values(self.watermark);
        conn.execute(
            "UPDATE state SET store = ?1, seq = ?2, n_entries = ?3",
            params![store, seq, self.n_entries],
        )
        .map_err(sqlite_error)?;
        Ok(())
    }

    /// Returns how many entries there are.
    pub(crate) fn count(&self) -> Result<usize> {
        usize::try_from(self.n_entries)
            .map_err(|_| damaged("the index has lost the number of its entries"))
    }
}

/// Refuses an index with other vectors than it counted.
pub(crate) fn check_count(conn: &Connection) -> Result<()> {
    let (n_ids, n_vectors): (i64, i64) = conn
        .query_row(
            "SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM vectors)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(vec0_error)?;
    let n_entries = State::read(conn)?.n_entries;
    if n_ids == n_entries && n_vectors == n_entries {
        return Ok(());
    }
    Err(damaged(format!(
        "the index has {n_ids} entries and {n_vectors} vectors where it counted {n_entries}"
    )))
}

/// Returns whether the index is bound to the space; `false` when it is bound to none yet.
pub(crate) fn is_bound(conn: &Connection, configured: &EmbeddingSpace) -> Result<bool> {
    let stored: Option<String> = read_state(conn, "SELECT space FROM state", |row| row.get(0))?;
    let Some(stored) = stored else {
        let is_empty = conn
            .query_row(
                "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'vectors')",
                [],
                |row| row.get(0),
            )
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

/// Binds an index that is bound to no space yet, and makes its table of vectors.
pub(crate) fn bind(conn: &Connection, space: &EmbeddingSpace) -> Result<()> {
    let table = format!(
        "CREATE VIRTUAL TABLE vectors USING vec0(
            vector float[{}] distance_metric=cosine, chunk_size={CHUNK_SIZE}
        )",
        space.dimensions
    );
    // Again, under the lock: another process may have been faster.
    if is_bound(conn, space)? {
        return Ok(());
    }
    let space = serde_json::to_string(space).map_err(|err| {
        Error::new(ErrorKind::Internal, "the space cannot be written as JSON").with_source(err)
    })?;
    conn.execute("UPDATE state SET space = ?1", [space])
        .map_err(sqlite_error)?;
    conn.execute_batch(&table).map_err(sqlite_error)
}

/// Returns the row of an entry's vector.
pub(crate) fn row_of(conn: &Connection, id: EntryId) -> Result<Option<i64>> {
    conn.prepare_cached("SELECT row FROM entries WHERE id = ?1")
        .and_then(|mut select| {
            select
                .query_row([id.to_bytes()], |row| row.get(0))
                .optional()
        })
        .map_err(sqlite_error)
}

/// Returns the entry of a row.
pub(crate) fn id_of(conn: &Connection, row: i64) -> Result<EntryId> {
    conn.prepare_cached("SELECT id FROM entries WHERE row = ?1")
        .and_then(|mut select| select.query_row([row], |row| row.get(0)))
        .map(EntryId::from_bytes)
        .map_err(|err| damaged("a vector of the index has no entry").with_source(err))
}

/// Turns an error of a statement on the table of vectors into ours. The statements are ours and their values checked, so what
/// sqlite-vec calls an error, without a code of its own, is a table that is not as it left it.
pub(crate) fn vec0_error(err: rusqlite::Error) -> Error {
    let ours = sqlite_error(err);
    match ours.kind() {
        ErrorKind::Internal | ErrorKind::NotFound => {
            damaged("the table of vectors is damaged").with_source(ours)
        }
        _ => ours,
    }
}
