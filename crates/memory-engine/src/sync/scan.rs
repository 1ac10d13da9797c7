use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::channel::mpsc;
use futures::{SinkExt as _, executor};
use memory_api::{
    Chunked, Chunker, ContentHash, Document, DraftEntry, EntryId, Error, ErrorKind, LineRange,
    Result,
};

use crate::comparison::{Compared, Comparison};
use crate::discovery::{Discovery, Found, Remarks, Source};
use crate::document::{self, Content, Stamp};
use crate::store::{Change, Known, NewDocument, NewEntry, Store};
use crate::sync::transcript::{Begun, Growth, Reading};

/// The version of what the engine itself derives from a document: ids, times, kinds.
const DERIVE_VERSION: u32 = 1;

/// Documents that may wait for the writer.
const QUEUE: usize = 64;
/// Unchanged files that are told at once: handing them over one by one costs more than looking at them.
const RUN: u64 = 256;

/// Walks, reads and cuts files on a thread of its own.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) namespace: String,
    pub(super) chunkers: Vec<Arc<dyn Chunker>>,
    pub(super) max_bytes: u64,
    /// The hash of the chunkers' fingerprints. What something else cut is cut again, also an unchanged document.
    pub(super) cut_by: ContentHash,
    pub(super) growth: Growth,
    pub(super) cancel: Arc<AtomicBool>,
}

/// Returns the hash of what, if it changed, makes every stored entry stale.
pub(super) fn cut_by(chunkers: &[Arc<dyn Chunker>]) -> ContentHash {
    let chunkers = chunkers.iter().map(|chunker| chunker.fingerprint().0);
    let all: Vec<String> = std::iter::once(format!("derive/{DERIVE_VERSION}"))
        .chain(chunkers)
        .collect();
    document::content_hash(all.join("\n").as_bytes())
}

/// What the thread tells.
#[derive(Debug)]
pub(super) enum Scanned {
    /// So many files are as they were.
    Unchanged(u64),
    /// A file was looked at, and is not.
    File { path: String, outcome: Outcome },
    /// A document's file is gone.
    Gone { path: String, change: Change },
    /// That was all. Also tells what the walk came across.
    End(Remarks),
}

#[derive(Debug)]
pub(super) enum Outcome {
    /// The content is as known; the file's stamp is not.
    Touched(NewDocument),
    Read {
        document: NewDocument,
        is_new: bool,
    },
    /// A transcript up to some place; the rest follows.
    Part(NewDocument),
    Failed(Error),
}

impl Scan {
    /// Starts the thread. It ends with the files, or soon after the stream was dropped or `cancel` was set; an error is the
    /// last thing it tells.
    pub(super) fn start(
        self,
        discovery: Arc<Discovery>,
        store: Store,
    ) -> Result<mpsc::Receiver<Result<Scanned>>> {
        let (mut sender, receiver) = mpsc::channel(QUEUE);
        let run = async move {
            let mut comparison = Comparison::new(discovery.walk(), Some(&store), &self.namespace);
            let mut n_unchanged = 0;
            let mut reading: Option<Reading> = None;
            while !self.cancel.load(Ordering::Relaxed) {
                let looked_at = match reading.take() {
                    Some(begun) => Ok(self.read_on(begun, &mut reading)),
                    None => match comparison.next().await {
                        Ok(Some(compared)) => self.look_at(compared, &store, &mut reading).await,
                        Ok(None) => break,
                        Err(err) => Err(err),
                    },
                };
                let told = match looked_at {
                    Ok(None) => continue,
                    Ok(Some(Scanned::Unchanged(n))) => {
                        n_unchanged += n;
                        if n_unchanged < RUN {
                            continue;
                        }
                        Ok(Scanned::Unchanged(std::mem::take(&mut n_unchanged)))
                    }
                    Ok(Some(scanned)) => Ok(scanned),
                    Err(err) => Err(err),
                };
                let is_last = told.is_err();
                if sender.send(told).await.is_err() || is_last {
                    return;
                }
            }
            let end = Scanned::End(comparison.into_remarks());
            for told in [Scanned::Unchanged(n_unchanged), end] {
                // Nobody listens any more where this fails.
                drop(sender.send(Ok(told)).await);
            }
        };
        std::thread::Builder::new()
            .name("memory-scan".to_owned())
            .spawn(move || executor::block_on(run))
            .map_err(|err| {
                Error::new(
                    ErrorKind::Unavailable,
                    format!("cannot start a thread: {err}"),
                )
            })?;
        Ok(receiver)
    }

    /// Returns nothing for a file that came and went without a sync, and for a transcript that is `reading` from now on.
    async fn look_at(
        &self,
        compared: Compared,
        store: &Store,
        reading: &mut Option<Reading>,
    ) -> Result<Option<Scanned>> {
        let (found, known) = match compared {
            Compared::File(found, known) => (found, known),
            Compared::Gone(path, known) => return Ok(Some(gone(path, known))),
        };
        if found.source() == Source::Notes {
            let outcome = guarded(|| self.file(&found, known.as_ref()));
            return Ok(outcome_of(found, known, outcome));
        }
        let is_same = |known: &Known| {
            known.cut_by == self.cut_by && found.stamp().is_ok_and(|stamp| stamp == known.stamp)
        };
        if known.as_ref().is_some_and(is_same) {
            return Ok(Some(Scanned::Unchanged(1)));
        }
        let fresh = known.filter(|known| known.cut_by == self.cut_by);
        match Reading::begin(&found, fresh.as_ref(), self.growth) {
            Ok(Begun::TooLittle) => Ok(Some(Scanned::Unchanged(1))),
            Ok(Begun::Reading(mut begun)) => {
                if let Some((doc, lines)) = begun.goes_on() {
                    begun.keep(store.ids_until(doc, lines).await?);
                }
                begun.is_new = known.is_none();
                *reading = Some(*begun);
                Ok(None)
            }
            Err(err) => Ok(outcome_of(found, known, Err(err))),
        }
    }

    /// Reads the next part of a transcript.
    fn read_on(&self, mut begun: Reading, reading: &mut Option<Reading>) -> Option<Scanned> {
        let path = begun.path().to_owned();
        let outcome = guarded(|| begun.next(self).map(Some));
        if matches!(outcome, Ok(Some(Outcome::Part(_)))) {
            *reading = Some(begun);
        }
        let outcome = outcome.unwrap_or_else(|err| Some(Outcome::Failed(err)))?;
        Some(Scanned::File { path, outcome })
    }

    /// Returns `None` for a file that is as it was.
    fn file(&self, found: &Found, known: Option<&Known>) -> Result<Option<Outcome>> {
        let fresh = known.filter(|known| known.cut_by == self.cut_by);
        if let Some(known) = fresh
            && found.stamp()? == known.stamp
        {
            return Ok(None);
        }
        let content = document::read(&found.absolute, self.max_bytes)?;
        let is_as_known = fresh.is_some_and(|known| known.hash == content.hash);
        // Also what is as known is cut again: the time of the file may be its time.
        let document = self.cut(&found.path, content)?;
        Ok(Some(if is_as_known {
            Outcome::Touched(document)
        } else {
            Outcome::Read {
                document,
                is_new: known.is_none(),
            }
        }))
    }

    pub(super) fn cut(&self, path: &str, content: Content) -> Result<NewDocument> {
        let source = Source::of(path);
        let input = Document::new(source.as_str(), path, &content.text);
        let chunked = self.chunk(&input)?;
        let mut ids = Ids::new(path);
        let mut document = self.document(&input, chunked, content.stamp, 0, &mut ids);
        document.hash = content.hash;
        document.warnings.splice(0..0, content.warning);
        Ok(document)
    }

    /// Cuts a document with the first chunker that accepts it.
    pub(super) fn chunk(&self, input: &Document<'_>) -> Result<Chunked> {
        let Some(chunker) = self.chunkers.iter().find(|chunker| chunker.accepts(input)) else {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "no configured chunker accepts this file",
            )
            .with_hint("add one to `chunker.use`"));
        };
        chunker.chunk(input)
    }

    /// Returns what the store gets of a document whose text begins behind `lines_before` lines of its file. Its hash is left to
    /// the caller.
    pub(super) fn document(
        &self,
        input: &Document<'_>,
        chunked: Chunked,
        stamp: Stamp,
        lines_before: u32,
        ids: &mut Ids,
    ) -> NewDocument {
        let Chunked {
            meta,
            entries,
            warnings,
            ..
        } = chunked;
        let path = input.path;
        let time = document::document_time(path, &meta, stamp.mtime());
        let kind = meta
            .kind
            .clone()
            .unwrap_or_else(|| document::derived_kind(path).to_owned());
        let mut lines = Lines::new(input.text, lines_before);
        let entries = entries
            .into_iter()
            .map(|draft| {
                let mut tags = meta.tags.clone();
                tags.extend(draft.tags.iter().cloned());
                let mut distinct = Vec::with_capacity(tags.len());
                for tag in tags {
                    if !distinct.contains(&tag) {
                        distinct.push(tag);
                    }
                }
                NewEntry {
                    id: ids.next(&self.namespace, input.source, &draft),
                    lines: lines.of(&draft),
                    kind: draft.kind.unwrap_or_else(|| kind.clone()),
                    time: Some(draft.time.unwrap_or(time)),
                    tags: distinct,
                    heading_path: draft.heading_path,
                    text: draft.text,
                }
            })
            .collect();
        let of_chunker = warnings.into_iter().map(|warning| match warning.line {
            Some(line) => format!("line {}: {}", line + lines_before, warning.message),
            None => warning.message,
        });
        NewDocument {
            source: input.source.to_owned(),
            path: path.to_owned(),
            hash: ContentHash([0; 32]),
            cut_by: self.cut_by,
            stamp,
            created: document::document_created(path, &meta),
            time,
            position: None,
            kept_lines: lines_before,
            warnings: of_chunker.collect(),
            entries,
        }
    }
}

fn gone(path: String, known: Known) -> Scanned {
    Scanned::Gone {
        path,
        change: Change::Remove { doc: known.doc },
    }
}

/// A plugin that panics fails its document, not the sync.
fn guarded(read: impl FnOnce() -> Result<Option<Outcome>>) -> Result<Option<Outcome>> {
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(Error::new(
            ErrorKind::Internal,
            "the chunker panicked on this document",
        ))
    })
}

fn outcome_of(
    found: Found,
    known: Option<Known>,
    outcome: Result<Option<Outcome>>,
) -> Option<Scanned> {
    let Some(outcome) = outcome.unwrap_or_else(|err| Some(Outcome::Failed(err))) else {
        return Some(Scanned::Unchanged(1));
    };
    // Somebody may delete a file between the walk and our opening it.
    if matches!(&outcome, Outcome::Failed(err) if err.kind() == ErrorKind::NotFound)
        && is_gone(&found.absolute)
    {
        return known.map(|known| gone(found.path, known));
    }
    Some(Scanned::File {
        path: found.path,
        outcome,
    })
}

fn is_gone(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|err| err.kind() == io::ErrorKind::NotFound)
}

/// Gives entries of a document their ids.
#[derive(Debug)]
pub(super) struct Ids {
    path: String,
    /// Those of the entries before, where only a later part is cut.
    pub(super) kept: HashSet<EntryId>,
    seen: HashMap<(Vec<String>, ContentHash), u32>,
}

impl Ids {
    pub(super) fn new(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            kept: HashSet::new(),
            seen: HashMap::new(),
        }
    }

    fn next(&mut self, namespace: &str, source: &str, draft: &DraftEntry) -> EntryId {
        let content = document::content_hash(draft.text.as_bytes());
        let ordinal = self
            .seen
            .entry((draft.heading_path.clone(), content))
            .or_default();
        loop {
            let heading_path = &draft.heading_path;
            let id = document::entry_id(
                namespace,
                source,
                &self.path,
                heading_path,
                content,
                *ordinal,
            );
            *ordinal += 1;
            if !self.kept.contains(&id) {
                return id;
            }
        }
    }
}

/// Counts lines up to the spans of entries, which come ordered by their start.
pub(crate) struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    /// Begins with the text behind so many lines.
    pub(crate) fn new(text: &'a str, lines_before: u32) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            line: lines_before + 1,
        }
    }

    pub(crate) fn of(&mut self, draft: &DraftEntry) -> LineRange {
        self.line += self.breaks(self.at, draft.span.start);
        self.at = draft.span.start;
        // The last character decides: a line end that closes the span begins no line of it.
        let last = draft.span.end.saturating_sub(1).max(draft.span.start);
        LineRange {
            start: self.line,
            end: self.line + self.breaks(draft.span.start, last),
        }
    }

    #[expect(
        clippy::naive_bytecount,
        reason = "lines of one document; not worth a dependency"
    )]
    fn breaks(&self, from: usize, to: usize) -> u32 {
        let bytes = self.text.get(from..to).unwrap_or_default();
        u32::try_from(bytes.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(u32::MAX)
    }
}
