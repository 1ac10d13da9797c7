use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use memory_api::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::tensors::read_error;

/// What is written beside a file after it was hashed, so that it is hashed once.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    mtime_ns: u64,
    sha256: String,
}

/// Checks that a file is the one that is known.
///
/// # Errors
///
/// `Corrupt` when its length or its hash is another one; `Unavailable` when it cannot be read.
pub(crate) fn verify(path: &Path, sha256: &str, bytes: u64) -> Result<()> {
    let len = fs::metadata(path)
        .map_err(|err| read_error(path, err))?
        .len();
    if len == bytes && hash(path)? == sha256 {
        return Ok(());
    }
    let message = format!(
        "model file `{}` has another {} than the catalogue says",
        path.display(),
        if len == bytes { "hash" } else { "length" },
    );
    Err(Error::new(ErrorKind::Corrupt, message).with_hint("remove it and run `memory model pull`"))
}

/// Returns the SHA-256 of a file in hex digits: from the stamp beside it if the file is as it was then.
pub(crate) fn hash(path: &Path) -> Result<String> {
    stamped(path, Some(stamp_path(path)))
}

/// As [`hash`], with the stamp in the folder of models: nothing is written beside a file that is not ours.
pub(crate) fn hash_elsewhere(path: &Path, models_dir: Option<&Path>) -> Result<String> {
    let name = fs::canonicalize(path).map_err(|err| read_error(path, err))?;
    let name = hex(&Sha256::digest(name.as_os_str().as_encoded_bytes()));
    stamped(path, models_dir.map(|dir| stamp_path(&dir.join(name))))
}

fn stamped(path: &Path, stamp_path: Option<PathBuf>) -> Result<String> {
    let file = File::open(path).map_err(|err| read_error(path, err))?;
    let metadata = file.metadata().map_err(|err| read_error(path, err))?;
    let (size, mtime_ns) = (metadata.len(), mtime_ns(&metadata));
    // A stamp that is not there or not readable is one that does not fit.
    let stamp = stamp_path.as_ref().and_then(|path| fs::read(path).ok());
    let stamp = stamp.and_then(|bytes| serde_json::from_slice::<Stamp>(&bytes).ok());
    if let (Some(stamp), Some(mtime_ns)) = (stamp, mtime_ns)
        && stamp.size == size
        && stamp.mtime_ns == mtime_ns
    {
        return Ok(stamp.sha256);
    }
    let sha256 = digest(file).map_err(|err| read_error(path, err))?;
    if let (Some(mtime_ns), Some(stamp_path)) = (mtime_ns, stamp_path) {
        let stamp = Stamp {
            size,
            mtime_ns,
            sha256: sha256.clone(),
        };
        if let Ok(json) = serde_json::to_vec(&stamp) {
            let write = || {
                stamp_path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::write(&stamp_path, json)
            };
            // Without a stamp the file is hashed again next time, which is all it costs.
            let _: std::io::Result<()> = write();
        }
    }
    Ok(sha256)
}

fn digest(mut file: File) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
    }
}

/// Returns the hash of several hashes, for a model of several files.
pub(crate) fn combine(hashes: &[impl AsRef<str>]) -> String {
    match hashes {
        [one] => one.as_ref().to_owned(),
        many => {
            let mut hasher = Sha256::new();
            for hash in many {
                hasher.update(hash.as_ref());
            }
            hex(&hasher.finalize())
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _: std::fmt::Result = write!(hex, "{byte:02x}");
        hex
    })
}

fn stamp_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".verified");
    name.into()
}

fn mtime_ns(metadata: &Metadata) -> Option<u64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
