//! Puts the new content of a file in place of the old one: written beside it, synced, renamed.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind as Io, Write as _};
use std::path::{Path, PathBuf};

use memory_api::{Error, ErrorKind, LineRange, Result, Retry};

use super::text::Passage;
use crate::citation::citation;
use crate::document::{self, Stamp};
use crate::failpoint::step;
use crate::lock::NoteLock;
use crate::manifest::{io_error, sync_dir};

/// What the name of a file on its way to its place begins with. Such names are memory files nowhere.
const BESIDE: &str = ".#memory-add-";
/// How often another program may change the file under our hands.
const ATTEMPTS: u32 = 20;

/// A passage on its way to the end of a file.
#[derive(Debug)]
pub(crate) struct Append {
    /// As results name it.
    pub(crate) path: String,
    pub(crate) absolute: PathBuf,
    pub(crate) passage: Passage,
    /// A larger file would not be indexed.
    pub(crate) max_bytes: u64,
    /// The state folder, if it can be locked.
    pub(crate) lock_dir: Option<PathBuf>,
}

/// What became of an attempt.
enum Attempt {
    Done(LineRange),
    /// Somebody changed the file since it was read.
    Overtaken,
}

impl Append {
    /// Returns the lines that were written, and whether the file is new.
    pub(crate) fn run(&self) -> Result<(LineRange, bool)> {
        let Some(folder) = self.absolute.parent() else {
            return Err(Error::new(
                ErrorKind::Internal,
                "a memory file has no folder",
            ));
        };
        let mut made = Made::default();
        made.folders(folder)
            .map_err(|err| self.cannot("create", &err, folder))?;
        step("note_folder_made");
        let lock = NoteLock::take(self.lock_dir.as_deref(), folder)?;
        // Nobody else can be writing here, so what lies there is of a process that died.
        if lock.is_alone() {
            remove_leftovers(folder);
        }
        for _ in 0..ATTEMPTS {
            let old = self.read()?;
            let is_new = old.is_none();
            if let Attempt::Done(lines) = self.attempt(folder, old.as_ref())? {
                made.keep();
                return Ok((lines, is_new));
            }
        }
        let message = format!("`{}` is changed by another program all the time", self.path);
        Err(Error::new(ErrorKind::Unavailable, message)
            .with_context("path", &self.path)
            .with_retry(Retry::After(None))
            .with_hint("try again"))
    }

    fn attempt(&self, folder: &Path, old: Option<&Old>) -> Result<Attempt> {
        let content = old.map_or(&[][..], |old| &old.bytes);
        let tail = self.passage.tail(&self.path, content)?;
        if let Some(lines) = self.passage.find_in(&String::from_utf8_lossy(content)) {
            return Err(self.duplicate(lines));
        }
        let size = (content.len() + tail.bytes.len()) as u64;
        if size > self.max_bytes {
            let message = format!(
                "`{}` would have {} KiB, more than {} KiB, and not be indexed any more",
                self.path,
                size.div_ceil(1024),
                self.max_bytes / 1024
            );
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_context("path", &self.path)
                .with_hint("name another note, or raise `documents.max_file_kib`"));
        }
        let put = || -> io::Result<bool> {
            let beside = Beside::new(folder)?;
            beside.write(&[content, &tail.bytes], old.map(|old| &old.metadata))?;
            step("note_written");
            let is_put = beside.put(&self.absolute, old.map(|old| Stamp::of(&old.metadata)))?;
            if is_put {
                step("note_renamed");
                sync_dir(folder)?;
            }
            Ok(is_put)
        };
        match put() {
            Ok(true) => Ok(Attempt::Done(tail.lines)),
            Ok(false) => Ok(Attempt::Overtaken),
            Err(err) => Err(self.cannot("write", &err, &self.absolute)),
        }
    }

    /// Tries once, from what was read before.
    #[cfg(test)]
    pub(crate) fn is_overtaken(&self, old: Option<&Old>) -> bool {
        let folder = self.absolute.parent().unwrap();
        matches!(self.attempt(folder, old).unwrap(), Attempt::Overtaken)
    }

    /// Reads the file; nothing where there is none.
    pub(crate) fn read(&self) -> Result<Option<Old>> {
        match document::read_whole(&self.absolute, self.max_bytes) {
            Ok((bytes, metadata)) => Ok(Some(Old { bytes, metadata })),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }
    }

    fn duplicate(&self, lines: LineRange) -> Error {
        let place = citation(&self.path, lines);
        Error::new(
            ErrorKind::InvalidInput,
            format!("`{place}` says the same already"),
        )
        .with_context("refused", "duplicate")
        .with_context("path", &self.path)
        .with_context("citation", place)
        .with_hint("nothing was written; say what is new, or leave it")
    }

    fn cannot(&self, verb: &str, err: &io::Error, place: &Path) -> Error {
        let error = io_error(err, verb, place).with_context("path", &self.path);
        match err.kind() {
            Io::PermissionDenied => error
                .with_hint("the file and its folder have to be writable for whoever adds to it"),
            Io::ReadOnlyFilesystem => error.with_hint("the notes lie where nothing can be written"),
            _ => error,
        }
    }
}

/// A file as it was read.
pub(crate) struct Old {
    bytes: Vec<u8>,
    metadata: Metadata,
}

/// Folders that were made for a file, and go again if it does not come.
#[derive(Debug, Default)]
struct Made(Vec<PathBuf>);

impl Made {
    fn folders(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|dir| !dir.exists()).collect();
        for dir in missing.into_iter().rev() {
            match fs::create_dir(dir) {
                Ok(()) => self.0.push(dir.to_owned()),
                // Somebody else was quicker.
                Err(err) if err.kind() == Io::AlreadyExists && dir.is_dir() => {}
                Err(err) => return Err(err),
            }
            if let Some(parent) = dir.parent() {
                sync_dir(parent)?;
            }
        }
        Ok(())
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for dir in self.0.iter().rev() {
            // One that somebody else put something into stays.
            drop(fs::remove_dir(dir));
        }
    }
}

/// A new file beside the one it is to replace. What is not put in its place is removed.
struct Beside {
    path: PathBuf,
    file: File,
}

impl Beside {
    fn new(folder: &Path) -> io::Result<Self> {
        let mut number = 0_u32;
        loop {
            let path = folder.join(format!("{BESIDE}{}-{number}", std::process::id()));
            match File::create_new(&path) {
                Ok(file) => return Ok(Self { path, file }),
                // Of another thread, or of a process of the same number that died where nothing could be locked.
                Err(err) if err.kind() == Io::AlreadyExists && number < 1_000 => number += 1,
                Err(err) => return Err(err),
            }
        }
    }

    /// Writes the content, with the rights of the file before.
    fn write(&self, parts: &[&[u8]], like: Option<&Metadata>) -> io::Result<()> {
        let mut file = &self.file;
        if let Some(like) = like {
            keep_owner(file, like);
            file.set_permissions(like.permissions())?;
        }
        for part in parts {
            file.write_all(part)?;
        }
        file.sync_all()
    }

    /// Takes the place of the file that looked like this, or of none; returns whether that is still what is there.
    fn put(self, place: &Path, expected: Option<Stamp>) -> io::Result<bool> {
        let Some(expected) = expected else {
            return match fs::hard_link(&self.path, place) {
                Ok(()) => Ok(true),
                Err(err) if err.kind() == Io::AlreadyExists => Ok(false),
                // Not every file system has links. There, what comes between the look and the renaming would be lost.
                Err(_) if fs::symlink_metadata(place).is_ok() => Ok(false),
                Err(_) => fs::rename(&self.path, place).map(|()| true),
            };
        };
        let found = match fs::symlink_metadata(place) {
            Ok(metadata) if metadata.is_file() => Some(Stamp::of(&metadata)),
            Ok(_) => return Err(io::Error::other("not a regular file any more")),
            Err(err) if err.kind() == Io::NotFound => None,
            Err(err) => return Err(err),
        };
        if found != Some(expected) {
            return Ok(false);
        }
        fs::rename(&self.path, place).map(|()| true)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // It is not there any more where it was renamed; one that cannot be removed is by the next process.
        drop(fs::remove_file(&self.path));
    }
}

/// Removes what processes left that died; what cannot be removed is in nobody's way.
fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        if entry.file_name().to_string_lossy().starts_with(BESIDE) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

/// Who may not give files away keeps the new one.
#[cfg(unix)]
fn keep_owner(file: &File, like: &Metadata) {
    use std::os::unix::fs::MetadataExt as _;
    let is_same = |new: Metadata| (new.uid(), new.gid()) == (like.uid(), like.gid());
    if !file.metadata().is_ok_and(is_same) {
        drop(std::os::unix::fs::fchown(
            file,
            Some(like.uid()),
            Some(like.gid()),
        ));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}
