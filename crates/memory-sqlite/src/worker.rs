use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use futures::channel::oneshot;
use memory_api::{Error, ErrorKind, Result};
use rusqlite::{Connection, TransactionBehavior};

use crate::queue::{End, Queue};
use crate::sqlite_error;

/// What a thread does with its connection, or with the reason why there is none.
pub(crate) type Job = Box<dyn FnOnce(Result<&mut Connection>) -> Outcome + Send>;

/// The jobs of one database.
pub(crate) struct Queues {
    pub(crate) writes: Queue<Job>,
    pub(crate) reads: Queue<Job>,
}

impl Queues {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            writes: Queue::new(capacity),
            reads: Queue::new(capacity),
        }
    }

    pub(crate) fn get(&self, side: Side) -> &Queue<Job> {
        match side {
            Side::Write => &self.writes,
            Side::Read => &self.reads,
        }
    }

    pub(crate) fn end(&self, end: End) {
        self.reads.end(end);
        self.writes.end(end);
    }
}

impl fmt::Debug for Queues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queues").finish_non_exhaustive()
    }
}

/// Which of the queues.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Side {
    Write,
    Read,
}

/// What became of a job.
pub(crate) enum Outcome {
    /// Its caller has the answer.
    Done,
    /// It panicked. Its caller is told by this call, once no further job is taken: after it learned of the panic, all it asks
    /// must answer `Closed`.
    Panicked(Box<dyn FnOnce()>),
}

/// The caller's side of a job.
pub(crate) struct Reply<T> {
    answer: oneshot::Receiver<Result<T>>,
    cancelled: Arc<AtomicBool>,
}

impl<T> Reply<T> {
    /// Waits for the answer; `None` when the job was dropped undone.
    pub(crate) async fn wait(mut self) -> Option<Result<T>> {
        (&mut self.answer).await.ok()
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// A job in a transaction that takes the write lock at once: two processes that both read first and write later would
/// otherwise fail without waiting.
pub(crate) fn write_job<T: Send + 'static>(
    job: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
) -> (Job, Reply<T>) {
    make_job(move |conn, _| {
        let tx = conn
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(sqlite_error)?;
        let value = job(&tx)?;
        tx.commit().map_err(sqlite_error)?;
        Ok(value)
    })
}

/// A job that sees one state of the database throughout, and stops when nobody waits for it.
pub(crate) fn read_job<T: Send + 'static>(
    job: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
) -> (Job, Reply<T>) {
    /// How many steps of SQLite's virtual machine pass between two looks at the flag: some tens of microseconds.
    const STEPS: i32 = 2_000;
    make_job(move |conn, cancelled| {
        conn.progress_handler(STEPS, Some(move || cancelled.load(Ordering::Relaxed)))
            .map_err(sqlite_error)?;
        let tx = conn.transaction().map_err(sqlite_error)?;
        job(&tx)
    })
}

/// A job outside of any transaction.
pub(crate) fn plain_job<T: Send + 'static>(
    job: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
) -> (Job, Reply<T>) {
    make_job(|conn, _| job(conn))
}

fn make_job<T: Send + 'static>(
    job: impl FnOnce(&mut Connection, Arc<AtomicBool>) -> Result<T> + Send + 'static,
) -> (Job, Reply<T>) {
    let (sender, answer) = oneshot::channel();
    let cancelled = Arc::new(AtomicBool::new(false));
    let reply = Reply {
        answer,
        cancelled: Arc::clone(&cancelled),
    };
    let job = Box::new(move |conn: Result<&mut Connection>| {
        if cancelled.load(Ordering::Relaxed) {
            return Outcome::Done;
        }
        // The connection is dropped after a panic, so a broken state in it is seen by nobody.
        let done = catch_unwind(AssertUnwindSafe(|| job(conn?, cancelled)));
        // A caller that went away wants no answer.
        match done {
            Ok(answer) => {
                let _: Result<(), _> = sender.send(answer);
                Outcome::Done
            }
            Err(panic) => Outcome::Panicked(Box::new(move || {
                let _: Result<(), _> = sender.send(Err(panic_error(panic.as_ref())));
            })),
        }
    });
    (job, reply)
}

fn panic_error(panic: &(dyn Any + Send)) -> Error {
    let words = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    Error::new(
        ErrorKind::Internal,
        format!("a database job panicked: {words}"),
    )
    .with_hint("this is a bug; the database was closed, open it again")
}

/// A running thread.
#[derive(Debug)]
pub(crate) struct Worker {
    thread: JoinHandle<()>,
    /// Ends when the thread is about to.
    ended: oneshot::Receiver<()>,
}

impl Worker {
    /// Starts a thread that does the jobs of one queue. It connects for its first job, again after a failure, and hands the
    /// connection to `finish` when the queue is closed.
    pub(crate) fn start(
        name: String,
        queues: Arc<Queues>,
        side: Side,
        connect: impl Fn() -> Result<Connection> + Send + 'static,
        finish: impl FnOnce(Connection) + Send + 'static,
    ) -> Result<Self> {
        let (alive, ended) = oneshot::channel();
        let run = move || {
            let _alive = alive;
            if let Some(conn) = run(&queues, side, &connect) {
                finish(conn);
            }
        };
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(run)
            .map_err(|err| {
                Error::new(ErrorKind::Unavailable, "no thread can be started").with_source(err)
            })?;
        Ok(Self { thread, ended })
    }

    /// Waits until the thread has ended.
    pub(crate) async fn join(self) {
        // The sender is dropped, never used.
        let _: Result<(), oneshot::Canceled> = self.ended.await;
        // A job's panic was already reported to its caller.
        let _: Result<(), _> = self.thread.join();
    }
}

fn run(
    queues: &Queues,
    side: Side,
    connect: &impl Fn() -> Result<Connection>,
) -> Option<Connection> {
    let mut conn = None;
    while let Some(job) = queues.get(side).pop() {
        let ready = match &mut conn {
            Some(conn) => Ok(conn),
            none => connect().map(|conn| none.insert(conn)),
        };
        if let Outcome::Panicked(tell) = job(ready) {
            queues.end(End::Dead);
            tell();
            return None;
        }
    }
    conn
}
