//! From a question to cited entries: candidates, a common scale, the threshold, the answer's size.

use std::time::Duration;

use jiff::Timestamp as Instant;
use memory_api::{Candidate, Error, ErrorKind, Limits, Reranker as _, Result, Timestamp};
use memory_text::Query;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::candidates::{Found, Meaning, Question};
use crate::citation::citation;
use crate::context::{Context, surround};
use crate::contract::ContractReranker;
use crate::discovery::Source;
use crate::filter::Filter;
use crate::freshness::Freshness;
use crate::fusion::{Fusion, Legs};
use crate::generation::Live;
use crate::options::Options;
use crate::select::{Graded, Strictness, select};

/// More results than this make no answer.
const MAX_RESULTS: usize = 1_000;
/// Candidates offered to a reranker; what comes after them keeps its order. A reranker may compare each with each.
const MAX_RERANKED: usize = 500;
/// A snippet with less room than this is left out, with its result.
const MIN_SNIPPET_CHARS: usize = 40;
/// How often a search is made whose store changes under it, before its answer is given as it is.
const ATTEMPTS: usize = 4;
const OVERTAKEN: &str = "words: the memory changed during the search; ask again";

/// A question.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// What a person typed; see `memory-text` for its language.
    pub query: String,
    /// How many results to return at most, 0 to 1,000.
    pub max_results: usize,
    /// What is good enough.
    pub floor: Floor,
    /// What to go by.
    pub mode: AskedMode,
    /// How the scores of both legs become one.
    pub fusion: Fusion,
    /// What a relaxed floor is held against.
    pub threshold: Threshold,
    /// Candidates per result that are wanted of an index, at least 1.
    pub candidate_multiplier: usize,
    /// Which entries may be found.
    pub filter: Filter,
    /// Whether results carry a citation.
    pub citations: bool,
    /// Characters per snippet at most.
    pub snippet_chars: usize,
    /// Characters of all snippets and all context together at most; `None` sets no bound.
    pub max_chars: Option<usize>,
    /// Lines of the file to show before and after each result.
    pub context: usize,
}

/// What is good enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Floor {
    /// Everything, best first.
    None,
    /// What the [`Threshold`] names is at least this; places that stay free go to what holds a word of the query, or reaches it by meaning alone.
    Relaxed(f64),
    /// The score is at least this, whatever that leaves.
    Hard(f64),
}

/// What a search is asked to go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum AskedMode {
    /// By what is there.
    #[default]
    Auto,
    /// By words and by meaning; what is not there is reported.
    Hybrid,
    /// By words alone.
    Lexical,
    /// By meaning alone.
    Vector,
}

/// What a relaxed floor is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Threshold {
    /// What fits the question: age never hides the only match.
    #[default]
    Relevance,
    /// What time has left of that.
    Freshness,
}

/// What a search went by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// Words and meaning.
    Hybrid,
    /// Words alone.
    Lexical,
    /// Meaning alone.
    Vector,
}

/// The model that embedded a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EmbedderInfo {
    /// Its plugin.
    pub provider: String,
    /// What its vectors mean: the id of their space.
    pub model: String,
    /// Numbers per vector.
    pub dimensions: usize,
}

/// An answer; serialised it is the JSON of `memory search --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchResponse {
    /// The question.
    pub query: String,
    /// What the search went by.
    pub mode: Mode,
    /// The model that embedded the question, if any.
    pub embedder: Option<EmbedderInfo>,
    /// How long it took.
    #[serde(rename = "took_ms", serialize_with = "millis")]
    #[schemars(with = "f64")]
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
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    #[schemars(with = "Option<String>")]
    pub created: Option<Timestamp>,
    /// Its tags.
    pub tags: Vec<String>,
    /// How the score came about.
    pub scores: Scores,
    /// The lines around it, if they were asked for and the file is as it was indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
}

/// How a score came about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
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

/// What answers a question.
#[derive(Debug)]
pub(crate) struct Searcher<'a> {
    pub(crate) live: &'a Live,
    pub(crate) options: &'a Options,
    /// Of the index by words.
    pub(crate) lexical_limits: Limits,
    /// What embeds the question, and the limits of the index by meaning; `None` where everything goes by words.
    pub(crate) meaning: Option<Meaning<'a>>,
    pub(crate) freshness: &'a Freshness,
    pub(crate) rerankers: &'a [ContractReranker],
    pub(crate) now: Timestamp,
}

/// A candidate on its way to a result.
#[derive(Debug)]
struct Graduate {
    found: Found,
    scores: Scores,
    /// What a reranker says, if one does; else the freshness.
    score: f64,
}

impl Searcher<'_> {
    /// Answers a question from what is live.
    pub(crate) async fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let query = Query::parse(&request.query);
        check_sources(self.live, &request.filter).await?;
        let max_results = request.max_results.min(MAX_RESULTS);
        let (candidates, mut response) = self.of_one_state(request, &query, max_results).await?;
        let candidates = self.grade(request, candidates)?;
        let candidates = self.rerank(&request.query, candidates, &mut response).await;
        let (floor, strictness) = match request.floor {
            Floor::None => (f64::NEG_INFINITY, Strictness::Hard),
            Floor::Relaxed(floor) => (floor, Strictness::Relaxed),
            Floor::Hard(floor) => (floor, Strictness::Hard),
        };
        let graded: Vec<Graded> = candidates
            .iter()
            .map(|candidate| Graded {
                // No returned score is under a floor that was typed; a default one is held against what age cannot touch.
                score: match (strictness, request.threshold) {
                    (Strictness::Hard, _) => candidate.score,
                    (Strictness::Relaxed, Threshold::Freshness) => candidate.scores.freshness,
                    (Strictness::Relaxed, Threshold::Relevance) => candidate.scores.relevance,
                },
                by_one_leg: candidate.found.by_words
                    || request.fusion.is_near(candidate.scores.vector, floor),
            })
            .collect();
        let chosen: Vec<&Graduate> = select(&graded, max_results, floor, strictness)
            .into_iter()
            .filter_map(|idx| candidates.get(idx))
            .collect();
        let mut room = request.max_chars.unwrap_or(usize::MAX);
        for (idx, candidate) in chosen.iter().enumerate() {
            let wanted = request.snippet_chars.min(room);
            if wanted < MIN_SNIPPET_CHARS.min(request.snippet_chars) {
                response.omitted = chosen.len() - idx;
                break;
            }
            let snippet = memory_text::snippet(&candidate.found.entry.text, &query, wanted);
            room = room.saturating_sub(snippet.chars().count());
            response
                .results
                .push(result(candidate, snippet, request.citations));
        }
        if request.context > 0 {
            let entries = chosen.iter().map(|candidate| &candidate.found.entry);
            surround(
                self.live,
                self.options,
                request.context,
                room,
                entries,
                &mut response,
            )
            .await?;
        }
        Ok(response)
    }

    /// Returns the candidates and what the legs say, of one state of the store: what a filter lets through, what an index found
    /// and what the store still has would else be of different ones, and text that was changed meanwhile would be in none.
    async fn of_one_state(
        &self,
        request: &SearchRequest,
        query: &Query,
        max_results: usize,
    ) -> Result<(Vec<Found>, SearchResponse)> {
        let store = &self.live.store;
        let mut attempt = 1;
        loop {
            let before = store.last_seq().await?;
            let mut response = empty(request);
            let allowed = store
                .allowed(self.options.namespace.clone(), request.filter.clone())
                .await?;
            let question = Question {
                request,
                query,
                allowed: allowed.as_deref(),
                k: max_results.saturating_mul(request.candidate_multiplier.max(1)),
            };
            let candidates = self.candidates(&question, &mut response).await?;
            if store.last_seq().await? == before {
                return Ok((candidates, response));
            }
            if attempt == ATTEMPTS {
                response.degraded.push(OVERTAKEN.to_owned());
                return Ok((candidates, response));
            }
            attempt += 1;
        }
    }

    /// Returns the candidates by freshness, best first, ties by id.
    fn grade(&self, request: &SearchRequest, candidates: Vec<Found>) -> Result<Vec<Graduate>> {
        let legs: Vec<Legs> = candidates.iter().map(|found| found.legs).collect();
        let relevance = request.fusion.relevance(&legs);
        let retention = self
            .freshness
            .retention(candidates.iter().map(|found| &found.entry), self.now)?;
        let mut graded: Vec<Graduate> = candidates
            .into_iter()
            .zip(relevance.into_iter().zip(retention))
            .map(|(found, (relevance, retention))| {
                let scores = Scores::new(found.legs, relevance, f64::from(retention));
                Graduate {
                    found,
                    scores,
                    score: scores.freshness,
                }
            })
            .collect();
        graded.sort_by(|a, b| {
            b.score
                .total_cmp(&a.score)
                .then(a.found.entry.id.cmp(&b.found.entry.id))
        });
        Ok(graded)
    }

    /// Lets each reranker put the candidates into its order. One that fails leaves the order as it is.
    async fn rerank(
        &self,
        query: &str,
        mut candidates: Vec<Graduate>,
        response: &mut SearchResponse,
    ) -> Vec<Graduate> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "plugins count in f32; what is rounded here only orders"
        )]
        let rounded = |score: f64| score as f32;
        for reranker in self.rerankers {
            let offered: Vec<Candidate<'_>> = candidates
                .iter()
                .take(MAX_RERANKED)
                .map(|candidate| {
                    let entry = &candidate.found.entry;
                    Candidate::new(entry.id, &entry.text, rounded(candidate.score))
                })
                .collect();
            let ranked = match reranker.rerank(query, &offered).await {
                Ok(ranked) => ranked,
                Err(err) => {
                    response.degraded.push(degraded("rerank", &err));
                    continue;
                }
            };
            let rest = candidates.split_off(candidates.len().min(MAX_RERANKED));
            let mut places: Vec<Option<Graduate>> = candidates.into_iter().map(Some).collect();
            candidates = ranked
                .into_iter()
                .filter_map(|place| {
                    let mut candidate = places.get_mut(place.index)?.take()?;
                    if let Some(score) = place.score {
                        candidate.score = f64::from(score);
                    }
                    Some(candidate)
                })
                .chain(rest)
                .collect();
        }
        candidates
    }
}

impl Scores {
    /// Freshness = relevance × retention^(1 / access); how often a memory is used is not counted yet, so access is 1.
    fn new(legs: Legs, relevance: f64, retention: f64) -> Self {
        let access = 1.0;
        Self {
            lexical: legs.text,
            vector: legs.vector,
            relevance,
            retention,
            access,
            freshness: relevance * retention.powf(1.0 / access),
        }
    }
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

/// Says in one line what is missing, why, and what to do.
pub(crate) fn degraded(what: &str, err: &Error) -> String {
    // Which plugin it was matters where it did something wrong, not where something is missing.
    let why = match err.kind() {
        ErrorKind::Unavailable => match err.context("path") {
            Some(path) if !err.message().contains(path) => format!("`{path}`: {}", err.message()),
            _ => err.message().to_owned(),
        },
        _ => err.located(),
    };
    match err.hint() {
        Some(hint) => format!("{what}: {why}; {hint}"),
        None => format!("{what}: {why}"),
    }
}

async fn check_sources(live: &Live, filter: &Filter) -> Result<()> {
    if filter.sources.is_empty() {
        return Ok(());
    }
    let mut sources = live.store.sources().await?;
    // Known, also while there is nothing in it.
    for source in Source::ALL {
        if !sources.iter().any(|known| known == source.as_str()) {
            sources.push(source.as_str().to_owned());
        }
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

fn result(candidate: &Graduate, snippet: String, citations: bool) -> SearchResult {
    let entry = &candidate.found.entry;
    SearchResult {
        id: entry.id,
        path: entry.path.clone(),
        line_start: entry.lines.start,
        line_end: entry.lines.end,
        score: candidate.score,
        source: entry.source.clone(),
        kind: entry.kind.clone(),
        heading_path: entry.heading_path.clone(),
        snippet,
        citation: citations.then(|| citation(&entry.path, entry.lines)),
        created: entry.created,
        tags: entry.tags.clone(),
        scores: candidate.scores,
        context: None,
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
