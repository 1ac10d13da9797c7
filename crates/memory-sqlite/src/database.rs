use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memory_api::{Error, ErrorKind, Result};
use rusqlite::Connection;

use crate::queue::{End, Queue};
use crate::worker::{Job, Queues, Reply, Side, Worker, plain_job, read_job, write_job};
use crate::{Options, connect, sqlite_error};

/// A SQLite file behind threads of its own, for async callers of any runtime.
///
/// One thread, `memory-sqlite-writer`, owns the only connection that writes. Reads go to up to
/// [`max_readers`](Options::max_readers) threads named `memory-sqlite-reader-<n>`, each with a read-only connection; a reader
/// starts when a read finds none idle. In WAL mode readers and the writer do not wait for each other, and other processes may
/// have the file open as well.
///
/// A job that panics ends the database: its caller gets `Internal`, every later call `Closed`.
///
/// Dropping a database lets its threads finish what they accepted and end; [`close`](Database::close) also waits for that.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    options: Options,
    queues: Arc<Queues>,
    threads: Mutex<Threads>,
}

#[derive(Debug, Default)]
struct Threads {
    writer: Option<Worker>,
    readers: Vec<Worker>,
}

impl Database {
    /// Opens a database, makes it if it is not there (an empty file counts as not there) and applies the migrations it lacks.
    ///
    /// # Errors
    ///
    /// * `Corrupt`: not a database, damaged, or another program's (by its application id).
    /// * `Unsupported`: written by a newer program.
    /// * `NotFound`: read-only, and there is no file.
    /// * `Unavailable`: locked for longer than the busy timeout, not accessible, or read-only and of an older schema.
    pub async fn open(path: impl Into<PathBuf>, options: Options) -> Result<Self> {
        let database = Self {
            path: path.into(),
            options,
            queues: Arc::new(Queues::new(options.queue_len)),
            threads: Mutex::default(),
        };
        // A thread connects for its first job, so this job brings to light what is wrong with the file.
        if options.read_only {
            database.read(|_| Ok(())).await?;
        } else {
            database.start_writer()?;
            database.send_write(plain_job(|_| Ok(()))).await?;
        }
        Ok(database)
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a job in a transaction: committed when it returns `Ok`, rolled back when it returns an error or panics.
    ///
    /// # Errors
    ///
    /// The job's own; `Unavailable` when the database is read-only or locked by another process; `Closed`.
    ///
    /// # Cancellation
    ///
    /// A job that has begun goes on and commits; one that has not is dropped.
    pub async fn write<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        if self.options.read_only {
            return Err(self.locate(Error::new(
                ErrorKind::Unavailable,
                "the database was opened for reading only",
            )));
        }
        self.send_write(write_job(job)).await
    }

    /// Runs a job on a connection that reads. All its statements see one state of the database.
    ///
    /// # Errors
    ///
    /// The job's own; `Closed`.
    ///
    /// # Cancellation
    ///
    /// A statement that runs is interrupted.
    pub async fn read<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (job, reply) = read_job(job);
        match self.queues.reads.push(job).await {
            Ok(true) => {}
            Ok(false) => self.start_reader()?,
            Err(end) => return Err(self.ended(end)),
        }
        self.receive(reply).await
    }

    /// Makes what was committed survive a crash of the machine, also under [`Synchronous::Normal`](crate::Synchronous).
    pub async fn flush(&self) -> Result<()> {
        if self.options.read_only {
            return self.read(|_| Ok(())).await;
        }
        let wal = connect::wal_path(&self.path);
        let job = plain_job(move |conn| {
            checkpoint(conn, "PASSIVE")?;
            sync_file(&wal)
        });
        self.send_write(job).await
    }

    /// Writes what is committed into a new file, without free pages, and makes it durable.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a path that is not Unicode; `Unavailable` when the file exists, or the disk is full.
    pub async fn copy_to(&self, path: &Path) -> Result<()> {
        let Some(name) = path.to_str().map(str::to_owned) else {
            let message = format!("`{}` is not Unicode", path.display());
            return Err(Error::new(ErrorKind::InvalidInput, message));
        };
        let path = path.to_owned();
        self.send_write(plain_job(move |conn| {
            conn.execute("VACUUM INTO ?1", [name])
                .map_err(sqlite_error)?;
            sync_file(&path)
        }))
        .await
    }

    /// Reads every page and returns what is wrong with the file, if anything is.
    ///
    /// # Errors
    ///
    /// `Corrupt` when the damage is such that even looking for it fails.
    pub async fn damage(&self) -> Result<Option<String>> {
        let path = self.path.display().to_string();
        self.read(move |conn| {
            let first: String = conn
                .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
                .map_err(sqlite_error)?;
            Ok((first != "ok").then(|| format!("`{path}` is damaged: {first}")))
        })
        .await
    }

    /// Finishes what was accepted, folds the log into the file and ends the threads. Later calls answer `Closed`; closing twice
    /// is no error.
    ///
    /// # Cancellation
    ///
    /// The threads end all the same.
    pub async fn close(&self) {
        let Threads { writer, readers } = std::mem::take(&mut *self.threads());
        self.queues.reads.end(End::Closed);
        let writes = EndOnDrop(&self.queues.writes);
        for worker in readers {
            worker.join().await;
        }
        // The last connection removes the log, and only one that writes can.
        drop(writes);
        if let Some(worker) = writer {
            worker.join().await;
        }
    }

    async fn send_write<T>(&self, (job, reply): (Job, Reply<T>)) -> Result<T> {
        self.queues
            .writes
            .push(job)
            .await
            .map_err(|end| self.ended(end))?;
        self.receive(reply).await
    }

    async fn receive<T>(&self, reply: Reply<T>) -> Result<T> {
        match reply.wait().await {
            Some(answer) => answer.map_err(|err| self.locate(err)),
            // Only a panic of another job drops an accepted one.
            None => Err(self.ended(End::Dead)),
        }
    }

    fn start_writer(&self) -> Result<()> {
        let (path, options) = (self.path.clone(), self.options);
        let worker = Worker::start(
            "memory-sqlite-writer".to_owned(),
            Arc::clone(&self.queues),
            Side::Write,
            move || connect::writer(&path, &options),
            // A log that stays is no loss, the next open folds it in; so nobody waits here for another process.
            |conn| {
                if conn.busy_timeout(Duration::ZERO).is_ok() {
                    checkpoint(&conn, "TRUNCATE").unwrap_or_default();
                }
            },
        )?;
        self.threads().writer = Some(worker);
        Ok(())
    }

    fn start_reader(&self) -> Result<()> {
        let mut threads = self.threads();
        let n_readers = threads.readers.len();
        if n_readers >= self.options.max_readers.max(1) {
            return Ok(());
        }
        let (path, options) = (self.path.clone(), self.options);
        let worker = Worker::start(
            format!("memory-sqlite-reader-{n_readers}"),
            Arc::clone(&self.queues),
            Side::Read,
            move || connect::reader(&path, &options),
            drop,
        );
        match worker {
            Ok(worker) => threads.readers.push(worker),
            // Those that run do the job.
            Err(_) if n_readers > 0 => {}
            Err(err) => return Err(err),
        }
        Ok(())
    }

    fn threads(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self, end: End) -> Error {
        self.locate(match end {
            End::Closed => Error::new(ErrorKind::Closed, "the database is closed"),
            End::Dead => Error::new(ErrorKind::Closed, "the database ended after a failed job")
                .with_hint("open it again"),
        })
    }

    fn locate(&self, err: Error) -> Error {
        err.with_context("path", self.path.display().to_string())
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.queues.end(End::Closed);
    }
}

/// Ends a queue, also when the future that holds this is dropped.
struct EndOnDrop<'a>(&'a Queue<Job>);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end(End::Closed);
    }
}

/// Copies the log into the file, as far as no reader of an older state needs it as it is.
fn checkpoint(conn: &Connection, mode: &str) -> Result<()> {
    conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))
        .map_err(sqlite_error)
}

/// Makes the content of a file durable, such as what a checkpoint had to leave in the log.
fn sync_file(path: &Path) -> Result<()> {
    match OpenOptions::new().append(true).open(path) {
        Ok(file) => file.sync_all(),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(err),
    }
    .map_err(|err| {
        Error::new(
            ErrorKind::Unavailable,
            "what was written cannot be synced to the disk",
        )
        .with_hint("check the disk")
        .with_source(err)
    })
}
