//! What both kinds of index have in common: everything is in memory and is written as a whole when it is flushed.

use std::fmt::Debug;
use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, Error, ErrorKind, Fingerprint, Identity, IndexStats, OpenContext,
    Projection, Result, Seq, StoreId, Watermark,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The entries of one kind of index.
pub(super) trait Entries:
    Debug + Default + Send + Serialize + DeserializeOwned + 'static
{
    /// A change of them.
    type Op: Send + Sync + 'static;
    const FINGERPRINT: &'static str;

    fn capabilities() -> Capabilities;

    /// Refuses a change that cannot be applied.
    fn check(&self, op: &Self::Op) -> Result<()>;

    fn apply(&mut self, op: &Self::Op);

    fn count(&self) -> usize;
}

#[derive(Debug)]
pub(super) struct OracleIndex<E> {
    path: PathBuf,
    read_only: bool,
    /// `None` after close.
    content: Mutex<Option<Content<E>>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Content<E> {
    store: Option<StoreId>,
    seq: Seq,
    pub(super) entries: E,
}

impl<E: Entries> OracleIndex<E> {
    /// Reads what is in the folder.
    pub(super) fn open(context: &OpenContext<'_>) -> Result<Self> {
        let path = context.require_dir()?.join("oracle.json");
        let content = read(&path)?;
        Ok(Self {
            path,
            read_only: context.read_only,
            content: Mutex::new(Some(content)),
        })
    }

    pub(super) fn with<T>(&self, act: impl FnOnce(&mut Content<E>) -> Result<T>) -> Result<T> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        match content.as_mut() {
            Some(content) => act(content),
            None => Err(Error::new(ErrorKind::Closed, "the index is closed")),
        }
    }

    fn write(&self, content: &Content<E>) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        let bytes = serde_json::to_vec(content)
            .map_err(|err| Error::new(ErrorKind::Internal, err.to_string()))?;
        write_whole(&self.path, &bytes).map_err(|err| file_error(&self.path, err))
    }
}

impl<E: Entries> Identity for OracleIndex<E> {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(E::FINGERPRINT.to_owned())
    }
}

#[async_trait]
impl<E: Entries> Projection<E::Op> for OracleIndex<E> {
    fn capabilities(&self) -> Capabilities {
        E::capabilities()
    }

    async fn apply(&self, batch: &Batch<E::Op>) -> Result<()> {
        self.with(|content| {
            let invalid = |message: &str| Err(Error::new(ErrorKind::InvalidInput, message));
            if self.read_only {
                return invalid("the index was opened for reading");
            }
            if content.store.is_some_and(|store| store != batch.store) {
                return invalid("the batch comes from another store");
            }
            if !batch.ops.is_sorted_by(|(left, _), (right, _)| left < right) {
                return invalid("the changes are out of order");
            }
            for (_, op) in &batch.ops {
                content.entries.check(op)?;
            }
            content.store = Some(batch.store);
            let old = content.seq;
            for (_, op) in batch.ops.iter().filter(|(seq, _)| *seq > old) {
                content.entries.apply(op);
            }
            content.seq = old.max(batch.through);
            Ok(())
        })
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        self.with(|content| {
            let seq = content.seq;
            Ok(content.store.map(|store| Watermark { store, seq }))
        })
    }

    async fn stats(&self) -> Result<IndexStats> {
        self.with(|content| Ok(IndexStats::new(content.entries.count() as u64, None)))
    }

    async fn flush(&self) -> Result<()> {
        self.with(|content| self.write(content))
    }

    async fn close(&self) -> Result<()> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        content
            .take()
            .map_or(Ok(()), |content| self.write(&content))
    }
}

fn read<E: Entries>(path: &Path) -> Result<Content<E>> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|err| {
            Error::new(ErrorKind::Corrupt, err.to_string())
                .with_context("path", path.display().to_string())
        }),
        Err(err) if err.kind() == IoErrorKind::NotFound => Ok(Content::default()),
        Err(err) => Err(file_error(path, err)),
    }
}

/// Replaces a file, so that it is the old or the new one at any moment. It outlives a killed process; what a power cut leaves is
/// not worth the wait in a test double.
fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let fresh = path.with_extension("new");
    fs::write(&fresh, bytes)?;
    fs::rename(fresh, path)
}

fn file_error(path: &Path, err: std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, err.to_string())
        .with_context("path", path.display().to_string())
        .with_source(err)
}
