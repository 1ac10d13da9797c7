use std::fmt;
use std::ops::Range;

use crate::{Identity, Result, Timestamp};

/// One file or transcript, as a chunker sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Document<'a> {
    /// Where the document came from: `memory`, `sessions`, ….
    pub source: &'a str,
    /// The path relative to the workspace, with `/`.
    pub path: &'a str,
    /// The text to cut: the whole file, or its later part. Line ends are kept as they are; bytes that are not UTF-8 stand as
    /// U+FFFD; a byte order mark is kept.
    pub text: &'a str,
    /// The beginning of the file whose later part `text` is, as [`Document::head_of`] gives it for the whole file; `None` where
    /// `text` is the whole file. It says what `text` is part of (a format, a title), and no entry stands for it.
    pub head: Option<&'a str>,
}

impl<'a> Document<'a> {
    /// How much of a file's beginning [`head`](Document::head) holds at most, in bytes.
    pub const MAX_HEAD_BYTES: usize = 64 * 1024;

    /// Creates a document from a whole file.
    pub fn new(source: &'a str, path: &'a str, text: &'a str) -> Self {
        Self {
            source,
            path,
            text,
            head: None,
        }
    }

    /// Creates a document from the part of a file that has to be cut again since it grew, from [`Chunked::resume`] on.
    pub fn continued(source: &'a str, path: &'a str, head: &'a str, text: &'a str) -> Self {
        Self {
            head: Some(head),
            ..Self::new(source, path, text)
        }
    }

    /// Returns the first lines of a file: those that have an end (`\n`) and fit into
    /// [`MAX_HEAD_BYTES`](Document::MAX_HEAD_BYTES) together.
    pub fn head_of(file: &str) -> &str {
        let mut len = file.len().min(Self::MAX_HEAD_BYTES);
        while !file.is_char_boundary(len) {
            len -= 1;
        }
        let beginning = file.get(..len).unwrap_or_default();
        let end = beginning.rfind('\n').map_or(0, |line_end| line_end + 1);
        beginning.get(..end).unwrap_or_default()
    }

    /// Returns the first lines of the file, whether `text` is all of it or not: the same for both.
    pub fn beginning(&self) -> &'a str {
        self.head.unwrap_or_else(|| Self::head_of(self.text))
    }
}

/// Lines of a file, 1-based and inclusive, counted at `\n` as an editor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineRange {
    /// The first line.
    pub start: u32,
    /// The last line; not before `start`.
    pub end: u32,
}

impl LineRange {
    /// Returns whether the two ranges share a line.
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

impl fmt::Display for LineRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.start, self.end)
    }
}

/// What a document says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DocumentMeta {
    /// The title.
    pub title: Option<String>,
    /// The kind of its entries.
    pub kind: Option<String>,
    /// When it was created, by its own words.
    pub created: Option<Timestamp>,
    /// When it was last changed, by its own words.
    pub updated: Option<Timestamp>,
    /// Tags of all its entries, in the order they were written, without repeats.
    pub tags: Vec<String>,
}

/// An entry as a chunker cuts it; the engine gives it an id.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DraftEntry {
    /// The text that is indexed, shown and embedded. Never blank.
    pub text: String,
    /// The bytes of [`Document::text`] it stands for.
    pub span: Range<usize>,
    /// The headings above it, outermost first, and its own.
    pub heading_path: Vec<String>,
    /// Its kind, where that differs from the document's.
    pub kind: Option<String>,
    /// Its time, where that differs from the document's.
    pub time: Option<Timestamp>,
    /// Tags in addition to the document's.
    pub tags: Vec<String>,
}

impl DraftEntry {
    /// Creates an entry that stands for `span`.
    pub fn new(text: impl Into<String>, span: Range<usize>) -> Self {
        Self {
            text: text.into(),
            span,
            ..Self::default()
        }
    }
}

/// Something a person should know about a document; it stops nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The line it is about, 1-based.
    pub line: Option<u32>,
    /// A lowercase fragment without a final period.
    pub message: String,
}

impl Warning {
    /// Creates a warning.
    pub fn new(line: Option<u32>, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// What a chunker makes of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Chunked {
    /// What the document says about itself.
    pub meta: DocumentMeta,
    /// The entries, ordered by the start of their span.
    pub entries: Vec<DraftEntry>,
    /// Bytes left out on purpose: front matter, a heading with no text of its own, tool noise. Ordered, not overlapping.
    pub excluded: Vec<Range<usize>>,
    /// What a person should know; lines are those of [`Document::text`].
    pub warnings: Vec<Warning>,
    /// The byte of [`Document::text`] from which the file has to be given again once it has grown: nothing before it will ever
    /// be cut otherwise, whatever is appended. An unfinished line is behind it. `None`: only the whole file can be cut.
    pub resume: Option<usize>,
}

/// Cuts documents into entries.
///
/// Chunkers of a workspace form a list; the first that [accepts](Chunker::accepts) a document gets it. A chunker is pure: it
/// reads no file, no clock and no other document.
///
/// # Contract
///
/// Blank means white space (Unicode's `White_Space`) and the byte order mark.
///
/// 1. Spans lie inside the text, on character borders, hold something, and are ordered by their start.
///    \[`chunker::spans_are_ordered_and_on_char_borders`\]
/// 2. No entry's text is blank. \[`chunker::no_entry_is_blank`\]
/// 3. No entry's text has a U+FFFD that the document has not. \[`chunker::no_character_is_torn`\]
/// 4. Every non-blank character is in the span of an entry or in `excluded`. \[`chunker::body_text_is_covered`\]
/// 5. No excluded byte is in an entry's span. \[`chunker::excluded_text_is_in_no_entry`\]
/// 6. The same document gives the same result. \[`chunker::same_document_same_entries`\]
/// 7. Any text ends in reasonable time and is no error: one word of a megabyte, emoji, CRLF, right-to-left, control characters.
///    \[`chunker::hostile_text_is_no_error`\]
/// 8. A document without text gives no entries. \[`chunker::empty_document_has_no_entries`\]
/// 9. A file that grew may be cut in two: the entries before the [`resume`](Chunked::resume) of what it was stay, none reaches
///    beyond it, and the rest, given as [`Document::continued`], has those entries that the whole file has from there on.
///    \[`chunker::grown_document_has_the_same_entries`\]
pub trait Chunker: Identity + fmt::Debug + Send + Sync {
    /// Returns whether this chunker is the right one for the document; looks at path, source and the beginning of the text.
    fn accepts(&self, document: &Document<'_>) -> bool;

    /// Cuts the document.
    ///
    /// # Errors
    ///
    /// None for any text; [`ErrorKind::Internal`](crate::ErrorKind::Internal) for a bug.
    fn chunk(&self, document: &Document<'_>) -> Result<Chunked>;
}
