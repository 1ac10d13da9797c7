//! `state.db`: what files cannot rebuild.

use memory_api::{Error, ErrorKind, Result};
use memory_sqlite::rusqlite::{Connection, OptionalExtension as _, params};
use memory_sqlite::{Database, Options as SqliteOptions, Synchronous, sqlite_error};

use crate::aside;
use crate::engine::Engine;
use crate::state_dir;

pub(crate) const FILE_NAME: &str = "state.db";

/// "MEMT" in ASCII: marks a file as what files cannot rebuild.
const APPLICATION_ID: i32 = 0x4d45_4d54;

/// One step per format version; a step is never changed once it was released.
const MIGRATIONS: &[&str] = &["
-- How often a flush was asked for in a cycle of compaction, and how often it failed.
CREATE TABLE flush_cycles (
    namespace TEXT    NOT NULL,
    cycle     TEXT    NOT NULL,
    asked     INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    time      INTEGER NOT NULL,
    PRIMARY KEY (namespace, cycle)
) WITHOUT ROWID;
"];

/// Cycles that are remembered, of each namespace; those not heard of for longest are forgotten.
const MAX_CYCLES: i64 = 1_000;

/// What became of the flushes of one cycle of compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlushCycle {
    /// How often one was asked for.
    pub asked: u32,
    /// How many of them failed.
    pub failed: u32,
}

/// An answer that depends on what is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered<T> {
    /// The answer.
    pub answer: T,
    /// Why it will not be remembered, or what was forgotten.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Lets `step` decide by what is remembered of a cycle of compaction, and remembers what it returns. Two that decide at once
    /// come one after the other. What cannot be remembered is no error but in `warnings`.
    ///
    /// # Cancellation
    ///
    /// A decision that has begun is remembered.
    pub async fn in_flush_cycle<T: Send + 'static>(
        &self,
        cycle: &str,
        step: impl Fn(FlushCycle) -> (FlushCycle, T) + Clone + Send + 'static,
    ) -> Remembered<T> {
        let mut warnings = Vec::new();
        match self.remember(cycle, step.clone(), &mut warnings).await {
            Ok(answer) => Remembered { answer, warnings },
            Err(err) => {
                let why = err.located();
                warnings.push(format!(
                    "this answer is not remembered, so that the same one may come again: {why}"
                ));
                let known = self.recall(cycle).await.unwrap_or_default();
                let (_, answer) = step(known);
                Remembered { answer, warnings }
            }
        }
    }

    async fn remember<T: Send + 'static>(
        &self,
        cycle: &str,
        step: impl Fn(FlushCycle) -> (FlushCycle, T) + Clone + Send + 'static,
        warnings: &mut Vec<String>,
    ) -> Result<T> {
        let options = self.options();
        let dir = &options.state_dir;
        if options.read_only {
            let message = format!("`{}` cannot be written", dir.display());
            return Err(Error::new(ErrorKind::Unavailable, message));
        }
        state_dir::prepare(dir, &self.discovery()?)?;
        let namespace = options.namespace.clone();
        let now = self.clock().now().0;
        let decide = async || {
            let db = self.open_state(false).await?;
            let (namespace, cycle, step) = (namespace.clone(), cycle.to_owned(), step.clone());
            let answer = db
                .write(move |tx| {
                    let known = read(tx, &namespace, &cycle)?;
                    let (next, answer) = step(known);
                    if next != known {
                        write(tx, &namespace, &cycle, next, now)?;
                    }
                    Ok(answer)
                })
                .await;
            db.close().await;
            answer
        };
        match decide().await {
            Err(err) if err.kind() == ErrorKind::Corrupt => {
                // Nothing can rebuild it, and nothing goes on with it.
                let name = aside::rename(dir, FILE_NAME)?;
                warnings.push(format!("{}; it is kept as `{name}`", err.located()));
                decide().await
            }
            answer => answer,
        }
    }

    /// Returns what is remembered of a cycle, where nothing can be written.
    async fn recall(&self, cycle: &str) -> Result<FlushCycle> {
        let db = self.open_state(true).await?;
        let (namespace, cycle) = (self.options().namespace.clone(), cycle.to_owned());
        let known = db.read(move |conn| read(conn, &namespace, &cycle)).await;
        db.close().await;
        known
    }

    async fn open_state(&self, read_only: bool) -> Result<Database> {
        let options = SqliteOptions::new(APPLICATION_ID, MIGRATIONS)
            .with_backup(true)
            .with_synchronous(Synchronous::Full)
            .with_read_only(read_only);
        Database::open(self.options().state_dir.join(FILE_NAME), options).await
    }
}

fn read(conn: &Connection, namespace: &str, cycle: &str) -> Result<FlushCycle> {
    let number = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
    let known = conn
        .query_row(
            "SELECT asked, failed FROM flush_cycles WHERE namespace = ?1 AND cycle = ?2",
            [namespace, cycle],
            |row| {
                Ok(FlushCycle {
                    asked: number(row.get(0)?),
                    failed: number(row.get(1)?),
                })
            },
        )
        .optional()
        .map_err(sqlite_error)?;
    Ok(known.unwrap_or_default())
}

fn write(
    conn: &Connection,
    namespace: &str,
    cycle: &str,
    known: FlushCycle,
    now: i64,
) -> Result<()> {
    conn.execute(
        "INSERT OR REPLACE INTO flush_cycles (namespace, cycle, asked, failed, time) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![namespace, cycle, known.asked, known.failed, now],
    )
    .map_err(sqlite_error)?;
    conn.execute(
        "DELETE FROM flush_cycles WHERE namespace = ?1 AND cycle <> ?2 AND cycle NOT IN
             (SELECT cycle FROM flush_cycles WHERE namespace = ?1 ORDER BY time DESC, cycle LIMIT ?3)",
        params![namespace, cycle, MAX_CYCLES],
    )
    .map_err(sqlite_error)?;
    Ok(())
}
