use std::fmt;

use async_trait::async_trait;

use crate::{Capabilities, EntryId, Identity, Result, Seq, StoreId};

/// How far an index has followed a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watermark {
    /// The store it follows.
    pub store: StoreId,
    /// Every change up to this one is in the index.
    pub seq: Seq,
}

/// Changes of one store, in order.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Batch<Op> {
    /// The store they come from.
    pub store: StoreId,
    /// The changes, by ascending [`Seq`].
    pub ops: Vec<(Seq, Op)>,
    /// The watermark after the batch; not below the last change's.
    pub through: Seq,
}

impl<Op> Batch<Op> {
    /// Creates a batch that ends at its last change.
    pub fn new(store: StoreId, ops: Vec<(Seq, Op)>) -> Self {
        let through = ops.last().map(|(seq, _)| *seq).unwrap_or_default();
        Self {
            store,
            ops,
            through,
        }
    }

    /// Raises the watermark after the batch, for changes that concern this index in no way.
    pub fn with_through(mut self, through: Seq) -> Self {
        self.through = self.through.max(through);
        self
    }
}

/// One found entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The entry.
    pub id: EntryId,
    /// Finite; higher is better.
    pub score: f32,
}

impl Hit {
    /// The order of results: higher score first, ties by ascending id.
    pub fn rank(&self, other: &Self) -> std::cmp::Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(self.id.cmp(&other.id))
    }
}

/// Counts of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct IndexStats {
    /// Entries a search can return.
    pub n_entries: u64,
    /// Bytes on disk, where the index knows.
    pub bytes: Option<u64>,
}

impl IndexStats {
    /// Creates the counts.
    pub fn new(n_entries: u64, bytes: Option<u64>) -> Self {
        Self { n_entries, bytes }
    }
}

/// An index fed from the store of record; the supertrait of both kinds of index.
///
/// # Contract
///
/// 1. A batch is applied in order; changes at or below the watermark are skipped. \[`model::old_ops_are_skipped`\]
/// 2. Replaying any suffix of what was applied changes nothing. \[`model::replay_is_idempotent`\]
/// 3. A put of a known id replaces the entry whole; a change of filter fields replaces nothing else and adds no entry.
///    \[`model::put_replaces`\] \[`model::set_meta_keeps_the_content`\]
/// 4. A deleted entry is never returned; deleting an unknown id is no error. \[`model::deleted_entry_is_never_returned`\]
/// 5. A batch from another store on an index that has a watermark, or with changes out of order, is refused with
///    [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput); nothing changes. \[`model::another_store_is_refused`\]
///    \[`model::unordered_batch_is_refused`\]
/// 6. After [`flush`](Projection::flush) all that was applied is searchable, counted by [`stats`](Projection::stats) and, with
///    `persistent`, survives a crash. Before it, a search may see any part of what was applied since the last flush.
///    \[`model::flushed_changes_are_searchable`\] \[`model::reopened_index_equals_the_model`\]
/// 7. With `atomic_apply` the content equals the changes up to the watermark at any moment.
///    \[`model::content_equals_the_watermark`\]
/// 8. After [`close`](Projection::close) every call answers [`ErrorKind::Closed`](crate::ErrorKind::Closed); closing twice is
///    no error. \[`model::closed_index_says_so`\]
/// 9. The watermark is never above what was applied nor below what was flushed, and follows a batch without changes.
///    \[`model::watermark_follows_the_store`\]
/// 10. [`capabilities`](Projection::capabilities) has nothing the descriptor does not declare.
///     \[`model::capabilities_are_declared`\]
///
/// All of it holds after any history, with the index closed, dropped and opened again in between.
/// \[`machine::any_history_equals_the_model`\]
#[async_trait]
pub trait Projection<Op: Send + 'static>: Identity + fmt::Debug + Send + Sync {
    /// Returns what this index can do as it was opened; a subset of what its descriptor declares.
    fn capabilities(&self) -> Capabilities;

    /// Applies changes.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for another store or ops out of order; `Unavailable` when the backend is away; `Closed`.
    ///
    /// # Cancellation
    ///
    /// The batch may or may not have been applied; applying it again is always right.
    async fn apply(&self, batch: &Batch<Op>) -> Result<()>;

    /// Returns how far the index has followed its store; `None` before the first batch.
    async fn watermark(&self) -> Result<Option<Watermark>>;

    /// Returns the counts.
    async fn stats(&self) -> Result<IndexStats>;

    /// Makes all that was applied searchable and durable.
    async fn flush(&self) -> Result<()>;

    /// Flushes, stops what the index runs and releases its files.
    async fn close(&self) -> Result<()>;
}
