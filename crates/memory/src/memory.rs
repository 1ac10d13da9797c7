use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use memory_api::Result;
use memory_config::{
    self as config, Citations, FlushConfig, SearchConfig, SearchMode, WriteConfig,
};
use memory_engine::{
    Added, AskedMode, Clock, Engine, Filter, Finding, Floor, Fusion, ReadRequest, Rule,
    SearchRequest, SearchResponse, Status, SyncReport, SyncRequest, TextScore, Threshold,
    VectorScore, WatchFolder, Window,
};

use crate::flush::{self, Budget, FlushAnswer, FlushCheck, FlushReason};
use crate::write::{Addition, Moment};

/// One workspace's memory.
#[derive(Debug)]
pub struct Memory {
    engine: Engine,
    settings: Settings,
    clock: Arc<dyn Clock>,
}

/// What of the config concerns each call.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) search: SearchConfig,
    pub(crate) write: WriteConfig,
    pub(crate) flush: FlushConfig,
    pub(crate) zone: TimeZone,
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
    pub(crate) fn new(engine: Engine, settings: Settings, clock: Arc<dyn Clock>) -> Self {
        Self {
            engine,
            settings,
            clock,
        }
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
        let settings = &self.settings.search;
        let floor = match query.min_score {
            _ if query.everything => Floor::None,
            Some(min_score) => Floor::Hard(min_score),
            None => Floor::Relaxed(settings.min_score),
        };
        let request = SearchRequest {
            query: query.text.clone(),
            max_results: query.max_results.unwrap_or(settings.max_results),
            floor,
            mode: query.mode.unwrap_or(match settings.mode {
                SearchMode::Hybrid => AskedMode::Hybrid,
                SearchMode::Lexical => AskedMode::Lexical,
                SearchMode::Vector => AskedMode::Vector,
                SearchMode::Auto => AskedMode::Auto,
            }),
            fusion: fusion(settings),
            threshold: match settings.threshold {
                config::Threshold::Freshness => Threshold::Freshness,
                config::Threshold::Relevance => Threshold::Relevance,
            },
            candidate_multiplier: if query.everything {
                1
            } else {
                settings.candidate_multiplier
            },
            filter: query.filter.clone(),
            citations: settings.citations != Citations::Off,
            snippet_chars: settings.snippet_chars,
            max_chars: if query.everything {
                None
            } else {
                settings.snippet_budget()
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

    /// Appends a text to a memory file, below a heading with the time, and indexes it: it is found when this returns, unless
    /// `indexed` of the answer says otherwise.
    ///
    /// # Errors
    ///
    /// See [`Engine::add`].
    pub async fn add(&self, addition: &Addition) -> Result<Added> {
        let request = addition.request(&self.settings.write, &self.moment()?);
        let added = self.engine.add(&request).await;
        added.map_err(|err| addition.explain(err))
    }

    /// Answers whether the agent of a conversation should write down now what it is about to forget. That is remembered: in one
    /// cycle the answer is yes once, and again after each failure but the third.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a cycle without a name. What cannot be remembered is no error but in `warnings`.
    pub async fn check_flush(&self, check: &FlushCheck) -> Result<FlushAnswer> {
        flush::check_cycle(&check.cycle)?;
        let Settings { flush, write, .. } = &self.settings;
        let moment = self.moment()?;
        let path = moment.file(write);
        let budget = Budget::new(check.window, flush.reserve_floor_tokens, flush.soft_tokens);
        let pressure = flush::pressure(check, budget, flush);
        let mut answer = FlushAnswer {
            due: false,
            reason: if flush.enabled {
                FlushReason::Below
            } else {
                FlushReason::Off
            },
            message: String::new(),
            cycle: check.cycle.clone(),
            tokens: check.tokens,
            budget,
            transcript_threshold: flush::transcript_threshold(flush),
            failures: 0,
            system_prompt: None,
            prompt: None,
            path,
            warnings: Vec::new(),
        };
        // Most turns are far from it, and cost no look at what is remembered.
        if flush.enabled && (pressure.is_some() || check.failed) {
            let failed = check.failed;
            let step = move |known| {
                let (next, reason) = flush::decide(pressure, failed, known);
                (next, (reason, next.failed))
            };
            let remembered = self.engine.in_flush_cycle(&check.cycle, step).await;
            (answer.reason, answer.failures) = remembered.answer;
            answer.warnings = remembered.warnings;
        }
        answer.due = answer.reason.is_due();
        answer.message = flush::message(answer.reason, check, budget);
        if answer.reason == FlushReason::GivenUp {
            answer.warnings.push(answer.message.clone());
        }
        if answer.due {
            answer.system_prompt = Some(moment.prompt(&flush.system_prompt, &answer.path));
            answer.prompt = Some(moment.prompt(&flush.prompt, &answer.path));
        }
        Ok(answer)
    }

    fn moment(&self) -> Result<Moment> {
        Moment::new(self.clock.now(), &self.settings.zone)
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
    /// See [`Engine::watch_folders`].
    pub fn watch_folders(&self) -> Result<Vec<WatchFolder>> {
        self.engine.watch_folders()
    }

    /// Returns the folder of the index.
    pub fn state_dir(&self) -> &Path {
        self.engine.state_dir()
    }

    /// Returns the clock it was opened with.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
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
