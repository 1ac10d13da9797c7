//! Brings store and indexes to the state of the files.
//!
//! A thread walks, reads and cuts (`scan`); this side writes what it sends in transactions, feeds the indexes and publishes.
//! What is durable after each step:
//!
//! 1. state folder and writer lock: nothing yet;
//! 2. for a new generation: empty folders that no manifest names;
//! 3. changes of documents, some hundred per transaction: the store, numbered;
//! 4. changes fed to the index by words: that index, with its watermark;
//! 5. vectors that are known already fed to the index by meaning (`meaning`);
//! 6. for a new generation: the manifest that names it; from here on all of it can be searched;
//! 7. new vectors, some dozen at a time: `vectors.db`, then the store, then the index by meaning;
//! 8. tombstones that every index has passed are forgotten, folders that no manifest names are removed.

#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod meaning;
pub(crate) mod scan;
mod target;
mod transcript;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use memory_api::{Chunker, Error, ErrorKind, LineRange, Result};
use serde::Serialize;

use crate::aside;
use crate::clock::Clock;
use crate::discovery::{Discovery, Remarks};
use crate::embedding::Model;
use crate::failpoint::{batch_size, step};
use crate::feed::{self, Standing, Words};
use crate::generation;
use crate::lock::{Waited, WriterLock};
use crate::manifest::Manifest;
use crate::options::{Options, Part};
use crate::search::degraded;
use crate::state_dir;
use crate::store::{Change, Store};
use crate::vectors;
use scan::{Outcome, Scan, Scanned};
use target::{Target, is_of_plugin};

pub use transcript::Growth;

/// Names what the documents of a namespace were cut by, in the store.
const CUT_BY: &str = "cut_by";
/// Documents per transaction at most.
const MAX_DOCUMENTS: usize = batch_size(256, 4);
/// Text per transaction, in bytes, after which it is written.
const MAX_BYTES: usize = 4 << 20;

/// What a sync is to do.
#[derive(Clone, Default)]
pub struct SyncRequest {
    /// Build a new generation from the files, whatever is there.
    pub force: bool,
    /// What to do when another process writes.
    pub wait: LockWait,
    /// Which texts to embed.
    pub embed: Embed,
    /// How much a transcript has to have grown to be read again.
    pub growth: Growth,
    /// Hears how far it is; called often, from the task that syncs.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Hears of each document that changed, by its path, from the task that syncs, before the change is written.
    pub on_document: Option<OnDocument>,
    /// Set by someone else to stop after the current batch.
    pub cancel: Arc<AtomicBool>,
}

impl fmt::Debug for SyncRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncRequest")
            .field("force", &self.force)
            .field("wait", &self.wait)
            .field("embed", &self.embed)
            .finish_non_exhaustive()
    }
}

/// Hears of a document that changed.
pub type OnDocument = Arc<dyn Fn(&str, DocumentChange) + Send + Sync>;

/// What happened to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentChange {
    /// It was not there before.
    New,
    /// Its content changed.
    Updated,
    /// It is gone.
    Removed,
    /// It could not be indexed; what was known of it stays.
    Failed,
}

impl DocumentChange {
    fn of(outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Touched(_) | Outcome::Part(_) => None,
            Outcome::Read { is_new: true, .. } => Some(Self::New),
            Outcome::Read { is_new: false, .. } => Some(Self::Updated),
            Outcome::Failed(_) => Some(Self::Failed),
        }
    }
}

/// What to do when another process writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockWait {
    /// Wait until it is done; the progress hears [`Phase::Waiting`].
    #[default]
    Wait,
    /// Answer `Unavailable` with the context pair `lock: held`.
    Refuse,
    /// Wait so long, then answer as [`Refuse`](Self::Refuse) does.
    AtMost(Duration),
}

/// Which texts a sync embeds. Words find everything after every sync.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Embed {
    /// Whatever has no vector.
    #[default]
    All,
    /// What stands on these lines of a document. The rest stays pending for another sync: whoever waits for a few lines does not
    /// wait for thousands of others.
    Lines {
        /// The document, as results name it.
        path: String,
        /// Its lines.
        lines: LineRange,
    },
}

/// How far a sync is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What it does.
    pub phase: Phase,
    /// Files, changes or texts done.
    pub done: u64,
    /// Files, changes or texts in all.
    pub total: u64,
}

/// What a sync does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// Another process (its number, 0 if unknown, in `total`) holds the writer lock.
    Waiting,
    /// Reading and cutting files.
    Files,
    /// Feeding the index by words.
    Words,
    /// Embedding texts.
    Meaning,
}

/// What a sync did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct SyncReport {
    /// Where it looked, as an absolute path.
    pub workspace: String,
    /// Documents that were not there before.
    pub new: u64,
    /// Documents whose content changed.
    pub updated: u64,
    /// Documents whose content is as before.
    pub unchanged: u64,
    /// Documents that are gone.
    pub removed: u64,
    /// Documents and folders that could not be indexed. What was known of them stays.
    pub failed: Vec<Failure>,
    /// What a person should know about documents that were indexed, and links that were not followed.
    pub warnings: Vec<String>,
    /// Entries in the store now.
    pub entries: u64,
    /// Texts that were embedded.
    pub embedded: u64,
    /// Entries that are found by words alone, since their vector is pending.
    pub pending: u64,
    /// Whether it was stopped before the end.
    pub cancelled: bool,
}

impl SyncReport {
    /// Returns how many documents were found and could be read.
    pub fn n_documents(&self) -> u64 {
        self.new + self.updated + self.unchanged
    }

    /// Counts a file, and returns what the store has to change.
    fn add(&mut self, path: String, outcome: Outcome) -> Option<Change> {
        match outcome {
            Outcome::Touched(document) => {
                self.unchanged += 1;
                Some(Change::Put(document))
            }
            Outcome::Read { document, is_new } => {
                *(if is_new {
                    &mut self.new
                } else {
                    &mut self.updated
                }) += 1;
                let warnings = document.warnings.iter();
                self.warnings
                    .extend(warnings.map(|warning| format!("{path}: {warning}")));
                Some(Change::Put(document))
            }
            // The document is counted with its last part.
            Outcome::Part(document) => {
                let warnings = document.warnings.iter();
                self.warnings
                    .extend(warnings.map(|warning| format!("{path}: {warning}")));
                Some(Change::Put(document))
            }
            Outcome::Failed(err) => {
                self.failed.push(Failure::new(path, &err));
                None
            }
        }
    }

    /// Adds what the walk came across.
    fn remark(&mut self, remarks: Remarks) {
        let links = remarks.links.iter();
        self.warnings
            .extend(links.map(|link| format!("{link}: skipped: link")));
        self.warnings.extend(remarks.warnings);
        let unreadable = remarks.unreadable.into_iter();
        self.failed
            .extend(unreadable.map(|place| Failure::new(place.path, &place.error)));
    }
}

/// Changes that go into one transaction.
#[derive(Debug, Default)]
struct Batch {
    changes: Vec<Change>,
    n_bytes: usize,
}

impl Batch {
    fn extend(&mut self, change: Option<Change>) {
        if let Some(Change::Put(document)) = &change {
            let lengths = document.entries.iter().map(|entry| entry.text.len());
            self.n_bytes += lengths.sum::<usize>();
        }
        self.changes.extend(change);
    }

    fn is_full(&self) -> bool {
        self.changes.len() >= MAX_DOCUMENTS || self.n_bytes >= MAX_BYTES
    }

    async fn write(&mut self, store: &Store, namespace: String) -> Result<()> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(self);
        store.apply(namespace, batch.changes).await?;
        step("documents_applied");
        Ok(())
    }
}

/// Something that could not be indexed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Failure {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// Why.
    pub reason: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Failure {
    fn new(path: String, err: &Error) -> Self {
        Self {
            path,
            reason: err.to_string(),
            hint: err.hint().map(str::to_owned),
        }
    }
}

/// The pieces a sync works with.
pub(crate) struct Syncer<'a> {
    pub(crate) options: &'a Options,
    pub(crate) chunkers: &'a [Arc<dyn Chunker>],
    pub(crate) lexical: &'a Part,
    pub(crate) vector: Option<&'a Part>,
    pub(crate) model: Option<&'a Model>,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) request: &'a SyncRequest,
    /// Is called when what the manifest names may be another generation.
    pub(crate) published: &'a (dyn Fn() + Sync),
}

impl Syncer<'_> {
    pub(crate) async fn run(&self) -> Result<SyncReport> {
        let discovery = Arc::new(Discovery::new(self.options)?);
        state_dir::prepare(&self.options.state_dir, &discovery)?;
        step("state_folder_made");
        let Some(lock) = self.lock().await? else {
            return Ok(SyncReport {
                workspace: discovery.workspace().display().to_string(),
                cancelled: true,
                ..SyncReport::default()
            });
        };
        step("lock_taken");
        let report = self.build_and_heal(&discovery, &lock).await;
        drop(lock);
        step("sync_done");
        report
    }

    /// Damage shows where a page is read. Everything can be built from the files, each part once in a sync.
    async fn build_and_heal(
        &self,
        discovery: &Arc<Discovery>,
        lock: &WriterLock,
    ) -> Result<SyncReport> {
        let mut anew = self.request.force;
        let mut with_new_vectors = false;
        let mut warnings = Vec::new();
        loop {
            let err = match self.build(discovery, lock, anew, warnings.clone()).await {
                Err(err) if err.kind() == ErrorKind::Corrupt => err,
                report => return report,
            };
            aside::mark(&self.options.state_dir, &err)?;
            if !with_new_vectors && vectors::is_in(&self.options.state_dir, &err) {
                with_new_vectors = true;
                warnings.push(vectors::set_aside(&self.options.state_dir, &err)?);
            } else if !anew {
                anew = true;
                warnings.push(format!("{}; the index is built anew", err.located()));
            } else {
                return Err(err);
            }
        }
    }

    /// Brings what is live to the state of the files, or with `anew` a new generation.
    async fn build(
        &self,
        discovery: &Arc<Discovery>,
        lock: &WriterLock,
        anew: bool,
        warnings: Vec<String>,
    ) -> Result<SyncReport> {
        let mut report = SyncReport {
            workspace: discovery.workspace().display().to_string(),
            warnings,
            ..SyncReport::default()
        };
        let result = match self.target(anew, &mut report.warnings).await {
            Ok(mut target) => {
                let result = self.fill(discovery, lock, &mut target, &mut report).await;
                let closed = target.close().await;
                result.and(closed)
            }
            Err(err) => Err(err),
        };
        if result.is_err() || report.cancelled {
            self.remove_unpublished(lock);
        }
        // Whatever went wrong in a folder that is another's by now, that is why, and nothing there may be mended.
        result
            .map(|()| report)
            .map_err(|err| lock.check(&self.options.state_dir).err().unwrap_or(err))
    }

    /// Removes what was begun and not published: whoever lacks the room for a rebuild should not lose more of it.
    fn remove_unpublished(&self, lock: &WriterLock) {
        let is_ours = lock.check(&self.options.state_dir).is_ok();
        if is_ours && let Ok(manifest) = Manifest::read(&self.options.state_dir) {
            // What stays is removed by the next sync; why this one ended is what a person has to hear.
            drop(generation::remove_others(self.options, manifest.as_ref()));
        }
    }

    /// Returns the writer lock, or nothing when the sync was stopped while it waited.
    async fn lock(&self) -> Result<Option<WriterLock>> {
        let holder = match WriterLock::try_take(&self.options.state_dir)? {
            Ok(lock) => return Ok(Some(lock)),
            Err(holder) => holder,
        };
        let limit = match self.request.wait {
            LockWait::Refuse => return Err(holder.into_error()),
            LockWait::Wait => None,
            LockWait::AtMost(limit) => Some(limit),
        };
        self.progress(Phase::Waiting, 0, u64::from(holder.pid.unwrap_or(0)));
        let cancel = Arc::clone(&self.request.cancel);
        match WriterLock::take(&self.options.state_dir, cancel, limit).await? {
            Waited::Taken(lock) => Ok(Some(lock)),
            Waited::Cancelled => Ok(None),
            Waited::Held(holder) => Err(holder.into_error()),
        }
    }

    async fn fill(
        &self,
        discovery: &Arc<Discovery>,
        lock: &WriterLock,
        target: &mut Target,
        report: &mut SyncReport,
    ) -> Result<()> {
        self.documents(discovery, &target.store, report).await?;
        if !self.is_cancelled() {
            self.words(target).await?;
        }
        report.cancelled = self.is_cancelled();
        if report.cancelled && target.unpublished {
            // Half a generation is not published; the next sync begins it again.
            return Ok(());
        }
        let namespace = || self.options.namespace.clone();
        self.find_by_meaning(target, &mut report.warnings).await?;
        if let Some(reason) = &target.no_meaning {
            target
                .store
                .explain_pending(namespace(), reason.clone())
                .await?;
        }
        report.entries = target.store.counts(namespace()).await?.n_entries;
        let known = self.known_vectors(target).await;
        self.without_meaning(known, target, report).await?;
        let store = &target.store;
        store
            .set_meta(self.key(state_dir::WORKSPACE), report.workspace.clone())
            .await?;
        store.set_meta(self.key(CUT_BY), self.cut_by()).await?;
        step("cut_noted");
        if target.unpublished {
            generation::sync_names(self.options)?;
            lock.check(&self.options.state_dir)?;
            target.manifest.publish(&self.options.state_dir)?;
            target.unpublished = false;
        }
        // Words can be searched by now. However the embedder fares, that stays.
        let new = self.new_vectors(target, report).await;
        self.without_meaning(new, target, report).await?;
        // What has a vector since is a change that concerns no word.
        self.words(target).await?;
        store
            .prune_tombstones(target.passed_by_all().await?)
            .await?;
        step("tombstones_pruned");
        report.pending = target.pending(namespace()).await?;
        let now = self.clock.now();
        store
            .set_meta(self.key("last_sync"), now.0.to_string())
            .await?;
        // Who reads in this process goes on with what is live now.
        (self.published)();
        lock.check(&self.options.state_dir)?;
        // The sync is done; a folder that stays is removed by the next one.
        match generation::remove_others(self.options, Some(&target.manifest)) {
            Ok(kept) => report.warnings.extend(kept),
            Err(err) => report.warnings.push(err.to_string()),
        }
        Ok(())
    }

    /// Goes on by words where the index by meaning, or `vectors.db`, cannot take what it is given; the next sync tries again.
    async fn without_meaning(
        &self,
        result: Result<()>,
        target: &Target,
        report: &mut SyncReport,
    ) -> Result<()> {
        match result {
            Err(err) if is_of_plugin(&err) || self.is_of_vectors(&err) => {
                report.warnings.push(degraded("vector", &err));
                target
                    .store
                    .explain_pending(self.options.namespace.clone(), err.to_string())
                    .await
            }
            result => result,
        }
    }

    /// Feeds the index by words.
    async fn words(&self, target: &Target) -> Result<()> {
        let (words, lexical) = (Words(&target.store), &*target.lexical);
        let Standing::Behind(total) = feed::standing(&words, lexical).await? else {
            return Err(Error::new(
                ErrorKind::Internal,
                "the index follows another store than the one it was opened for",
            ));
        };
        feed::catch_up(&words, lexical, self.lexical.plugin.limits, |done| {
            self.progress(Phase::Words, done.min(total), total);
            !self.is_cancelled()
        })
        .await?;
        step("words_fed");
        Ok(())
    }

    /// Writes what the scan finds.
    async fn documents(
        &self,
        discovery: &Arc<Discovery>,
        store: &Store,
        report: &mut SyncReport,
    ) -> Result<()> {
        let namespace = || self.options.namespace.clone();
        let scan = Scan {
            namespace: namespace(),
            chunkers: self.chunkers.to_vec(),
            max_bytes: self.options.documents.max_file_kib.saturating_mul(1024),
            cut_by: scan::cut_by(self.chunkers),
            growth: self.request.growth,
            cancel: Arc::clone(&self.request.cancel),
        };
        // Where every file is read, going through their names before costs next to nothing.
        let total = match store.counts(namespace()).await?.n_documents {
            0 => discovery.walk().count() as u64,
            n_known => n_known,
        };
        let mut scanned = scan.start(Arc::clone(discovery), store.clone())?;
        let mut batch = Batch::default();
        let mut done = 0;
        loop {
            let scanned = scanned.next().await.ok_or_else(|| {
                Error::new(ErrorKind::Internal, "the thread that reads files died")
            })?;
            let scanned = scanned?;
            match &scanned {
                Scanned::Unchanged(n) => done += n,
                Scanned::File { .. } => done += 1,
                Scanned::Gone { .. } | Scanned::End(_) => {}
            }
            self.progress(Phase::Files, done, total.max(done));
            match scanned {
                Scanned::Unchanged(n) => report.unchanged += n,
                Scanned::File { path, outcome } => {
                    if let Some(change) = DocumentChange::of(&outcome) {
                        self.tell(&path, change);
                    }
                    batch.extend(report.add(path, outcome));
                }
                Scanned::Gone { path, change } => {
                    report.removed += 1;
                    self.tell(&path, DocumentChange::Removed);
                    batch.extend(Some(change));
                }
                Scanned::End(remarks) => {
                    report.remark(remarks);
                    break;
                }
            }
            if batch.is_full() {
                batch.write(store, namespace()).await?;
            }
        }
        report.cancelled = self.is_cancelled();
        batch.write(store, namespace()).await
    }

    fn is_cancelled(&self) -> bool {
        self.request.cancel.load(Ordering::Relaxed)
    }

    /// What the store keeps of a sync, it keeps for each namespace.
    fn key(&self, name: &str) -> String {
        namespace_key(name, &self.options.namespace)
    }

    fn tell(&self, path: &str, change: DocumentChange) {
        if let Some(on_document) = &self.request.on_document {
            on_document(path, change);
        }
    }

    fn progress(&self, phase: Phase, done: u64, total: u64) {
        if let Some(progress) = &self.request.progress {
            progress(Progress { phase, done, total });
        }
    }
}

/// The name of a value that a store keeps for a namespace.
pub(crate) fn namespace_key(name: &str, namespace: &str) -> String {
    format!("{name}:{namespace}")
}
