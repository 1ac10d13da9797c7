//! Files on their way into the folder of models: written beside their place, hashed on the way, renamed when they are right.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_api::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::variant::ModelFile;

/// How much is read between two looks at the cancel flag.
pub(crate) const BLOCK: usize = 256 * 1024;

/// Why a source gave nothing.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// It lies with the source, in one line; another may do better.
    Source(String),
    /// No source can help: stopped, or the disk cannot be written.
    Fatal(Error),
}

/// What trying a source comes to.
pub(crate) type Attempt<T> = std::result::Result<T, Trouble>;

/// Says that somebody stopped the pull.
pub(crate) fn check(cancel: &AtomicBool) -> Result<()> {
    if cancel.load(Ordering::Relaxed) {
        return Err(stopped());
    }
    Ok(())
}

pub(crate) fn stopped() -> Error {
    Error::new(ErrorKind::Closed, "stopped before the model was there")
}

/// A file of this machine that cannot be written.
pub(crate) fn write_error(error: &io::Error, path: &Path) -> Error {
    let path = path.display();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::new(
            ErrorKind::Unavailable,
            format!("the disk is full: cannot write `{path}`"),
        )
        .with_hint("make room, then pull again"),
        _ => Error::new(
            ErrorKind::Unavailable,
            format!("cannot write `{path}`: {error}"),
        ),
    }
}

/// A file of this machine that cannot be read.
pub(crate) fn read_error(error: &io::Error, path: &Path) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, format!("cannot read `{}`: {error}", path.display()))
}

/// Passes bytes on and hashes them.
pub(crate) struct Hashed<W> {
    inner: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W> Hashed<W> {
    pub(crate) fn new(inner: W) -> Self {
        Self {
            inner,
            hasher: Sha256::new(),
            bytes: 0,
        }
    }

    /// Returns the hash of all that passed, in hex digits, and how much that was.
    pub(crate) fn finish(self) -> (W, String, u64) {
        (self.inner, hex(&self.hasher.finalize()), self.bytes)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or(bytes));
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _: std::fmt::Result = write!(text, "{byte:02x}");
        text
    })
}

/// Hashes a file.
pub(crate) fn hash_file(path: &Path, cancel: &AtomicBool) -> Result<String> {
    let mut file = File::open(path).map_err(|e| read_error(&e, path))?;
    let mut sink = Hashed::new(io::sink());
    copy(&mut file, &mut sink, cancel).map_err(|broken| broken.of_files(path, path))?;
    Ok(sink.finish().1)
}

/// Returns whether a file of the right length is there; does not hash.
pub(crate) fn has_size(path: &Path, file: &ModelFile) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() == file.bytes)
}

/// Why a copy ended early.
pub(crate) enum Broken {
    Read(io::Error),
    Write(io::Error),
    Stopped,
}

impl Broken {
    /// Says it of two files of this machine.
    pub(crate) fn of_files(self, source: &Path, target: &Path) -> Error {
        match self {
            Self::Read(error) => read_error(&error, source),
            Self::Write(error) => write_error(&error, target),
            Self::Stopped => stopped(),
        }
    }
}

/// Copies all of `source`, block by block.
pub(crate) fn copy(
    source: &mut impl Read,
    target: &mut impl Write,
    cancel: &AtomicBool,
) -> std::result::Result<(), Broken> {
    let mut block = vec![0; BLOCK];
    loop {
        if cancel.load(Ordering::Relaxed) {
            return Err(Broken::Stopped);
        }
        let n = match source.read(&mut block) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(Broken::Read)?,
        };
        let Some(bytes) = block.get(..n).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        target.write_all(bytes).map_err(Broken::Write)?;
    }
}

/// A file beside its place. It vanishes when it is dropped before [`install`](Self::install).
pub(crate) struct Staged {
    out: Hashed<BufWriter<NamedTempFile>>,
}

impl Staged {
    /// Creates one in `work`, which lies on the disk of its later place.
    pub(crate) fn create(work: &Path) -> Result<Self> {
        let file = NamedTempFile::new_in(work).map_err(|e| write_error(&e, work))?;
        Ok(Self {
            out: Hashed::new(BufWriter::with_capacity(BLOCK, file)),
        })
    }

    /// Returns where the bytes go.
    pub(crate) fn out(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// Puts it into its place if it is the file that was wanted.
    pub(crate) fn install(self, want: &ModelFile, target: &Path) -> Attempt<()> {
        let (out, sha256, bytes) = self.out.finish();
        let failed = |e: &io::Error| Trouble::Fatal(write_error(e, target));
        let file = out.into_inner().map_err(|e| failed(e.error()))?;
        if sha256 != want.sha256 || bytes != want.bytes {
            return Err(Trouble::Source(mismatch(&sha256, want)));
        }
        file.as_file().sync_all().map_err(|e| failed(&e))?;
        make_parent(target).map_err(Trouble::Fatal)?;
        file.persist(target).map_err(|e| failed(&e.error))?;
        Ok(())
    }
}

/// Says what a file is and what it should have been.
pub(crate) fn mismatch(sha256: &str, want: &ModelFile) -> String {
    format!(
        "the file for `{}` has sha256 {sha256}, expected {}",
        want.name, want.sha256
    )
}

/// Makes the folder that a file goes into.
pub(crate) fn make_parent(target: &Path) -> Result<()> {
    match target.parent() {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|e| write_error(&e, parent)),
        None => Ok(()),
    }
}
