//! The `model` group: one short history per line of the contract, and the state machine over all of them.

use memory_api::{Batch, Capability, ErrorKind, Limits, Projection, Seq, StoreId, Watermark};

use super::{Change, Content, IndexKind, Word, entry_id, machine, model_ids};
use crate::failure::ensure;
use crate::index::rig::Rig;
use crate::{Failure, Outcome, Scenario, Subject};

/// Returns the scenarios of indexes of this kind.
pub(crate) const fn scenarios<K: IndexKind>() -> [Scenario; 14] {
    [
        Scenario::new("model::old_ops_are_skipped", old_ops_are_skipped::<K>),
        Scenario::new("model::replay_is_idempotent", replay_is_idempotent::<K>),
        Scenario::new("model::put_replaces", put_replaces::<K>),
        Scenario::new(
            "model::set_meta_keeps_the_content",
            set_meta_keeps_the_content::<K>,
        ),
        Scenario::new(
            "model::deleted_entry_is_never_returned",
            deleted_entry_is_never_returned::<K>,
        ),
        Scenario::new(
            "model::another_store_is_refused",
            another_store_is_refused::<K>,
        ),
        Scenario::new(
            "model::unordered_batch_is_refused",
            unordered_batch_is_refused::<K>,
        ),
        Scenario::new(
            "model::watermark_follows_the_store",
            watermark_follows_the_store::<K>,
        ),
        Scenario::new(
            "model::flushed_changes_are_searchable",
            flushed_changes_are_searchable::<K>,
        ),
        Scenario::new(
            "model::reopened_index_equals_the_model",
            reopened_index_equals_the_model::<K>,
        )
        .needs(Capability::Persistent),
        Scenario::new(
            "model::content_equals_the_watermark",
            content_equals_the_watermark::<K>,
        )
        .needs(Capability::AtomicApply),
        Scenario::new("model::closed_index_says_so", closed_index_says_so::<K>),
        Scenario::new(
            "model::capabilities_are_declared",
            capabilities_are_declared::<K>,
        ),
        Scenario::new(
            "machine::any_history_equals_the_model",
            machine::any_history_equals_the_model::<K>,
        ),
    ]
}

fn put(n: u16, words: &[u8]) -> Change {
    Change::Put(entry_id(n), words.iter().copied().map(Word).collect())
}

fn delete(n: u16) -> Change {
    Change::Delete(entry_id(n))
}

/// A history in which every kind of change meets entries that are there, were there and never were.
fn eventful() -> Vec<Change> {
    vec![
        put(0, &[1, 2, 3]),
        put(1, &[2, 3, 4]),
        put(2, &[5]),
        delete(1),
        put(0, &[6, 7]),
        Change::SetMeta(entry_id(0), 1),
        Change::SetMeta(entry_id(1), 2),
        put(3, &[1, 1, 1, 8]),
        delete(9),
        put(1, &[2, 9]),
        delete(2),
        put(4, &[10, 11, 12, 13, 14, 15]),
        put(4, &[10]),
    ]
}

fn old_ops_are_skipped<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &eventful()).await?;
        rig.check_flushed().await?;
        let now = rig.history().through();
        // Positions that were used for other changes, or for changes of another kind, and the watermark itself.
        for seq in [1, 2, now.0 - 1, now.0].map(Seq) {
            for change in [put(0, &[20]), put(12, &[21]), delete(3)] {
                let old = Batch::new(rig.history().store(), vec![(seq, K::op(&change))]);
                rig.apply_foreign(&old).await??;
                let checked = rig.check_flushed().await;
                checked.map_err(|failure| {
                    failure.within(format!("{change:?} at {seq}, watermark {now}"))
                })?;
            }
        }
        // A batch that begins with old changes and goes on with new ones.
        let before = rig.history().through();
        rig.apply(&[put(5, &[30])]).await?;
        rig.catch_up(Seq(before.0 / 2)).await?;
        rig.apply(&[delete(0)]).await?;
        rig.check_flushed().await
    })
}

fn replay_is_idempotent<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &eventful()).await?;
        rig.check_flushed().await?;
        for after in 0..=rig.history().through().0 {
            rig.catch_up(Seq(after)).await?;
            let checked = rig.check_flushed().await;
            checked.map_err(|failure| failure.within(format!("replay of all after {after}")))?;
        }
        // A second life of the same folder replays as well.
        rig.close_and_reopen().await?;
        rig.recover().await?;
        rig.catch_up(Seq(0)).await?;
        rig.check_flushed().await
    })
}

fn put_replaces<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &[put(0, &[1, 2]), put(1, &[2, 3])]).await?;
        rig.check_flushed().await?;
        rig.apply(&[put(0, &[2, 4])]).await?;
        rig.check_flushed().await?;
        // Within one batch the last one counts.
        rig.apply(&[put(0, &[5]), put(0, &[6]), put(1, &[7]), put(0, &[8])])
            .await?;
        rig.check_flushed().await
    })
}

fn set_meta_keeps_the_content<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &[put(0, &[1, 2]), put(1, &[2])]).await?;
        rig.apply(&[
            Change::SetMeta(entry_id(0), 3),
            Change::SetMeta(entry_id(7), 4),
            delete(1),
            Change::SetMeta(entry_id(1), 5),
        ])
        .await?;
        rig.check_flushed().await
    })
}

fn deleted_entry_is_never_returned<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::open(subject).await?;
        // Deleting what was never there is no error, not even as the first thing.
        rig.apply(&[delete(3)]).await?;
        rig.check_flushed().await?;
        rig.apply(&[put(0, &[1, 2]), put(1, &[1]), put(2, &[2])])
            .await?;
        rig.check_flushed().await?;
        rig.apply(&[delete(0)]).await?;
        rig.check_flushed().await?;
        rig.apply(&[put(0, &[3]), delete(0), delete(1), delete(1)])
            .await?;
        rig.check_flushed().await?;
        // It may come back, with its new words alone.
        rig.apply(&[put(1, &[4])]).await?;
        rig.check_flushed().await
    })
}

fn another_store_is_refused<K: IndexKind>(subject: &Subject) -> Outcome {
    const STRANGER: StoreId = StoreId(0xfeed);
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &eventful()).await?;
        rig.check_flushed().await?;
        let now = rig.history().through();
        let change = [put(0, &[20]), put(13, &[21])];
        for reopened in [false, true] {
            if reopened && subject.plugin().capabilities.has(Capability::Persistent) {
                rig.close_and_reopen().await?;
            }
            // Lower and higher positions: the store counts, not the number.
            for seq in [1, now.0 + 10] {
                let ops = (seq..).map(Seq).zip(change.iter().map(K::op)).collect();
                match rig.apply_foreign(&Batch::new(STRANGER, ops)).await? {
                    Ok(()) => {
                        return Err(Failure::new("a batch of another store is applied"));
                    }
                    Err(err) => ensure!(
                        err.kind() == ErrorKind::InvalidInput,
                        "a batch of another store gives kind `{}` instead of `invalid_input`: {err}",
                        err.kind()
                    ),
                }
                rig.check_flushed().await?;
            }
        }
        Ok(())
    })
}

fn unordered_batch_is_refused<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &eventful()).await?;
        rig.check_flushed().await?;
        let next = rig.history().through().0 + 1;
        let ops = vec![
            (Seq(next + 1), K::op(&put(0, &[20]))),
            (Seq(next), K::op(&put(1, &[21]))),
        ];
        // The order of the changes decides, wherever the batch says it ends.
        let batch = Batch::new(rig.history().store(), ops).with_through(Seq(next + 1));
        match rig.apply_foreign(&batch).await? {
            Ok(()) => Err(Failure::new("changes out of order are applied")),
            Err(err) => {
                ensure!(
                    err.kind() == ErrorKind::InvalidInput,
                    "changes out of order give kind `{}` instead of `invalid_input`: {err}",
                    err.kind()
                );
                rig.check_flushed().await
            }
        }
    })
}

fn watermark_follows_the_store<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::open(subject).await?;
        let watermark = rig.index()?.watermark().await?;
        ensure!(
            watermark.is_none(),
            "a new index has the watermark {watermark:?}"
        );
        for step in 0..3 {
            match step {
                0 => rig.apply(&eventful()).await?,
                // Changes that concern no index move the watermark all the same, or the engine would send them for ever.
                1 => rig.pass(7).await?,
                _ => rig.catch_up(Seq(0)).await?,
            }
            rig.check_flushed().await?;
            let expected = Watermark {
                store: rig.history().store(),
                seq: rig.history().through(),
            };
            let watermark = rig.index()?.watermark().await?;
            ensure!(
                watermark == Some(expected),
                "after a flush the watermark is {watermark:?} instead of {expected:?}"
            );
        }
        Ok(())
    })
}

fn flushed_changes_are_searchable<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::open(subject).await?;
        rig.check_flushed().await?;
        for change in eventful() {
            rig.apply(&[change]).await?;
            rig.check_flushed().await?;
        }
        Ok(())
    })
}

fn reopened_index_equals_the_model<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::with(subject, &eventful()).await?;
        rig.flush().await?;
        rig.drop_and_reopen().await?;
        rig.check()
            .await
            .map_err(|failure| failure.within("flushed, dropped and opened again"))?;
        rig.apply(&[put(6, &[16]), delete(0)]).await?;
        // Closing flushes.
        rig.close_and_reopen().await?;
        rig.check()
            .await
            .map_err(|failure| failure.within("closed and opened again"))?;
        rig.apply(&[put(7, &[17])]).await?;
        rig.check_flushed().await
    })
}

fn content_equals_the_watermark<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let mut rig = Rig::<K>::open(subject).await?;
        for changes in eventful().chunks(4) {
            rig.apply(changes).await?;
            rig.check().await?;
            rig.drop_and_reopen().await?;
            rig.check()
                .await
                .map_err(|failure| failure.within("dropped without a flush and opened again"))?;
            rig.recover().await?;
        }
        rig.check_flushed().await
    })
}

fn closed_index_says_so<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let rig = Rig::<K>::with(subject, &eventful()).await?;
        let index = rig.index()?;
        index.close().await?;
        let again = index.close().await;
        again.map_err(|err| Failure::from(err).within("closing twice"))?;
        let mut calls = K::read_calls(index).await;
        for batch in rig.history().batches_after::<K>(Seq(0), rig.limits()) {
            calls.push(("apply", index.apply(&batch).await.err()));
        }
        calls.push(("watermark", index.watermark().await.err()));
        calls.push(("stats", index.stats().await.err()));
        calls.push(("flush", index.flush().await.err()));
        for (call, err) in calls {
            let kind = err.as_ref().map(memory_api::Error::kind);
            ensure!(
                kind == Some(ErrorKind::Closed),
                "after close, {call} gives {} instead of kind `closed`",
                err.map_or_else(|| "an answer".to_owned(), |err| format!("{err:?}"))
            );
        }
        Ok(())
    })
}

fn capabilities_are_declared<K: IndexKind>(subject: &Subject) -> Outcome {
    subject.run(async {
        let rig = Rig::<K>::open(subject).await?;
        let (open, declared) = (rig.index()?.capabilities(), subject.plugin().capabilities);
        ensure!(
            open.is_subset_of(declared),
            "the open index has {open:?}, its descriptor declares {declared:?}"
        );
        Ok(())
    })
}

/// Checks that changes of one index are in no other; both are new.
pub(crate) async fn two_indexes_do_not_interfere<K: IndexKind>(
    limits: Limits,
    left: &K::Index,
    right: &K::Index,
) -> Outcome {
    let mut history = super::History::new(StoreId(1));
    history.push(&eventful());
    for batch in history.batches_after::<K>(Seq(0), limits) {
        left.apply(&batch).await?;
    }
    left.flush().await?;
    right.flush().await?;
    let strangers = K::observe(right, limits, &model_ids()).await?;
    ensure!(
        strangers == Content::new(),
        "what was put into one index is in another one: {strangers:?}"
    );
    ensure!(
        right.watermark().await?.is_none(),
        "a batch for one index moves the watermark of another one"
    );
    left.close().await?;
    right.stats().await?;
    Ok(())
}
