use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use memory_api::{Chunker, Error, ErrorKind, Limits, Result};

use crate::candidates::{self, with_remedy};
use crate::clock::Clock;
use crate::contract::ContractReranker;
use crate::discovery::{Discovery, Source, WatchFolder};
use crate::doctor::{self, Doctor, Finding};
use crate::document;
use crate::embedding::Model;
use crate::feed::{self, Standing, Words};
use crate::freshness::Freshness;
use crate::generation::{self, Live, Slot};
use crate::lock::WriterLock;
use crate::manifest::Manifest;
use crate::options::{Options, Part, Parts};
use crate::search::{self, SearchRequest, SearchResponse, Searcher};
use crate::state_dir;
use crate::status::Status;
use crate::sync::{SyncReport, SyncRequest, Syncer, namespace_key};
use crate::window::{Window, read_window, redact_rows};

/// Characters of a window when the caller names no number.
const WINDOW_CHARS: usize = 12_000;

/// The most bytes of a transcript that is read as a whole, to show some lines of it.
const MAX_TRANSCRIPT: u64 = 1 << 30;

/// What an answer without an index says.
const NO_INDEX: &str = "no index yet: run `memory index`";

/// One workspace's memory.
#[derive(Debug)]
pub struct Engine {
    options: Options,
    chunkers: Vec<Arc<dyn Chunker>>,
    lexical: Part,
    /// Both or none: an index by meaning needs an embedder, and an embedder an index.
    meaning: Option<(Part, Model)>,
    rerankers: Vec<ContractReranker>,
    freshness: Freshness,
    clock: Arc<dyn Clock>,
    live: RwLock<Option<Arc<Live>>>,
    /// Whether it would write, and may not.
    is_locked_up: bool,
}

/// Which part of a document to read.
#[derive(Debug, Clone, Default)]
pub struct ReadRequest {
    /// The document, as results name it.
    pub path: String,
    /// The first line, 1-based; values below 1 mean 1.
    pub from: Option<i64>,
    /// How many lines; 120 by default.
    pub lines: Option<i64>,
    /// How many characters at most; 12,000 by default.
    pub max_chars: Option<usize>,
}

impl Engine {
    /// Prepares a memory. An index that lacks changes is brought up to date if no other process writes.
    ///
    /// # Errors
    ///
    /// `Config` for a chunker's settings. An index that cannot be used is no error here: a search, a sync or a status says what
    /// is wrong with it, and files can be read without one.
    pub async fn open(mut options: Options, parts: Parts, clock: Arc<dyn Clock>) -> Result<Self> {
        let chunkers = generation::open_chunkers(&parts.chunkers)?;
        let is_locked_up = !options.read_only && state_dir::is_read_only(&options.state_dir);
        options.read_only |= is_locked_up;
        let policy = parts
            .decay
            .as_ref()
            .map(generation::open_decay)
            .transpose()?;
        let engine = Self {
            freshness: Freshness::new(policy, &options.evergreen)?,
            options,
            chunkers,
            lexical: parts.lexical,
            meaning: parts
                .vector
                .zip(parts.embedder)
                .map(|(vector, embedder)| (vector, Model::new(embedder))),
            rerankers: generation::open_rerankers(&parts.rerankers).await?,
            clock,
            live: RwLock::new(None),
            is_locked_up,
        };
        if let Ok(Some(live)) = engine.live().await {
            // What is not fed now is reported as behind by each search, and fed by the next sync.
            drop(engine.replay(&live).await);
        }
        Ok(engine)
    }

    /// Feeds the indexes what an interrupted sync left undone. Only the holder of the writer lock may; others answer `degraded`.
    async fn replay(&self, live: &Live) -> Result<()> {
        if self.options.read_only {
            return Ok(());
        }
        let is_behind = |standing| matches!(standing, Standing::Behind(1..));
        let words = Words(&live.store);
        let lexical = match &live.lexical {
            Slot::Open(index) if is_behind(feed::standing(&words, &**index).await?) => Some(index),
            _ => None,
        };
        let vector = match live.by_meaning() {
            Some((index, changes)) if is_behind(feed::standing(&changes, index).await?) => {
                Some((index, changes))
            }
            _ => None,
        };
        if lexical.is_none() && vector.is_none() {
            return Ok(());
        }
        let Ok(_lock) = WriterLock::try_take(&self.options.state_dir)? else {
            return Ok(());
        };
        if let Some(index) = lexical {
            feed::catch_up(&words, &**index, self.lexical.plugin.limits, |_| true).await?;
        }
        if let Some((index, changes)) = vector {
            feed::catch_up(&changes, index, self.vector_limits(), |_| true).await?;
        }
        Ok(())
    }

    /// Says that what can be searched cannot be brought up to date, if so.
    fn cannot_write(&self, live: &Live) -> Option<String> {
        let dir = self.options.state_dir.display();
        if live.makeshift {
            Some(format!(
                "the disk of `{dir}` is full or fails: what is indexed can be searched, new text cannot be indexed"
            ))
        } else if self.is_locked_up {
            Some(format!(
                "`{dir}` cannot be written: what is indexed can be searched, new text cannot be indexed"
            ))
        } else {
            None
        }
    }

    fn vector_part(&self) -> Option<&Part> {
        self.meaning.as_ref().map(|(vector, _)| vector)
    }

    fn vector_limits(&self) -> Limits {
        self.vector_part()
            .map(|part| part.plugin.limits)
            .unwrap_or_default()
    }

    /// Returns what the manifest names now. A manifest that another process published since is noticed here.
    async fn live(&self) -> Result<Option<Arc<Live>>> {
        let mut manifest = Manifest::read(&self.options.state_dir)?;
        loop {
            let open = self
                .live
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            let Some(wanted) = manifest else {
                return Ok(None);
            };
            // A closed slot is tried again: what was wrong may have passed.
            let is_usable =
                |open: &Arc<Live>| open.manifest == wanted && open.is_whole() && !open.makeshift;
            if let Some(open) = open.filter(is_usable) {
                return Ok(Some(open));
            }
            let opened = Live::open_somehow(
                &self.options,
                &self.lexical,
                self.vector_part(),
                wanted.clone(),
            )
            .await;
            if !opened.as_ref().is_ok_and(Live::is_whole) {
                // A sync may have published and removed the folders between our look and our opening.
                let again = Manifest::read(&self.options.state_dir)?;
                if again.as_ref() != Some(&wanted) {
                    manifest = again;
                    continue;
                }
            }
            let live = Arc::new(opened?);
            *self.live.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&live));
            return Ok(Some(live));
        }
    }

    /// Does a job on what is live; does it again when what was live then was replaced meanwhile and removed under the job.
    async fn on_live<T>(&self, job: impl AsyncFn(&Live) -> Result<T>) -> Result<Option<T>> {
        loop {
            let Some(live) = self.live().await.map_err(with_remedy)? else {
                return Ok(None);
            };
            let result = job(&live).await;
            if result.is_ok()
                || Manifest::read(&self.options.state_dir)?.as_ref() == Some(&live.manifest)
            {
                return result.map(Some).map_err(with_remedy);
            }
        }
    }

    /// Brings the index to the state of the files.
    ///
    /// # Errors
    ///
    /// `Unavailable` when another process holds the writer lock and `wait` forbids to wait, or when the state folder cannot be
    /// written. Documents that cannot be indexed are no error but in the report.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves what was written so far, and the next sync goes on from there; a new generation that was not
    /// published is begun again. Setting `cancel` does the same with an answer.
    pub async fn sync(&self, request: &SyncRequest) -> Result<SyncReport> {
        if self.options.read_only {
            let message = format!("`{}` cannot be written", self.options.state_dir.display());
            return Err(Error::new(ErrorKind::Unavailable, message)
                .with_hint("check its permissions, or name another folder by `--state DIR`"));
        }
        let syncer = Syncer {
            options: &self.options,
            chunkers: &self.chunkers,
            lexical: &self.lexical,
            vector: self.vector_part(),
            model: self.meaning.as_ref().map(|(_, model)| model),
            clock: &*self.clock,
            request,
            published: &|| self.forget(),
        };
        syncer.run().await
    }

    /// Finds the entries that answer a question.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a filter that names an unknown source; `Corrupt` or `Unavailable` when the store cannot be read. A
    /// missing index is no error but in `degraded`.
    pub async fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let begin = self.clock.monotonic();
        let found = self
            .on_live(async |live| {
                let searcher = Searcher {
                    live,
                    options: &self.options,
                    lexical_limits: self.lexical.plugin.limits,
                    meaning: self
                        .meaning
                        .as_ref()
                        .map(|(vector, model)| candidates::Meaning {
                            model,
                            limits: vector.plugin.limits,
                        }),
                    freshness: &self.freshness,
                    rerankers: &self.rerankers,
                    now: self.clock.now(),
                };
                let mut response = searcher.search(request).await?;
                response.warnings.extend(self.cannot_write(live));
                if let Some(other) = state_dir::other_workspace(&live.store, &self.options).await? {
                    response
                        .warnings
                        .push(format!("the index was built from `{other}`"));
                }
                Ok(response)
            })
            .await?;
        let mut response = found.unwrap_or_else(|| {
            let mut response = search::empty(request);
            response.degraded.push(NO_INDEX.to_owned());
            response
        });
        response.took = self.clock.monotonic().saturating_sub(begin);
        Ok(response)
    }

    /// Reads part of a memory file as it is on disk now; keys and tokens in transcripts are not shown.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a path that is no memory file; `NotFound` for one that does not exist.
    pub fn get(&self, request: &ReadRequest) -> Result<Window> {
        let absolute = self.discovery()?.resolve(&request.path)?;
        let is_transcript = Source::of(&request.path) == Source::Transcripts;
        let max_bytes = if is_transcript {
            MAX_TRANSCRIPT
        } else {
            self.options.documents.max_file_kib.saturating_mul(1024)
        };
        let content = document::read(&absolute, max_bytes)?;
        let max_chars = request.max_chars.unwrap_or(WINDOW_CHARS);
        let mut window = read_window(
            &request.path,
            &content.text,
            request.from,
            request.lines,
            max_chars,
        );
        if is_transcript {
            window.text = redact_rows(&window.text);
        }
        Ok(window)
    }

    /// Tells what is in the memory and what is missing.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search).
    pub async fn status(&self) -> Result<Status> {
        let discovery = self.discovery()?;
        let namespace = &self.options.namespace;
        let status = || {
            let vector = self.vector_part().map(|part| part.plugin.name);
            Status::new(&self.options, self.lexical.plugin.name, vector)
        };
        let whole = self
            .on_live(async |live| {
                status()
                    .with_files(&discovery, Some(&live.store), namespace)
                    .await?
                    .with_index(live, namespace)
                    .await
            })
            .await?;
        let mut status = if let Some(status) = whole {
            status
        } else {
            let mut status = status().with_files(&discovery, None, namespace).await?;
            status.degraded.push(NO_INDEX.to_owned());
            status
        };
        if let Some((_, model)) = &self.meaning {
            let embedder = model.embedder(&self.options).await;
            status.compare_embedder(embedder.as_ref().map(|embedder| embedder.space()));
        }
        Ok(status)
    }

    /// Looks at each part closely, page by page, and says how it is; nothing is changed.
    ///
    /// # Errors
    ///
    /// `NotFound` when the workspace does not exist. What is wrong with the index is no error but a finding.
    pub async fn examine(&self) -> Result<Vec<Finding>> {
        let doctor = Doctor {
            options: &self.options,
            model: self.meaning.as_ref().map(|(_, model)| model),
        };
        let mut findings = vec![doctor::files(&self.discovery()?)];
        match self.live().await {
            Ok(Some(live)) => {
                findings.push(doctor.folder(Some(&live.manifest)));
                doctor.index(&live, &mut findings).await;
            }
            Ok(None) => findings.push(doctor::no_index()),
            Err(err) => findings.push(Finding::of_error("store", &err, doctor::FORCE)),
        }
        Ok(findings)
    }

    /// Returns whether something is published for this namespace, by a sync that has ended or one that still embeds.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search).
    pub async fn is_indexed(&self) -> Result<bool> {
        // Known before anything is published, unlike the time of the last sync.
        let key = || namespace_key(state_dir::WORKSPACE, &self.options.namespace);
        let workspace = self
            .on_live(async |live| live.store.meta(key()).await)
            .await?;
        Ok(workspace.flatten().is_some())
    }

    /// Returns the folders in which memory files come and go, as absolute paths without links.
    ///
    /// # Errors
    ///
    /// `NotFound` when the workspace does not exist, `InvalidInput` for documents that are configured badly.
    pub fn watch_folders(&self) -> Result<Vec<WatchFolder>> {
        Ok(self.discovery()?.watch_folders())
    }

    /// Returns the folder of the index, as it was named.
    pub fn state_dir(&self) -> &Path {
        &self.options.state_dir
    }

    /// Closes the store and the indexes. The engine opens them again when it is used again.
    ///
    /// # Errors
    ///
    /// What closing a database may answer.
    pub async fn close(&self) -> Result<()> {
        let live = self
            .live
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match live {
            Some(live) => live.close().await,
            None => Ok(()),
        }
    }

    /// Leaves what is open to those who use it at this moment, if the manifest names something else now.
    fn forget(&self) {
        let Ok(Some(manifest)) = Manifest::read(&self.options.state_dir) else {
            return;
        };
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        if live.as_ref().is_some_and(|live| live.manifest != manifest) {
            *live = None;
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub(crate) fn discovery(&self) -> Result<Discovery> {
        Discovery::new(&self.options)
    }
}
