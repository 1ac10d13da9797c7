use std::time::Duration;

use memory_api::Result;
use rusqlite::Connection;

/// How durable a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Synchronous {
    /// A commit survives a crash of the process, not always one of the machine; the file stays whole in both cases. Right for
    /// what can be rebuilt. [`Database::flush`](crate::Database::flush) makes what was committed survive both.
    #[default]
    Normal,
    /// A commit survives a crash of the machine. Right for a store of record; costs one `fsync` a commit.
    Full,
}

/// How a database is opened.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Options {
    /// Marks the files of one program; a file with another mark is refused.
    pub application_id: i32,
    /// The SQL that leads from one schema version to the next; `user_version` counts those applied.
    pub migrations: &'static [&'static str],
    /// Copy a file that has content before migrations change it, to `<name>.before-v<N>` beside it, where N is the version they lead
    /// to. Right for what nothing can rebuild.
    pub backup: bool,
    /// Write nothing, not even a schema.
    pub read_only: bool,
    /// How durable a commit is.
    pub synchronous: Synchronous,
    /// Runs on every new connection, before migrations: tokenizers, functions, virtual tables.
    pub on_connect: fn(&Connection) -> Result<()>,
    /// How long to wait for another process's lock.
    pub busy_timeout: Duration,
    /// The most reader threads; they start when reads wait. At least 1.
    pub max_readers: usize,
    /// The most jobs that wait for a thread; beyond it callers wait. At least 1.
    pub queue_len: usize,
}

impl Options {
    /// Creates options for a database that is written and can be rebuilt.
    pub const fn new(application_id: i32, migrations: &'static [&'static str]) -> Self {
        Self {
            application_id,
            migrations,
            backup: false,
            read_only: false,
            synchronous: Synchronous::Normal,
            on_connect: |_| Ok(()),
            busy_timeout: Duration::from_secs(5),
            max_readers: 3,
            queue_len: 64,
        }
    }

    /// Sets whether a file is copied before migrations change it.
    pub const fn with_backup(mut self, backup: bool) -> Self {
        self.backup = backup;
        self
    }

    /// Forbids or allows writing.
    pub const fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets how durable a commit is.
    pub const fn with_synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets what runs on every new connection.
    pub const fn with_on_connect(mut self, on_connect: fn(&Connection) -> Result<()>) -> Self {
        self.on_connect = on_connect;
        self
    }

    /// Sets how long to wait for another process's lock.
    pub const fn with_busy_timeout(mut self, busy_timeout: Duration) -> Self {
        self.busy_timeout = busy_timeout;
        self
    }
}
