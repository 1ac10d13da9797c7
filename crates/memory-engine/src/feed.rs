use memory_api::{Batch, LexicalIndex, Limits, Result, Seq, Watermark};

use crate::store::Store;

/// Changes per batch.
const PAGE: usize = 1_000;

/// How an index stands to its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It follows the store and lacks this many changes.
    Behind(u64),
    /// It follows another store, or lacks changes that are forgotten: only a rebuild helps.
    Lost,
}

/// Compares an index's watermark with its store.
pub(crate) async fn standing(store: &Store, lexical: &dyn LexicalIndex) -> Result<Standing> {
    let last = store.last_seq().await?;
    Ok(match lexical.watermark().await? {
        None => Standing::Behind(last.0),
        Some(Watermark { store: id, seq }) => {
            if id != store.id() || seq > last || seq < store.tombstone_floor().await? {
                Standing::Lost
            } else {
                Standing::Behind(last.0 - seq.0)
            }
        }
    })
}

/// Feeds an index that is not [`Standing::Lost`] everything it lacks; `progress` hears how many changes are done.
pub(crate) async fn catch_up(
    store: &Store,
    lexical: &dyn LexicalIndex,
    limits: Limits,
    mut progress: impl FnMut(u64),
) -> Result<()> {
    let mut after = lexical
        .watermark()
        .await?
        .map_or(Seq(0), |watermark| watermark.seq);
    let begin = after;
    let page = limits
        .max_ops
        .map_or(PAGE, |max_ops| max_ops.clamp(1, PAGE));
    loop {
        let ops = store.lexical_ops(after, page).await?;
        let is_last = ops.len() < page;
        let mut batch = Batch::new(store.id(), ops);
        if is_last {
            // Numbers without a row left (an entry that changed twice) raise the watermark all the same.
            batch = batch.with_through(store.last_seq().await?);
        }
        if batch.through > after {
            lexical.apply(&batch).await?;
            after = batch.through;
            progress(after.0 - begin.0);
        }
        if is_last {
            return lexical.flush().await;
        }
    }
}
