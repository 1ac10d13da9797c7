use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use futures::channel::oneshot;
use futures::executor::block_on;
use memory::{Clock, DocumentChange, Growth, Memory, SyncReport, SyncRequest};
use memory_api::{Error, ErrorKind, Result};

use crate::eyes::{Eyes, Seen};
use crate::schedule::Schedule;

/// How often files are compared with the index where they cannot be watched.
const BLIND: Duration = Duration::from_secs(15);

/// What makes a keeper sync.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Sync once at the beginning.
    pub at_start: bool,
    /// Sync when a search asks for it.
    pub on_search: bool,
    /// Sync when files change.
    pub watch: bool,
    /// How long files have to be quiet before a sync; under changes without end it comes after ten times as long.
    pub debounce: Duration,
    /// How much a transcript has to have grown to be read again when files change or a search asks; at the beginning and at each
    /// interval all of it is read.
    pub growth: Growth,
    /// Sync this often, whatever happens.
    pub interval: Option<Duration>,
}

impl Settings {
    /// Takes what the `[sync]` table of a configuration says.
    pub fn new(config: &memory::config::SyncConfig) -> Self {
        let minutes = u64::from(config.interval_minutes);
        Self {
            at_start: config.on_session_start,
            on_search: config.on_search,
            watch: config.watch,
            debounce: Duration::from_millis(u64::from(config.watch_debounce_ms)),
            growth: Growth {
                bytes: u64::from(config.delta_bytes),
                messages: u64::from(config.delta_messages),
            },
            interval: (minutes > 0).then(|| Duration::from_mins(minutes)),
        }
    }
}

/// What a keeper tells of its work.
#[derive(Debug)]
#[non_exhaustive]
pub enum Told {
    /// So many folders are watched from now on.
    Watching(usize),
    /// Files cannot be watched, or not all of them; they are compared every so often instead.
    Blind(String),
    /// A document changed; it is indexed when the sync has ended.
    Document(String, DocumentChange),
    /// A sync ended.
    Synced(SyncReport),
    /// A sync failed; it is tried again.
    Failed(Error),
}

/// Keeps the index of a memory at the state of its files, until it is dropped.
pub struct Keeper {
    messages: Sender<Message>,
    cancel: Arc<AtomicBool>,
    on_search: bool,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keeper").finish_non_exhaustive()
    }
}

enum Message {
    Seen(Seen),
    Ask,
    /// The sender hears when a sync that began after this has ended.
    Wait(oneshot::Sender<()>),
    Stop,
}

impl Keeper {
    /// Starts the thread. `tell` is called on it.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the system starts no thread. That files cannot be watched is told, and no error.
    pub fn start(
        memory: Arc<Memory>,
        settings: Settings,
        tell: impl Fn(Told) + Send + Sync + 'static,
    ) -> Result<Self> {
        let (messages, inbox) = mpsc::channel();
        let cancel = Arc::new(AtomicBool::new(false));
        let on_search = settings.on_search;
        let keeping = Keeping {
            clock: memory.clock(),
            memory,
            settings,
            tell: Arc::new(tell),
            cancel: Arc::clone(&cancel),
            outbox: messages.clone(),
            eyes: None,
            waiting: Vec::new(),
        };
        let thread = std::thread::Builder::new()
            .name("memory-keeper".to_owned())
            .spawn(move || keeping.run(&inbox))
            .map_err(|err| {
                Error::new(
                    ErrorKind::Unavailable,
                    format!("cannot start a thread: {err}"),
                )
            })?;
        Ok(Self {
            messages,
            cancel,
            on_search,
            thread: Some(thread),
        })
    }

    /// Has the index brought up to date in the background, if the settings say so for searches.
    pub fn ask(&self) {
        if self.on_search {
            // A thread that is gone was stopped.
            drop(self.messages.send(Message::Ask));
        }
    }

    /// Has it hear what a watcher could tell.
    #[cfg(test)]
    pub(crate) fn see(&self, seen: Seen) {
        self.messages.send(Message::Seen(seen)).unwrap();
    }

    /// Waits for a sync that begins from now on, well or badly ended.
    pub async fn synced(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.messages.send(Message::Wait(sender)).is_ok() {
            // An answer that will never come is as good as one.
            receiver.await.ok();
        }
    }

    /// Stops a sync after its current batch, and then the thread, without waiting for either.
    pub fn stop(&self) {
        self.cancel.store(true, Ordering::Relaxed);
        drop(self.messages.send(Message::Stop));
    }
}

/// Waits until the thread has ended.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What the thread works with.
struct Keeping {
    memory: Arc<Memory>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    tell: Arc<dyn Fn(Told) + Send + Sync>,
    cancel: Arc<AtomicBool>,
    /// Where the watcher leaves what it sees.
    outbox: Sender<Message>,
    eyes: Option<Eyes>,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Keeping {
    fn run(mut self, inbox: &Receiver<Message>) {
        let mut schedule = Schedule::new(self.settings.debounce, self.settings.interval);
        // Before the first sync: what changes while it looks is seen.
        self.open_eyes(&mut schedule);
        if self.settings.at_start {
            schedule.begin_at(self.clock.monotonic());
        } else {
            // The net below the events counts from here.
            schedule.end(self.clock.monotonic(), false);
        }
        let mut folders = false;
        loop {
            let now = self.clock.monotonic();
            let message = match schedule.due() {
                Some(due) if due <= now => {
                    let growth = if schedule.begin() {
                        self.settings.growth
                    } else {
                        Growth::default()
                    };
                    if std::mem::take(&mut folders) {
                        // Before the sync, so that what a new folder holds is either listed by the sync or seen after it.
                        self.watch(&mut schedule);
                    }
                    let failed = !self.sync(growth);
                    schedule.end(self.clock.monotonic(), failed);
                    continue;
                }
                Some(due) => match inbox.recv_timeout(due.saturating_sub(now)) {
                    Ok(message) => message,
                    Err(RecvTimeoutError::Timeout) => continue,
                    Err(RecvTimeoutError::Disconnected) => return,
                },
                None => match inbox.recv() {
                    Ok(message) => message,
                    Err(_) => return,
                },
            };
            let now = self.clock.monotonic();
            match message {
                Message::Stop => return,
                Message::Ask => schedule.ask(now),
                Message::Wait(sender) => {
                    self.waiting.push(sender);
                    schedule.ask(now);
                }
                Message::Seen(Seen::Change {
                    folders: has_folders,
                }) => {
                    folders |= has_folders;
                    schedule.event(now);
                }
                Message::Seen(Seen::Trouble(reason)) => {
                    (self.tell)(Told::Blind(reason));
                    // Opened again before the next sync, so that one trouble after the other does not keep this busy.
                    self.eyes = None;
                    folders = true;
                    schedule.event(now);
                }
            }
        }
    }

    /// Begins to watch, or begins again.
    fn open_eyes(&mut self, schedule: &mut Schedule) {
        if !self.settings.watch {
            return;
        }
        let outbox = self.outbox.clone();
        let own = own(self.memory.state_dir());
        // Who receives is gone only when all of this is.
        let tell = move |seen| drop(outbox.send(Message::Seen(seen)));
        match Eyes::new(own, tell) {
            Ok(eyes) => {
                self.eyes = Some(eyes);
                self.watch(schedule);
            }
            Err(err) => self.is_blind(schedule, err.to_string()),
        }
    }

    fn watch(&mut self, schedule: &mut Schedule) {
        let Some(eyes) = &mut self.eyes else {
            return self.open_eyes(schedule);
        };
        match self.memory.watch_folders() {
            Ok(folders) => {
                let troubles = eyes.watch(&folders);
                if troubles.is_empty() {
                    schedule.set_interval(self.settings.interval);
                    (self.tell)(Told::Watching(folders.len()));
                } else {
                    self.is_blind(schedule, troubles.join("; "));
                }
            }
            // The sync that follows says what is wrong.
            Err(err) => self.is_blind(schedule, err.to_string()),
        }
    }

    fn is_blind(&self, schedule: &mut Schedule, reason: String) {
        let interval = self
            .settings
            .interval
            .map_or(BLIND, |interval| interval.min(BLIND));
        schedule.set_interval(Some(interval));
        (self.tell)(Told::Blind(reason));
    }

    /// Returns whether it went well.
    fn sync(&mut self, growth: Growth) -> bool {
        // Who asks from here on waits for the next one.
        let waiting = std::mem::take(&mut self.waiting);
        let tell = Arc::clone(&self.tell);
        let request = SyncRequest {
            growth,
            cancel: Arc::clone(&self.cancel),
            on_document: Some(Arc::new(move |path: &str, change| {
                tell(Told::Document(path.to_owned(), change));
            })),
            ..SyncRequest::default()
        };
        // A sync that panics must not end the thread: nobody would notice.
        let synced = AssertUnwindSafe(|| block_on(self.memory.sync(&request)));
        let result = panic::catch_unwind(synced)
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "the sync panicked")));
        let is_well = result.is_ok();
        (self.tell)(match result {
            Ok(report) => Told::Synced(report),
            Err(err) => Told::Failed(err),
        });
        for sender in waiting {
            // Who asked may have gone.
            sender.send(()).ok();
        }
        is_well
    }
}

/// Returns the paths by which events may name the folder of the index: as it was named, and with the links on the way resolved.
fn own(state_dir: &Path) -> Vec<PathBuf> {
    let resolved = state_dir.canonicalize().or_else(|_| {
        // It is made by the first sync.
        let above = state_dir.parent().unwrap_or(state_dir).canonicalize()?;
        Ok::<_, std::io::Error>(above.join(state_dir.file_name().unwrap_or_default()))
    });
    [Some(state_dir.to_owned()), resolved.ok()]
        .into_iter()
        .flatten()
        .collect()
}
