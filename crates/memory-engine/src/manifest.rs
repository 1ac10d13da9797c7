use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

use memory_api::{EmbeddingSpace, Error, ErrorKind, Fingerprint, Result, StoreId};
use serde::{Deserialize, Serialize};

use crate::failpoint::step;
use crate::file::open_own;
use crate::generation::UPDATE;

/// The version of what lies in the state folder.
const FORMAT: u32 = 1;
pub(crate) const FILE_NAME: &str = "MANIFEST.json";
/// Its name before it replaces the old one.
const TEMPORARY: &str = "MANIFEST.json.new";

/// Names the live folders; replaced whole by one atomic rename.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The highest generation number given to a folder so far.
    pub(crate) generation: u64,
    pub(crate) store: StoreFolder,
    pub(crate) lexical: IndexFolder,
    /// There is none where nothing was ever embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) vector: Option<VectorFolder>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoreFolder {
    /// Relative to the state folder.
    pub(crate) dir: String,
    pub(crate) id: StoreId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexFolder {
    pub(crate) plugin: String,
    /// Relative to the state folder.
    pub(crate) dir: String,
    /// Of the plugin as it was when the folder was filled.
    pub(crate) fingerprint: Fingerprint,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VectorFolder {
    pub(crate) index: IndexFolder,
    /// What its vectors mean.
    pub(crate) space: EmbeddingSpace,
}

impl Manifest {
    pub(crate) fn new(
        generation: u64,
        store: StoreFolder,
        lexical: IndexFolder,
        vector: Option<VectorFolder>,
    ) -> Self {
        Self {
            format: FORMAT,
            generation,
            store,
            lexical,
            vector,
        }
    }

    /// Returns the live folders, relative to the state folder.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &str> {
        let vector = self.vector.as_ref().map(|vector| vector.index.dir.as_str());
        [self.store.dir.as_str(), self.lexical.dir.as_str()]
            .into_iter()
            .chain(vector)
    }

    /// Reads the manifest; `None` when there is none yet.
    pub(crate) fn read(state_dir: &Path) -> Result<Option<Self>> {
        let path = state_dir.join(FILE_NAME);
        let read = || -> std::io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            open_own(&path)?.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = match read() {
            Ok(bytes) => bytes,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(io_error(&err, "read", &path)),
        };
        let corrupt = |message: String| {
            Error::new(
                ErrorKind::Corrupt,
                format!("`{}` {message}", path.display()),
            )
            .with_hint("run `memory index --force` to build the index anew from your files")
        };
        // The version is read first, so that a newer file is told apart from a damaged one.
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|err| corrupt(format!("is damaged: {err}")))?;
        let format = value.get("format").and_then(serde_json::Value::as_u64);
        if format.is_some_and(|format| format > u64::from(FORMAT)) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!(
                    "`{}` was written by a newer version of this program",
                    path.display()
                ),
            )
            .with_hint(UPDATE));
        }
        if format != Some(u64::from(FORMAT)) {
            return Err(corrupt("has no known format".to_owned()));
        }
        serde_json::from_value(value)
            .map(Some)
            .map_err(|err| corrupt(format!("is damaged: {err}")))
    }

    /// Replaces the manifest: after `Ok` the new one is on disk, before it the old one.
    pub(crate) fn publish(&self, state_dir: &Path) -> Result<()> {
        let path = state_dir.join(FILE_NAME);
        let temporary = state_dir.join(TEMPORARY);
        let bytes = serde_json::to_vec_pretty(self).map_err(|err| {
            Error::new(
                ErrorKind::Internal,
                format!("cannot write the manifest: {err}"),
            )
        })?;
        // What somebody laid there is not written through.
        Self::remove_temporary(state_dir)?;
        let write = || -> std::io::Result<()> {
            let mut file = File::create_new(&temporary)?;
            file.write_all(&bytes)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            step("manifest_written");
            fs::rename(&temporary, &path)?;
            step("manifest_renamed");
            sync_dir(state_dir)
        };
        write().map_err(|err| io_error(&err, "write", &path))
    }

    /// Removes what an interrupted publish left.
    pub(crate) fn remove_temporary(state_dir: &Path) -> Result<()> {
        let temporary = state_dir.join(TEMPORARY);
        match fs::remove_file(&temporary) {
            Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
                Err(io_error(&err, "remove", &temporary))
            }
            _ => Ok(()),
        }
    }
}

/// Makes the names in a folder durable; Windows has no such call and needs none.
pub(crate) fn sync_dir(dir: &Path) -> std::io::Result<()> {
    if cfg!(unix) {
        File::open(dir)?.sync_all()
    } else {
        Ok(())
    }
}

/// Turns a file error into ours.
pub(crate) fn io_error(err: &std::io::Error, verb: &str, path: &Path) -> Error {
    use std::io::ErrorKind as Io;
    let kind = if err.kind() == Io::NotFound {
        ErrorKind::NotFound
    } else {
        ErrorKind::Unavailable
    };
    let error = Error::new(kind, format!("cannot {verb} `{}`: {err}", path.display()));
    match err.kind() {
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => {
            error.with_hint("free some disk space and try again")
        }
        Io::PermissionDenied => {
            error.with_hint("check the permissions of the file and its folders")
        }
        Io::ReadOnlyFilesystem => {
            error.with_hint("name a writable folder for the index: `--state DIR`")
        }
        _ => error,
    }
}
