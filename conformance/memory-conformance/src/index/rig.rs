use std::sync::Arc;

use memory_api::{Batch, Capability, Limits, Projection, Seq, StoreId};

use super::{Change, Content, History, IndexKind, Question, model_ids};
use crate::failure::ensure;
use crate::subject::Home;
use crate::{Failure, Outcome, Subject};

/// The store every rig follows unless a scenario needs a second one.
const STORE: StoreId = StoreId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);

/// An open index beside the history it was fed with.
pub(crate) struct Rig<'a, K: IndexKind> {
    /// Gone while it is opened again: an index may hold its files for itself.
    index: Option<Arc<K::Index>>,
    home: Home<'a>,
    history: History,
    /// Up to here the content is searchable and durable.
    flushed: Seq,
}

impl<'a, K: IndexKind> Rig<'a, K> {
    pub(crate) async fn open(subject: &'a Subject) -> Outcome<Self> {
        let home = subject.home()?;
        let index = K::open(&home).await?;
        Ok(Self {
            index: Some(index),
            home,
            history: History::new(STORE),
            flushed: Seq(0),
        })
    }

    /// Opens an index and applies changes to it.
    pub(crate) async fn with(subject: &'a Subject, changes: &[Change]) -> Outcome<Self> {
        let mut rig = Self::open(subject).await?;
        rig.apply(changes).await?;
        Ok(rig)
    }

    pub(crate) fn index(&self) -> Outcome<&K::Index> {
        self.index
            .as_deref()
            .ok_or_else(|| Failure::new("the index could not be opened again"))
    }

    pub(crate) fn limits(&self) -> Limits {
        self.home.plugin().limits
    }

    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) async fn apply(&mut self, changes: &[Change]) -> Outcome {
        let before = self.history.through();
        self.history.push(changes);
        self.catch_up(before).await
    }

    /// Moves the store on by positions that concern no index.
    pub(crate) async fn pass(&mut self, n_positions: u64) -> Outcome {
        let before = self.history.through();
        self.history.pass(n_positions);
        self.catch_up(before).await
    }

    /// Applies what comes after a position, whether the index has it or not.
    pub(crate) async fn catch_up(&self, after: Seq) -> Outcome {
        for batch in self.history.batches_after::<K>(after, self.limits()) {
            let applied = self.index()?.apply(&batch).await;
            applied.map_err(|err| Failure::from(err).within("apply"))?;
        }
        Ok(())
    }

    /// Applies a batch that leaves no trace in the history, because the index has to skip or refuse it.
    pub(crate) async fn apply_foreign(
        &self,
        batch: &Batch<K::Op>,
    ) -> Outcome<memory_api::Result<()>> {
        Ok(self.index()?.apply(batch).await)
    }

    pub(crate) async fn flush(&mut self) -> Outcome {
        self.index()?
            .flush()
            .await
            .map_err(|err| Failure::from(err).within("flush"))?;
        self.flushed = self.history.through();
        Ok(())
    }

    pub(crate) async fn close_and_reopen(&mut self) -> Outcome {
        self.index()?
            .close()
            .await
            .map_err(|err| Failure::from(err).within("close"))?;
        self.flushed = self.history.through();
        self.reopen().await
    }

    /// Drops the index without closing it: what a killed process leaves, as far as one process can show.
    pub(crate) async fn drop_and_reopen(&mut self) -> Outcome {
        self.reopen().await
    }

    async fn reopen(&mut self) -> Outcome {
        self.index = None;
        let reopened = K::open(&self.home).await;
        self.index = Some(reopened.map_err(|failure| failure.within("open again"))?);
        if !self.declares(Capability::Persistent)? {
            self.flushed = Seq(0);
        }
        Ok(())
    }

    /// Applies what the index lost when it was opened again, as the engine does.
    pub(crate) async fn recover(&mut self) -> Outcome {
        let position = self.check_watermark().await?;
        self.flushed = self.flushed.min(position);
        if position < self.history.through() {
            self.catch_up(position).await?;
        }
        Ok(())
    }

    fn declares(&self, capability: Capability) -> Outcome<bool> {
        Ok(self.index()?.capabilities().has(capability))
    }

    pub(crate) async fn observe(&self) -> Outcome<Content> {
        K::observe(self.index()?, self.limits(), &model_ids()).await
    }

    /// Checks that the watermark lies between what was flushed and what was applied; returns its position, 0 for none.
    pub(crate) async fn check_watermark(&self) -> Outcome<Seq> {
        let watermark = self.index()?.watermark().await?;
        let position = match watermark {
            None => Seq(0),
            Some(watermark) => {
                ensure!(
                    watermark.store == self.history.store(),
                    "the watermark names store `{}` instead of `{}`",
                    watermark.store,
                    self.history.store()
                );
                watermark.seq
            }
        };
        ensure!(
            self.flushed <= position && position <= self.history.through(),
            "the watermark is {position}, but {} was flushed and {} applied",
            self.flushed,
            self.history.through()
        );
        Ok(position)
    }

    /// Checks everything that holds at any moment.
    pub(crate) async fn check(&self) -> Outcome {
        let position = self.check_watermark().await?;
        let observed = self.observe().await?;
        if self.flushed == self.history.through() {
            self.compare(&observed, &self.history.content(), "after a flush")?;
            let stats = self.index()?.stats().await?;
            ensure!(
                stats.n_entries == observed.len() as u64,
                "stats count {} entries, {} are there",
                stats.n_entries,
                observed.len()
            );
        } else if self.declares(Capability::AtomicApply)? {
            let at = format!("at watermark {position}");
            self.compare(&observed, &self.history.content_at(position), &at)?;
        } else {
            let possible = self
                .history
                .content_between(self.flushed, self.history.through());
            for (id, words) in &observed {
                let held = possible.get(id);
                let strange = words
                    .iter()
                    .find(|word| !held.is_some_and(|held| held.contains(word)));
                if let Some(word) = strange {
                    return Err(Failure::new(format!(
                        "entry {id} is found by `{word}`, which it did not hold since the last flush"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Flushes and checks that the index holds what the history says.
    pub(crate) async fn check_flushed(&mut self) -> Outcome {
        self.flush().await?;
        self.check().await
    }

    /// Asks a question; what is in the index at this moment decides on the right answer.
    pub(crate) async fn ask(&self, question: &Question) -> Outcome {
        let content = self.observe().await?;
        K::ask(self.index()?, self.limits(), &content, question).await
    }

    fn compare(&self, observed: &Content, expected: &Content, when: &str) -> Outcome {
        if observed == expected {
            return Ok(());
        }
        let mut differences = Vec::new();
        for id in model_ids() {
            let (seen, wanted) = (observed.get(&id), expected.get(&id));
            if seen != wanted {
                differences.push(format!(
                    "entry {id}: the index has {}, the model {}",
                    show(seen),
                    show(wanted)
                ));
            }
        }
        Err(Failure::new(format!(
            "{when} (store at {}):\n{}",
            self.history.through(),
            differences.join("\n")
        )))
    }
}

fn show(words: Option<&std::collections::BTreeSet<super::Word>>) -> String {
    words.map_or_else(|| "nothing".to_owned(), |words| format!("{words:?}"))
}
