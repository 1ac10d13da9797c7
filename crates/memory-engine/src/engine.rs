use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use memory_api::{Chunker, Error, ErrorKind, Result, Timestamp};
use serde::Serialize;

use crate::clock::Clock;
use crate::discovery::Discovery;
use crate::document;
use crate::feed::{self, Standing};
use crate::generation::{self, Live, Slot};
use crate::lock::WriterLock;
use crate::manifest::Manifest;
use crate::options::{Options, Part, Parts};
use crate::search::{self, SearchRequest, SearchResponse};
use crate::sync::{SyncReport, SyncRequest, Syncer, namespace_key};
use crate::window::{Window, read_window};

/// Characters of a window when the caller names no number.
const WINDOW_CHARS: usize = 12_000;

/// What an answer without an index says.
const NO_INDEX: &str = "no index yet: run `memory index`";

/// One workspace's memory.
#[derive(Debug)]
pub struct Engine {
    options: Options,
    chunkers: Vec<Arc<dyn Chunker>>,
    lexical: Part,
    clock: Arc<dyn Clock>,
    live: RwLock<Option<Arc<Live>>>,
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

/// What is in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The folder of the memory files.
    pub workspace: PathBuf,
    /// The folder of the index.
    pub state_dir: PathBuf,
    /// Whether there is an index.
    pub indexed: bool,
    /// Documents in the store.
    pub documents: u64,
    /// Entries in the store.
    pub entries: u64,
    /// Memory files on disk now.
    pub files: u64,
    /// Links that are not followed.
    pub links: Vec<String>,
    /// The index by words.
    pub lexical: IndexStatus,
    /// When the last sync ended, in milliseconds since 1970.
    pub last_sync: Option<Timestamp>,
    /// What could not be used, and why.
    pub degraded: Vec<String>,
}

/// What is in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IndexStatus {
    /// Its plugin.
    pub plugin: String,
    /// Entries it can find.
    pub entries: u64,
    /// Changes of the store it lacks.
    pub behind: u64,
    /// Its size on disk, where it knows.
    pub bytes: Option<u64>,
}

impl Engine {
    /// Opens what is there. An index that lacks changes is brought up to date if no other process writes.
    ///
    /// # Errors
    ///
    /// `Unsupported` for an index of a newer version; `Unavailable` for one that cannot be read. A damaged one is no error yet.
    pub async fn open(options: Options, parts: Parts, clock: Arc<dyn Clock>) -> Result<Self> {
        let chunkers = generation::open_chunkers(&parts.chunkers)?;
        let engine = Self {
            options,
            chunkers,
            lexical: parts.lexical,
            clock,
            live: RwLock::new(None),
        };
        match engine.live().await {
            Ok(Some(live)) => engine.replay(&live).await?,
            // A damaged index must not keep anybody from building it anew; a search says what is wrong with it.
            Ok(None) => {}
            Err(err) if err.kind() == ErrorKind::Corrupt => {}
            Err(err) => return Err(err),
        }
        Ok(engine)
    }

    /// Feeds an index what an interrupted sync left undone. Only the holder of the writer lock may; others answer `degraded`.
    async fn replay(&self, live: &Live) -> Result<()> {
        let Slot::Open(lexical) = &live.lexical else {
            return Ok(());
        };
        if self.options.read_only
            || !matches!(
                feed::standing(&live.store, &**lexical).await?,
                Standing::Behind(1..)
            )
        {
            return Ok(());
        }
        match WriterLock::try_take(&self.options.state_dir)? {
            Ok(_lock) => feed::catch_up(&live.store, &**lexical, |_| {}).await,
            Err(_) => Ok(()),
        }
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
            if let Some(open) = open.filter(|open| open.manifest == wanted) {
                return Ok(Some(open));
            }
            match Live::open(&self.options, &self.lexical, wanted.clone()).await {
                Ok(live) => {
                    let live = Arc::new(live);
                    *self.live.write().unwrap_or_else(PoisonError::into_inner) =
                        Some(Arc::clone(&live));
                    return Ok(Some(live));
                }
                Err(err) => {
                    // A sync may have published and removed the folders between our two looks.
                    let again = Manifest::read(&self.options.state_dir)?;
                    if again.as_ref() == Some(&wanted) {
                        return Err(err);
                    }
                    manifest = again;
                }
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
    /// Dropping the future leaves what was written so far; the next sync goes on from there. Setting `cancel` does the same
    /// with an answer.
    pub async fn sync(&self, request: &SyncRequest) -> Result<SyncReport> {
        if self.options.read_only {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "the memory was opened for reading only",
            ));
        }
        let syncer = Syncer {
            options: &self.options,
            chunkers: &self.chunkers,
            lexical: &self.lexical,
            clock: &*self.clock,
            request,
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
        let mut response = if let Some(live) = self.live().await? {
            search::search(&live, &self.options.namespace, request).await?
        } else {
            let mut response = search::empty(request);
            response.degraded.push(NO_INDEX.to_owned());
            response
        };
        response.took = self.clock.monotonic().saturating_sub(begin);
        Ok(response)
    }

    /// Reads part of a memory file as it is on disk now.
    ///
    /// # Errors
    ///
    /// `InvalidInput` for a path that is no memory file; `NotFound` for one that does not exist.
    pub fn get(&self, request: &ReadRequest) -> Result<Window> {
        let absolute = self.discovery()?.resolve(&request.path)?;
        let max_bytes = self.options.documents.max_file_kib.saturating_mul(1024);
        let content = document::read(&absolute, max_bytes)?;
        let max_chars = request.max_chars.unwrap_or(WINDOW_CHARS);
        Ok(read_window(
            &request.path,
            &content.text,
            request.from,
            request.lines,
            max_chars,
        ))
    }

    /// Tells what is in the memory and what is missing.
    ///
    /// # Errors
    ///
    /// As [`search`](Self::search).
    pub async fn status(&self) -> Result<Status> {
        let walk = self.discovery()?.walk();
        let mut status = Status {
            workspace: self.options.workspace.clone(),
            state_dir: self.options.state_dir.clone(),
            indexed: false,
            documents: 0,
            entries: 0,
            files: walk.files.len() as u64,
            links: walk.links,
            lexical: IndexStatus {
                plugin: self.lexical.plugin.name.to_owned(),
                entries: 0,
                behind: 0,
                bytes: None,
            },
            last_sync: None,
            degraded: walk
                .unreadable
                .iter()
                .map(|place| format!("files: {}", place.error))
                .collect(),
        };
        let Some(live) = self.live().await? else {
            status.degraded.push(NO_INDEX.to_owned());
            return Ok(status);
        };
        status.indexed = true;
        let counts = live.store.counts().await?;
        status.documents = counts.n_documents;
        status.entries = counts.n_entries;
        status.last_sync = live
            .store
            .meta(namespace_key("last_sync", &self.options.namespace))
            .await?
            .and_then(|text| text.parse().ok())
            .map(Timestamp);
        match &live.lexical {
            Slot::Closed(err) => status.degraded.push(search::degraded("words", err)),
            Slot::Open(lexical) => {
                let stats = lexical.stats().await?;
                status.lexical.entries = stats.n_entries;
                status.lexical.bytes = stats.bytes;
                match feed::standing(&live.store, &**lexical).await? {
                    Standing::Behind(n) => status.lexical.behind = n,
                    Standing::Lost => status
                        .degraded
                        .push("words: the index does not follow the store".to_owned()),
                }
            }
        }
        Ok(status)
    }

    /// Returns whether there is an index.
    ///
    /// # Errors
    ///
    /// `Corrupt` or `Unsupported` for a manifest that cannot be read.
    pub fn is_indexed(&self) -> Result<bool> {
        Manifest::read(&self.options.state_dir).map(|manifest| manifest.is_some())
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

    /// Returns the folder of the index.
    pub fn state_dir(&self) -> &Path {
        &self.options.state_dir
    }

    fn discovery(&self) -> Result<Discovery> {
        Discovery::new(&self.options)
    }
}
