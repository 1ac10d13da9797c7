use memory_api::{EmbeddingSpace, Error, Projection, Result, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use crate::comparison::{Compared, Comparison};
use crate::discovery::Discovery;
use crate::embedding::other_space;
use crate::feed::{self, Source, Standing, Words};
use crate::generation::{Live, Slot};
use crate::lock::WriterLock;
use crate::options::Options;
use crate::search::degraded;
use crate::state_dir;
use crate::store::Store;
use crate::sync::namespace_key;

/// What is in a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// What the next sync will find, by size, time and number of each file.
    pub drift: Drift,
    /// Bytes of the state folder, everything in it.
    pub bytes: u64,
    /// Who writes to the index at this moment: the number of the process, 0 if it is not known.
    pub writer: Option<u32>,
    /// Links that are not followed.
    pub links: Vec<String>,
    /// The index by words.
    pub lexical: IndexStatus,
    /// The index by meaning, if one is configured.
    pub vector: Option<VectorStatus>,
    /// When the last sync ended, in milliseconds since 1970.
    pub last_sync: Option<Timestamp>,
    /// What could not be used, and why.
    pub degraded: Vec<String>,
}

/// How the files on disk differ from what is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Drift {
    /// Files that are not indexed.
    pub new: u64,
    /// Files that look as if they had changed since.
    pub changed: u64,
    /// Indexed documents that are gone.
    pub removed: u64,
}

/// What is in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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

/// What is in an index by meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct VectorStatus {
    /// The index.
    #[serde(flatten)]
    pub index: IndexStatus,
    /// What its vectors mean, where it has any.
    pub space: Option<EmbeddingSpace>,
    /// Entries whose vector is pending.
    pub pending: u64,
    /// Why, the most frequent reason first, with the number of entries.
    pub reasons: Vec<(String, u64)>,
}

impl IndexStatus {
    fn empty(plugin: &str) -> Self {
        Self {
            plugin: plugin.to_owned(),
            entries: 0,
            behind: 0,
            bytes: None,
        }
    }

    /// Adds what is in an index, and says of one that lost its store so.
    async fn with_index<Op: Send + 'static>(
        mut self,
        what: &str,
        source: &impl Source<Op>,
        index: &dyn Projection<Op>,
        degraded: &mut Vec<String>,
    ) -> Result<Self> {
        let stats = index.stats().await?;
        self.entries = stats.n_entries;
        self.bytes = stats.bytes;
        match feed::standing(source, index).await? {
            Standing::Behind(n) => self.behind = n,
            Standing::Lost => degraded.push(format!("{what}: the index does not follow the store")),
        }
        Ok(self)
    }
}

impl Status {
    /// Begins with what is configured.
    pub(crate) fn new(options: &Options, lexical: &str, vector: Option<&str>) -> Self {
        Self {
            workspace: options.workspace.display().to_string(),
            state_dir: options.state_dir.display().to_string(),
            indexed: false,
            documents: 0,
            entries: 0,
            files: 0,
            drift: Drift::default(),
            bytes: state_dir::bytes(&options.state_dir),
            writer: WriterLock::holder(&options.state_dir).map(|holder| holder.pid.unwrap_or(0)),
            links: Vec::new(),
            lexical: IndexStatus::empty(lexical),
            vector: vector.map(|plugin| VectorStatus {
                index: IndexStatus::empty(plugin),
                space: None,
                pending: 0,
                reasons: Vec::new(),
            }),
            last_sync: None,
            degraded: Vec::new(),
        }
    }

    /// Adds what is on disk, and how it differs from what is in the store, by what a sync would look at first.
    pub(crate) async fn with_files(
        mut self,
        discovery: &Discovery,
        store: Option<&Store>,
        namespace: &str,
    ) -> Result<Self> {
        let mut comparison = Comparison::new(discovery.walk(), store, namespace);
        while let Some(compared) = comparison.next().await? {
            match compared {
                Compared::Gone(..) => self.drift.removed += 1,
                Compared::File(found, known) => {
                    self.files += 1;
                    match (known, found.stamp()) {
                        (None, _) => self.drift.new += 1,
                        (Some(known), Ok(stamp)) if stamp == known.stamp => {}
                        (Some(_), _) => self.drift.changed += 1,
                    }
                }
            }
        }
        let remarks = comparison.into_remarks();
        self.links = remarks.links;
        let unreadable = remarks.unreadable.iter();
        self.degraded
            .extend(unreadable.map(|place| format!("files: {}", place.error)));
        Ok(self)
    }

    /// Says of an embedder that is not there, or is another one than the entries were embedded with, so.
    pub(crate) fn compare_embedder(
        &mut self,
        embedder: std::result::Result<&EmbeddingSpace, &Error>,
    ) {
        let indexed = self
            .vector
            .as_ref()
            .and_then(|vector| vector.space.as_ref());
        match (embedder, indexed) {
            (Err(err), _) => self.degraded.push(degraded("vector", err)),
            (Ok(configured), Some(indexed)) if configured != indexed => {
                let message = other_space(indexed, configured);
                self.degraded
                    .push(format!("vector: {message}; run `memory index`"));
            }
            _ => {}
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
        match &live.lexical {
            Slot::Open(index) => {
                let words = Words(&live.store);
                self.lexical = self
                    .lexical
                    .with_index("words", &words, &**index, &mut self.degraded)
                    .await?;
            }
            Slot::Closed(err) => self.degraded.push(degraded("words", err)),
        }
        let Some(mut status) = self.vector.take() else {
            return Ok(self);
        };
        status.pending = live.store.n_pending(namespace.to_owned()).await?;
        status.reasons = live.store.pending_reasons(namespace.to_owned()).await?;
        status.space = live
            .background
            .as_ref()
            .map(|background| background.space.clone());
        if let Some((index, changes)) = live.by_meaning() {
            status.index = status
                .index
                .with_index("vector", &changes, index, &mut self.degraded)
                .await?;
        } else if let Some(Slot::Closed(err)) = &live.vector {
            self.degraded.push(degraded("vector", err));
        }
        self.vector = Some(status);
        Ok(self)
    }
}
