//! Adding text to a memory file: the one way this program writes what a person owns, and it only appends.
//!
//! The place is decided by [`discovery`](crate::discovery), so that what is added is found; `text` fits what is said into the
//! file's structure, `append` puts it on disk. A sync follows that embeds what was added and nothing else.

mod append;
mod text;

use std::time::Duration;

use futures::channel::oneshot;
use memory_api::{Error, ErrorKind, LineRange, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::citation::citation;
use crate::engine::Engine;
use crate::state_dir;
use crate::sync::{Embed, LockWait, SyncReport, SyncRequest};
use append::Append;

use text::Passage;

/// What to add, and where.
#[derive(Debug, Clone)]
pub struct AddRequest {
    /// What to write. It stays as it is, but for blank lines around it, its line ends, the depth of headings and what it left
    /// open.
    pub text: String,
    /// The memory file, as results name it. It need not exist.
    pub path: String,
    /// The line above the text; empty for none. Where it is a heading, headings of the text are put below it.
    pub heading: String,
    /// A longer text is refused, in characters.
    pub max_chars: usize,
    /// How long to wait for another process that writes the index, before answering that the text is not indexed yet.
    pub wait: Duration,
}

/// What was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Added {
    /// The memory file, as results name it.
    pub path: String,
    /// The first line of what was added, its heading included.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// The file and these lines.
    pub citation: String,
    /// Whether the file is new.
    pub new_file: bool,
    /// Whether searches find it now.
    pub indexed: bool,
    /// Why it is not indexed, or found by words alone.
    pub warnings: Vec<String>,
}

impl Engine {
    /// Appends a text to a memory file, and indexes it.
    ///
    /// The file is the old or the new one, whole, at every moment. Processes that add to one workspace do not lose each other's
    /// text, and what another program changes meanwhile stays. An index that cannot be written is no error but in `warnings`.
    ///
    /// # Errors
    ///
    /// * `InvalidInput`: the path is none of a memory file, the text is blank, too long or not plain text. With the context pair
    ///   `refused`: `duplicate` when the file has the text already (`citation` says where), `secret` when it holds one (`secret`
    ///   says of what kind).
    /// * `Unavailable`: the file cannot be written, or another process holds the lock.
    ///
    /// # Cancellation
    ///
    /// A text that is being written is written to the end; it may stay unindexed.
    pub async fn add(&self, request: &AddRequest) -> Result<Added> {
        let discovery = self.discovery()?;
        let place = discovery.place(&request.path)?;
        let passage = Passage::new(&request.text, &request.heading, request.max_chars)?;
        let options = self.options();
        // Where the state folder cannot be had, the note's own folder is locked all the same.
        let lock_dir = (!options.read_only)
            .then(|| state_dir::prepare(&options.state_dir, &discovery))
            .and_then(|prepared| prepared.is_ok().then(|| options.state_dir.clone()));
        let append = Append {
            path: place.path.clone(),
            absolute: place.absolute,
            passage,
            max_bytes: options.documents.max_file_kib.saturating_mul(1024),
            lock_dir,
        };
        let (lines, new_file) = on_thread(move || append.run()).await?;
        let (indexed, warnings) = self.index_addition(&place.path, lines, request.wait).await;
        Ok(Added {
            citation: citation(&place.path, lines),
            path: place.path,
            line_start: lines.start,
            line_end: lines.end,
            new_file,
            indexed,
            warnings,
        })
    }

    /// Returns whether the new lines are indexed now, and what a person should know about it.
    async fn index_addition(
        &self,
        path: &str,
        lines: LineRange,
        wait: Duration,
    ) -> (bool, Vec<String>) {
        let request = SyncRequest {
            wait: LockWait::AtMost(wait),
            embed: Embed::Lines {
                path: path.to_owned(),
                lines,
            },
            ..SyncRequest::default()
        };
        match self.sync(&request).await {
            Ok(report) => indexed(path, &report),
            Err(err) => (false, vec![format!("not indexed yet: {}", why(&err))]),
        }
    }
}

fn indexed(path: &str, report: &SyncReport) -> (bool, Vec<String>) {
    let mut warnings: Vec<String> = report
        .warnings
        .iter()
        .filter(|warning| warning.starts_with("vector: "))
        .cloned()
        .collect();
    let failed = report.failed.iter().find(|failed| failed.path == path);
    if let Some(failed) = failed {
        warnings.push(format!("not indexed: {}", failed.reason));
    }
    (failed.is_none() && !report.cancelled, warnings)
}

/// What to do about a held lock is to wait for the next sync, whatever the error advises.
fn why(err: &Error) -> String {
    match err.hint() {
        _ if err.context("lock") == Some("held") => {
            format!("{}; the next `memory index` takes it in", err.message())
        }
        Some(hint) => format!("{}; {hint}", err.located()),
        None => err.located(),
    }
}

/// Runs a job that waits for locks and disks, so that the caller's executor stays free. It ends by itself, also when nobody
/// waits for it any more.
async fn on_thread<T: Send + 'static>(
    job: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (sender, receiver) = oneshot::channel();
    let name = "memory-add";
    std::thread::Builder::new()
        .name(name.to_owned())
        // Who went away does not hear it.
        .spawn(move || drop(sender.send(job())))
        .map_err(|err| {
            let message = format!("cannot start a thread: {err}");
            Error::new(ErrorKind::Unavailable, message)
        })?;
    receiver.await.map_err(|_| {
        let message = format!("the thread `{name}` died");
        Error::new(ErrorKind::Internal, message)
    })?
}

#[cfg(test)]
pub(crate) mod testing {
    pub(crate) use super::append::Append;
    pub(crate) use super::text::Passage;
}
