//! A safe way into the C interface of FTS5: tokenizers and auxiliary functions.
//!
//! Register both in [`Options::on_connect`](crate::Options::on_connect), so that every connection knows them.
//!
//! * [`create_tokenizer`] takes a closure from text to tokens.
//! * [`create_function`] takes a closure from the [`Match`] of one row to a number. Whatever the function needs to know of the
//!   query comes in an [`Argument`], a Rust value that SQL passes through: `SELECT rank(entries, ?1) FROM entries(?2)`.
//!
//! No panic crosses into C: it turns into an error of the statement.
#![expect(
    unsafe_code,
    reason = "the interface of FTS5 is a table of C function pointers"
)]

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;
use std::slice;

use memory_api::{Error, ErrorKind, Result};
use rusqlite::types::{ToSql, ToSqlOutput};
use rusqlite::{Connection, ffi};

use crate::sqlite_error;

/// Why FTS5 asks for tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// A row is written.
    Document,
    /// A string of a query.
    Query,
    /// A string of a query before a `*`.
    QueryPrefix,
    /// An auxiliary function.
    Auxiliary,
}

/// Takes the tokens of a text.
pub struct TokenSink<'a> {
    context: *mut c_void,
    take: TakeToken,
    text_len: usize,
    code: c_int,
    lifetime: PhantomData<&'a mut ()>,
}

type TakeToken =
    unsafe extern "C" fn(*mut c_void, c_int, *const c_char, c_int, c_int, c_int) -> c_int;

impl TokenSink<'_> {
    /// Adds the next token: its bytes (FTS5 keeps the first 32,768 of them), the part of the text it stands for, and whether it
    /// stands at the same place as the token before it. Tokens after a failure are dropped; the statement fails anyhow.
    pub fn push(&mut self, token: &[u8], range: Range<usize>, colocated: bool) {
        if self.code != ffi::SQLITE_OK {
            return;
        }
        let clamp = |offset: usize| c_int::try_from(offset.min(self.text_len));
        let (Ok(len), Ok(start), Ok(end)) = (
            c_int::try_from(token.len()),
            clamp(range.start),
            clamp(range.end),
        ) else {
            self.code = ffi::SQLITE_TOOBIG;
            return;
        };
        let flags = if colocated {
            ffi::FTS5_TOKEN_COLOCATED
        } else {
            0
        };
        // SAFETY: `context` and `take` are what FTS5 passed to the call of `tokenize` that this sink lives in, and `token` is
        // valid for `len` bytes. FTS5 copies it.
        self.code =
            unsafe { (self.take)(self.context, flags, token.as_ptr().cast(), len, start, end) };
    }
}

impl fmt::Debug for TokenSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenSink")
            .field("code", &self.code)
            .finish_non_exhaustive()
    }
}

/// Registers a tokenizer on a connection: `CREATE VIRTUAL TABLE … USING fts5(…, tokenize = '<name>')`.
///
/// Text that is not UTF-8 reaches the closure with U+FFFD in place of what is wrong.
pub fn create_tokenizer<F>(conn: &Connection, name: &str, tokenize: F) -> Result<()>
where
    F: Fn(Purpose, &str, &mut TokenSink<'_>) + Send + 'static,
{
    let name = c_name(name)?;
    let api = api(conn)?;
    let mut table = ffi::fts5_tokenizer_v2 {
        iVersion: 2,
        xCreate: Some(create_instance),
        xDelete: Some(delete_instance),
        xTokenize: Some(tokenize_text::<F>),
    };
    // SAFETY: `api` belongs to the open connection.
    let create = unsafe { (*api).xCreateTokenizer_v2 }.ok_or_else(too_old)?;
    let user_data = Box::into_raw(Box::new(tokenize)).cast::<c_void>();
    // SAFETY: FTS5 copies name and table, and calls `destroy` on the user data once, when the connection is closed. When the
    // call fails, for lack of memory alone, the closure is leaked.
    let code = unsafe {
        create(
            api,
            name.as_ptr(),
            user_data,
            &raw mut table,
            Some(destroy::<F>),
        )
    };
    check(code)
}

/// The state of a tokenizer is its closure, which all tables of the connection share.
unsafe extern "C" fn create_instance(
    user_data: *mut c_void,
    _: *mut *const c_char,
    _: c_int,
    instance: *mut *mut ffi::Fts5Tokenizer,
) -> c_int {
    // SAFETY: FTS5 passes a valid place for the instance.
    unsafe { *instance = user_data.cast() };
    ffi::SQLITE_OK
}

/// The closure is destroyed with the connection, not with a table.
unsafe extern "C" fn delete_instance(_: *mut ffi::Fts5Tokenizer) {}

unsafe extern "C" fn tokenize_text<F>(
    instance: *mut ffi::Fts5Tokenizer,
    context: *mut c_void,
    flags: c_int,
    text: *const c_char,
    text_len: c_int,
    _: *const c_char,
    _: c_int,
    take: Option<TakeToken>,
) -> c_int
where
    F: Fn(Purpose, &str, &mut TokenSink<'_>) + Send + 'static,
{
    let Some(take) = take else {
        return ffi::SQLITE_MISUSE;
    };
    let text_len = usize::try_from(text_len).unwrap_or(0);
    let bytes = if text.is_null() {
        &[]
    } else {
        // SAFETY: FTS5 passes a text of that many bytes, which outlives the call.
        unsafe { slice::from_raw_parts(text.cast::<u8>(), text_len) }
    };
    let purpose = if flags & ffi::FTS5_TOKENIZE_QUERY == 0 {
        if flags & ffi::FTS5_TOKENIZE_AUX == 0 {
            Purpose::Document
        } else {
            Purpose::Auxiliary
        }
    } else if flags & ffi::FTS5_TOKENIZE_PREFIX == 0 {
        Purpose::Query
    } else {
        Purpose::QueryPrefix
    };
    let mut sink = TokenSink {
        context,
        take,
        text_len: bytes.len(),
        code: ffi::SQLITE_OK,
        lifetime: PhantomData,
    };
    // SAFETY: the instance is the user data of `create_tokenizer::<F>`, alive until the connection is closed. The connection is
    // used by one thread at a time, so a shared reference needs `Send` alone.
    let tokenize = unsafe { &*instance.cast::<F>() };
    let run = AssertUnwindSafe(|| tokenize(purpose, &String::from_utf8_lossy(bytes), &mut sink));
    match catch_unwind(run) {
        Ok(()) => sink.code,
        Err(_) => ffi::SQLITE_ERROR,
    }
}

/// A Rust value that SQL passes to a function of [`create_function`]; bind it like any other parameter.
pub struct Argument<T> {
    value: Rc<Box<dyn Any>>,
    kind: PhantomData<fn() -> T>,
}

impl<T: 'static> Argument<T> {
    /// The name under which the pointer travels; SQL can neither read nor forge it.
    const POINTER_TYPE: &'static CStr = c"memory-sqlite-fts5-argument";

    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self {
            value: Rc::new(Box::new(value)),
            kind: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Argument<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Argument")
    }
}

impl<T: 'static> ToSql for Argument<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from_rc(
            Rc::clone(&self.value),
            Self::POINTER_TYPE,
        ))
    }
}

/// Registers an auxiliary function on a connection. In SQL it takes the table's name and an [`Argument`] of type `T`.
///
/// The closure runs once for each row that the query reaches. `None` is SQL's NULL.
pub fn create_function<T, F>(conn: &Connection, name: &str, function: F) -> Result<()>
where
    T: 'static,
    F: Fn(&Match<'_>, &T) -> Result<Option<f64>> + Send + 'static,
{
    let name = c_name(name)?;
    let api = api(conn)?;
    // SAFETY: `api` belongs to the open connection.
    let create = unsafe { (*api).xCreateFunction }.ok_or_else(too_old)?;
    let user_data = Box::into_raw(Box::new(function)).cast::<c_void>();
    let call: ffi::fts5_extension_function = Some(call_function::<T, F>);
    // SAFETY: as for a tokenizer.
    let code = unsafe { create(api, name.as_ptr(), user_data, call, Some(destroy::<F>)) };
    check(code)
}

unsafe extern "C" fn call_function<T, F>(
    api: *const ffi::Fts5ExtensionApi,
    row: *mut ffi::Fts5Context,
    result: *mut ffi::sqlite3_context,
    n_values: c_int,
    values: *mut *mut ffi::sqlite3_value,
) where
    T: 'static,
    F: Fn(&Match<'_>, &T) -> Result<Option<f64>> + Send + 'static,
{
    let run = || {
        if n_values != 1 {
            return Err(wrong_argument());
        }
        // SAFETY: there is one value. A pointer of this type comes from `Argument::to_sql`, and the statement it is bound to
        // keeps it alive.
        let argument = unsafe {
            let pointer = ffi::sqlite3_value_pointer(*values, Argument::<T>::POINTER_TYPE.as_ptr());
            pointer.cast::<Box<dyn Any>>().as_ref()
        };
        let argument = argument
            .and_then(|any| any.downcast_ref::<T>())
            .ok_or_else(wrong_argument)?;
        // SAFETY: FTS5 passes a table of functions that outlives the call.
        let row = unsafe { Match::new(&*api, row) }?;
        // SAFETY: the user data is the closure of `create_function::<T, F>`, alive until the connection is closed.
        let function = unsafe { &*(row.user_data)(row.context).cast::<F>() };
        function(&row, argument)
    };
    let answer = catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|_| Err(Error::new(ErrorKind::Internal, "the function panicked")));
    // SAFETY: `result` is the place of this call's result. SQLite copies the message.
    unsafe {
        match answer {
            Ok(Some(number)) => ffi::sqlite3_result_double(result, number),
            Ok(None) => ffi::sqlite3_result_null(result),
            Err(err) => {
                let message = err.to_string();
                let len = c_int::try_from(message.len()).unwrap_or(c_int::MAX);
                ffi::sqlite3_result_error(result, message.as_ptr().cast(), len);
            }
        }
    }
}

/// One row that a query reaches, for an auxiliary function.
pub struct Match<'a> {
    context: *mut ffi::Fts5Context,
    user_data: unsafe extern "C" fn(*mut ffi::Fts5Context) -> *mut c_void,
    rowid: unsafe extern "C" fn(*mut ffi::Fts5Context) -> ffi::sqlite3_int64,
    column_size: unsafe extern "C" fn(*mut ffi::Fts5Context, c_int, *mut c_int) -> c_int,
    phrase_count: unsafe extern "C" fn(*mut ffi::Fts5Context) -> c_int,
    phrase_first: PhraseFirst,
    phrase_next: PhraseNext,
    lifetime: PhantomData<&'a ()>,
}

type PhraseFirst = unsafe extern "C" fn(
    *mut ffi::Fts5Context,
    c_int,
    *mut ffi::Fts5PhraseIter,
    *mut c_int,
    *mut c_int,
) -> c_int;

type PhraseNext =
    unsafe extern "C" fn(*mut ffi::Fts5Context, *mut ffi::Fts5PhraseIter, *mut c_int, *mut c_int);

impl<'a> Match<'a> {
    /// # Safety
    ///
    /// `api` and `context` are what FTS5 passed to an auxiliary function, and `'a` ends before that call does.
    unsafe fn new(api: &'a ffi::Fts5ExtensionApi, context: *mut ffi::Fts5Context) -> Result<Self> {
        Ok(Self {
            context,
            user_data: api.xUserData.ok_or_else(too_old)?,
            rowid: api.xRowid.ok_or_else(too_old)?,
            column_size: api.xColumnSize.ok_or_else(too_old)?,
            phrase_count: api.xPhraseCount.ok_or_else(too_old)?,
            phrase_first: api.xPhraseFirst.ok_or_else(too_old)?,
            phrase_next: api.xPhraseNext.ok_or_else(too_old)?,
            lifetime: PhantomData,
        })
    }

    /// Returns the row's id.
    pub fn rowid(&self) -> i64 {
        // SAFETY: see `new`.
        unsafe { (self.rowid)(self.context) }
    }

    /// Returns how many positions (tokens that are not colocated) a column of the row has.
    pub fn column_size(&self, column: usize) -> Result<u32> {
        let mut size = 0;
        // SAFETY: see `new`; FTS5 checks the column.
        let code = unsafe { (self.column_size)(self.context, to_int(column)?, &raw mut size) };
        check(code)?;
        Ok(u32::try_from(size).unwrap_or(0))
    }

    /// Returns how many phrases the query has, in the order they are written in.
    pub fn phrase_count(&self) -> usize {
        // SAFETY: see `new`.
        let n_phrases = unsafe { (self.phrase_count)(self.context) };
        usize::try_from(n_phrases).unwrap_or(0)
    }

    /// Calls `each` with column and position of every occurrence of a phrase in the row, in order.
    pub fn occurrences(&self, phrase: usize, mut each: impl FnMut(usize, usize)) -> Result<()> {
        let mut iter = ffi::Fts5PhraseIter {
            a: ptr::null(),
            b: ptr::null(),
        };
        let (mut column, mut position): (c_int, c_int) = (-1, -1);
        // SAFETY: see `new`; FTS5 checks the phrase, and `iter` stays in place until the end of the loop.
        let code = unsafe {
            (self.phrase_first)(
                self.context,
                to_int(phrase)?,
                &raw mut iter,
                &raw mut column,
                &raw mut position,
            )
        };
        check(code)?;
        while let (Ok(at_column), Ok(at_position)) =
            (usize::try_from(column), usize::try_from(position))
        {
            each(at_column, at_position);
            // SAFETY: `iter` is as the call before left it.
            unsafe {
                (self.phrase_next)(
                    self.context,
                    &raw mut iter,
                    &raw mut column,
                    &raw mut position,
                );
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Match<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Match")
            .field("rowid", &self.rowid())
            .finish_non_exhaustive()
    }
}

/// Returns the interface of FTS5 on this connection, alive until the connection is closed.
fn api(conn: &Connection) -> Result<*mut ffi::fts5_api> {
    struct Out(*mut *mut ffi::fts5_api);
    impl ToSql for Out {
        fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
            Ok(ToSqlOutput::Pointer((self.0.cast(), c"fts5_api_ptr", None)))
        }
    }
    let mut api: *mut ffi::fts5_api = ptr::null_mut();
    // The function `fts5` writes to where the pointer points.
    conn.query_row("SELECT fts5(?1)", [Out(&raw mut api)], |_| Ok(()))
        .map_err(sqlite_error)?;
    // SAFETY: FTS5 left either null or its table of functions.
    match unsafe { api.as_ref() } {
        Some(table) if table.iVersion >= 3 => Ok(api),
        _ => Err(too_old()),
    }
}

unsafe extern "C" fn destroy<F>(user_data: *mut c_void) {
    // SAFETY: the pointer comes from `Box::into_raw` of a `Box<F>`, and FTS5 calls this once.
    let closure = unsafe { Box::from_raw(user_data.cast::<F>()) };
    // A panic in a destructor has nobody to be reported to, and must not reach C.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(closure))) {
        std::mem::forget(panic);
    }
}

fn check(code: c_int) -> Result<()> {
    if code == ffi::SQLITE_OK {
        return Ok(());
    }
    Err(sqlite_error(rusqlite::Error::SqliteFailure(
        ffi::Error::new(code),
        None,
    )))
}

fn c_name(name: &str) -> Result<CString> {
    CString::new(name)
        .map_err(|err| Error::new(ErrorKind::Internal, "a name holds a NUL").with_source(err))
}

fn to_int(index: usize) -> Result<c_int> {
    c_int::try_from(index)
        .map_err(|err| Error::new(ErrorKind::Internal, "an index is too large").with_source(err))
}

fn wrong_argument() -> Error {
    Error::new(
        ErrorKind::Internal,
        "the function takes one bound argument of its own type",
    )
}

fn too_old() -> Error {
    Error::new(
        ErrorKind::Internal,
        "this SQLite has no FTS5, or too old a one",
    )
}
