//! Opening files that somebody else may replace at any moment.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a regular file for reading. No link on the way is followed, and nothing waits for a writer of a named pipe: what stands
/// at the path when it is opened is looked at, not what stood there when it was found.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    regular(open(path)?)
}

/// Opens a regular file of the state folder for reading. The folder may be reached through links; the file is none.
pub(crate) fn open_own(path: &Path) -> io::Result<File> {
    regular(open_last_component(path)?)
}

/// Opens a folder of the state folder, to lock it.
#[cfg(unix)]
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    let flags = flags() | rustix::fs::OFlags::DIRECTORY;
    Ok(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?.into())
}

/// Returns whether files can be made in a folder.
#[cfg(unix)]
pub(crate) fn is_writable_folder(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Returns whether files can be made in a folder; who tries finds out.
#[cfg(not(unix))]
pub(crate) fn is_writable_folder(_: &Path) -> bool {
    true
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, ResolveFlags, openat2};
    use rustix::io::Errno;
    match openat2(CWD, path, flags(), Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(file) => Ok(file.into()),
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(Errno::NOSYS | Errno::PERM) => open_last_component(path),
        Err(err) => Err(err.into()),
    }
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn open(path: &Path) -> io::Result<File> {
    open_last_component(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    open_last_component(path)
}

#[cfg(not(unix))]
fn open_last_component(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Only the file itself may be no link; the folders above it were looked at when it was found.
#[cfg(unix)]
fn open_last_component(path: &Path) -> io::Result<File> {
    Ok(rustix::fs::open(path, flags(), rustix::fs::Mode::empty())?.into())
}

#[cfg(unix)]
fn flags() -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC
}
