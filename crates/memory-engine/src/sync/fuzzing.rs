//! A file's way from its bytes to entries, without a store: what `cargo xtask fuzz` needs. Nobody else has the feature on.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memory_api::{Chunker, EntryId, LineRange, Result};

use super::scan::{Scan, cut_by};
use crate::document::{self, Content, Stamp};

/// An entry as the store would get it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutEntry {
    /// Its id.
    pub id: EntryId,
    /// Its lines in the file.
    pub lines: LineRange,
    /// Its text.
    pub text: String,
}

/// Returns the text of a file with these bytes.
pub fn decode(bytes: &[u8]) -> String {
    document::decode(bytes.to_vec()).0
}

/// Cuts a file with these bytes as a sync does.
///
/// # Errors
///
/// Those of the chunker.
pub fn cut(chunker: Arc<dyn Chunker>, path: &str, bytes: &[u8]) -> Result<Vec<CutEntry>> {
    let chunkers = vec![chunker];
    let scan = Scan {
        namespace: "default".to_owned(),
        cut_by: cut_by(&chunkers),
        chunkers,
        max_bytes: u64::MAX,
        growth: super::Growth::default(),
        cancel: Arc::new(AtomicBool::new(false)),
    };
    let (text, warning) = document::decode(bytes.to_vec());
    let content = Content {
        text,
        hash: document::content_hash(bytes),
        stamp: Stamp {
            size: bytes.len() as u64,
            mtime_ns: 0,
            inode: 0,
        },
        warning,
    };
    let entries = scan.cut(path, content)?.entries;
    let cut = entries.into_iter().map(|entry| CutEntry {
        id: entry.id,
        lines: entry.lines,
        text: entry.text,
    });
    Ok(cut.collect())
}
