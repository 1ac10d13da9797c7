//! Stands between this program and the C library, and records what is done to the files below one folder.
//!
//! Rust's standard library and SQLite reach files through functions of the C library. This program defines functions of the same
//! names, and the linker takes those: each makes the system call itself and writes down what it changed. While nothing is recorded,
//! that is all they do. What is reached in another way (a system call made by hand, a mapping) is not seen; the checker notices,
//! since it holds what it makes of the records against the folder that is really there.
#![expect(
    unsafe_code,
    reason = "functions of the C library are defined by their names, with raw pointers; nothing else of the crate needs it"
)]

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_long, c_void};
use std::fs::OpenOptions;
use std::os::fd::IntoRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libc::{
    AT_FDCWD, AT_REMOVEDIR, F_OK, O_CREAT, O_TRUNC, PROT_WRITE, SEEK_CUR, SYS_close, SYS_faccessat,
    SYS_fdatasync, SYS_fsync, SYS_ftruncate, SYS_linkat, SYS_lseek, SYS_mkdirat, SYS_mmap,
    SYS_openat, SYS_pwrite64, SYS_renameat2, SYS_unlinkat, SYS_write, SYS_writev, iovec, mode_t,
    off_t, size_t, ssize_t, syscall,
};

use super::history::{Handle, Op};
use crate::Result;

/// Whether there is a recorder. Looked at first, so that everybody else does not wait for each other.
static RECORDING: AtomicBool = AtomicBool::new(false);
/// Whether syncing is left out: a machine that does not crash needs none, and what would be durable is known from the record.
static UNSYNCED: AtomicBool = AtomicBool::new(false);
static RECORDER: Mutex<Option<Recorder>> = Mutex::new(None);

#[derive(Debug)]
struct Recorder {
    /// What is below it is recorded.
    root: PathBuf,
    /// Where the records go.
    log: c_int,
    handles: HashMap<c_int, Handle>,
    n_handles: Handle,
    n_records: AtomicU64,
    /// The record that this process dies after.
    last: Option<u64>,
}

/// Appends to the file `log` what this process does below the folder `root` from now on. Syncs are written down and left out. With
/// `last` the process dies after so many records.
pub(crate) fn record(root: &Path, log: &Path, last: Option<u64>) -> Result<()> {
    let log = OpenOptions::new().append(true).create(true).open(log)?;
    let recorder = Recorder {
        root: root.to_owned(),
        log: log.into_raw_fd(),
        handles: HashMap::new(),
        n_handles: 0,
        n_records: AtomicU64::new(0),
        last,
    };
    recorder.write(&Op::Begin);
    *lock() = Some(recorder);
    RECORDING.store(true, Ordering::SeqCst);
    leave_out_syncs();
    Ok(())
}

/// Ends the recording.
#[cfg(test)]
pub(crate) fn stop() {
    RECORDING.store(false, Ordering::SeqCst);
    if let Some(recorder) = lock().take() {
        // SAFETY: the recorder owns the descriptor, and is gone after this.
        unsafe { syscall(SYS_close, recorder.log) };
    }
}

/// Lets every sync of this process succeed without syncing.
pub(crate) fn leave_out_syncs() {
    UNSYNCED.store(true, Ordering::SeqCst);
}

/// Writes a remark between the records.
pub(crate) fn mark(text: &str) {
    if let Some(recorder) = guard().as_deref().and_then(Option::as_ref) {
        recorder.write(&Op::Mark(text.to_owned()));
    }
}

impl Recorder {
    fn write(&self, op: &Op) {
        let mut bytes = Vec::new();
        op.encode(&mut bytes);
        // SAFETY: the bytes are there for the length of the call.
        let written = unsafe { syscall(SYS_write, self.log, bytes.as_ptr(), bytes.len()) };
        if usize::try_from(written) != Ok(bytes.len()) {
            // A record with a gap proves nothing.
            std::process::abort();
        }
        let n_records = self.n_records.fetch_add(1, Ordering::SeqCst) + 1;
        if self.last == Some(n_records) {
            std::process::abort();
        }
    }

    /// Returns a path relative to the folder, if it is in there.
    fn relative(&self, dir: c_int, path: &CStr) -> Option<String> {
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        let full = if path.is_absolute() {
            path.to_owned()
        } else {
            let dir = if dir == AT_FDCWD {
                "/proc/self/cwd".to_owned()
            } else {
                format!("/proc/self/fd/{dir}")
            };
            std::fs::read_link(dir).ok()?.join(path)
        };
        let mut plain = PathBuf::new();
        for component in full.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    plain.pop();
                }
                other => plain.push(other),
            }
        }
        let relative = plain.strip_prefix(&self.root).ok()?;
        Some(relative.to_str()?.to_owned())
    }

    fn opened(&mut self, fd: c_int, path: Option<String>, created: bool, truncated: bool) {
        let Some(path) = path else {
            self.handles.remove(&fd);
            return;
        };
        self.n_handles += 1;
        let handle = self.n_handles;
        self.handles.insert(fd, handle);
        self.write(&Op::Open {
            handle,
            path,
            created,
            truncated,
        });
    }

    fn written(&self, fd: c_int, at: u64, bytes: impl FnOnce() -> Vec<u8>) {
        if let Some(handle) = self.handles.get(&fd).copied() {
            let bytes = bytes();
            self.write(&Op::Write { handle, at, bytes });
        }
    }

    /// Writes down what happened to one or two paths, if they are in the folder.
    fn named<const N: usize>(
        &self,
        paths: [Option<String>; N],
        op: impl FnOnce([String; N]) -> Op,
    ) {
        if let Some(paths) = paths.into_iter().collect::<Option<Vec<_>>>()
            && let Ok(paths) = paths.try_into()
        {
            self.write(&op(paths));
        }
    }
}

fn lock() -> MutexGuard<'static, Option<Recorder>> {
    RECORDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the recorder. It is held over the system call, so that the records are in the order of the changes.
fn guard() -> Option<MutexGuard<'static, Option<Recorder>>> {
    RECORDING.load(Ordering::SeqCst).then(lock)
}

/// Calls the system, then lets the recorder hear what came of it if it went well.
fn call(system: impl FnOnce() -> c_long, heard: impl FnOnce(&mut Recorder, c_long)) -> c_long {
    let mut guard = guard();
    let result = system();
    if result >= 0
        && let Some(recorder) = guard.as_deref_mut().and_then(Option::as_mut)
    {
        heard(recorder, result);
    }
    result
}

#[expect(clippy::cast_possible_truncation, reason = "a descriptor, 0 or -1")]
fn int(result: c_long) -> c_int {
    result as c_int
}

fn count(result: c_long) -> ssize_t {
    ssize_t::try_from(result).unwrap_or(-1)
}

fn offset(at: off_t) -> u64 {
    u64::try_from(at).unwrap_or_default()
}

/// SAFETY: as for `openat`; `mode` is read where the flags say that it is there.
unsafe fn open_at(dir: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let mut guard = guard();
    let Some(recorder) = guard.as_deref_mut().and_then(Option::as_mut) else {
        // SAFETY: the caller's arguments, passed on.
        return int(unsafe { syscall(SYS_openat, dir, path, flags, mode) });
    };
    // SAFETY: the caller gives a path that ends with a zero.
    let relative = recorder.relative(dir, unsafe { CStr::from_ptr(path) });
    // SAFETY: as above.
    let was_there = unsafe { syscall(SYS_faccessat, dir, path, F_OK) } == 0;
    // SAFETY: the caller's arguments, passed on.
    let fd = int(unsafe { syscall(SYS_openat, dir, path, flags, mode) });
    if fd >= 0 {
        let created = flags & O_CREAT != 0 && !was_there;
        recorder.opened(fd, relative, created, flags & O_TRUNC != 0);
    }
    fd
}

// The C library's functions take the mode as a variable argument. On Linux it is passed as the third one all the same; when it is
// left out, what is read instead is not looked at.

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { open_at(AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { open_at(AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(
    dir: c_int,
    path: *const c_char,
    flags: c_int,
    mode: mode_t,
) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { open_at(dir, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let mut guard = guard();
    if let Some(recorder) = guard.as_deref_mut().and_then(Option::as_mut) {
        recorder.handles.remove(&fd);
    }
    // SAFETY: the caller's arguments, passed on.
    int(unsafe { syscall(SYS_close, fd) })
}

/// Where a file's next byte goes.
fn position(fd: c_int) -> c_long {
    // SAFETY: asks for a number.
    unsafe { syscall(SYS_lseek, fd, 0 as off_t, SEEK_CUR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, bytes: *const c_void, len: size_t) -> ssize_t {
    let n = call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_write, fd, bytes, len) },
        |recorder, n| {
            let at = offset(position(fd) - n);
            // SAFETY: so many were just written from there.
            recorder.written(fd, at, || unsafe { copy(bytes, n) });
        },
    );
    count(n)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(fd: c_int, bytes: *const c_void, len: size_t, at: off_t) -> ssize_t {
    let n = call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_pwrite64, fd, bytes, len, at) },
        // SAFETY: so many were just written from there.
        |recorder, n| recorder.written(fd, offset(at), || unsafe { copy(bytes, n) }),
    );
    count(n)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, parts: *const iovec, n_parts: c_int) -> ssize_t {
    let n = call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_writev, fd, parts, n_parts) },
        |recorder, n| {
            let bytes = || {
                let mut bytes = Vec::new();
                for part in 0..usize::try_from(n_parts).unwrap_or_default() {
                    // SAFETY: the caller gives so many parts, and the system has just read from them.
                    bytes.extend(unsafe {
                        let part = &*parts.add(part);
                        std::slice::from_raw_parts(part.iov_base.cast::<u8>(), part.iov_len)
                    });
                }
                bytes.truncate(usize::try_from(n).unwrap_or_default());
                bytes
            };
            recorder.written(fd, offset(position(fd) - n), bytes);
        },
    );
    count(n)
}

/// SAFETY: `n` bytes can be read from there.
unsafe fn copy(bytes: *const c_void, n: c_long) -> Vec<u8> {
    let n = usize::try_from(n).unwrap_or_default();
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), n) }.to_vec()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(fd: c_int, len: off_t) -> c_int {
    int(call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_ftruncate, fd, len) },
        |recorder, _| {
            if let Some(handle) = recorder.handles.get(&fd).copied() {
                let len = offset(len);
                recorder.write(&Op::SetLen { handle, len });
            }
        },
    ))
}

fn sync(number: c_long, fd: c_int) -> c_int {
    let system = || {
        if UNSYNCED.load(Ordering::SeqCst) {
            0
        } else {
            // SAFETY: the caller's arguments, passed on.
            unsafe { syscall(number, fd) }
        }
    };
    int(call(system, |recorder, _| {
        if let Some(handle) = recorder.handles.get(&fd).copied() {
            recorder.write(&Op::Sync { handle });
        }
    }))
}

#[unsafe(no_mangle)]
extern "C" fn fsync(fd: c_int) -> c_int {
    sync(SYS_fsync, fd)
}

#[unsafe(no_mangle)]
extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(SYS_fdatasync, fd)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mmap64(
    place: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    at: off_t,
) -> *mut c_void {
    let place = call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_mmap, place, len, protection, flags, fd, at) },
        |recorder, _| {
            if protection & PROT_WRITE != 0
                && flags & libc::MAP_SHARED != 0
                && let Some(handle) = recorder.handles.get(&fd).copied()
            {
                recorder.write(&Op::Map { handle });
            }
        },
    );
    // -1 is the error, as it is for the system.
    std::ptr::with_exposed_provenance_mut(usize::try_from(place).unwrap_or(usize::MAX))
}

/// SAFETY: as for `renameat`.
unsafe fn rename_at(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
) -> c_int {
    int(call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_renameat2, from_dir, from, to_dir, to, 0) },
        |recorder, _| {
            // SAFETY: the caller gives paths that end with a zero.
            let (from, to) = unsafe {
                (
                    recorder.relative(from_dir, CStr::from_ptr(from)),
                    recorder.relative(to_dir, CStr::from_ptr(to)),
                )
            };
            match (from, to) {
                (Some(from), Some(to)) => recorder.write(&Op::Rename { from, to }),
                // What leaves the folder is gone.
                (Some(from), None) => recorder.write(&Op::Unlink(from)),
                (None, _) => {}
            }
        },
    ))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { rename_at(AT_FDCWD, from, AT_FDCWD, to) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { rename_at(from_dir, from, to_dir, to) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(
    from_dir: c_int,
    from: *const c_char,
    to_dir: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    int(call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_linkat, from_dir, from, to_dir, to, flags) },
        |recorder, _| {
            // SAFETY: the caller gives paths that end with a zero.
            let paths = unsafe {
                [
                    recorder.relative(from_dir, CStr::from_ptr(from)),
                    recorder.relative(to_dir, CStr::from_ptr(to)),
                ]
            };
            recorder.named(paths, |[from, to]| Op::Link { from, to });
        },
    ))
}

/// SAFETY: as for `unlinkat`.
unsafe fn unlink_at(dir: c_int, path: *const c_char, flags: c_int) -> c_int {
    int(call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_unlinkat, dir, path, flags) },
        |recorder, _| {
            // SAFETY: the caller gives a path that ends with a zero.
            let path = recorder.relative(dir, unsafe { CStr::from_ptr(path) });
            recorder.named([path], |[path]| {
                if flags & AT_REMOVEDIR == 0 {
                    Op::Unlink(path)
                } else {
                    Op::RemoveFolder(path)
                }
            });
        },
    ))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { unlink_at(AT_FDCWD, path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(dir: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { unlink_at(dir, path, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: the caller's arguments, passed on.
    unsafe { unlink_at(AT_FDCWD, path, AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    int(call(
        // SAFETY: the caller's arguments, passed on.
        || unsafe { syscall(SYS_mkdirat, AT_FDCWD, path, mode) },
        |recorder, _| {
            // SAFETY: the caller gives a path that ends with a zero.
            let path = recorder.relative(AT_FDCWD, unsafe { CStr::from_ptr(path) });
            recorder.named([path], |[path]| Op::MakeFolder(path));
        },
    ))
}
