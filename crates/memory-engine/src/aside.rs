//! What is damaged, or another program's, is kept under another name: only a person can tell what it is worth.

use std::fs;
use std::io::ErrorKind as Io;
use std::path::Path;

use memory_api::{Error, ErrorKind, Result};

use crate::generation::GENERATIONS;
use crate::manifest::io_error;

/// What a name goes on with after it was set aside; a number follows.
const ENDING: &str = ".damaged-";
/// Lies in a folder that is to be set aside once nobody needs it any more, and says why.
const MARK: &str = "DAMAGED.txt";
/// More than that is a person's business.
const MAX: u32 = 1_000;

/// Gives something in the state folder another name, and returns that.
pub(crate) fn rename(state_dir: &Path, relative: &str) -> Result<String> {
    let from = state_dir.join(relative);
    let to = free_name(state_dir, relative)?;
    // The log of a database goes with it, and first: it must not meet the file that takes its place.
    for suffix in ["-shm", "-wal"] {
        let side = state_dir.join(format!("{relative}{suffix}"));
        let holds_something = fs::metadata(&side).is_ok_and(|file| file.len() > 0);
        let done = if suffix == "-wal" && holds_something {
            fs::rename(&side, state_dir.join(format!("{to}{suffix}")))
        } else {
            fs::remove_file(&side)
        };
        ignore_missing(done).map_err(|err| io_error(&err, "set aside", &side))?;
    }
    fs::rename(&from, state_dir.join(&to)).map_err(|err| io_error(&err, "set aside", &from))?;
    Ok(to)
}

/// Copies a file of the state folder that is replaced later, and returns the name of the copy.
pub(crate) fn copy(state_dir: &Path, name: &str) -> Result<String> {
    let from = state_dir.join(name);
    let to = free_name(state_dir, name)?;
    fs::copy(&from, state_dir.join(&to)).map_err(|err| io_error(&err, "copy", &from))?;
    Ok(to)
}

/// Returns the names of all that was set aside.
pub(crate) fn names(state_dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(state_dir).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains(ENDING) && !name.ends_with("-wal"))
        .collect();
    names.sort_unstable();
    names
}

/// Marks the folder of a generation that holds what an error is about, if it is damage: the folder may go on answering where it
/// can, and is set aside instead of removed.
pub(crate) fn mark(state_dir: &Path, damage: &Error) -> Result<()> {
    match folder_of(state_dir, damage) {
        Some(folder) if damage.kind() == ErrorKind::Corrupt => {
            mark_folder(state_dir, &folder, damage)
        }
        _ => Ok(()),
    }
}

/// Marks a folder, given relative to the state folder. One that is not there needs no mark.
pub(crate) fn mark_folder(state_dir: &Path, folder: &str, reason: &Error) -> Result<()> {
    let mark = state_dir.join(folder).join(MARK);
    let written = fs::write(&mark, format!("{}\n", reason.located()));
    ignore_missing(written).map_err(|err| io_error(&err, "write", &mark))
}

pub(crate) fn is_marked(dir: &Path) -> bool {
    dir.join(MARK).exists()
}

/// Returns the folder of a generation that holds the file of an error, relative to the state folder.
fn folder_of(state_dir: &Path, err: &Error) -> Option<String> {
    let file = Path::new(err.context("path")?);
    let below = file.strip_prefix(state_dir.join(GENERATIONS)).ok()?;
    let folder = below.iter().next()?.to_str()?;
    Some(format!("{GENERATIONS}/{folder}"))
}

/// Everything that was set aside lies in the state folder itself.
fn free_name(state_dir: &Path, relative: &str) -> Result<String> {
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let mut free = (1..=MAX).map(|n| format!("{name}{ENDING}{n}"));
    free.find(|name| !state_dir.join(name).exists())
        .ok_or_else(|| {
            let message = format!("there are too many `{name}{ENDING}*`");
            Error::new(ErrorKind::Unavailable, message)
                .with_hint("remove those that nobody needs from the state folder")
        })
}

fn ignore_missing(done: std::io::Result<()>) -> std::io::Result<()> {
    match done {
        Err(err) if err.kind() != Io::NotFound => Err(err),
        _ => Ok(()),
    }
}
