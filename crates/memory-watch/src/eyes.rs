//! What the system tells of files.

use std::path::{Path, PathBuf};

use memory::WatchFolder;
use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Something the system told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Files may have changed.
    Change {
        /// Folders may have come or gone, so that what is watched has to be set again.
        folders: bool,
    },
    /// From now on, changes may be missed.
    Trouble(String),
}

/// Watches folders.
#[derive(Debug)]
pub(crate) struct Eyes {
    watcher: RecommendedWatcher,
}

impl Eyes {
    /// Begins to watch nothing. `tell` is called on a thread of the watcher.
    pub(crate) fn new(
        own: Vec<PathBuf>,
        tell: impl Fn(Seen) + Send + 'static,
    ) -> notify::Result<Self> {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Some(seen) = seen(event, &own) {
                tell(seen);
            }
        })?;
        Ok(Self { watcher })
    }

    /// Watches these folders, also those it watches already: a folder that was replaced is another one. Returns why some cannot be
    /// watched; one that is not there is seen when it comes, by the folder above it.
    pub(crate) fn watch(&mut self, folders: &[WatchFolder]) -> Vec<String> {
        let mut troubles = Vec::new();
        for folder in folders {
            let mode = if folder.is_recursive {
                RecursiveMode::Recursive
            } else {
                RecursiveMode::NonRecursive
            };
            match self.watcher.watch(&folder.path, mode) {
                Err(err) if !is_absent(&err, &folder.path) => {
                    troubles.push(format!("`{}`: {}", folder.path.display(), reason(&err)));
                }
                _ => {}
            }
        }
        troubles
    }
}

/// Returns what an event says, if it is about anything but our own files.
pub(crate) fn seen(event: notify::Result<Event>, own: &[PathBuf]) -> Option<Seen> {
    let event = match event {
        Ok(event) => event,
        Err(err) => return Some(Seen::Trouble(reason(&err))),
    };
    // An event without a path may be about any file; one that says the queue ran over is about all.
    let may_be_any = event.paths.is_empty() || event.need_rescan();
    if matches!(event.kind, EventKind::Access(_)) && !may_be_any {
        return None;
    }
    let is_own = |path: &PathBuf| own.iter().any(|own| path.starts_with(own));
    if !may_be_any && event.paths.iter().all(is_own) {
        return None;
    }
    let folders = match event.kind {
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => may_be_any,
        _ => true,
    };
    Some(Seen::Change { folders })
}

fn is_absent(err: &notify::Error, path: &Path) -> bool {
    matches!(err.kind, notify::ErrorKind::PathNotFound) || !path.exists()
}

/// Says what is wrong and, where a person can do something, what.
fn reason(err: &notify::Error) -> String {
    match &err.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "the system watches no more files; raise `fs.inotify.max_user_watches`".to_owned()
        }
        notify::ErrorKind::Io(io) => io.to_string(),
        _ => err.to_string(),
    }
}
