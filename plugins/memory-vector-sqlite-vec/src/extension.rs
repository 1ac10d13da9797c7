//! Registers sqlite-vec on a connection.
#![expect(unsafe_code, reason = "the extension is a C function")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use memory_api::Result;
use memory_sqlite::rusqlite::{Connection, Error, ffi};
use memory_sqlite::sqlite_error;

/// What `sqlite-vec.h` says of the entry point; the crate declares it without parameters.
type EntryPoint = unsafe extern "C" fn(
    *mut ffi::sqlite3,
    *mut *mut c_char,
    *const ffi::sqlite3_api_routines,
) -> c_int;

/// Adds the table module `vec0` and the functions `vec_…` to one connection.
pub(crate) fn register(conn: &Connection) -> Result<()> {
    let declared: unsafe extern "C" fn() = sqlite_vec::sqlite3_vec_init;
    // SAFETY: both are C functions, and `EntryPoint` is the signature in the header of the pinned version.
    let init = unsafe { std::mem::transmute::<unsafe extern "C" fn(), EntryPoint>(declared) };
    let mut message = ptr::null_mut();
    // SAFETY: the handle is open while `conn` is borrowed, and `message` may be written. The crate compiles the extension into
    // the program, where it calls SQLite by name and reads no table of routines.
    let code = unsafe { init(conn.handle(), &raw mut message, ptr::null()) };
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    let text = (!message.is_null()).then(|| {
        // SAFETY: a message that was set is a C string of SQLite's allocator, ours to read and to free, once.
        unsafe {
            let text = CStr::from_ptr(message).to_string_lossy().into_owned();
            ffi::sqlite3_free(message.cast());
            text
        }
    });
    Err(sqlite_error(Error::SqliteFailure(
        ffi::Error::new(code),
        text,
    )))
}
