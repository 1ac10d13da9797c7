//! Brings store and indexes to the state of the files.
//!
//! A thread walks, reads and cuts (`scan`); this side writes what it sends in transactions, feeds the indexes and publishes.
//! What is durable after each step:
//!
//! 1. state folder and writer lock: nothing yet;
//! 2. for a new generation: empty folders that no manifest names;
//! 3. changes of documents, some hundred per transaction: the store, numbered;
//! 4. changes fed to the index: the index, with its watermark;
//! 5. for a new generation: the manifest that names it;
//! 6. tombstones that every index has passed are forgotten, folders that no manifest names are removed.

pub(crate) mod scan;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt as _;
use memory_api::{Chunker, Error, ErrorKind, LexicalIndex, Result, StoreId};
use serde::Serialize;

use crate::clock::Clock;
use crate::discovery::{Discovery, strip_components};
use crate::feed::{self, Standing};
use crate::generation::{self, Live, Slot};
use crate::lock::WriterLock;
use crate::manifest::Manifest;
use crate::options::{Options, Part};
use crate::state_dir;
use crate::store::{Change, Known, Store};
use scan::{Outcome, Scan, Scanned};

/// Documents per transaction at most.
const MAX_DOCUMENTS: usize = 256;
/// Text per transaction, in bytes, after which it is written.
const MAX_BYTES: usize = 4 << 20;

/// What a sync is to do.
#[derive(Clone, Default)]
pub struct SyncRequest {
    /// Build a new generation from the files, whatever is there.
    pub force: bool,
    /// What to do when another process writes.
    pub wait: LockWait,
    /// Hears how far it is; called often, from the task that syncs.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Set by someone else to stop after the current batch.
    pub cancel: Arc<AtomicBool>,
}

impl fmt::Debug for SyncRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncRequest")
            .field("force", &self.force)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
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
}

/// How far a sync is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What it does.
    pub phase: Phase,
    /// Files or changes done.
    pub done: u64,
    /// Files or changes in all.
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
    /// Whether it was stopped before the end.
    pub cancelled: bool,
}

impl SyncReport {
    /// Returns how many documents were found and could be read.
    pub fn n_documents(&self) -> u64 {
        self.new + self.updated + self.unchanged
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
#[derive(Debug)]
pub(crate) struct Syncer<'a> {
    pub(crate) options: &'a Options,
    pub(crate) chunkers: &'a [Arc<dyn Chunker>],
    pub(crate) lexical: &'a Part,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) request: &'a SyncRequest,
}

/// The store and index a sync fills.
struct Target {
    manifest: Manifest,
    store: Store,
    lexical: Arc<dyn LexicalIndex>,
    /// Whether the manifest on disk does not name them yet.
    unpublished: bool,
}

impl Syncer<'_> {
    pub(crate) async fn run(&self) -> Result<SyncReport> {
        let discovery = Discovery::new(self.options)?;
        state_dir::prepare(&self.options.state_dir, &discovery)?;
        let lock = self.lock().await?;
        let report = match self.build(&discovery, self.request.force, Vec::new()).await {
            // Damage shows where a page is read. Everything can be built from the files, so that is what helps.
            Err(err) if err.kind() == ErrorKind::Corrupt && !self.request.force => {
                let warning = format!("{}; the index is built anew", located(&err));
                self.build(&discovery, true, vec![warning]).await
            }
            report => report,
        };
        drop(lock);
        report
    }

    /// Brings what is live to the state of the files, or with `anew` a new generation.
    async fn build(
        &self,
        discovery: &Discovery,
        anew: bool,
        warnings: Vec<String>,
    ) -> Result<SyncReport> {
        let mut report = SyncReport {
            workspace: discovery.workspace().display().to_string(),
            warnings,
            ..SyncReport::default()
        };
        let mut target = self.target(anew, &mut report.warnings).await?;
        let result = self.fill(discovery, &mut target, &mut report).await;
        target.store.close().await;
        let closed = target.lexical.close().await;
        result.and(closed).map(|()| report)
    }

    async fn lock(&self) -> Result<WriterLock> {
        let holder = match WriterLock::try_take(&self.options.state_dir)? {
            Ok(lock) => return Ok(lock),
            Err(holder) => holder,
        };
        if self.request.wait == LockWait::Refuse {
            return Err(holder.into_error());
        }
        self.progress(Phase::Waiting, 0, u64::from(holder.pid.unwrap_or(0)));
        WriterLock::take(&self.options.state_dir).await
    }

    /// Opens what is there, or begins a new generation.
    async fn target(&self, anew: bool, warnings: &mut Vec<String>) -> Result<Target> {
        let manifest = match Manifest::read(&self.options.state_dir) {
            // A damaged manifest names nothing that could be kept.
            Err(err) if err.kind() == ErrorKind::Corrupt && anew => None,
            manifest => manifest?,
        };
        // What an interrupted build left takes room that this one may need.
        generation::remove_others(self.options, manifest.as_ref())?;
        let number = generation::next_number(self.options, manifest.as_ref())?;
        let Some(manifest) = manifest else {
            return self.new_target(number).await;
        };
        if anew {
            self.warn_of_namespaces(manifest, warnings).await;
            return self.new_target(number).await;
        }
        let live = Live::open(self.options, self.lexical, manifest).await?;
        if let Err(err) = self.check_workspace(&live.store).await {
            live.close().await?;
            return Err(err);
        }
        let Live {
            manifest,
            store,
            lexical,
        } = live;
        let reason = match lexical {
            Slot::Open(lexical) => match feed::standing(&store, &*lexical).await? {
                Standing::Behind(_) => {
                    return Ok(Target {
                        manifest,
                        store,
                        lexical,
                        unpublished: false,
                    });
                }
                Standing::Lost => {
                    lexical.close().await?;
                    "the index by words does not follow the store".to_owned()
                }
            },
            Slot::Closed(err) => err.to_string(),
        };
        warnings.push(format!("{reason}; the index by words is built anew"));
        let (folder, lexical) = generation::new_lexical(self.options, self.lexical, number).await?;
        let manifest = Manifest::new(number, manifest.store, folder);
        Ok(Target {
            manifest,
            store,
            lexical,
            unpublished: true,
        })
    }

    /// Two workspaces in one state folder would remove each other's documents.
    async fn check_workspace(&self, store: &Store) -> Result<()> {
        match state_dir::other_workspace(store, self.options).await? {
            None => Ok(()),
            Some(other) => Err(Error::new(
                ErrorKind::InvalidInput,
                format!("`{}` holds the index of `{other}`", self.options.state_dir.display()),
            )
            .with_hint(
                "name another folder by `--state DIR`, another `namespace`, or take it over by `memory index --force`",
            )),
        }
    }

    /// A new generation is built from the files of this namespace; others sharing the folder have to build theirs again.
    async fn warn_of_namespaces(&self, manifest: Manifest, warnings: &mut Vec<String>) {
        // A generation that cannot be opened has nothing to lose.
        let Ok(live) = Live::open(self.options, self.lexical, manifest).await else {
            return;
        };
        let namespace = self.options.namespace.clone();
        if live
            .store
            .has_other_namespace(namespace)
            .await
            .unwrap_or(false)
        {
            warnings.push(
                "other namespaces are missing from the new index until their next sync".to_owned(),
            );
        }
        // The old generation is replaced; how its closing went matters to nobody.
        drop(live.close().await);
    }

    async fn new_target(&self, number: u64) -> Result<Target> {
        let id = StoreId(self.clock.random());
        let (store_folder, store) = generation::new_store(self.options, number, id).await?;
        let (folder, lexical) = generation::new_lexical(self.options, self.lexical, number).await?;
        Ok(Target {
            manifest: Manifest::new(number, store_folder, folder),
            store,
            lexical,
            unpublished: true,
        })
    }

    async fn fill(
        &self,
        discovery: &Discovery,
        target: &mut Target,
        report: &mut SyncReport,
    ) -> Result<()> {
        self.documents(discovery, &target.store, report).await?;
        let Standing::Behind(total) = feed::standing(&target.store, &*target.lexical).await? else {
            return Err(Error::new(
                ErrorKind::Internal,
                "the index follows another store than the one it was opened for",
            ));
        };
        feed::catch_up(
            &target.store,
            &*target.lexical,
            self.lexical.plugin.limits,
            |done| {
                self.progress(Phase::Words, done, total);
            },
        )
        .await?;
        report.entries = target
            .store
            .counts(self.options.namespace.clone())
            .await?
            .n_entries;
        if report.cancelled && target.unpublished {
            // Half a generation is not published; the next sync begins it again.
            return Ok(());
        }
        let now = self.clock.now();
        target
            .store
            .set_meta(self.key("workspace"), report.workspace.clone())
            .await?;
        target
            .store
            .set_meta(self.key("last_sync"), now.0.to_string())
            .await?;
        target
            .store
            .prune_tombstones(target.store.last_seq().await?)
            .await?;
        if target.unpublished {
            generation::sync_names(self.options)?;
            target.manifest.publish(&self.options.state_dir)?;
            target.unpublished = false;
        }
        // The sync is done; a folder that stays is removed by the next one.
        if let Err(err) = generation::remove_others(self.options, Some(&target.manifest)) {
            report.warnings.push(err.to_string());
        }
        Ok(())
    }

    /// Writes what the scan finds.
    async fn documents(
        &self,
        discovery: &Discovery,
        store: &Store,
        report: &mut SyncReport,
    ) -> Result<()> {
        let walk = discovery.walk();
        for link in walk.links {
            report.warnings.push(format!("{link}: skipped: link"));
        }
        report.warnings.extend(walk.warnings);
        let unreadable: Vec<String> = walk
            .unreadable
            .iter()
            .map(|place| place.path.clone())
            .collect();
        for place in walk.unreadable {
            report.failed.push(Failure::new(place.path, &place.error));
        }
        let mut known = store
            .known_documents(self.options.namespace.clone())
            .await?;
        let total = walk.files.len() as u64;
        let files: Vec<_> = walk
            .files
            .into_iter()
            .map(|found| {
                let known = known.remove(&(scan::SOURCE.to_owned(), found.path.clone()));
                (found, known)
            })
            .collect();
        let scan = Scan {
            namespace: self.options.namespace.clone(),
            chunkers: self.chunkers.to_vec(),
            max_bytes: self.options.documents.max_file_kib.saturating_mul(1024),
            cut_by: scan::cut_by(self.chunkers),
            cancel: Arc::clone(&self.request.cancel),
        };
        let mut scanned = scan.start(files)?;
        let mut changes = Vec::new();
        let mut n_bytes = 0;
        let mut done = 0;
        while let Some(Scanned { path, outcome }) = scanned.next().await {
            done += 1;
            self.progress(Phase::Files, done, total);
            match outcome {
                Outcome::Unchanged => report.unchanged += 1,
                Outcome::Touched(change) => {
                    report.unchanged += 1;
                    changes.push(change);
                }
                Outcome::Read { document, is_new } => {
                    *(if is_new {
                        &mut report.new
                    } else {
                        &mut report.updated
                    }) += 1;
                    report.warnings.extend(
                        document
                            .warnings
                            .iter()
                            .map(|warning| format!("{path}: {warning}")),
                    );
                    n_bytes += document
                        .entries
                        .iter()
                        .map(|entry| entry.text.len())
                        .sum::<usize>();
                    changes.push(Change::Put(document));
                }
                Outcome::Failed(err) => report.failed.push(Failure::new(path, &err)),
            }
            if changes.len() >= MAX_DOCUMENTS || n_bytes >= MAX_BYTES {
                store
                    .apply(self.options.namespace.clone(), std::mem::take(&mut changes))
                    .await?;
                n_bytes = 0;
            }
        }
        report.cancelled = self.request.cancel.load(Ordering::Relaxed);
        if done < total && !report.cancelled {
            return Err(Error::new(
                ErrorKind::Internal,
                "the thread that reads files died",
            ));
        }
        let mut gone: Vec<(String, Known)> = known
            .into_iter()
            .map(|((_, path), known)| (path, known))
            .filter(|(path, _)| !is_below(path, &unreadable))
            .collect();
        gone.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        report.removed = gone.len() as u64;
        changes.extend(
            gone.into_iter()
                .map(|(_, known)| Change::Remove { doc: known.doc }),
        );
        if changes.is_empty() {
            return Ok(());
        }
        store.apply(self.options.namespace.clone(), changes).await
    }

    /// What the store keeps of a sync, it keeps for each namespace.
    fn key(&self, name: &str) -> String {
        namespace_key(name, &self.options.namespace)
    }

    fn progress(&self, phase: Phase, done: u64, total: u64) {
        if let Some(progress) = &self.request.progress {
            progress(Progress { phase, done, total });
        }
    }
}

/// Returns whether the document lies in one of the folders, `.` being the workspace itself.
pub(crate) fn is_below(path: &str, folders: &[String]) -> bool {
    folders
        .iter()
        .any(|folder| folder == "." || strip_components(path, folder).is_some())
}

/// The name of a value that a store keeps for a namespace.
pub(crate) fn namespace_key(name: &str, namespace: &str) -> String {
    format!("{name}:{namespace}")
}

/// Says which file an error is about, where it knows.
fn located(err: &Error) -> String {
    match err.context("path") {
        Some(path) if !err.message().contains(path) => format!("{err} (`{path}`)"),
        _ => err.to_string(),
    }
}
