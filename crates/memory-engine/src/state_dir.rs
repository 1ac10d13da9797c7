use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use memory_api::{Error, ErrorKind, Result};

use crate::discovery::Discovery;
use crate::file::{is_writable_folder, open_own};
use crate::generation::GENERATIONS;
use crate::manifest::{Manifest, io_error, sync_dir};
use crate::options::Options;
use crate::store::{self, Store};
use crate::sync::namespace_key;

/// Begins the ignore file, and marks the folder as ours.
const MARK: &str = "# An index that can be built anew from the memory files.\n";

/// Names the workspace that the documents of a namespace came from, in the store. It is there before anything is published.
pub(crate) const WORKSPACE: &str = "workspace";

/// Makes the state folder for its owner alone, with an ignore file for git inside.
///
/// # Errors
///
/// `InvalidInput` for a folder with other content, since an index may remove and replace what is in its folder, and for one
/// that memory files lie in or below.
pub(crate) fn prepare(dir: &Path, discovery: &Discovery) -> Result<()> {
    let refused = |message: String| {
        Err(Error::new(ErrorKind::InvalidInput, message)
            .with_hint("name a new or empty folder by `--state DIR`"))
    };
    let prepare = || -> std::io::Result<bool> {
        fs::create_dir_all(dir)?;
        let is_new = fs::read_dir(dir)?.next().is_none();
        if is_new {
            restrict(dir)?;
        }
        if is_new || has_half_a_mark(dir) {
            mark(dir)?;
        }
        Ok(is_ours(dir))
    };
    if discovery.lies_in(dir) {
        return refused(format!("`{}` is a folder of memory files", dir.display()));
    }
    if prepare().map_err(|err| io_error(&err, "prepare", dir))? {
        Ok(())
    } else {
        refused(format!("`{}` has content that is no index", dir.display()))
    }
}

/// Writes the ignore file. It is on disk before anything else is made in the folder: without it and without a manifest, which
/// comes last, nothing would say that the rest is ours.
fn mark(dir: &Path) -> std::io::Result<()> {
    let mut file = File::create(dir.join(".gitignore"))?;
    file.write_all(format!("{MARK}*\n").as_bytes())?;
    file.sync_all()?;
    sync_dir(dir)
}

/// Another process may be writing the mark at this moment, or have died over it; then nothing else is there.
fn has_half_a_mark(dir: &Path) -> bool {
    let mark = fs::read_to_string(dir.join(".gitignore"));
    let begins_mark = mark.is_ok_and(|text| MARK.starts_with(text.as_str()));
    begins_mark && fs::read_dir(dir).is_ok_and(|entries| entries.count() == 1)
}

/// A folder that was copied may lack the ignore file. Links inside are not ours.
fn is_ours(dir: &Path) -> bool {
    if dir.join(GENERATIONS).is_symlink() {
        return false;
    }
    let mark = open_own(&dir.join(".gitignore")).and_then(std::io::read_to_string);
    mark.is_ok_and(|text| text.starts_with(MARK))
        || Manifest::read(dir).is_ok_and(|manifest| manifest.is_some())
}

/// Returns the bytes of all files in the folder and below; what cannot be looked at counts as nothing.
pub(crate) fn bytes(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Returns the workspace that the store was filled from for this namespace, if that is another one. A folder inside its workspace
/// moves with it, so that its old place does not count.
pub(crate) async fn other_workspace(store: &Store, options: &Options) -> Result<Option<String>> {
    let Ok(workspace) = fs::canonicalize(&options.workspace) else {
        return Ok(None);
    };
    if fs::canonicalize(&options.state_dir).is_ok_and(|dir| dir.starts_with(&workspace)) {
        return Ok(None);
    }
    let built_for = store
        .meta(namespace_key(WORKSPACE, &options.namespace))
        .await?;
    Ok(built_for.filter(|built_for| *built_for != workspace.display().to_string()))
}

/// Returns whether an index is there that cannot be written: its lock cannot be taken, or its store not be opened for writing,
/// which takes files beside it.
pub(crate) fn is_read_only(dir: &Path) -> bool {
    let is_locked_up = |file: &Path| {
        let is_closed = || fs::OpenOptions::new().write(true).open(file).is_err();
        let folder_is_closed = || !file.parent().is_none_or(is_writable_folder);
        file.is_file() && (is_closed() || folder_is_closed())
    };
    let store = || {
        let manifest = Manifest::read(dir).ok().flatten()?;
        Some(dir.join(manifest.store.dir).join(store::FILE_NAME))
    };
    is_locked_up(&dir.join("lock")) || store().is_some_and(|file| is_locked_up(&file))
}

#[cfg(unix)]
fn restrict(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(dir, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}
