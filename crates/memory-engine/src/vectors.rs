//! `vectors.db`: every vector that was ever computed, by space, role and content hash. The truth for vectors and the cache in one:
//! a rebuild embeds nothing twice, and a question asked again needs no model.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use memory_api::{ContentHash, EmbeddingSpace, Error, Result, Role, Timestamp};
use memory_sqlite::rusqlite::{self, Connection, OptionalExtension as _, params};
use memory_sqlite::{Database, Options, Synchronous, sqlite_error};

use crate::aside;

/// The file inside a state folder.
pub(crate) const FILE_NAME: &str = "vectors.db";
/// "MEMV" in ASCII.
const APPLICATION_ID: i32 = 0x4d45_4d56;
/// One step per format version; a step is never changed once it was released.
const MIGRATIONS: &[&str] = &["
CREATE TABLE spaces (
    space      INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (id, dimensions)
);

-- role: 0 what is stored, 1 what was asked. key: the hash of the text. vector: f32, little-endian. used: milliseconds since 1970.
CREATE TABLE vectors (
    vector_id INTEGER PRIMARY KEY,
    space     INTEGER NOT NULL REFERENCES spaces (space),
    role      INTEGER NOT NULL,
    key       BLOB    NOT NULL,
    vector    BLOB    NOT NULL,
    used      INTEGER NOT NULL,
    UNIQUE (space, role, key)
);
CREATE INDEX vectors_by_use ON vectors (used);
"];
/// A use is written down when the last one is this long ago: a search should not write each time.
const USE_STEP_MS: i64 = 24 * 60 * 60 * 1_000;

/// The vectors of a state folder.
#[derive(Debug)]
pub(crate) struct Vectors {
    db: Database,
}

/// A vector that was computed before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Known {
    pub(crate) vector: Vec<f32>,
    used: Timestamp,
}

impl Known {
    /// Returns whether its last use was written down so long ago that this one should be.
    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        self.used.0 < now.0.saturating_sub(USE_STEP_MS)
    }
}

impl Vectors {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    ///
    /// `Corrupt` for a file that is damaged or another program's, `Unsupported` for a newer one.
    pub(crate) async fn open(state_dir: &Path, read_only: bool) -> Result<Self> {
        let options = Options::new(APPLICATION_ID, MIGRATIONS).with_read_only(read_only);
        let db = Database::open(path(state_dir), options).await?;
        Ok(Self { db })
    }

    /// Opens the file for a sync, or makes it: what is put survives a crash of the machine, since the store is told of it next,
    /// and the store remembers.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub(crate) async fn open_for_sync(state_dir: &Path) -> Result<Self> {
        let options = Options::new(APPLICATION_ID, MIGRATIONS).with_synchronous(Synchronous::Full);
        let db = Database::open(path(state_dir), options).await?;
        Ok(Self { db })
    }

    /// Returns the vectors of these keys, in their order; `None` for one that is not there.
    pub(crate) async fn get(
        &self,
        space: &EmbeddingSpace,
        role: Role,
        keys: Vec<ContentHash>,
    ) -> Result<Vec<Option<Known>>> {
        let space = space.clone();
        self.db
            .read(move |conn| get(conn, &space, role, &keys).map_err(sqlite_error))
            .await
    }

    /// Keeps vectors.
    pub(crate) async fn put(
        &self,
        space: &EmbeddingSpace,
        role: Role,
        rows: Vec<(ContentHash, Vec<f32>)>,
        now: Timestamp,
    ) -> Result<()> {
        let space = space.clone();
        self.db
            .write(move |tx| put(tx, &space, role, &rows, now).map_err(sqlite_error))
            .await
    }

    /// Writes down that these are in use now.
    pub(crate) async fn touch(
        &self,
        space: &EmbeddingSpace,
        role: Role,
        keys: Vec<ContentHash>,
        now: Timestamp,
    ) -> Result<()> {
        let space = space.clone();
        self.db
            .write(move |tx| {
                let touch = || -> rusqlite::Result<()> {
                    let Some(space) = space_number(tx, &space)? else {
                        return Ok(());
                    };
                    let mut statement = tx.prepare_cached(
                        "UPDATE vectors SET used = max(used, ?4) WHERE space = ?1 AND role = ?2 AND key = ?3",
                    )?;
                    for key in &keys {
                        statement.execute(params![space, number(role), key.0, now.0])?;
                    }
                    Ok(())
                };
                touch().map_err(sqlite_error)
            })
            .await
    }

    /// Removes the least recently used vectors until `max_entries` are left; what is `needed` of one space stays in any case.
    pub(crate) async fn evict(
        &self,
        space: &EmbeddingSpace,
        needed: HashSet<(Role, ContentHash)>,
        max_entries: u64,
    ) -> Result<u64> {
        let space = space.clone();
        self.db
            .write(move |tx| evict(tx, &space, &needed, max_entries).map_err(sqlite_error))
            .await
    }

    /// Returns what is wrong with the file, if anything is.
    pub(crate) async fn damage(&self) -> Result<Option<String>> {
        self.db.damage().await
    }

    /// Makes what was put survive a crash of the machine.
    pub(crate) async fn flush(&self) -> Result<()> {
        self.db.flush().await
    }

    pub(crate) async fn close(&self) {
        self.db.close().await;
    }
}

/// Returns where the file of a state folder lies.
pub(crate) fn path(state_dir: &Path) -> PathBuf {
    state_dir.join(FILE_NAME)
}

/// Returns whether an error is about the file of this state folder.
pub(crate) fn is_in(state_dir: &Path, err: &Error) -> bool {
    err.context("path") == Some(path(state_dir).display().to_string().as_str())
}

/// Gives a damaged file another name, so that a new one can be made, and says so in one line.
pub(crate) fn set_aside(state_dir: &Path, damage: &Error) -> Result<String> {
    let name = aside::rename(state_dir, FILE_NAME)?;
    Ok(format!(
        "`{FILE_NAME}`: {}; it is kept as `{name}`, and vectors are computed anew",
        damage.message()
    ))
}

fn number(role: Role) -> i64 {
    match role {
        Role::Document => 0,
        Role::Query => 1,
    }
}

fn role(number: i64) -> Role {
    if number == 0 {
        Role::Document
    } else {
        Role::Query
    }
}

fn space_number(conn: &Connection, space: &EmbeddingSpace) -> rusqlite::Result<Option<i64>> {
    conn.prepare_cached("SELECT space FROM spaces WHERE id = ?1 AND dimensions = ?2")?
        .query_row(params![space.id, space.dimensions.cast_signed()], |row| {
            row.get(0)
        })
        .optional()
}

fn get(
    conn: &Connection,
    space: &EmbeddingSpace,
    role: Role,
    keys: &[ContentHash],
) -> rusqlite::Result<Vec<Option<Known>>> {
    let Some(number_of_space) = space_number(conn, space)? else {
        return Ok(vec![None; keys.len()]);
    };
    let mut statement = conn.prepare_cached(
        "SELECT vector, used FROM vectors WHERE space = ?1 AND role = ?2 AND key = ?3",
    )?;
    keys.iter()
        .map(|key| {
            let known = statement
                .query_row(params![number_of_space, number(role), key.0], |row| {
                    Ok(Known {
                        vector: decode(row.get_ref(0)?.as_blob()?),
                        used: Timestamp(row.get(1)?),
                    })
                })
                .optional()?;
            // A row that is no vector of the space is as good as none: it is computed again.
            Ok(known.filter(|known| {
                known.vector.len() == space.dimensions
                    && known.vector.iter().all(|number| number.is_finite())
            }))
        })
        .collect()
}

fn put(
    conn: &Connection,
    space: &EmbeddingSpace,
    role: Role,
    rows: &[(ContentHash, Vec<f32>)],
    now: Timestamp,
) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT INTO spaces (id, dimensions) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
        params![space.id, space.dimensions.cast_signed()],
    )?;
    let Some(space) = space_number(conn, space)? else {
        return Err(rusqlite::Error::QueryReturnedNoRows);
    };
    let mut statement = conn.prepare_cached(
        "INSERT INTO vectors (space, role, key, vector, used) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (space, role, key) DO UPDATE SET vector = excluded.vector, used = excluded.used",
    )?;
    for (key, vector) in rows {
        statement.execute(params![space, number(role), key.0, encode(vector), now.0])?;
    }
    Ok(())
}

fn evict(
    conn: &Connection,
    space: &EmbeddingSpace,
    needed: &HashSet<(Role, ContentHash)>,
    max_entries: u64,
) -> rusqlite::Result<u64> {
    let n_rows: i64 = conn.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))?;
    let mut excess = n_rows.unsigned_abs().saturating_sub(max_entries);
    if excess == 0 {
        return Ok(0);
    }
    let space = space_number(conn, space)?;
    let mut removed = 0;
    let mut statement =
        conn.prepare("SELECT vector_id, space, role, key FROM vectors ORDER BY used, vector_id")?;
    let mut rows = statement.query([])?;
    let mut victims = Vec::new();
    while let Some(row) = rows.next()? {
        if excess == 0 {
            break;
        }
        let in_use = space == Some(row.get(1)?);
        let name = (role(row.get(2)?), ContentHash(row.get(3)?));
        if !in_use || !needed.contains(&name) {
            victims.push(row.get::<_, i64>(0)?);
            excess -= 1;
        }
    }
    let mut delete = conn.prepare("DELETE FROM vectors WHERE vector_id = ?1")?;
    for victim in victims {
        removed += delete.execute([victim])? as u64;
    }
    Ok(removed)
}

fn encode(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// A tail of less than four bytes is dropped; the length is checked by the caller.
fn decode(blob: &[u8]) -> Vec<f32> {
    blob.chunks_exact(4)
        .filter_map(|bytes| bytes.try_into().ok())
        .map(f32::from_le_bytes)
        .collect()
}
