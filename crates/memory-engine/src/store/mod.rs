//! The store of record: documents, entries and tombstones in SQLite, every change numbered by a [`Seq`].
//!
//! Indexes are fed from here: the changes above an index's watermark are the rows above it, in order.

mod read;
mod schema;
mod vector;
mod write;

use std::path::Path;
use std::sync::Arc;

use memory_api::{
    ContentHash, EntryId, Error, ErrorKind, LineRange, Result, Seq, StoreId, Timestamp,
};
use memory_sqlite::{Database, Options, Synchronous};

use crate::document::Stamp;
use crate::generation::UPDATE;

pub(crate) use vector::{Pending, VectorChange};

/// What SQLite answers, inside a job.
type Sql<T> = memory_sqlite::rusqlite::Result<T>;

/// The file inside a store's folder.
pub(crate) const FILE_NAME: &str = "store.db";

/// The store of record of one workspace. Clones are one store; it is closed for all of them.
#[derive(Debug, Clone)]
pub struct Store {
    db: Arc<Database>,
    id: StoreId,
}

/// An entry as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: EntryId,
    /// Where its document came from.
    pub source: String,
    /// The path of its document.
    pub path: String,
    /// Its lines.
    pub lines: LineRange,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Its kind.
    pub kind: String,
    /// Its time.
    pub time: Option<Timestamp>,
    /// When its document was created.
    pub created: Option<Timestamp>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its text.
    pub text: String,
}

/// How much is in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Documents.
    pub n_documents: u64,
    /// Entries.
    pub n_entries: u64,
}

/// A document as the store knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) doc: i64,
    pub(crate) hash: ContentHash,
    /// What cut it: the hash of the chunkers' fingerprints.
    pub(crate) cut_by: ContentHash,
    pub(crate) stamp: Stamp,
    /// Where a file that grew has to be read on; `None` where it is read as a whole.
    pub(crate) position: Option<Position>,
}

/// How far a file was read that only grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The bytes it had.
    pub(crate) read: u64,
    /// The bytes before the place from which it has to be cut again.
    pub(crate) bytes: u64,
    /// The lines before that place.
    pub(crate) lines: u32,
    /// The hash of what stands at the beginning and right before that place.
    pub(crate) mark: ContentHash,
}

/// A document to store, in place of what was known of it.
#[derive(Debug)]
pub(crate) struct NewDocument {
    pub(crate) source: String,
    pub(crate) path: String,
    pub(crate) hash: ContentHash,
    pub(crate) cut_by: ContentHash,
    pub(crate) stamp: Stamp,
    pub(crate) created: Option<Timestamp>,
    pub(crate) time: Timestamp,
    pub(crate) position: Option<Position>,
    /// Entries that begin on one of so many first lines stay as they are; `entries` are those behind.
    pub(crate) kept_lines: u32,
    /// For the report; not stored.
    pub(crate) warnings: Vec<String>,
    pub(crate) entries: Vec<NewEntry>,
}

/// An entry to store.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) id: EntryId,
    pub(crate) lines: LineRange,
    pub(crate) heading_path: Vec<String>,
    pub(crate) kind: String,
    pub(crate) time: Option<Timestamp>,
    pub(crate) tags: Vec<String>,
    pub(crate) text: String,
}

/// A change of one document.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all changes are of the large kind, and few of them wait at once"
)]
pub(crate) enum Change {
    /// Its content is new, or its file looks otherwise.
    Put(NewDocument),
    /// It is gone.
    Remove { doc: i64 },
}

impl Store {
    /// Creates an empty store in an existing, empty folder.
    pub(crate) async fn create(dir: &Path, id: StoreId) -> Result<Self> {
        let db = Database::open(dir.join(FILE_NAME), options(false)).await?;
        db.write(move |tx| write::set_meta(tx, "store", &id.to_string()))
            .await?;
        Ok(Self {
            db: Arc::new(db),
            id,
        })
    }

    /// Copies this store into an existing, empty folder, under an id of its own.
    pub(crate) async fn copy(&self, dir: &Path, id: StoreId) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        self.db.copy_to(&path).await?;
        let db = Database::open(path, options(false)).await?;
        db.write(move |tx| write::set_meta(tx, "store", &id.to_string()))
            .await?;
        Ok(Self {
            db: Arc::new(db),
            id,
        })
    }

    /// Opens the store that the manifest names.
    pub(crate) async fn open(dir: &Path, id: StoreId, read_only: bool) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        if !path.is_file() {
            return Err(damaged(format!("`{}` is missing", path.display())));
        }
        if is_absent(dir) {
            return Err(damaged(format!("`{}` is empty", path.display())));
        }
        let db = Database::open(path.clone(), options(read_only))
            .await
            .map_err(|err| match err.kind() {
                ErrorKind::Unsupported => err.with_hint(UPDATE),
                _ => err,
            })?;
        let found = db.read(|conn| read::meta(conn, "store")).await?;
        if found.as_deref() == Some(id.to_string().as_str()) {
            Ok(Self {
                db: Arc::new(db),
                id,
            })
        } else {
            Err(damaged(format!(
                "`{}` is not the store that the manifest names",
                path.display()
            ))
            .with_context("path", path.display().to_string()))
        }
    }

    /// Returns the id.
    pub fn id(&self) -> StoreId {
        self.id
    }

    /// Returns the number of the last change.
    pub async fn last_seq(&self) -> Result<Seq> {
        self.db
            .read(|conn| read::number(conn, "last_seq"))
            .await
            .map(Seq)
    }

    /// Returns the highest change whose tombstone may be gone. An index that is below it has to be rebuilt.
    pub async fn tombstone_floor(&self) -> Result<Seq> {
        self.db
            .read(|conn| read::number(conn, "tombstone_floor"))
            .await
            .map(Seq)
    }

    /// Returns the counts of a namespace.
    pub async fn counts(&self, namespace: String) -> Result<Counts> {
        self.db
            .read(move |conn| read::counts(conn, &namespace))
            .await
    }

    /// Returns whether there is no entry in any namespace.
    pub(crate) async fn is_empty(&self) -> Result<bool> {
        self.db.read(read::is_empty).await
    }

    /// Returns the entries of these ids, in the order of `ids`; `None` for an id that is not in the namespace.
    pub async fn entries(
        &self,
        namespace: String,
        ids: Vec<EntryId>,
    ) -> Result<Vec<Option<Entry>>> {
        self.db
            .read(move |conn| read::entries(conn, &namespace, &ids))
            .await
    }

    /// Returns what is wrong with the file, if anything is.
    pub(crate) async fn damage(&self) -> Result<Option<String>> {
        self.db.damage().await
    }

    /// Returns the ids above `after` of every namespace, ascending, at most `limit`; `with_vector` leaves out what has none.
    pub(crate) async fn entry_ids(
        &self,
        after: Option<EntryId>,
        with_vector: bool,
        limit: usize,
    ) -> Result<Vec<EntryId>> {
        self.db
            .read(move |conn| read::entry_ids(conn, after, with_vector, limit))
            .await
    }

    /// Closes the database.
    pub async fn close(&self) {
        self.db.close().await;
    }

    pub(crate) async fn meta(&self, key: String) -> Result<Option<String>> {
        self.db.read(move |conn| read::meta(conn, &key)).await
    }

    /// Keeps a value; one that is kept already costs no write.
    pub(crate) async fn set_meta(&self, key: String, value: String) -> Result<()> {
        if self.meta(key.clone()).await?.as_ref() == Some(&value) {
            return Ok(());
        }
        self.db
            .write(move |tx| write::set_meta(tx, &key, &value))
            .await
    }
}

/// Returns whether a folder lacks a store's file, or has an empty one.
pub(crate) fn is_absent(dir: &Path) -> bool {
    match std::fs::metadata(dir.join(FILE_NAME)) {
        Ok(file) => file.is_file() && file.len() == 0,
        Err(err) => err.kind() == std::io::ErrorKind::NotFound,
    }
}

fn options(read_only: bool) -> Options {
    // An index may hold a change only when the store is sure to hold it, also after a crash of the machine.
    Options::new(schema::APPLICATION_ID, schema::MIGRATIONS)
        .with_synchronous(Synchronous::Full)
        .with_read_only(read_only)
}

fn damaged(message: String) -> Error {
    Error::new(ErrorKind::Corrupt, message)
        .with_hint("run `memory index --force` to build the index anew from your files")
}
