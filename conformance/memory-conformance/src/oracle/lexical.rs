use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EntryId, Error, ErrorKind, Fingerprint, Hit, Identity, IndexStats,
    LexicalIndex, LexicalOp, LexicalQuery, OpenContext, Opening, Projection, Result, Seq, StoreId,
    Watermark, parse_config,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::query::{Query, Words, words_of};

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn LexicalIndex> {
    Box::pin(async move {
        parse_config::<Config>(context.config)?;
        let path = context.require_dir()?.join("oracle.json");
        let stored = read(&path)?;
        Ok(Arc::new(OracleIndex {
            path,
            read_only: context.read_only,
            content: Mutex::new(Some(stored)),
        }) as Arc<dyn LexicalIndex>)
    })
}

/// Keeps everything in memory and writes it as a whole when it is flushed.
#[derive(Debug)]
struct OracleIndex {
    path: PathBuf,
    read_only: bool,
    /// `None` after close.
    content: Mutex<Option<Content>>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    store: Option<StoreId>,
    seq: Seq,
    entries: BTreeMap<EntryId, Words>,
}

impl Content {
    fn apply(&mut self, op: &LexicalOp) {
        match op {
            LexicalOp::Put(entry) => {
                let headings = entry.heading_path.iter().map(|heading| words_of(heading));
                let words = headings.chain([words_of(&entry.text)]).collect();
                self.entries.insert(entry.id, words);
            }
            LexicalOp::Delete(id) => {
                self.entries.remove(id);
            }
            // Filters are resolved to ids before they come here.
            _ => {}
        }
    }

    fn words(&self) -> Vec<&Words> {
        self.entries.values().collect()
    }

    fn scores(&self, query: &LexicalQuery<'_>) -> BTreeMap<EntryId, f32> {
        let scores = Query::parse(query.text).scores(&self.words());
        #[expect(clippy::cast_possible_truncation, reason = "a score is below 1000")]
        let scores = scores.into_iter().map(|score| score as f32);
        self.entries.keys().copied().zip(scores).collect()
    }
}

impl OracleIndex {
    fn with<T>(&self, act: impl FnOnce(&mut Content) -> Result<T>) -> Result<T> {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        match content.as_mut() {
            Some(content) => act(content),
            None => Err(Error::new(ErrorKind::Closed, "the index is closed")),
        }
    }

    fn write(&self, content: &Content) -> Result<()> {
        if self.read_only {
            return Ok(());
        }
        let bytes = serde_json::to_vec(content)
            .map_err(|err| Error::new(ErrorKind::Internal, err.to_string()))?;
        write_whole(&self.path, &bytes).map_err(|err| file_error(&self.path, err))
    }
}

impl Identity for OracleIndex {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("oracle-lexical/1".to_owned())
    }
}

#[async_trait]
impl Projection<LexicalOp> for OracleIndex {
    fn capabilities(&self) -> Capabilities {
        super::LEXICAL.capabilities
    }

    async fn apply(&self, batch: &Batch<LexicalOp>) -> Result<()> {
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
            content.store = Some(batch.store);
            let old = content.seq;
            for (_, op) in batch.ops.iter().filter(|(seq, _)| *seq > old) {
                content.apply(op);
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
        self.with(|content| Ok(IndexStats::new(content.entries.len() as u64, None)))
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

#[async_trait]
impl LexicalIndex for OracleIndex {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        let is_allowed = |id| {
            query
                .allowed
                .is_none_or(|allowed| allowed.binary_search(&id).is_ok())
        };
        self.with(|content| {
            let mut hits: Vec<_> = content
                .scores(query)
                .into_iter()
                .filter(|(id, score)| *score > 0.0 && is_allowed(*id))
                .map(|(id, score)| Hit { id, score })
                .collect();
            hits.sort_by(Hit::rank);
            hits.truncate(query.k);
            Ok(hits)
        })
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        self.with(|content| {
            let scores = content.scores(query);
            Ok(ids.iter().map(|id| scores.get(id).copied()).collect())
        })
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        self.with(|content| {
            let sum = Query::parse(query.text).attainable(&content.words());
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a score is far below the limit"
            )]
            let sum = sum as f32;
            Ok(sum)
        })
    }
}

fn read(path: &Path) -> Result<Content> {
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
