use std::collections::BTreeMap;

use memory_api::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::discovery::{Discovery, Source};
use crate::document;
use crate::generation::Live;
use crate::options::Options;
use crate::search::SearchResponse;
use crate::store::Entry;

/// The lines of the file around a result, as they are on disk, without the last line end; empty where the file begins or ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Context {
    /// The lines before the result.
    pub before: String,
    /// The lines after it.
    pub after: String,
}

/// A file's lines, or why they are not shown.
type Lines = std::result::Result<Vec<String>, String>;

/// Adds to each result of an answer the `n_lines` lines before and after its entry, the best first, in at most `room` characters.
///
/// The file is read by the same rules as a window of it. One that changed since it was indexed has other lines at these numbers,
/// and an entry whose text does not stand in its file (what a chunker says of a chat, without its secrets) has no lines around it
/// that were meant to be seen: both go without, with a warning.
pub(crate) async fn surround<'a>(
    live: &Live,
    options: &Options,
    n_lines: usize,
    mut room: usize,
    entries: impl Iterator<Item = &'a Entry>,
    response: &mut SearchResponse,
) -> Result<()> {
    let discovery = Discovery::new(options)?;
    let mut files: BTreeMap<(String, String), Lines> = BTreeMap::new();
    let mut n_cut = 0;
    let mut warnings = Vec::new();
    for (entry, result) in entries.zip(&mut response.results) {
        let key = (entry.source.clone(), entry.path.clone());
        if !files.contains_key(&key) {
            let lines = lines(live, options, &discovery, entry).await?;
            if let Err(why) = &lines {
                warnings.push(format!("context: {why}"));
            }
            files.insert(key.clone(), lines);
        }
        let Some(Ok(lines)) = files.get(&key) else {
            continue;
        };
        let Some(around) = Around::new(entry, lines, n_lines) else {
            warnings.push(format!(
                "context: the text of `{}`, line {}, is not the file's own, so nothing is shown around it",
                entry.path, entry.lines.start
            ));
            continue;
        };
        let (context, is_whole) = around.within(&mut room);
        n_cut += usize::from(!is_whole);
        result.context = Some(context);
    }
    if n_cut > 0 {
        warnings.push(format!(
            "context: cut short for {n_cut} of the results, since the answer is limited by `search.max_chars`"
        ));
    }
    response.warnings.extend(warnings);
    Ok(())
}

/// Reads the lines of an entry's file, if they are those it was indexed with.
async fn lines(
    live: &Live,
    options: &Options,
    discovery: &Discovery,
    entry: &Entry,
) -> Result<Lines> {
    if Source::of(&entry.path) == Source::Transcripts {
        return Ok(Err(format!(
            "nothing is shown around what stands in the transcript `{}`",
            entry.path
        )));
    }
    let indexed = live
        .store
        .document_hash(
            options.namespace.clone(),
            entry.source.clone(),
            entry.path.clone(),
        )
        .await?;
    let max_bytes = options.documents.max_file_kib.saturating_mul(1024);
    let content = discovery
        .resolve(&entry.path)
        .and_then(|absolute| document::read(&absolute, max_bytes));
    Ok(match content {
        Ok(content) if Some(content.hash) == indexed => {
            let body = content.text.strip_suffix('\n').unwrap_or(&content.text);
            Ok(body.split('\n').map(str::to_owned).collect())
        }
        Ok(_) => Err(format!(
            "`{}` changed since it was indexed; run `memory index`",
            entry.path
        )),
        Err(err) => Err(err.located()),
    })
}

/// The lines before and after an entry.
struct Around<'a> {
    before: &'a [String],
    after: &'a [String],
}

impl<'a> Around<'a> {
    /// Returns `None` where the entry's text does not stand at its lines.
    fn new(entry: &Entry, lines: &'a [String], n_lines: usize) -> Option<Self> {
        let start = usize::try_from(entry.lines.start.checked_sub(1)?).ok()?;
        let end = usize::try_from(entry.lines.end).ok()?;
        let own = lines.get(start..end)?.join("\n");
        if !own.contains(entry.text.trim()) {
            return None;
        }
        Some(Self {
            before: lines.get(start.saturating_sub(n_lines)..start)?,
            after: lines.get(end..end.saturating_add(n_lines).min(lines.len()))?,
        })
    }

    /// Takes whole lines, the nearest first, on both sides in turn, as long as there is room for them. Returns whether that was all.
    fn within(&self, room: &mut usize) -> (Context, bool) {
        let (mut n_before, mut n_after) = (0, 0);
        let mut takes = |line: Option<&String>| {
            let Some(line) = line else {
                return false;
            };
            // The line end counts as well.
            let n_chars = line.chars().count() + 1;
            let fits = n_chars <= *room;
            *room -= if fits { n_chars } else { 0 };
            fits
        };
        loop {
            let above = takes(self.before.iter().rev().nth(n_before));
            n_before += usize::from(above);
            let below = takes(self.after.get(n_after));
            n_after += usize::from(below);
            if !above && !below {
                break;
            }
        }
        let before = self
            .before
            .get(self.before.len() - n_before..)
            .unwrap_or_default();
        let after = self.after.get(..n_after).unwrap_or_default();
        let is_whole = n_before == self.before.len() && n_after == self.after.len();
        let context = Context {
            before: before.join("\n"),
            after: after.join("\n"),
        };
        (context, is_whole)
    }
}
