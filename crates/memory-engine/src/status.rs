use memory_api::{Result, Timestamp};
use serde::Serialize;

use crate::discovery::Walk;
use crate::feed::{self, Standing};
use crate::generation::{Live, Slot};
use crate::options::Options;
use crate::search::degraded;
use crate::sync::namespace_key;

/// What is in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// The folder of the memory files.
    pub workspace: String,
    /// The folder of the index.
    pub state_dir: String,
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

impl Status {
    /// Tells what is on disk.
    pub(crate) fn of_files(options: &Options, plugin: &str, walk: Walk) -> Self {
        Self {
            workspace: options.workspace.display().to_string(),
            state_dir: options.state_dir.display().to_string(),
            indexed: false,
            documents: 0,
            entries: 0,
            files: walk.files.len() as u64,
            links: walk.links,
            lexical: IndexStatus {
                plugin: plugin.to_owned(),
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
        }
    }

    /// Adds what is in the store and the index.
    pub(crate) async fn with_index(mut self, live: &Live, namespace: &str) -> Result<Self> {
        self.indexed = true;
        let counts = live.store.counts(namespace.to_owned()).await?;
        self.documents = counts.n_documents;
        self.entries = counts.n_entries;
        let last_sync = live
            .store
            .meta(namespace_key("last_sync", namespace))
            .await?;
        self.last_sync = last_sync.and_then(|text| text.parse().ok()).map(Timestamp);
        let lexical = match &live.lexical {
            Slot::Open(lexical) => lexical,
            Slot::Closed(err) => {
                self.degraded.push(degraded("words", err));
                return Ok(self);
            }
        };
        let stats = lexical.stats().await?;
        self.lexical.entries = stats.n_entries;
        self.lexical.bytes = stats.bytes;
        match feed::standing(&live.store, &**lexical).await? {
            Standing::Behind(n) => self.lexical.behind = n,
            Standing::Lost => self
                .degraded
                .push("words: the index does not follow the store".to_owned()),
        }
        Ok(self)
    }
}
