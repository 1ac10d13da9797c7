use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::channel::oneshot;
use memory_api::{Error, ErrorKind, Result, Retry};

use crate::file::open_own;
use crate::manifest::io_error;

/// The file inside a state folder.
const FILE_NAME: &str = "lock";
/// The file that keeps two processes from adding to notes at once. A sync may take long, and does not keep anybody from that.
const NOTES_FILE_NAME: &str = "notes.lock";
/// How long somebody who adds to a note waits for others who do, and how long between two looks.
const NOTES_WAIT: Duration = Duration::from_secs(20);
const NOTES_LOOK_AGAIN: Duration = Duration::from_millis(4);
/// Who only looks who holds the lock has it for a moment, which is no reason to turn a writer away.
const LOOKS: u32 = 3;
const LOOK_TIME: Duration = Duration::from_millis(5);
/// How long a waiting writer sleeps between two looks at the lock.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The writer lock: one process writes at a time. The operating system releases it when its holder dies.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Takes the lock if it is free; otherwise says who holds it.
    pub(crate) fn try_take(state_dir: &Path) -> Result<Result<Self, Holder>> {
        let (path, file) = open(state_dir, FILE_NAME)?;
        for _ in 0..LOOKS {
            match file.try_lock() {
                Ok(()) => return Self::taken(file, &path).map(Ok),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_TIME),
                Err(TryLockError::Error(err)) => return Err(io_error(&err, "lock", &path)),
            }
        }
        Ok(Err(Holder::read(&file)))
    }

    /// Returns who holds the lock, without taking it and without making its file.
    pub(crate) fn holder(state_dir: &Path) -> Option<Holder> {
        let file = open_own(&state_dir.join(FILE_NAME)).ok()?;
        // Several may look at once; only a writer is in the way.
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(Holder::read(&file)),
            _ => None,
        }
    }

    /// Waits for the lock on a thread of its own, so that the caller's executor stays free, until `cancel` is set or for as long as
    /// `limit` says.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the thread.
    pub(crate) async fn take(
        state_dir: &Path,
        cancel: Arc<AtomicBool>,
        limit: Option<Duration>,
    ) -> Result<Waited> {
        let (path, file) = open(state_dir, FILE_NAME)?;
        let (sender, receiver) = oneshot::channel::<Result<Waited>>();
        std::thread::Builder::new()
            .name("memory-lock".to_owned())
            .spawn(move || {
                let mut waited = Duration::ZERO;
                // The system's own waiting cannot be ended by anybody but the holder.
                while !sender.is_canceled() {
                    let answer = match file.try_lock() {
                        Ok(()) => Self::taken(file, &path).map(Waited::Taken),
                        Err(TryLockError::WouldBlock) if cancel.load(Ordering::Relaxed) => {
                            Ok(Waited::Cancelled)
                        }
                        Err(TryLockError::WouldBlock)
                            if limit.is_some_and(|limit| waited >= limit) =>
                        {
                            Ok(Waited::Held(Holder::read(&file)))
                        }
                        Err(TryLockError::WouldBlock) => {
                            std::thread::sleep(LOOK_AGAIN);
                            waited += LOOK_AGAIN;
                            continue;
                        }
                        Err(TryLockError::Error(err)) => Err(io_error(&err, "lock", &path)),
                    };
                    // The receiver is gone when nobody waits any more; the lock is dropped with the message.
                    drop(sender.send(answer));
                    return;
                }
            })
            .map_err(|err| {
                Error::new(
                    ErrorKind::Unavailable,
                    format!("cannot start a thread: {err}"),
                )
            })?;
        receiver.await.map_err(|_| {
            Error::new(
                ErrorKind::Internal,
                "the thread that waited for the lock died",
            )
        })?
    }

    /// Refuses to go on when the folder was removed or replaced meanwhile: then somebody else may hold the lock that is there now.
    ///
    /// # Errors
    ///
    /// `Unavailable`.
    pub(crate) fn check(&self, state_dir: &Path) -> Result<()> {
        let path = state_dir.join(FILE_NAME);
        let is_there = || -> std::io::Result<bool> {
            let (mine, there) = (self.file.metadata()?, std::fs::metadata(&path)?);
            Ok(is_same(&mine, &there))
        };
        if is_there().unwrap_or(false) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "`{}` was removed or replaced while it was written",
                state_dir.display()
            ),
        )
        .with_hint("run it again"))
    }

    fn taken(mut file: File, path: &Path) -> Result<Self> {
        let write = |file: &mut File| -> std::io::Result<()> {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{}", std::process::id())
        };
        write(&mut file).map_err(|err| io_error(&err, "write", path))?;
        Ok(Self { file })
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Where files have no number, a locked file cannot be removed either.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // Closing the file releases the lock as well; doing it here only makes the moment exact.
        drop(self.file.unlock());
    }
}

/// How waiting for the lock ended.
#[derive(Debug)]
pub(crate) enum Waited {
    Taken(WriterLock),
    Cancelled,
    /// The time is over, and this one has it still.
    Held(Holder),
}

/// What somebody holds who adds to a note. The operating system releases it when its holder dies.
#[derive(Debug)]
pub(crate) struct NoteLock {
    /// Of a state folder, against others that use it.
    _file: Option<File>,
    /// The folder of the note, against those that add with another state folder, or none. Not every system can lock folders.
    folder: Option<File>,
}

impl NoteLock {
    /// Waits for the lock; the calling thread sleeps meanwhile.
    ///
    /// # Errors
    ///
    /// `Unavailable` when others hold it for long.
    pub(crate) fn take(state_dir: Option<&Path>, folder: &Path) -> Result<Self> {
        // A state folder that cannot be written keeps nobody from writing a note.
        let opened = state_dir.and_then(|state_dir| open(state_dir, NOTES_FILE_NAME).ok());
        let file = match opened {
            Some((path, file)) => wait(&file, &path)?.then_some(file),
            None => None,
        };
        let folder = match open_to_lock(folder) {
            Some(opened) => wait(&opened, folder)?.then_some(opened),
            None => None,
        };
        Ok(Self {
            _file: file,
            folder,
        })
    }

    /// Returns whether nobody else can be adding to a note of this folder, whatever their state folder is.
    pub(crate) fn is_alone(&self) -> bool {
        self.folder.is_some()
    }
}

/// Waits for a lock; returns whether it can be had at all.
fn wait(file: &File, path: &Path) -> Result<bool> {
    let mut waited = Duration::ZERO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if waited < NOTES_WAIT => {
                std::thread::sleep(NOTES_LOOK_AGAIN);
                waited += NOTES_LOOK_AGAIN;
            }
            Err(TryLockError::WouldBlock) => {
                let message = format!(
                    "another process holds `{}` for more than {} s",
                    path.display(),
                    NOTES_WAIT.as_secs()
                );
                return Err(Error::new(ErrorKind::Unavailable, message)
                    .with_retry(Retry::After(None))
                    .with_hint("nothing was written; try again"));
            }
            // Network folders know no locks, some of them. What another process changes is noticed all the same.
            Err(TryLockError::Error(_)) => return Ok(false),
        }
    }
}

#[cfg(unix)]
fn open_to_lock(folder: &Path) -> Option<File> {
    crate::file::open_folder(folder).ok()
}

#[cfg(not(unix))]
fn open_to_lock(_: &Path) -> Option<File> {
    None
}

/// Who holds the lock, as far as it said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) pid: Option<u32>,
}

impl Holder {
    fn read(mut file: &File) -> Self {
        let mut text = String::new();
        // A holder that has not written its number yet, or cannot be read, is an unknown one.
        let pid = file
            .read_to_string(&mut text)
            .ok()
            .and_then(|_| text.trim().parse().ok());
        Self { pid }
    }

    pub(crate) fn name(self) -> String {
        self.pid.map_or_else(
            || "another process".to_owned(),
            |pid| format!("process {pid}"),
        )
    }

    pub(crate) fn into_error(self) -> Error {
        Error::new(
            ErrorKind::Unavailable,
            format!("{} is writing to this index", self.name()),
        )
        .with_context("lock", "held")
        .with_retry(Retry::After(None))
        .with_hint("wait for it, or leave out `--no-wait`")
    }
}

fn open(state_dir: &Path, name: &str) -> Result<(PathBuf, File)> {
    let path = state_dir.join(name);
    let open = || -> std::io::Result<File> {
        if path.is_symlink() {
            return Err(std::io::Error::other("it is a link"));
        }
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
    };
    let file = open().map_err(|err| io_error(&err, "open", &path))?;
    Ok((path, file))
}
