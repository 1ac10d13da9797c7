//! What happens before a search: a memory without an index gets one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use memory::{Memory, SyncReport, SyncRequest};
use memory_api::Result;
use memory_watch::{Keeper, Settings, Told};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::server::Log;
use crate::tool::explained;

/// How long a search waits for a first index. Clients give a call a minute or so, and hide from the model why it failed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// After this long, words are enough for an answer, as soon as they are found.
    pub(crate) for_vectors: Duration,
    /// After this long, the answer is that there is none yet.
    pub(crate) at_all: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            for_vectors: Duration::from_secs(10),
            at_all: Duration::from_secs(45),
        }
    }
}

/// Files that could not be indexed and are named; the rest is counted.
const MAX_NAMED: usize = 5;

/// Keeps the index as fresh as a search needs it.
pub(crate) struct Fresh {
    memory: Arc<Memory>,
    log: Log,
    patience: Patience,
    /// The build that runs, or the last one.
    build: Mutex<Option<watch::Receiver<Build>>>,
    /// Ends a build between two batches.
    cancel: Arc<AtomicBool>,
    /// Syncs while nobody waits for it; `None` where only the first index is built.
    keeper: Option<Keeper>,
}

impl std::fmt::Debug for Fresh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fresh").finish_non_exhaustive()
    }
}

/// What a search should say besides its answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct News {
    pub(crate) degraded: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

impl News {
    fn degraded(line: String) -> Self {
        Self {
            degraded: vec![line],
            warnings: Vec::new(),
        }
    }
}

/// How far a build is.
#[derive(Debug, Clone)]
enum Build {
    Running,
    Done(News),
}

impl Fresh {
    pub(crate) fn new(memory: Arc<Memory>, log: Log, patience: Patience) -> Self {
        Self {
            memory,
            log,
            patience,
            build: Mutex::new(None),
            cancel: Arc::new(AtomicBool::new(false)),
            keeper: None,
        }
    }

    /// Has the index kept at the state of the files.
    pub(crate) fn with_keeper(mut self, settings: Settings) -> Result<Self> {
        let log = Arc::clone(&self.log);
        let tell = move |told| match told {
            Told::Failed(err) => log(&format!(
                "not indexed: {}; it is tried again",
                explained(&err)
            )),
            Told::Blind(reason) => log(&format!("files cannot be watched: {reason}")),
            _ => {}
        };
        self.keeper = Some(Keeper::start(Arc::clone(&self.memory), settings, tell)?);
        Ok(self)
    }

    /// The one place that every search passes before it looks: builds the first index and waits for it; has a later one brought up
    /// to date in the background.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the waiting, not the build.
    pub(crate) async fn before_search(&self) -> News {
        // What else is wrong with the index the search says itself.
        if !matches!(self.memory.is_indexed().await, Ok(false)) {
            if let Some(keeper) = &self.keeper {
                keeper.ask();
            }
            return News::default();
        }
        let waited = timeout(self.patience.at_all, self.wait(self.building())).await;
        waited.unwrap_or_else(|_| {
            News::degraded("index: it is still being built; ask again in a moment".to_owned())
        })
    }

    /// Waits until a build is done, or has been at it for long enough to answer with what can be found by now.
    async fn wait(&self, mut build: watch::Receiver<Build>) -> News {
        let mut patience = std::pin::pin!(sleep(self.patience.for_vectors));
        let mut is_patient = true;
        loop {
            if let Build::Done(news) = &*build.borrow_and_update() {
                return news.clone();
            }
            if !is_patient && matches!(self.memory.is_indexed().await, Ok(true)) {
                return News::default();
            }
            tokio::select! {
                changed = build.changed() => if changed.is_err() {
                    return News::degraded("index: building it failed; run `memory index` to see why".to_owned());
                },
                () = &mut patience, if is_patient => is_patient = false,
            }
        }
    }

    /// Ends a build that runs, and gives it a moment for that. What it wrote stays; the next one goes on from there.
    pub(crate) async fn stop(&self, moment: Duration) {
        self.cancel.store(true, Ordering::Relaxed);
        if let Some(keeper) = &self.keeper {
            keeper.stop();
        }
        let build = self.lock().clone();
        if let Some(mut build) = build {
            let done = build.wait_for(|build| matches!(build, Build::Done(_)));
            // What is not done by then is left to the next process, as after any other death.
            drop(timeout(moment, done).await);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<watch::Receiver<Build>>> {
        self.build.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the build that runs, and begins one if none does.
    fn building(&self) -> watch::Receiver<Build> {
        let mut build = self.lock();
        if let Some(running) = &*build
            && running.has_changed().is_ok()
            && matches!(*running.borrow(), Build::Running)
        {
            return running.clone();
        }
        let (sender, receiver) = watch::channel(Build::Running);
        let request = SyncRequest {
            cancel: Arc::clone(&self.cancel),
            progress: Some({
                let sender = sender.clone();
                // Wakes who waits, to look whether words can be found by now.
                Arc::new(move |_| sender.send_modify(|_| {}))
            }),
            ..SyncRequest::default()
        };
        let (memory, log) = (Arc::clone(&self.memory), Arc::clone(&self.log));
        log("no index yet; building it");
        let spawned = thread::Builder::new()
            .name("memory-mcp-index".to_owned())
            .spawn(move || {
                let news = match block_on(memory.sync(&request)) {
                    Ok(report) => of_report(&report),
                    Err(err) => News::degraded(format!("index: {}", explained(&err))),
                };
                for line in news.degraded.iter().chain(&news.warnings) {
                    log(line);
                }
                // The request holds another sender, so this has to be said.
                sender.send_replace(Build::Done(news));
            });
        // Without a thread both senders are gone, which is how a build ends that failed.
        drop(spawned);
        build.insert(receiver).clone()
    }
}

fn of_report(report: &SyncReport) -> News {
    let failed = report.failed.iter().take(MAX_NAMED);
    let failed = failed.map(|failure| format!("{}: {}", failure.path, failure.reason));
    let mut warnings: Vec<String> = report.warnings.iter().cloned().chain(failed).collect();
    if let Some(n) = report
        .failed
        .len()
        .checked_sub(MAX_NAMED)
        .filter(|n| *n > 0)
    {
        warnings.push(format!(
            "{n} more files could not be indexed; `memory index` names them"
        ));
    }
    News {
        degraded: Vec::new(),
        warnings,
    }
}
