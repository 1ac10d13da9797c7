use std::path::Path;
use std::sync::Arc;

use memory_api::Result;
use memory_config::{self as config, Citations, SearchConfig, SearchMode};
use memory_engine::{
    AskedMode, Clock, Engine, Filter, Finding, Floor, Fusion, Place, ReadRequest, Rule,
    SearchRequest, SearchResponse, Status, SyncReport, SyncRequest, TextScore, Threshold,
    VectorScore, Window,
};

/// One workspace's memory.
#[derive(Debug)]
pub struct Memory {
    engine: Engine,
    search: SearchConfig,
}

/// A question; what is not said is as the config says.
#[derive(Debug, Clone, Default)]
pub struct Query {
    text: String,
    max_results: Option<usize>,
    min_score: Option<f64>,
    filter: Filter,
    mode: Option<AskedMode>,
    context: usize,
    everything: bool,
}

impl Query {
    /// Creates a question. Words are joined by OR and ranked; `"…"` is a phrase, a trailing `*` a prefix, a leading `-`
    /// excludes; nothing else is syntax.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Asks for at most this many results.
    pub fn with_max_results(mut self, max_results: usize) -> Self {
        self.max_results = Some(max_results);
        self
    }

    /// Asks for results of at least this relevance, 0 to 1, even if that leaves none.
    pub fn with_min_score(mut self, min_score: f64) -> Self {
        self.min_score = Some(min_score);
        self
    }

    /// Asks to go by words and meaning, or by one of them alone.
    pub fn with_mode(mut self, mode: AskedMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Asks for some entries only.
    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Asks for this many lines of the file before and after each result. They share the answer's characters, after the results.
    pub fn with_context(mut self, n_lines: usize) -> Self {
        self.context = n_lines;
        self
    }

    /// Asks for the best `n` results whatever their relevance and length, as an evaluation needs them.
    pub fn everything(mut self, n: usize) -> Self {
        self.max_results = Some(n);
        self.everything = true;
        self
    }
}

impl Memory {
    pub(crate) fn new(engine: Engine, search: SearchConfig) -> Self {
        Self { engine, search }
    }

    /// Brings the index to the state of the files.
    ///
    /// # Errors
    ///
    /// See [`Engine::sync`].
    pub async fn sync(&self, request: &SyncRequest) -> Result<SyncReport> {
        self.engine.sync(request).await
    }

    /// Finds the entries that answer a question. A memory without an index answers with nothing and says so in `degraded`.
    ///
    /// # Errors
    ///
    /// See [`Engine::search`].
    pub async fn search(&self, query: &Query) -> Result<SearchResponse> {
        let floor = match query.min_score {
            _ if query.everything => Floor::None,
            Some(min_score) => Floor::Hard(min_score),
            None => Floor::Relaxed(self.search.min_score),
        };
        let request = SearchRequest {
            query: query.text.clone(),
            max_results: query.max_results.unwrap_or(self.search.max_results),
            floor,
            mode: query.mode.unwrap_or(match self.search.mode {
                SearchMode::Hybrid => AskedMode::Hybrid,
                SearchMode::Lexical => AskedMode::Lexical,
                SearchMode::Vector => AskedMode::Vector,
                SearchMode::Auto => AskedMode::Auto,
            }),
            fusion: fusion(&self.search),
            threshold: match self.search.threshold {
                config::Threshold::Freshness => Threshold::Freshness,
                config::Threshold::Relevance => Threshold::Relevance,
            },
            candidate_multiplier: if query.everything {
                1
            } else {
                self.search.candidate_multiplier
            },
            filter: query.filter.clone(),
            citations: self.search.citations != Citations::Off,
            snippet_chars: self.search.snippet_chars,
            max_chars: if query.everything {
                None
            } else {
                self.search.snippet_budget()
            },
            context: query.context,
        };
        self.engine.search(&request).await
    }

    /// Reads part of a memory file as it is on disk now. A citation (`memory/a.md#L3-L7`) stands for its file and lines; what the
    /// request says of lines goes first.
    ///
    /// # Errors
    ///
    /// See [`Engine::get`].
    pub fn get(&self, request: &ReadRequest) -> Result<Window> {
        match (self.engine.get(request), cited(request)) {
            // A file may be called like a citation, so the plain path comes first.
            (Err(_), Some(cited)) => self.engine.get(&cited),
            (window, _) => window,
        }
    }

    /// Tells what is in the memory and what is missing.
    ///
    /// # Errors
    ///
    /// See [`Engine::status`].
    pub async fn status(&self) -> Result<Status> {
        self.engine.status().await
    }

    /// Looks at each part closely, and says how it is.
    ///
    /// # Errors
    ///
    /// See [`Engine::examine`].
    pub async fn examine(&self) -> Result<Vec<Finding>> {
        self.engine.examine().await
    }

    /// Returns whether something is published for this namespace.
    ///
    /// # Errors
    ///
    /// See [`Engine::is_indexed`].
    pub async fn is_indexed(&self) -> Result<bool> {
        self.engine.is_indexed().await
    }

    /// Returns the folders in which memory files come and go.
    ///
    /// # Errors
    ///
    /// See [`Engine::places`].
    pub fn places(&self) -> Result<Vec<Place>> {
        self.engine.places()
    }

    /// Returns the folder of the index.
    pub fn state_dir(&self) -> &Path {
        self.engine.state_dir()
    }

    /// Returns the clock it was opened with.
    pub fn clock(&self) -> Arc<dyn Clock> {
        self.engine.clock()
    }

    /// Closes the index.
    ///
    /// # Errors
    ///
    /// See [`Engine::close`].
    pub async fn close(&self) -> Result<()> {
        self.engine.close().await
    }
}

/// Reads `path#L3` and `path#L3-L7`.
fn cited(request: &ReadRequest) -> Option<ReadRequest> {
    let (path, lines) = request.path.rsplit_once("#L")?;
    let (first, last) = lines.split_once("-L").unwrap_or((lines, lines));
    let first: i64 = first.parse().ok()?;
    let last: i64 = last.parse().ok()?;
    let n_lines = last.checked_sub(first)?.checked_add(1)?;
    if first < 1 || n_lines < 1 {
        return None;
    }
    Some(ReadRequest {
        path: path.to_owned(),
        from: request.from.or(Some(first)),
        lines: request.lines.or(Some(n_lines)),
        max_chars: request.max_chars,
    })
}

/// How the config wants both scores to become one.
fn fusion(search: &SearchConfig) -> Fusion {
    let (vector_weight, text_weight) = search.weights();
    Fusion {
        rule: match search.fusion {
            config::Fusion::Convex => Rule::Convex,
            config::Fusion::Weighted => Rule::Weighted,
        },
        vector_weight,
        text_weight,
        text_score: match search.text_score {
            config::TextScore::Position => TextScore::Position,
            config::TextScore::Saturate => TextScore::Saturate,
            config::TextScore::Share => TextScore::Share,
        },
        vector_score: match search.vector_score {
            config::VectorScore::Cosine => VectorScore::Cosine,
            config::VectorScore::Calibrated => VectorScore::Calibrated,
        },
    }
}
