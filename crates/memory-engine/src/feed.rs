//! Brings an index up to its store.

use std::collections::HashSet;

use memory_api::{
    Batch, EntryId, LexicalOp, Limits, Projection, Result, Role, Seq, VectorOp, Watermark,
};

use crate::background::Background;
use crate::embedding::is_zero;
use crate::failpoint::{batch_size, step};
use crate::store::{Store, VectorChange};
use crate::vectors::Vectors;

/// Changes per batch.
const PAGE: usize = batch_size(1_000, 11);

/// How an index stands to its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It follows the store and lacks this many changes.
    Behind(u64),
    /// It follows another store, or lacks changes that are forgotten: only a rebuild helps.
    Lost,
}

/// Changes in order.
#[derive(Debug)]
pub(crate) struct Page<Op> {
    ops: Vec<(Seq, Op)>,
    /// Every change up to this one is in the page, or was in an earlier one.
    through: Seq,
    is_last: bool,
}

/// Where the changes of one kind of index come from.
pub(crate) trait Source<Op> {
    /// Returns the store.
    fn store(&self) -> &Store;

    /// Counts the changes above `after`.
    async fn n_changes(&self, after: Seq) -> Result<u64>;

    /// Returns at most `limit` changes above `after`.
    async fn page(&self, after: Seq, limit: usize) -> Result<Page<Op>>;
}

/// The changes for an index by words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<'a>(pub(crate) &'a Store);

impl Source<LexicalOp> for Words<'_> {
    fn store(&self) -> &Store {
        self.0
    }

    async fn n_changes(&self, after: Seq) -> Result<u64> {
        self.0.n_lexical_changes(after).await
    }

    async fn page(&self, after: Seq, limit: usize) -> Result<Page<LexicalOp>> {
        let ops = self.0.lexical_ops(after, limit).await?;
        Ok(Page {
            through: ops.last().map_or(after, |(seq, _)| *seq),
            is_last: ops.len() < limit,
            ops,
        })
    }
}

/// The changes for an index by meaning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meaning<'a> {
    pub(crate) store: &'a Store,
    pub(crate) vectors: &'a Vectors,
    pub(crate) background: &'a Background,
}

impl Source<VectorOp> for Meaning<'_> {
    fn store(&self) -> &Store {
        self.store
    }

    async fn n_changes(&self, after: Seq) -> Result<u64> {
        self.store.n_vector_changes(after).await
    }

    /// A vector that `vectors.db` lost leaves its entry pending, and the page without it.
    async fn page(&self, after: Seq, limit: usize) -> Result<Page<VectorOp>> {
        let (page, lost) = self.look_up(after, limit).await?;
        if !lost.is_empty() {
            self.store.set_pending(lost, None).await?;
        }
        Ok(page)
    }
}

impl Meaning<'_> {
    /// Returns the entries that have a vector but no place in an index, since it points nowhere. Ids that no entry has any more may
    /// be among them.
    pub(crate) async fn without_direction(&self) -> Result<HashSet<EntryId>> {
        let mut without = HashSet::new();
        let mut after = Seq(0);
        loop {
            let (page, _) = self.look_up(after, PAGE).await?;
            after = page.through;
            for (_, op) in page.ops {
                match op {
                    VectorOp::Put(id, ..) => without.remove(&id),
                    VectorOp::Delete(id) => without.insert(id),
                    _ => false,
                };
            }
            if page.is_last {
                return Ok(without);
            }
        }
    }

    /// Returns a page of changes, and the entries whose vector is lost.
    async fn look_up(&self, after: Seq, limit: usize) -> Result<(Page<VectorOp>, Vec<i64>)> {
        let changes = self.store.vector_changes(after, limit).await?;
        let keys = changes
            .iter()
            .filter_map(|(_, change)| match change {
                VectorChange::Put { key, .. } => Some(*key),
                _ => None,
            })
            .collect();
        let mut found = self
            .vectors
            .get(&self.background.space, Role::Document, keys)
            .await?
            .into_iter();
        let through = changes.last().map_or(after, |(seq, _)| *seq);
        let is_last = changes.len() < limit;
        let mut ops = Vec::with_capacity(changes.len());
        let mut lost = Vec::new();
        for (seq, change) in changes {
            let op = match change {
                VectorChange::Put {
                    entry,
                    id,
                    text,
                    fields,
                    ..
                } => {
                    let Some(known) = found.next().flatten() else {
                        lost.push(entry);
                        continue;
                    };
                    let vector = self
                        .background
                        .centred(&text, Role::Document, &known.vector);
                    // What points nowhere is taken by no index.
                    if is_zero(&vector) {
                        VectorOp::Delete(id)
                    } else {
                        VectorOp::Put(id, vector, fields)
                    }
                }
                VectorChange::SetMeta(id, fields) => VectorOp::SetMeta(id, fields),
                VectorChange::Delete(id) => VectorOp::Delete(id),
            };
            ops.push((seq, op));
        }
        let page = Page {
            ops,
            through,
            is_last,
        };
        Ok((page, lost))
    }
}

/// Compares an index's watermark with its store.
pub(crate) async fn standing<Op: Send + 'static>(
    source: &impl Source<Op>,
    index: &dyn Projection<Op>,
) -> Result<Standing> {
    let store = source.store();
    let watermark = index.watermark().await?;
    if is_lost(store, watermark).await? {
        return Ok(Standing::Lost);
    }
    let seq = watermark.map_or(Seq(0), |watermark| watermark.seq);
    source.n_changes(seq).await.map(Standing::Behind)
}

/// Returns whether an index with this watermark follows another store, or one that went back since, or lacks what is forgotten.
pub(crate) async fn is_lost(store: &Store, watermark: Option<Watermark>) -> Result<bool> {
    let Some(Watermark { store: id, seq }) = watermark else {
        return Ok(false);
    };
    Ok(id != store.id() || seq > store.last_seq().await? || seq < store.tombstone_floor().await?)
}

/// Feeds an index that is not [`Standing::Lost`] everything it lacks. `go_on` hears how many changes are done, and stops it after a
/// batch by answering no.
pub(crate) async fn catch_up<Op: Send + 'static>(
    source: &impl Source<Op>,
    index: &dyn Projection<Op>,
    limits: Limits,
    mut go_on: impl FnMut(u64) -> bool,
) -> Result<()> {
    let store = source.store();
    let mut after = index
        .watermark()
        .await?
        .map_or(Seq(0), |watermark| watermark.seq);
    let limit = limits
        .max_ops
        .map_or(PAGE, |max_ops| max_ops.clamp(1, PAGE));
    let mut done = 0;
    loop {
        let page = source.page(after, limit).await?;
        done += page.ops.len() as u64;
        let mut batch = Batch::new(store.id(), page.ops).with_through(page.through);
        if page.is_last {
            // Numbers without a change left (an entry that changed twice) raise the watermark all the same.
            batch = batch.with_through(store.last_seq().await?);
        }
        let mut stopped = false;
        if batch.through > after {
            step("before_apply");
            index.apply(&batch).await?;
            step("batch_applied");
            after = batch.through;
            stopped = !go_on(done);
        }
        if page.is_last || stopped {
            index.flush().await?;
            step("index_flushed");
            return Ok(());
        }
    }
}
