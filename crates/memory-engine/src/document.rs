use std::fs::Metadata;
use std::io::{self, Read as _};
use std::path::Path;

use jiff::civil::Date;
use memory_api::{ContentHash, DocumentMeta, EntryId, Error, ErrorKind, Result, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::file::open_regular;
use crate::manifest::io_error;

/// What tells without reading that a file is still the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    /// 0 where the system has none.
    pub(crate) inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let mtime = metadata.modified().ok().and_then(|time| {
            let nanos = |duration: std::time::Duration| i64::try_from(duration.as_nanos()).ok();
            match time.duration_since(std::time::UNIX_EPOCH) {
                Ok(after) => nanos(after),
                Err(before) => nanos(before.duration()).map(|nanos| -nanos),
            }
        });
        Self {
            size: metadata.len(),
            mtime_ns: mtime.unwrap_or(0),
            inode: inode(metadata),
        }
    }

    pub(crate) fn mtime(self) -> Timestamp {
        Timestamp(self.mtime_ns.div_euclid(1_000_000))
    }
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) text: String,
    pub(crate) hash: ContentHash,
    pub(crate) stamp: Stamp,
    /// What was wrong with its bytes.
    pub(crate) warning: Option<String>,
}

/// How often a read that the system interrupts is tried (network folders answer "try again").
const ATTEMPTS: usize = 3;

/// Reads a document of at most `max_bytes`.
pub(crate) fn read(path: &Path, max_bytes: u64) -> Result<Content> {
    let (bytes, metadata) = read_whole(path, max_bytes)?;
    let stamp = Stamp::of(&metadata);
    let hash = content_hash(&bytes);
    let (text, warning) = decode(bytes);
    Ok(Content {
        text,
        hash,
        stamp,
        warning,
    })
}

/// Reads the bytes of a document of at most `max_bytes`, and what the open file looked like before.
pub(crate) fn read_whole(path: &Path, max_bytes: u64) -> Result<(Vec<u8>, Metadata)> {
    with_retry(|| read_bytes(path, max_bytes))
        .map_err(|err| io_error(&err, "read", path))?
        .map_err(|size| {
            let message = format!(
                "`{}` has {} KiB, more than {} KiB",
                path.display(),
                size.div_ceil(1024),
                max_bytes / 1024
            );
            Error::new(ErrorKind::InvalidInput, message)
                .with_hint("split the file, or raise `documents.max_file_kib`")
        })
}

/// Repeats a call while the system answers "try again".
pub(crate) fn with_retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut result = call();
    for _ in 1..ATTEMPTS {
        match &result {
            Err(err)
                if matches!(
                    err.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                result = call();
            }
            _ => break,
        }
    }
    result
}

/// Returns the bytes, or the size of a file that is too large.
fn read_bytes(path: &Path, max_bytes: u64) -> io::Result<Result<(Vec<u8>, Metadata), u64>> {
    let mut file = open_regular(path)?;
    // Of the open file, so that the stamp is never newer than the bytes.
    let metadata = file.metadata()?;
    if metadata.len() > max_bytes {
        return Ok(Err(metadata.len()));
    }
    let mut bytes = Vec::new();
    file.by_ref().take(max_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Ok(Err(bytes.len() as u64));
    }
    Ok(Ok((bytes, metadata)))
}

/// Turns bytes into text: UTF-8, or UTF-16 with a byte order mark. What is neither stands as U+FFFD.
pub(crate) fn decode(bytes: Vec<u8>) -> (String, Option<String>) {
    let utf16 = |from: fn([u8; 2]) -> u16| {
        let units = bytes
            .chunks_exact(2)
            .filter_map(|pair| <[u8; 2]>::try_from(pair).ok())
            .map(from);
        char::decode_utf16(units)
            .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect::<String>()
    };
    match bytes.get(..2) {
        Some([0xff, 0xfe]) => return (utf16(u16::from_le_bytes), None),
        Some([0xfe, 0xff]) => return (utf16(u16::from_be_bytes), None),
        _ => {}
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(err) => {
            let at = err.utf8_error().valid_up_to();
            let line = 1 + err
                .as_bytes()
                .iter()
                .take(at)
                .filter(|byte| **byte == b'\n')
                .count();
            let text = String::from_utf8_lossy(err.as_bytes()).into_owned();
            (
                text,
                Some(format!(
                    "line {line} is not UTF-8; the bytes that are not stand as U+FFFD"
                )),
            )
        }
    }
}

pub(crate) fn content_hash(bytes: &[u8]) -> ContentHash {
    ContentHash(Sha256::digest(bytes).into())
}

/// Derives the id of an entry; see [`EntryId`] for what it depends on. The result is a UUID of version 8.
pub(crate) fn entry_id(
    namespace: &str,
    source: &str,
    path: &str,
    heading_path: &[String],
    content: ContentHash,
    ordinal: u32,
) -> EntryId {
    let mut hasher = Sha256::new();
    // Each part is preceded by its length, so that no two lists of parts look alike.
    let mut part = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    part(namespace.as_bytes());
    part(source.as_bytes());
    part(path.as_bytes());
    part(&(heading_path.len() as u64).to_be_bytes());
    for heading in heading_path {
        part(heading.as_bytes());
    }
    part(&content.0);
    part(&ordinal.to_be_bytes());
    let digest: [u8; 32] = hasher.finalize().into();
    let bits = digest
        .iter()
        .take(16)
        .fold(0_u128, |bits, byte| (bits << 8) | u128::from(*byte));
    let version = 0x8_u128 << 76;
    let variant = 0x2_u128 << 62;
    EntryId((bits & !(0xf << 76) & !(0x3 << 62)) | version | variant)
}

/// What a file name says about the day its content belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameDate {
    /// `YYYY-MM-DD` alone or before `-` and a word; midnight UTC.
    Day(Timestamp),
    /// It has the form of a date, but there is no such day.
    Impossible,
    /// It has not the form of a date.
    None,
}

pub(crate) fn name_date(path: &str) -> NameDate {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let Some((date, rest)) = stem.split_at_checked(10) else {
        return NameDate::None;
    };
    if !(rest.is_empty() || (rest.starts_with('-') && rest.len() > 1)) {
        return NameDate::None;
    }
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return NameDate::None;
    };
    let number = |text: &str, len: usize| {
        (text.len() == len && text.bytes().all(|byte| byte.is_ascii_digit()))
            .then(|| text.parse::<i16>().ok())
            .flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return NameDate::None;
    };
    let day = i8::try_from(month)
        .ok()
        .zip(i8::try_from(day).ok())
        .and_then(|(month, day)| {
            // The year 0 is how an empty date field is written, not a year.
            (year > 0)
                .then(|| Date::new(year, month, day).ok())
                .flatten()
        });
    day.map_or(NameDate::Impossible, |day| NameDate::Day(midnight(day)))
}

/// Midnight UTC; counted in days, since the last day of the year 9999 has no instant in every zone.
fn midnight(day: Date) -> Timestamp {
    let since_epoch = day.duration_since(jiff::civil::date(1970, 1, 1));
    Timestamp(since_epoch.as_secs().saturating_mul(1_000))
}

/// When a document's content belongs to: the date in its name, else what its front matter says (`updated`, then `created`),
/// else when the file was last written. A date in a name that is none leaves the time of the file.
pub(crate) fn document_time(path: &str, meta: &DocumentMeta, mtime: Timestamp) -> Timestamp {
    match name_date(path) {
        NameDate::Day(day) => day,
        NameDate::Impossible => mtime,
        NameDate::None => meta.updated.or(meta.created).unwrap_or(mtime),
    }
}

/// When a document was created, by its own words or its name.
pub(crate) fn document_created(path: &str, meta: &DocumentMeta) -> Option<Timestamp> {
    meta.created.or(match name_date(path) {
        NameDate::Day(day) => Some(day),
        NameDate::Impossible | NameDate::None => None,
    })
}

/// The kind of a document that names none: what happened on a day is `episodic`, what holds is `semantic`.
pub(crate) fn derived_kind(path: &str) -> &'static str {
    match name_date(path) {
        NameDate::Day(_) => "episodic",
        NameDate::Impossible | NameDate::None => "semantic",
    }
}
