use memory_api::{Error, ErrorKind, Retry};
use rusqlite::ErrorCode;

/// Turns an error of SQLite into ours.
///
/// | SQLite | kind |
/// |---|---|
/// | `BUSY`, `LOCKED` | `Unavailable`, retry |
/// | `FULL`, `IOERR`, `READONLY`, `CANTOPEN`, `PERM`, `NOMEM`, `INTERRUPT` | `Unavailable` |
/// | `CORRUPT`, `NOTADB`, a stored value of the wrong type | `Corrupt` |
/// | no row where one was asked for | `NotFound` |
/// | `TOOBIG` | `InvalidInput` |
/// | the rest | `Internal` |
pub fn sqlite_error(err: rusqlite::Error) -> Error {
    let (kind, retry, hint) = classify(&err);
    let mut ours = Error::new(kind, lowercase(&err.to_string())).with_retry(retry);
    if let Some(hint) = hint {
        ours = ours.with_hint(hint);
    }
    ours.with_source(err)
}

/// Returns whether an error of a database may mean that the disk has no room: reading as if the media were read-only may work then.
/// A limit of the system on the size of files looks like a failing disk.
pub fn is_out_of_room(err: &Error) -> bool {
    error_code(err)
        .is_some_and(|code| matches!(code, ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

/// Returns SQLite's code for an error of ours.
pub(crate) fn error_code(err: &Error) -> Option<ErrorCode> {
    std::error::Error::source(err)?
        .downcast_ref::<rusqlite::Error>()?
        .sqlite_error_code()
}

fn classify(err: &rusqlite::Error) -> (ErrorKind, Retry, Option<&'static str>) {
    use rusqlite::Error as E;
    let never = |kind, hint| (kind, Retry::Never, hint);
    match err {
        E::QueryReturnedNoRows => never(ErrorKind::NotFound, None),
        E::FromSqlConversionFailure(..)
        | E::IntegralValueOutOfRange(..)
        | E::Utf8Error(..)
        | E::InvalidColumnType(..) => never(ErrorKind::Corrupt, Some(REBUILD)),
        _ => match err.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                ErrorKind::Unavailable,
                Retry::After(None),
                Some("another process holds the file; try again when it is done"),
            ),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                never(ErrorKind::Corrupt, Some(REBUILD))
            }
            Some(ErrorCode::DiskFull) => {
                never(ErrorKind::Unavailable, Some("free some disk space"))
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                never(
                    ErrorKind::Unavailable,
                    Some("check that the file and its folder exist and may be written"),
                )
            }
            Some(ErrorCode::SystemIoFailure) => never(
                ErrorKind::Unavailable,
                Some("check that the disk has room, and works"),
            ),
            Some(ErrorCode::OutOfMemory | ErrorCode::OperationInterrupted) => {
                never(ErrorKind::Unavailable, None)
            }
            Some(ErrorCode::TooBig) => never(ErrorKind::InvalidInput, None),
            _ => never(ErrorKind::Internal, None),
        },
    }
}

const REBUILD: &str = "the file is damaged; remove it and build it again";

/// Our messages are fragments; SQLite's begin with a capital now and then, and so do rusqlite's.
fn lowercase(message: &str) -> String {
    let mut chars = message.chars();
    match (chars.next(), chars.clone().next()) {
        // An abbreviation such as `UNIQUE constraint failed` stays as it is.
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => message.to_owned(),
    }
}
