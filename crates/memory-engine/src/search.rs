//! From a question to cited entries: candidates, a common scale, the threshold, the answer's size.

use std::time::Duration;

use jiff::Timestamp as Instant;
use memory_api::{Error, ErrorKind, Hit, LexicalIndex, LexicalQuery, Limits, Result, Timestamp};
use memory_text::Query;
use serde::{Serialize, Serializer};

use crate::citation::citation;
use crate::feed::{self, Standing};
use crate::filter::Filter;
use crate::generation::{Live, Slot};
use crate::select::{Graded, Strictness, select};
use crate::store::Entry;
use crate::sync::scan::SOURCE;

/// More results than this make no answer.
const MAX_RESULTS: usize = 1_000;
/// A snippet with less room than this is left out, with its result.
const MIN_SNIPPET_CHARS: usize = 40;

/// A question.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// What a person typed; see `memory-text` for its language.
    pub query: String,
    /// How many results to return at most, 0 to 1,000.
    pub max_results: usize,
    /// What is good enough.
    pub floor: Floor,
    /// Candidates per result that are wanted of an index, at least 1.
    pub candidate_multiplier: usize,
    /// Which entries may be found.
    pub filter: Filter,
    /// Whether results carry a citation.
    pub citations: bool,
    /// Characters per snippet at most.
    pub snippet_chars: usize,
    /// Characters of all snippets together at most; `None` sets no bound.
    pub max_chars: Option<usize>,
}

/// What is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Floor {
    /// Everything, best first.
    None,
    /// Relevance of at least this; when nothing reaches it, what holds a word of the query comes through.
    Relaxed(f64),
    /// Relevance of at least this, whatever that leaves.
    Hard(f64),
}

/// What a search went by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// Words alone.
    Lexical,
}

/// An answer; serialised it is the JSON of `memory search --json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchResponse {
    /// The question.
    pub query: String,
    /// What the search went by.
    pub mode: Mode,
    /// The model that embedded the question, if any.
    pub embedder: Option<()>,
    /// How long it took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    pub took: Duration,
    /// Best first.
    pub results: Vec<SearchResult>,
    /// Results that were good enough but for which `max_chars` had no room.
    pub omitted: usize,
    /// What could not be used, and why.
    pub degraded: Vec<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchResult {
    /// The entry.
    pub id: memory_api::EntryId,
    /// The document, relative to the workspace, with `/`.
    pub path: String,
    /// The entry's first line, 1-based.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    /// What results are sorted by, 0 to 1.
    pub score: f64,
    /// Where the document came from.
    pub source: String,
    /// The entry's kind.
    pub kind: String,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// The part of its text that answers best.
    pub snippet: String,
    /// `path#L3-L7`, if citations are on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citation: Option<String>,
    /// When the document was created, by its own words or its name.
    #[serde(serialize_with = "rfc3339")]
    pub created: Option<Timestamp>,
    /// Its tags.
    pub tags: Vec<String>,
    /// How the score came about.
    pub scores: Scores,
}

/// How a score came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Scores {
    /// By words, 0 to 1.
    pub lexical: Option<f64>,
    /// By meaning, 0 to 1.
    pub vector: Option<f64>,
    /// Both together, 0 to 1.
    pub relevance: f64,
    /// What time has left of it, 0 to 1.
    pub retention: f64,
    /// How much its use keeps it fresh, at least 1.
    pub access: f64,
    /// What results are sorted by.
    pub freshness: f64,
}

/// Answers a question from what is live.
pub(crate) async fn search(
    live: &Live,
    limits: Limits,
    namespace: &str,
    request: &SearchRequest,
) -> Result<SearchResponse> {
    let mut response = empty(request);
    let query = Query::parse(&request.query);
    if query.is_empty() {
        response
            .warnings
            .push("the query has no word to search for".to_owned());
        return Ok(response);
    }
    let max_results = request.max_results.min(MAX_RESULTS);
    let lexical = match &live.lexical {
        Slot::Open(lexical) => lexical,
        Slot::Closed(err) => {
            response.degraded.push(degraded("words", err));
            return Ok(response);
        }
    };
    match feed::standing(&live.store, &**lexical).await? {
        Standing::Behind(0) => {}
        Standing::Behind(n) => response.degraded.push(behind(n)),
        Standing::Lost => response
            .degraded
            .push("words: the index does not follow the store; run `memory index`".to_owned()),
    }
    check_sources(live, &request.filter).await?;
    let allowed = live
        .store
        .allowed(namespace.to_owned(), request.filter.clone())
        .await?;
    let wanted = max_results.saturating_mul(request.candidate_multiplier.max(1));
    let k = limits.max_k.map_or(wanted, |max_k| wanted.min(max_k));
    let mut lexical_query = LexicalQuery::new(&request.query, k);
    if let Some(allowed) = &allowed {
        lexical_query = lexical_query.with_allowed(allowed);
    }
    let candidates = candidates(live, namespace, &**lexical, &lexical_query).await?;
    let graded: Vec<Graded> = candidates
        .iter()
        .map(|(_, relevance)| Graded {
            relevance: *relevance,
            by_words: true,
            by_meaning: false,
        })
        .collect();
    let (floor, strictness) = match request.floor {
        Floor::None => (0.0, Strictness::Hard),
        Floor::Relaxed(floor) => (floor, Strictness::Relaxed),
        Floor::Hard(floor) => (floor, Strictness::Hard),
    };
    let chosen = select(&graded, max_results, floor, strictness);
    let chosen: Vec<_> = chosen
        .into_iter()
        .filter_map(|idx| candidates.get(idx))
        .collect();
    let mut room = request.max_chars.unwrap_or(usize::MAX);
    for (idx, (entry, relevance)) in chosen.iter().enumerate() {
        let wanted = request.snippet_chars.min(room);
        if wanted < MIN_SNIPPET_CHARS.min(request.snippet_chars) {
            response.omitted = chosen.len() - idx;
            break;
        }
        let snippet = memory_text::snippet(&entry.text, &query, wanted);
        room = room.saturating_sub(snippet.chars().count());
        response
            .results
            .push(result(entry, *relevance, snippet, request.citations));
    }
    Ok(response)
}

/// Returns an answer without results.
pub(crate) fn empty(request: &SearchRequest) -> SearchResponse {
    SearchResponse {
        query: request.query.clone(),
        mode: Mode::Lexical,
        embedder: None,
        took: Duration::ZERO,
        results: Vec::new(),
        omitted: 0,
        degraded: Vec::new(),
        warnings: Vec::new(),
    }
}

/// Says in one line how much an index lacks, and what to do.
fn behind(n: u64) -> String {
    format!("words: {n} behind; run `memory index`")
}

/// Says in one line what is missing, why, and what to do.
pub(crate) fn degraded(what: &str, err: &Error) -> String {
    match err.hint() {
        Some(hint) => format!("{what}: {err} ({hint})"),
        None => format!("{what}: {err}"),
    }
}

/// Returns what the index found, with its relevance. What the store no longer has is left out.
async fn candidates(
    live: &Live,
    namespace: &str,
    lexical: &dyn LexicalIndex,
    query: &LexicalQuery<'_>,
) -> Result<Vec<(Entry, f64)>> {
    let hits = lexical.search(query).await?;
    if hits.is_empty() {
        return Ok(Vec::new());
    }
    let attainable = lexical.attainable(query).await?;
    let entries = live
        .store
        .entries(
            namespace.to_owned(),
            hits.iter().map(|hit| hit.id).collect(),
        )
        .await?;
    let with_relevance = |(entry, hit): (Option<Entry>, &Hit)| {
        Some((entry?, words_relevance(hit.score, attainable)))
    };
    Ok(entries
        .into_iter()
        .zip(&hits)
        .filter_map(with_relevance)
        .collect())
}

/// Brings a BM25 score to 0..1, so that it means the same for every query and every size of memory.
///
/// The share of the attainable score is taken, and bent: a word that stands once in an entry of average length gives 0.45 of
/// its weight (k1 is 1.2), and only endless repetition would give all of it. `1 − (1 − share)²` makes that 0.70 for an entry
/// that holds every word once, 0.40 for one that holds half of them by weight, 0.28 for a third.
pub(crate) fn words_relevance(score: f32, attainable: f32) -> f64 {
    if attainable <= 0.0 {
        return 0.0;
    }
    let share = (f64::from(score) / f64::from(attainable)).clamp(0.0, 1.0);
    1.0 - (1.0 - share).powi(2)
}

async fn check_sources(live: &Live, filter: &Filter) -> Result<()> {
    if filter.sources.is_empty() {
        return Ok(());
    }
    let mut sources = live.store.sources().await?;
    // Known, also while there is nothing in it.
    if !sources.iter().any(|source| source == SOURCE) {
        sources.push(SOURCE.to_owned());
    }
    match filter
        .sources
        .iter()
        .find(|source| !sources.contains(source))
    {
        None => Ok(()),
        Some(unknown) => Err(Error::new(
            ErrorKind::InvalidInput,
            format!(
                "there is no source `{unknown}`, but: {}",
                sources.join(", ")
            ),
        )),
    }
}

fn result(entry: &Entry, relevance: f64, snippet: String, citations: bool) -> SearchResult {
    SearchResult {
        id: entry.id,
        path: entry.path.clone(),
        line_start: entry.lines.start,
        line_end: entry.lines.end,
        score: relevance,
        source: entry.source.clone(),
        kind: entry.kind.clone(),
        heading_path: entry.heading_path.clone(),
        snippet,
        citation: citations.then(|| citation(&entry.path, entry.lines)),
        created: entry.created,
        tags: entry.tags.clone(),
        scores: Scores {
            lexical: Some(relevance),
            vector: None,
            relevance,
            retention: 1.0,
            access: 1.0,
            freshness: relevance,
        },
    }
}

fn millis<S: Serializer>(took: &Duration, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.serialize_f64((took.as_secs_f64() * 10_000.0).round() / 10.0)
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn rfc3339<S: Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match time.and_then(|time| Instant::from_millisecond(time.0).ok()) {
        Some(time) => serializer.collect_str(&time),
        None => serializer.serialize_none(),
    }
}
