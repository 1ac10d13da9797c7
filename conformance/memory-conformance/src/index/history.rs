use memory_api::{Batch, EntryId, Limits, Seq, StoreId};

use super::{Content, IndexKind, Word};

/// A change, before a kind of index makes its own of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Never without words: chunkers give no blank entries.
    Put(EntryId, Vec<Word>),
    SetMeta(EntryId, u8),
    Delete(EntryId),
}

/// The store of record in small: every change there was, and what is left of them.
#[derive(Debug, Clone)]
pub(crate) struct History {
    store: StoreId,
    log: Vec<(Seq, Change)>,
    through: Seq,
}

impl History {
    pub(crate) fn new(store: StoreId) -> Self {
        Self {
            store,
            log: Vec::new(),
            through: Seq(0),
        }
    }

    pub(crate) fn store(&self) -> StoreId {
        self.store
    }

    /// The last position of the store, changes of other kinds included.
    pub(crate) fn through(&self) -> Seq {
        self.through
    }

    /// Adds changes; every third position belongs to something else, as in a store with documents and vectors.
    pub(crate) fn push(&mut self, changes: &[Change]) {
        for change in changes {
            let step = if self.through.0.is_multiple_of(3) {
                2
            } else {
                1
            };
            self.through = Seq(self.through.0 + step);
            self.log.push((self.through, change.clone()));
        }
    }

    /// Adds positions that concern no index.
    pub(crate) fn pass(&mut self, n_positions: u64) {
        self.through = Seq(self.through.0 + n_positions);
    }

    /// Returns what an index that stands at `after` has to apply: one batch, or as many as its limits ask for.
    pub(crate) fn batches_after<K: IndexKind>(
        &self,
        after: Seq,
        limits: Limits,
    ) -> Vec<Batch<K::Op>> {
        let ops: Vec<_> = self
            .log
            .iter()
            .filter(|(seq, _)| *seq > after)
            .map(|(seq, change)| (*seq, K::op(change)))
            .collect();
        let mut batches = batches(self.store, ops, limits);
        match batches.pop() {
            Some(last) => batches.push(last.with_through(self.through)),
            None => batches.push(Batch::new(self.store, Vec::new()).with_through(self.through)),
        }
        batches
    }

    /// Returns the content after every change up to this position.
    pub(crate) fn content_at(&self, at: Seq) -> Content {
        let mut content = Content::new();
        for (_, change) in self.log.iter().take_while(|(seq, _)| *seq <= at) {
            match change {
                Change::Put(id, words) => {
                    content.insert(*id, words.iter().copied().collect());
                }
                Change::SetMeta(..) => {}
                Change::Delete(id) => {
                    content.remove(id);
                }
            }
        }
        content
    }

    pub(crate) fn content(&self) -> Content {
        self.content_at(self.through)
    }

    /// Returns everything that was there at some moment between these positions.
    pub(crate) fn content_between(&self, from: Seq, to: Seq) -> Content {
        let mut content = self.content_at(from);
        for (seq, change) in &self.log {
            if let Change::Put(id, words) = change
                && *seq > from
                && *seq <= to
            {
                content.entry(*id).or_default().extend(words);
            }
        }
        content
    }
}

/// Splits changes into batches as large as an index takes.
pub(crate) fn batches<Op: Clone>(
    store: StoreId,
    ops: Vec<(Seq, Op)>,
    limits: Limits,
) -> Vec<Batch<Op>> {
    let max_ops = limits.max_ops.unwrap_or(usize::MAX).max(1);
    if ops.len() <= max_ops {
        return vec![Batch::new(store, ops)];
    }
    ops.chunks(max_ops)
        .map(|ops| Batch::new(store, ops.to_vec()))
        .collect()
}
