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
        let (path, file) = open(state_dir)?;
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

    /// Waits for the lock on a thread of its own, so that the caller's executor stays free; `None` when `cancel` was set first.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the thread.
    pub(crate) async fn take(state_dir: &Path, cancel: Arc<AtomicBool>) -> Result<Option<Self>> {
        let (path, file) = open(state_dir)?;
        let (sender, receiver) = oneshot::channel::<Result<Option<Self>>>();
        std::thread::Builder::new()
            .name("memory-lock".to_owned())
            .spawn(move || {
                // The system's own waiting cannot be ended by anybody but the holder.
                while !sender.is_canceled() {
                    let answer = match file.try_lock() {
                        Ok(()) => Self::taken(file, &path).map(Some),
                        Err(TryLockError::WouldBlock) if cancel.load(Ordering::Relaxed) => Ok(None),
                        Err(TryLockError::WouldBlock) => {
                            std::thread::sleep(LOOK_AGAIN);
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

fn open(state_dir: &Path) -> Result<(PathBuf, File)> {
    let path = state_dir.join(FILE_NAME);
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
