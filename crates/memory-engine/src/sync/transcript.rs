//! Reads transcripts of chats, which only grow: each sync goes on from where the last one stopped, and never holds more than a part.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use memory_api::{ContentHash, Document, EntryId, Error, ErrorKind, Result};
use std::collections::HashSet;

use super::scan::{Ids, Outcome, Scan};
use crate::discovery::{Found, Source};
use crate::document::{self, Stamp};
use crate::failpoint::batch_size;
use crate::file::open_regular;
use crate::manifest::io_error;
use crate::store::{Known, Position};

/// Bytes that are read and cut together, rows in whole.
const PART: usize = batch_size(8 << 20, 512);
/// The most that one exchange may take.
const MAX_PART: usize = 256 << 20;
/// What is looked at, at the beginning and before the place to go on from, to tell whether a file is still the same.
const MARK: u64 = 4096;

/// How much a transcript has to have grown to be read again; either will do. Zeros mean: however little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Growth {
    /// Bytes.
    pub bytes: u64,
    /// Messages, counted as rows.
    pub messages: u64,
}

/// A transcript that is being read.
#[derive(Debug)]
pub(super) struct Reading {
    found: Found,
    file: File,
    stamp: Stamp,
    /// Where the next part begins.
    at: Place,
    /// How much the next part has.
    part: usize,
    /// The first lines of the file, once `at` is behind them.
    head: String,
    ids: Ids,
    known: Option<Known>,
    pub(super) is_new: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Place {
    bytes: u64,
    lines: u32,
}

/// What a look at a transcript led to.
#[derive(Debug)]
pub(super) enum Begun {
    Reading(Box<Reading>),
    /// It has not grown enough.
    TooLittle,
}

impl Reading {
    /// Opens a transcript, at the place where the last sync stopped if what is before it is as it was.
    pub(super) fn begin(found: &Found, known: Option<&Known>, growth: Growth) -> Result<Begun> {
        let open = || -> io::Result<(File, Stamp)> {
            let file = open_regular(&found.absolute)?;
            let stamp = Stamp::of(&file.metadata()?);
            Ok((file, stamp))
        };
        let cannot = |err: io::Error| io_error(&err, "read", &found.absolute);
        let (mut file, stamp) = document::with_retry(open).map_err(cannot)?;
        let mut at = Place::default();
        if let Some(position) = known.and_then(|known| known.position)
            && position.read <= stamp.size
            && position.mark == mark(&mut file, position.bytes).map_err(cannot)?
        {
            let mut is_little = || -> io::Result<bool> {
                Ok(stamp.size - position.read < growth.bytes
                    && n_rows(&mut file, position.read, stamp.size)? < growth.messages)
            };
            if is_little().map_err(cannot)? {
                return Ok(Begun::TooLittle);
            }
            at = Place {
                bytes: position.bytes,
                lines: position.lines,
            };
        }
        let head = if at.bytes > 0 {
            let len = (Document::MAX_HEAD_BYTES as u64).min(stamp.size);
            let bytes = read_at(&mut file, 0, len).map_err(cannot)?;
            Document::head_of(&String::from_utf8_lossy(&bytes)).to_owned()
        } else {
            String::new()
        };
        Ok(Begun::Reading(Box::new(Self {
            found: found.clone(),
            file,
            stamp,
            at,
            part: PART,
            head,
            ids: Ids::new(&found.path),
            known: known.copied(),
            is_new: false,
        })))
    }

    pub(super) fn path(&self) -> &str {
        &self.found.path
    }

    /// Returns the document it goes on with, and how many lines of it stay.
    pub(super) fn goes_on(&self) -> Option<(i64, u32)> {
        let known = self.known.as_ref().filter(|_| self.at.bytes > 0)?;
        Some((known.doc, self.at.lines))
    }

    /// Names the entries that stay.
    pub(super) fn keep(&mut self, ids: HashSet<EntryId>) {
        self.ids.kept = ids;
    }

    /// Reads and cuts the next part; [`Outcome::Part`] says that there is more.
    pub(super) fn next(&mut self, scan: &Scan) -> Result<Outcome> {
        loop {
            let (bytes, is_last) = self.rows()?;
            let text = String::from_utf8_lossy(&bytes);
            let source = Source::Transcripts.as_str();
            let input = if self.at.bytes > 0 {
                Document::continued(source, &self.found.path, &self.head, &text)
            } else {
                Document::new(source, &self.found.path, &text)
            };
            let mut chunked = scan.chunk(&input)?;
            let resume = chunked.resume.map(|resume| {
                // What is no UTF-8 has another length in the text, but as many lines.
                let lines = count_rows(text.get(..resume).unwrap_or(&text).as_bytes());
                (resume, self.behind(&bytes, lines))
            });
            if is_last {
                let mut document =
                    scan.document(&input, chunked, self.stamp, self.at.lines, &mut self.ids);
                document.warnings.extend(not_utf8(&bytes, self.at.lines));
                let (place, tail) = resume.map_or((Place::default(), &*bytes), |(_, place)| {
                    let skipped = usize::try_from(place.bytes - self.at.bytes).unwrap_or(0);
                    (place, bytes.get(skipped..).unwrap_or_default())
                });
                let mark = mark(&mut self.file, place.bytes).map_err(|err| self.cannot(&err))?;
                document.hash = hash(mark, tail);
                document.position = resume.map(|_| Position {
                    read: self.stamp.size,
                    bytes: place.bytes,
                    lines: place.lines,
                    mark,
                });
                let is_as_known = self.known.is_some_and(|known| known.hash == document.hash);
                return Ok(if is_as_known {
                    Outcome::Touched(document)
                } else {
                    Outcome::Read {
                        document,
                        is_new: self.is_new,
                    }
                });
            }
            let Some((resume, place)) = resume.filter(|(resume, _)| *resume > 0) else {
                // One exchange is longer than the part.
                self.grow()?;
                continue;
            };
            chunked.entries.retain(|entry| entry.span.start < resume);
            let mut stamp = self.stamp;
            // No file looks like this: whatever ends this sync early, the next one goes on.
            stamp.size = u64::MAX >> 1;
            let mut document = scan.document(&input, chunked, stamp, self.at.lines, &mut self.ids);
            document.warnings.extend(not_utf8(&bytes, self.at.lines));
            let mark = mark(&mut self.file, place.bytes).map_err(|err| self.cannot(&err))?;
            document.hash = hash(mark, &[]);
            document.position = Some(Position {
                read: place.bytes,
                bytes: place.bytes,
                lines: place.lines,
                mark,
            });
            if self.head.is_empty() {
                Document::head_of(&text).clone_into(&mut self.head);
            }
            self.at = place;
            self.part = PART;
            return Ok(Outcome::Part(document));
        }
    }

    /// Returns the next rows in whole, and whether they are the last ones; those come with what has no end yet.
    fn rows(&mut self) -> Result<(Vec<u8>, bool)> {
        loop {
            let left = self.stamp.size.saturating_sub(self.at.bytes);
            let len = left.min(self.part as u64);
            let mut bytes =
                read_at(&mut self.file, self.at.bytes, len).map_err(|err| self.cannot(&err))?;
            if len == left {
                return Ok((bytes, true));
            }
            if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') {
                bytes.truncate(end + 1);
                return Ok((bytes, false));
            }
            self.grow()?;
        }
    }

    fn grow(&mut self) -> Result<()> {
        if self.part >= MAX_PART {
            let message = format!(
                "what begins on line {} has more than {} MiB and no end",
                self.at.lines + 1,
                MAX_PART >> 20
            );
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_hint("leave the file out by `.memoryignore`, or split it"));
        }
        self.part *= 2;
        Ok(())
    }

    /// Returns the place behind so many lines of a part.
    fn behind(&self, bytes: &[u8], n_lines: usize) -> Place {
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let behind = match n_lines.checked_sub(1) {
            Some(last) => ends.map(|(end, _)| end + 1).nth(last).unwrap_or(0),
            None => 0,
        };
        Place {
            bytes: self.at.bytes + behind as u64,
            lines: self
                .at
                .lines
                .saturating_add(u32::try_from(n_lines).unwrap_or(u32::MAX)),
        }
    }

    fn cannot(&self, err: &io::Error) -> Error {
        io_error(err, "read", &self.found.absolute)
    }
}

/// Returns the bytes of a file from a place on.
fn read_at(file: &mut File, from: u64, len: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == len {
        Ok(bytes)
    } else {
        Err(io::Error::other(
            "the file became shorter while it was read",
        ))
    }
}

/// Returns the hash of what stands at the beginning of a file and right before a place, and of how far that is.
fn mark(file: &mut File, place: u64) -> io::Result<ContentHash> {
    let len = place.min(MARK);
    let mut bytes = place.to_be_bytes().to_vec();
    bytes.extend(read_at(file, 0, len)?);
    bytes.extend(read_at(file, place - len, len)?);
    Ok(document::content_hash(&bytes))
}

fn hash(mark: ContentHash, tail: &[u8]) -> ContentHash {
    document::content_hash(&[&mark.0, tail].concat())
}

fn n_rows(file: &mut File, from: u64, to: u64) -> io::Result<u64> {
    Ok(count_rows(&read_at(file, from, to - from)?) as u64)
}

#[expect(
    clippy::naive_bytecount,
    reason = "a part of a file at a time; not worth a dependency"
)]
fn count_rows(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Says where the first bytes are that are no text.
fn not_utf8(bytes: &[u8], lines_before: u32) -> Option<String> {
    let err = std::str::from_utf8(bytes).err()?;
    let before = bytes.get(..err.valid_up_to()).unwrap_or_default();
    let line = lines_before as usize + 1 + count_rows(before);
    Some(format!(
        "line {line} is not UTF-8; the bytes that are not stand as U+FFFD"
    ))
}
