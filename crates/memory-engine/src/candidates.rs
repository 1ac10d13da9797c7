//! Both legs of a search: what the words find, what the meaning finds, and what each leg says of the other's finds.

use std::collections::HashMap;
use std::sync::Arc;

use memory_api::{
    EntryId, Error, ErrorKind, Hit, LexicalIndex, LexicalQuery, Limits, Result, Role, VectorIndex,
    VectorQuery,
};
use memory_text::Query;

use crate::background;
use crate::embedding::{Model, is_zero, key, other_space};
use crate::feed::{self, Standing, Words};
use crate::fusion::{Legs, TextScore, VectorScore};
use crate::generation::Slot;
use crate::search::{
    AskedMode, EmbedderInfo, Mode, SearchRequest, SearchResponse, Searcher, degraded,
};
use crate::store::Entry;

/// What is asked of the indexes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) request: &'a SearchRequest,
    pub(crate) query: &'a Query,
    /// The entries a filter lets through, ascending; `None` for all.
    pub(crate) allowed: Option<&'a [EntryId]>,
    /// Hits per leg.
    pub(crate) k: usize,
}

/// What it takes to search by meaning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meaning<'a> {
    pub(crate) model: &'a Model,
    /// Of the index by meaning.
    pub(crate) limits: Limits,
}

/// An entry that one of the legs found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) entry: Entry,
    pub(crate) legs: Legs,
    /// Whether it holds a word of the question.
    pub(crate) by_words: bool,
}

/// What the leg by words found.
struct ByWords {
    index: Arc<dyn LexicalIndex>,
    hits: Vec<Hit>,
    attainable: f32,
}

/// What the leg by meaning found.
struct ByMeaning {
    index: Arc<dyn VectorIndex>,
    vector: Vec<f32>,
    hits: Vec<Hit>,
    embedder: EmbedderInfo,
    /// What the index lacks.
    lacks: Option<String>,
}

impl Searcher<'_> {
    /// Asks both legs at once and returns the union of what they found, each with what both legs say of it. What the store no
    /// longer has is left out.
    pub(crate) async fn candidates(
        &self,
        question: &Question<'_>,
        response: &mut SearchResponse,
    ) -> Result<Vec<Found>> {
        let asked = question.request.mode;
        let by_words = async {
            match asked {
                AskedMode::Vector => Ok(None),
                _ => self.by_words(question).await,
            }
        };
        let by_meaning = async {
            match asked {
                AskedMode::Lexical => Ok(None),
                _ => self.by_meaning(question).await,
            }
        };
        let (by_words, by_meaning) = futures::join!(by_words, by_meaning);
        let (by_words, lacks) = by_words?.unzip();
        response.degraded.extend(lacks.flatten());
        let by_words = by_words.flatten();
        let by_meaning = match by_meaning {
            Ok(by_meaning) => by_meaning,
            Err(err) => {
                response.degraded.push(degraded("vector", &err));
                None
            }
        };
        if let Some(by_meaning) = &by_meaning {
            response.degraded.extend(by_meaning.lacks.clone());
            response.embedder = Some(by_meaning.embedder.clone());
        }
        response.mode = match (&by_words, &by_meaning, asked) {
            (Some(_), Some(_), _) => Mode::Hybrid,
            (None, Some(_), _) | (None, None, AskedMode::Vector) => Mode::Vector,
            (_, None, _) => Mode::Lexical,
        };
        self.union(question, by_words, by_meaning, response).await
    }

    /// Returns what the words found, and what the index lacks; `None` for a question without words, `None` inside for a closed index.
    async fn by_words(
        &self,
        question: &Question<'_>,
    ) -> Result<Option<(Option<ByWords>, Option<String>)>> {
        let index = match &self.live.lexical {
            Slot::Open(index) => index,
            Slot::Closed(err) => return Ok(Some((None, Some(degraded("words", err))))),
        };
        if question.query.is_empty() {
            return Ok(None);
        }
        let lacks = match feed::standing(&Words(&self.live.store), &**index).await? {
            Standing::Behind(0) => None,
            Standing::Behind(n) => Some(format!("words: {n} behind; run `memory index`")),
            Standing::Lost => {
                Some("words: the index does not follow the store; run `memory index`".to_owned())
            }
        };
        let query = lexical_query(question, within(question.k, self.lexical_limits));
        let hits = index.search(&query).await?;
        let attainable = index.attainable(&query).await?;
        let by_words = ByWords {
            index: Arc::clone(index),
            hits,
            attainable,
        };
        Ok(Some((Some(by_words), lacks)))
    }

    /// Returns what the meaning found. The embedder must be there, since its space names the question's vector; its model is loaded
    /// only when there is something to find and the question is a new one.
    async fn by_meaning(&self, question: &Question<'_>) -> Result<Option<ByMeaning>> {
        let Some(meaning) = self.meaning else {
            return match question.request.mode {
                AskedMode::Auto | AskedMode::Lexical => Ok(None),
                AskedMode::Hybrid | AskedMode::Vector => Err(Error::new(
                    ErrorKind::Unavailable,
                    "search by meaning is switched off: it needs an embedder and an index by meaning",
                )
                .with_hint("let neither `embedder.use` nor `vector.use` be \"none\"")),
            };
        };
        let has_letters = question.query.text.chars().any(char::is_alphanumeric);
        if question.query.is_empty() && !has_letters {
            return Ok(None);
        }
        let embedder = meaning.model.embedder(self.options).await?;
        let space = embedder.space();
        let index = match &self.live.vector {
            Some(Slot::Open(index)) => index,
            Some(Slot::Closed(err)) => return Err(said_again(err)),
            None => {
                return Err(
                    Error::new(ErrorKind::Unavailable, "nothing is embedded yet")
                        .with_hint("run `memory index`"),
                );
            }
        };
        let Some(background) = &self.live.background else {
            return Err(
                Error::new(ErrorKind::Corrupt, "the background of the index is missing")
                    .with_hint("run `memory index` to build it anew"),
            );
        };
        if background.space != *space {
            let message = other_space(&background.space, space);
            return Err(Error::new(ErrorKind::Unavailable, message)
                .with_hint("run `memory index` to embed the memory with it"));
        }
        if *index.space() != background.indexed_space() {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "the memory is being embedded anew with another model",
            )
            .with_hint("run `memory index` to finish it"));
        }
        let embedder_info = EmbedderInfo {
            provider: meaning.model.name().to_owned(),
            model: space.id.clone(),
            dimensions: space.dimensions,
        };
        let mut found = ByMeaning {
            index: Arc::clone(index),
            vector: Vec::new(),
            hits: Vec::new(),
            embedder: embedder_info,
            lacks: self.lacks_vectors().await?,
        };
        if index.stats().await.map_err(with_remedy)?.n_entries == 0 {
            return Ok(Some(found));
        }
        let text = &question.query.text;
        let vector = self.question_vector(&*embedder, text).await?;
        found.vector = background.centred(text, Role::Query, &vector);
        if is_zero(&found.vector) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the model finds no meaning in the question",
            ));
        }
        let mut query = VectorQuery::new(&found.vector, within(question.k, meaning.limits));
        query.allowed = question.allowed;
        found.hits = index.search(&query).await.map_err(with_remedy)?;
        Ok(Some(found))
    }

    /// Says how many entries the index by meaning lacks.
    async fn lacks_vectors(&self) -> Result<Option<String>> {
        let store = &self.live.store;
        let behind = match self.live.by_meaning() {
            Some((index, changes)) => match feed::standing(&changes, index).await? {
                Standing::Behind(n) => n,
                Standing::Lost => {
                    return Ok(Some(
                        "vector: the index does not follow the store; run `memory index`"
                            .to_owned(),
                    ));
                }
            },
            // Without `vectors.db` nobody feeds the index; what it lacks is not known.
            None => 0,
        };
        let pending = store.n_pending(self.options.namespace.clone()).await?;
        Ok(match (behind, pending) {
            (0, 0) => None,
            (0, n) => Some(format!("vector: {n} pending; run `memory index`")),
            (n, _) => Some(format!("vector: {n} behind; run `memory index`")),
        })
    }

    /// Returns the vector of a question, from `vectors.db` if it was asked before.
    async fn question_vector(
        &self,
        embedder: &dyn memory_api::Embedder,
        text: &str,
    ) -> Result<Vec<f32>> {
        let space = embedder.space();
        let key = key(text);
        if let Some(vectors) = &self.live.vectors {
            // A cache that cannot be read is no cache; the model answers.
            let known = vectors.get(space, Role::Query, vec![key]).await;
            if let Some(known) = known.ok().and_then(|mut known| known.pop()).flatten() {
                if known.is_stale(self.now) && !self.options.read_only {
                    drop(vectors.touch(space, Role::Query, vec![key], self.now).await);
                }
                return Ok(known.vector);
            }
        }
        let rows = embedder.embed(&[text], Role::Query).await?;
        let vector = rows.rows().next().map(<[f32]>::to_vec).unwrap_or_default();
        if let Some(vectors) = &self.live.vectors
            && !self.options.read_only
        {
            // What could not be kept is computed again the next time.
            let kept = vec![(key, vector.clone())];
            drop(vectors.put(space, Role::Query, kept, self.now).await);
        }
        Ok(vector)
    }

    /// Brings the finds of both legs together.
    async fn union(
        &self,
        question: &Question<'_>,
        by_words: Option<ByWords>,
        by_meaning: Option<ByMeaning>,
        response: &mut SearchResponse,
    ) -> Result<Vec<Found>> {
        if by_words.is_none() && by_meaning.is_none() {
            if question.query.is_empty() {
                let warning = "the query has no word to search for";
                response.warnings.push(warning.to_owned());
            }
            return Ok(Vec::new());
        }
        let mut ids: Vec<EntryId> = Vec::new();
        ids.extend(by_words.iter().flat_map(|leg| &leg.hits).map(|hit| hit.id));
        ids.extend(
            by_meaning
                .iter()
                .flat_map(|leg| &leg.hits)
                .map(|hit| hit.id),
        );
        ids.sort_unstable();
        ids.dedup();
        if let Some(by_meaning) = &by_meaning {
            let found = by_meaning.hits.iter().map(|hit| hit.id).collect();
            let unwanted = self.unwanted(question, found, response).await?;
            ids.retain(|id| unwanted.binary_search(id).is_err());
        }
        let text = match &by_words {
            Some(leg) => leg.scores(question, &ids).await?,
            None => vec![None; ids.len()],
        };
        let vector = match &by_meaning {
            Some(leg) => leg.scores(question, &ids).await?,
            None => vec![None; ids.len()],
        };
        let entries = self
            .live
            .store
            .entries(self.options.namespace.clone(), ids)
            .await?;
        Ok(entries
            .into_iter()
            .zip(text.into_iter().zip(vector))
            .filter_map(|(entry, (text, vector))| {
                Some(Found {
                    entry: entry?,
                    legs: Legs { text, vector },
                    by_words: text.is_some_and(|text| text > 0.0),
                })
            })
            .collect())
    }

    /// Returns which of the entries hold what the question excludes, ascending. Meaning knows no exclusion; words do.
    async fn unwanted(
        &self,
        question: &Question<'_>,
        mut ids: Vec<EntryId>,
        response: &mut SearchResponse,
    ) -> Result<Vec<EntryId>> {
        let excluded = &question.query.excluded_text;
        if excluded.is_empty() || ids.is_empty() {
            return Ok(Vec::new());
        }
        let Slot::Open(index) = &self.live.lexical else {
            response
                .warnings
                .push("excluded words are not heeded without the index by words".to_owned());
            return Ok(Vec::new());
        };
        ids.sort_unstable();
        let query = LexicalQuery::new(excluded, ids.len());
        let scores = index.score(&query, &ids).await?;
        Ok(ids
            .into_iter()
            .zip(scores)
            .filter(|(_, score)| score.is_some_and(|score| score > 0.0))
            .map(|(id, _)| id)
            .collect())
    }
}

impl ByWords {
    /// Returns what the words say of each entry, 0 to 1.
    async fn scores(&self, question: &Question<'_>, ids: &[EntryId]) -> Result<Vec<Option<f64>>> {
        let positions: HashMap<EntryId, usize> = self
            .hits
            .iter()
            .enumerate()
            .map(|(position, hit)| (hit.id, position))
            .collect();
        if question.request.fusion.text_score == TextScore::Position {
            let of = |id: &EntryId| positions.get(id).map_or(0.0, |at| 1.0 / (1.0 + *at as f64));
            return Ok(ids.iter().map(|id| Some(of(id))).collect());
        }
        let others: Vec<EntryId> = ids
            .iter()
            .filter(|id| !positions.contains_key(id))
            .copied()
            .collect();
        let mut raw: HashMap<EntryId, Option<f32>> = self
            .hits
            .iter()
            .map(|hit| (hit.id, Some(hit.score)))
            .collect();
        if !others.is_empty() {
            let query = lexical_query(question, others.len());
            let scores = self.index.score(&query, &others).await?;
            raw.extend(others.into_iter().zip(scores));
        }
        let scale = |score: f32| match question.request.fusion.text_score {
            TextScore::Saturate => f64::from(score) / (1.0 + f64::from(score)),
            _ => words_relevance(score, self.attainable),
        };
        Ok(ids
            .iter()
            .map(|id| raw.get(id).copied().flatten().map(scale))
            .collect())
    }
}

impl ByMeaning {
    /// Returns what the meaning says of each entry, 0 to 1; `None` for one whose vector is pending.
    async fn scores(&self, question: &Question<'_>, ids: &[EntryId]) -> Result<Vec<Option<f64>>> {
        if self.vector.is_empty() {
            return Ok(vec![None; ids.len()]);
        }
        let literal = question.request.fusion.vector_score == VectorScore::Cosine;
        let mut raw: HashMap<EntryId, Option<f32>> = self
            .hits
            .iter()
            .map(|hit| (hit.id, Some(hit.score)))
            .collect();
        let others: Vec<EntryId> = ids
            .iter()
            .filter(|id| !raw.contains_key(id))
            .copied()
            .collect();
        if literal {
            raw.extend(others.into_iter().map(|id| (id, Some(0.0))));
        } else if !others.is_empty() {
            let query = VectorQuery::new(&self.vector, others.len());
            let scores = self.index.score(&query, &others).await?;
            raw.extend(others.into_iter().zip(scores));
        }
        let scale = |cosine: f32| {
            let cosine = f64::from(cosine);
            if literal {
                cosine.clamp(0.0, 1.0)
            } else {
                background::relevance(cosine)
            }
        };
        Ok(ids
            .iter()
            .map(|id| raw.get(id).copied().flatten().map(scale))
            .collect())
    }
}

/// An index knows that its file is damaged, not how a person gets a new one.
pub(crate) fn with_remedy(err: Error) -> Error {
    if err.kind() == ErrorKind::Corrupt {
        err.with_hint("run `memory index --force` to build the index anew from your files")
    } else {
        err
    }
}

/// An error that stays where it is, told once more.
pub(crate) fn said_again(err: &Error) -> Error {
    let told = Error::new(err.kind(), err.to_string());
    match err.hint() {
        Some(hint) => told.with_hint(hint),
        None => told,
    }
}

fn lexical_query<'a>(question: &Question<'a>, k: usize) -> LexicalQuery<'a> {
    let query = LexicalQuery::new(&question.request.query, k);
    match question.allowed {
        Some(allowed) => query.with_allowed(allowed),
        None => query,
    }
}

fn within(k: usize, limits: Limits) -> usize {
    limits.max_k.map_or(k, |max_k| k.min(max_k))
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
