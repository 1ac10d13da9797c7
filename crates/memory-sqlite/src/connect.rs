use std::fs::{self, File};
use std::io::{self, ErrorKind as Io};
use std::path::{Path, PathBuf};

use memory_api::{Error, ErrorKind, Result};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::error::error_code;
use crate::{Options, Synchronous, is_out_of_room, sqlite_error};

/// How often a handle that meets others tries to switch a new file to a log.
const SWITCH_ATTEMPTS: usize = 100;

/// Opens the connection that writes: checks whose file it is, then migrates it.
pub(crate) fn writer(path: &Path, options: &Options) -> Result<Connection> {
    sync_log(path)?;
    let mut conn = open(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    )?;
    conn.busy_timeout(options.busy_timeout)
        .map_err(sqlite_error)?;
    // Before anything is written: the file may be somebody else's.
    let version = schema_version(&conn, options)?;
    set_wal(&conn)?;
    let synchronous = match options.synchronous {
        Synchronous::Normal => "NORMAL",
        Synchronous::Full => "FULL",
    };
    conn.pragma_update(None, "synchronous", synchronous)
        .map_err(sqlite_error)?;
    prepare(&conn, options)?;
    if version < options.migrations.len() {
        migrate(&mut conn, path, options)?;
    }
    Ok(conn)
}

/// Opens a connection that reads.
///
/// A database in WAL mode wants a file beside it even for reading. Where none can be made, on read-only media or a full disk, the
/// file is opened as immutable. Nobody can make that untrue on the former; on the latter, not before there is room again.
pub(crate) fn reader(path: &Path, options: &Options) -> Result<Connection> {
    if options.read_only && !path.exists() {
        let message = format!("there is no file `{}`", path.display());
        return Err(Error::new(ErrorKind::NotFound, message).with_hint("build the index first"));
    }
    let (conn, version) = match read_plainly(path, options) {
        Err(err) if options.read_only && is_unwritable(&err) && wal_is_empty(path) => {
            let conn = open_immutable(path)?;
            let version = schema_version(&conn, options)?;
            (conn, version)
        }
        plain => plain?,
    };
    if version < options.migrations.len() {
        let message = format!(
            "the schema has version {version}, reading needs version {}",
            options.migrations.len()
        );
        return Err(Error::new(ErrorKind::Unavailable, message)
            .with_hint("open it once for writing, or build it again"));
    }
    prepare(&conn, options)?;
    Ok(conn)
}

fn read_plainly(path: &Path, options: &Options) -> Result<(Connection, usize)> {
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    conn.busy_timeout(options.busy_timeout)
        .map_err(sqlite_error)?;
    let version = schema_version(&conn, options)?;
    Ok((conn, version))
}

fn is_unwritable(err: &Error) -> bool {
    let code = error_code(err);
    code.is_some_and(|code| matches!(code, ErrorCode::CannotOpen | ErrorCode::ReadOnly))
        || is_out_of_room(err)
}

/// Returns the path of the log of a database in WAL mode.
pub(crate) fn wal_path(path: &Path) -> PathBuf {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    PathBuf::from(wal)
}

/// Makes a log durable that somebody left, before anybody builds on what it holds. A writer that died may have written a commit
/// that never reached the disk; whoever reads it now cannot tell, and could lose it when the machine stops.
fn sync_log(path: &Path) -> Result<()> {
    if wal_is_empty(path) {
        return Ok(());
    }
    let log = wal_path(path);
    let sync = || -> io::Result<()> {
        File::options().append(true).open(&log)?.sync_all()?;
        sync_folder_of(path)
    };
    match sync() {
        // Whoever had it open was the last to close it; or nothing can be written here, and so nothing be built on it.
        Err(err)
            if matches!(
                err.kind(),
                Io::NotFound
                    | Io::PermissionDenied
                    | Io::ReadOnlyFilesystem
                    | Io::StorageFull
                    | Io::QuotaExceeded
            ) =>
        {
            Ok(())
        }
        synced => synced.map_err(|err| {
            let message = "what another process wrote cannot be synced to the disk";
            Error::new(ErrorKind::Unavailable, message)
                .with_hint("check the disk")
                .with_source(err)
        }),
    }
}

/// An immutable database is read without its log, so a log with content must not be passed over.
fn wal_is_empty(path: &Path) -> bool {
    wal_path(path)
        .metadata()
        .map_or(true, |meta| meta.len() == 0)
}

fn open_immutable(path: &Path) -> Result<Connection> {
    let path = std::path::absolute(path).map_err(|err| {
        Error::new(ErrorKind::Unavailable, "the path cannot be made absolute").with_source(err)
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    open(Path::new(&immutable_uri(&path)), flags)
}

fn immutable_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    let path = path.to_string_lossy().replace('\\', "/");
    if !path.starts_with('/') {
        uri.push('/');
    }
    for char in path.chars() {
        match char {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            _ => uri.push(char),
        }
    }
    uri + "?immutable=1"
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    // Each connection stays on one thread, so SQLite needs no mutex of its own.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).map_err(sqlite_error)
}

/// Returns how many migrations were applied, and refuses a file that is not ours or from a newer program.
fn schema_version(conn: &Connection, options: &Options) -> Result<usize> {
    let (application_id, version, n_objects): (i32, i64, i64) = conn
        .query_row(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
             FROM pragma_application_id, pragma_user_version",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .map_err(sqlite_error)?;
    if application_id != options.application_id {
        // An empty file has no owner yet.
        if application_id == 0 && version == 0 && n_objects == 0 {
            return Ok(0);
        }
        let message = format!(
            "the file belongs to another program (application id {application_id:#010x}, not {:#010x})",
            options.application_id
        );
        return Err(Error::new(ErrorKind::Corrupt, message)
            .with_hint("move the file away; a new one is built in its place"));
    }
    match usize::try_from(version) {
        Ok(version) if version <= options.migrations.len() => Ok(version),
        _ => {
            let message = format!(
                "the schema has version {version}, this program knows versions up to {}",
                options.migrations.len()
            );
            Err(Error::new(ErrorKind::Unsupported, message)
                .with_hint("update this program, or build the file again"))
        }
    }
}

fn set_wal(conn: &Connection) -> Result<()> {
    let switch = || {
        conn.query_row("PRAGMA journal_mode = WAL", [], |row| {
            row.get::<_, String>(0)
        })
    };
    let mut switched = switch();
    // Two handles that make a file at the same moment stand in each other's way, and SQLite lets neither wait for the other here.
    // A transaction waits.
    for _ in 0..SWITCH_ATTEMPTS {
        if !switched.as_ref().is_err_and(is_busy) {
            break;
        }
        conn.execute_batch("BEGIN IMMEDIATE; COMMIT")
            .map_err(sqlite_error)?;
        switched = switch();
    }
    let mode = switched.map_err(sqlite_error)?;
    if mode.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    let message = format!("the file system allows the journal mode `{mode}` only, not `wal`");
    Err(Error::new(ErrorKind::Unavailable, message).with_hint("keep the file on a local disk"))
}

fn is_busy(err: &rusqlite::Error) -> bool {
    err.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn prepare(conn: &Connection, options: &Options) -> Result<()> {
    conn.pragma_update(None, "foreign_keys", true)
        .map_err(sqlite_error)?;
    (options.on_connect)(conn)
}

fn migrate(conn: &mut Connection, path: &Path, options: &Options) -> Result<()> {
    let tx = conn
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite_error)?;
    // Again, under the lock: another process may have been faster.
    let version = schema_version(&tx, options)?;
    if options.backup && (1..options.migrations.len()).contains(&version) {
        back_up(path, options)?;
    }
    for migration in options.migrations.iter().skip(version) {
        tx.execute_batch(migration).map_err(sqlite_error)?;
    }
    // Their number is a program's constant, far below the limit.
    let version = i32::try_from(options.migrations.len()).unwrap_or(i32::MAX);
    tx.pragma_update(None, "application_id", options.application_id)
        .and_then(|()| tx.pragma_update(None, "user_version", version))
        .and_then(|()| tx.commit())
        .map_err(sqlite_error)
}

/// Copies the file under the lock that the migrations hold: nobody changes it meanwhile.
fn back_up(path: &Path, options: &Options) -> Result<()> {
    let beside = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let version = options.migrations.len();
    let copy = beside(format!(".before-v{version}"));
    let half = beside(format!(".before-v{version}.new"));
    let failed = |err: Error| {
        let message = format!("the file cannot be copied before its schema changes: {err}");
        let failed = Error::new(err.kind(), message);
        failed.with_hint(err.hint().unwrap_or("free some disk space"))
    };
    let io = |err: io::Error| {
        failed(Error::new(
            ErrorKind::Unavailable,
            format!("cannot write `{}`: {err}", copy.display()),
        ))
    };
    // What an interrupted copy left.
    match fs::remove_file(&half) {
        Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(io(err)),
        _ => {}
    }
    vacuum_into(path, &half, options).map_err(failed)?;
    let finish = || -> io::Result<()> {
        File::options().append(true).open(&half)?.sync_all()?;
        fs::rename(&half, &copy)?;
        sync_folder_of(&copy)
    };
    finish().map_err(io)
}

fn vacuum_into(path: &Path, copy: &Path, options: &Options) -> Result<()> {
    let Some(name) = copy.to_str() else {
        let message = format!("`{}` is not Unicode", copy.display());
        return Err(Error::new(ErrorKind::InvalidInput, message));
    };
    let conn = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    prepare(&conn, options)?;
    conn.execute("VACUUM INTO ?1", [name])
        .map(drop)
        .map_err(sqlite_error)
}

/// Makes the name of a file durable; Windows has no such call and needs none.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) if cfg!(unix) => {
            // The folder of a bare name is the current one.
            let dir = if dir.as_os_str().is_empty() {
                Path::new(".")
            } else {
                dir
            };
            File::open(dir)?.sync_all()
        }
        _ => Ok(()),
    }
}
