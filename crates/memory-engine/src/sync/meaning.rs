//! Gives entries their vectors: those that are known already first, then new ones from the embedder.

use std::collections::BTreeMap;

use memory_api::{ContentHash, Embedder, ErrorKind, Matrix, Result, Role};

use super::target::{ByMeaning, Target};
use super::{Embed, Phase, SyncReport, Syncer};
use crate::background::Background;
use crate::embedding::key;
use crate::failpoint::{batch_size, step};
use crate::feed;
use crate::search::degraded;
use crate::store::{Pending, Store};

/// Entries looked at together: texts of like length are embedded together, and what was embedded can be found after this many.
const PAGE: usize = batch_size(1_024, 24);
/// Texts per call of the embedder; what an interruption may lose.
const CALL: usize = batch_size(64, 8);

/// A text to embed, and the entries that hold it.
#[derive(Debug)]
struct Text {
    key: ContentHash,
    content: String,
    entries: Vec<i64>,
}

/// How a call of the embedder ended.
enum Embedded {
    All(Matrix),
    /// A text of these is not to its liking.
    Refused(memory_api::Error),
    /// It cannot embed anything now.
    Unavailable(memory_api::Error),
}

impl Syncer<'_> {
    /// Gives entries the vectors that are known already, and feeds them to the index.
    pub(super) async fn known_vectors(&self, target: &Target) -> Result<()> {
        let Some(by_meaning) = &target.by_meaning else {
            return Ok(());
        };
        let store = &target.store;
        // A new generation is not published with less than it could have.
        let all = Embed::All;
        let which = if target.unpublished {
            &all
        } else {
            &self.request.embed
        };
        let mut after = i64::MIN;
        loop {
            let pending = self.pending(store, which, after).await?;
            let Some(last) = pending.last() else {
                return self.feed(by_meaning, store).await;
            };
            after = last.entry;
            self.assign_known(by_meaning, store, texts(pending)).await?;
        }
    }

    /// Embeds what is left and feeds it to the index. An embedder that fails stops this, never the sync.
    pub(super) async fn new_vectors(&self, target: &Target, report: &mut SyncReport) -> Result<()> {
        let Some(by_meaning) = &target.by_meaning else {
            return Ok(());
        };
        let store = &target.store;
        if let Some(embedder) = &by_meaning.embedder {
            if let Some(err) = self
                .embed_pending(by_meaning, &**embedder, store, report)
                .await?
            {
                report.warnings.push(degraded("vector", &err));
                let reason = err.to_string();
                store
                    .explain_pending(self.options.namespace.clone(), reason)
                    .await?;
            }
            self.feed(by_meaning, store).await?;
        }
        if self.request.embed != Embed::All {
            // Whoever waits for a few lines does not wait for a look at everything.
            return by_meaning.vectors.flush().await;
        }
        let of_entries = store.vector_keys().await?;
        let needed = of_entries
            .into_iter()
            .map(|key| (Role::Document, key))
            .chain(Background::keys())
            .collect();
        let vectors = &by_meaning.vectors;
        vectors
            .evict(
                &by_meaning.background.space,
                needed,
                self.options.max_cached_vectors,
            )
            .await?;
        step("vectors_evicted");
        vectors.flush().await
    }

    /// Embeds every pending text; returns the error that stopped it.
    async fn embed_pending(
        &self,
        by_meaning: &ByMeaning,
        embedder: &dyn Embedder,
        store: &Store,
        report: &mut SyncReport,
    ) -> Result<Option<memory_api::Error>> {
        let total = store.n_pending(self.options.namespace.clone()).await?;
        let call = embedder.limits().max_texts.clamp(1, CALL);
        let mut done = 0;
        let mut after = i64::MIN;
        loop {
            let pending = self.pending(store, &self.request.embed, after).await?;
            let Some(last) = pending.last() else {
                return Ok(None);
            };
            after = last.entry;
            let n_pending = pending.len();
            let mut texts = self.assign_known(by_meaning, store, texts(pending)).await?;
            done += (n_pending - entries(&texts).len()) as u64;
            // A batch of texts of like length wastes the least.
            texts.sort_by_key(|text| text.content.len());
            let mut calls: Vec<&[Text]> = texts.chunks(call).rev().collect();
            while let Some(texts) = calls.pop() {
                if self.is_cancelled() {
                    report.cancelled = true;
                    return Ok(None);
                }
                match embed(embedder, texts).await {
                    Embedded::All(rows) => {
                        self.keep(by_meaning, store, texts, &rows).await?;
                        report.embedded += texts.len() as u64;
                    }
                    // Which of them it was, only asking for each alone tells.
                    Embedded::Refused(_) if texts.len() > 1 => {
                        calls.extend(texts.chunks(1).rev());
                        continue;
                    }
                    Embedded::Refused(err) => {
                        let reason = Some(err.to_string());
                        store.set_pending(entries(texts), reason).await?;
                    }
                    Embedded::Unavailable(err) => return Ok(Some(err)),
                }
                done += entries(texts).len() as u64;
                self.progress(Phase::Meaning, done, total.max(done));
            }
            self.feed(by_meaning, store).await?;
        }
    }

    /// Gives entries the vectors that `vectors.db` has; returns the texts it has none for.
    async fn assign_known(
        &self,
        by_meaning: &ByMeaning,
        store: &Store,
        texts: Vec<Text>,
    ) -> Result<Vec<Text>> {
        let (space, vectors) = (&by_meaning.background.space, &by_meaning.vectors);
        let keys = texts.iter().map(|text| text.key).collect();
        let known = vectors.get(space, Role::Document, keys).await?;
        let mut unknown = Vec::new();
        let mut assigned = Vec::new();
        let mut used = Vec::new();
        let now = self.clock.now();
        for (text, known) in texts.into_iter().zip(known) {
            let Some(known) = known else {
                unknown.push(text);
                continue;
            };
            if known.is_stale(now) {
                used.push(text.key);
            }
            assigned.extend(text.entries.iter().map(|entry| (*entry, text.key)));
        }
        if !used.is_empty() {
            vectors.touch(space, Role::Document, used, now).await?;
        }
        if !assigned.is_empty() {
            store.assign_vectors(assigned).await?;
            step("known_vectors_assigned");
        }
        Ok(unknown)
    }

    /// Keeps vectors in `vectors.db`, then says in the store that they are there.
    async fn keep(
        &self,
        by_meaning: &ByMeaning,
        store: &Store,
        texts: &[Text],
        rows: &Matrix,
    ) -> Result<()> {
        let rows = texts
            .iter()
            .zip(rows.rows())
            .map(|(text, row)| (text.key, row.to_vec()))
            .collect();
        by_meaning
            .vectors
            .put(
                &by_meaning.background.space,
                Role::Document,
                rows,
                self.clock.now(),
            )
            .await?;
        step("vectors_put");
        let assigned = texts
            .iter()
            .flat_map(|text| text.entries.iter().map(|entry| (*entry, text.key)))
            .collect();
        store.assign_vectors(assigned).await?;
        step("vectors_assigned");
        Ok(())
    }

    async fn feed(&self, by_meaning: &ByMeaning, store: &Store) -> Result<()> {
        let limits = self
            .vector
            .map(|part| part.plugin.limits)
            .unwrap_or_default();
        feed::catch_up(
            &by_meaning.changes(store),
            &*by_meaning.index,
            limits,
            |_| true,
        )
        .await?;
        step("meaning_fed");
        Ok(())
    }

    async fn pending(&self, store: &Store, which: &Embed, after: i64) -> Result<Vec<Pending>> {
        let place = match which {
            Embed::All => None,
            Embed::Lines { path, lines } => Some((path.clone(), *lines)),
        };
        store
            .pending(self.options.namespace.clone(), place, after, PAGE)
            .await
    }
}

/// Brings together the entries that hold the same text.
fn texts(pending: Vec<Pending>) -> Vec<Text> {
    let mut texts: BTreeMap<ContentHash, Text> = BTreeMap::new();
    for entry in pending {
        let key = key(&entry.text);
        texts
            .entry(key)
            .or_insert_with(|| Text {
                key,
                content: entry.text,
                entries: Vec::new(),
            })
            .entries
            .push(entry.entry);
    }
    texts.into_values().collect()
}

fn entries(texts: &[Text]) -> Vec<i64> {
    texts
        .iter()
        .flat_map(|text| text.entries.iter().copied())
        .collect()
}

async fn embed(embedder: &dyn Embedder, texts: &[Text]) -> Embedded {
    let texts: Vec<&str> = texts.iter().map(|text| text.content.as_str()).collect();
    match embedder.embed(&texts, Role::Document).await {
        Ok(rows) => Embedded::All(rows),
        Err(err) if err.kind() == ErrorKind::InvalidInput => Embedded::Refused(err),
        Err(err) => Embedded::Unavailable(err),
    }
}
