#[cfg(unix)]
use std::fs::TryLockError;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_api::{
    Chunker, EmbeddingSpace, Error, ErrorKind, Factory, LexicalIndex, OpenContext, Result, StoreId,
    VectorIndex,
};
use memory_sqlite::is_out_of_room;

use crate::aside;
use crate::background::Background;
use crate::contract::{
    ContractChunker, ContractDecay, ContractLexical, ContractReranker, ContractVector,
};
use crate::failpoint::step;
use crate::feed::Meaning;
#[cfg(unix)]
use crate::file::open_folder;
use crate::manifest::{IndexFolder, Manifest, StoreFolder, VectorFolder, io_error, sync_dir};
use crate::options::{Options, Part};
use crate::store::Store;
use crate::vectors::{self, Vectors};

/// What to do about an index that cannot be used as it is.
const BUILD_ANEW: &str = "run `memory index` to build it anew; nothing else is lost";

/// What to do about what a newer version of the program wrote.
pub(crate) const UPDATE: &str =
    "update this program, or name another folder for its index by `--state DIR`";

/// The folder below the state folder that holds all generations.
pub(crate) const GENERATIONS: &str = "gen";

/// The store and the indexes that a manifest names, opened.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) manifest: Manifest,
    pub(crate) store: Store,
    pub(crate) lexical: Slot<dyn LexicalIndex>,
    /// `None` where the manifest names none.
    pub(crate) vector: Option<Slot<dyn VectorIndex>>,
    /// `None` where there is none, or it cannot be opened: a search does without.
    pub(crate) vectors: Option<Vectors>,
    /// What the store's vectors lack.
    pub(crate) background: Option<Background>,
    /// Whether it was opened for reading only, since the disk has no room for what writing takes. That may be over any moment.
    pub(crate) makeshift: bool,
    /// Keeps the folders from being removed while this is open.
    _in_use: Vec<File>,
}

/// An index that is there, or why it is not.
#[derive(Debug)]
pub(crate) enum Slot<T: ?Sized> {
    Open(Arc<T>),
    Closed(Error),
}

impl<T: ?Sized> Slot<T> {
    fn new(opened: Result<Arc<T>>) -> Self {
        match opened {
            Ok(index) => Self::Open(index),
            // A plugin knows that its file is damaged, not how a person gets a new one.
            Err(err) if err.kind() == ErrorKind::Corrupt => Self::Closed(err.with_hint(BUILD_ANEW)),
            Err(err) if err.kind() == ErrorKind::Unsupported => Self::Closed(err.with_hint(UPDATE)),
            Err(err) => Self::Closed(err),
        }
    }

    fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    fn why_closed(&self) -> Option<&Error> {
        match self {
            Self::Open(_) => None,
            Self::Closed(err) => Some(err),
        }
    }
}

impl Live {
    /// Opens what the manifest names. An index that cannot be used leaves its slot closed; the store must open.
    pub(crate) async fn open(
        options: &Options,
        lexical: &Part,
        vector: Option<&Part>,
        manifest: Manifest,
    ) -> Result<Self> {
        let folders = manifest
            .folders()
            .map(|folder| options.state_dir.join(folder));
        let in_use = folders.filter_map(|dir| share(&dir)).collect();
        let dir = options.state_dir.join(&manifest.store.dir);
        let store = Store::open(&dir, manifest.store.id, options.read_only).await?;
        let lexical = Slot::new(open_named(options, lexical, &manifest.lexical).await);
        let mut vector = match (&manifest.vector, vector) {
            (Some(folder), Some(part)) => {
                Some(Slot::new(open_vector_named(options, part, folder).await))
            }
            _ => None,
        };
        let vectors = if vector.is_some() && vectors::path(&options.state_dir).is_file() {
            Vectors::open(&options.state_dir, options.read_only)
                .await
                .ok()
        } else {
            None
        };
        let background = match store.background().await {
            Ok(background) => background,
            // Without it the index by meaning cannot be asked; the words can.
            Err(err) if err.kind() == ErrorKind::Corrupt => {
                vector = vector.map(|_| Slot::Closed(err));
                None
            }
            Err(err) => return Err(err),
        };
        Ok(Self {
            manifest,
            store,
            lexical,
            vector,
            vectors,
            background,
            makeshift: false,
            _in_use: in_use,
        })
    }

    /// Opens what the manifest names so that it can be read at least: a full disk has no room for the files that SQLite makes
    /// beside its own, and reading can do without.
    pub(crate) async fn open_somehow(
        options: &Options,
        lexical: &Part,
        vector: Option<&Part>,
        manifest: Manifest,
    ) -> Result<Self> {
        let opened = Self::open(options, lexical, vector, manifest.clone()).await;
        let lacks_room = match &opened {
            Ok(live) => live.closed_slots().any(is_out_of_room),
            Err(err) => is_out_of_room(err),
        };
        if !lacks_room || options.read_only {
            return opened;
        }
        let options = Options {
            read_only: true,
            ..options.clone()
        };
        match Self::open(&options, lexical, vector, manifest).await {
            Ok(live) => {
                if let Ok(unable) = opened {
                    unable.close().await?;
                }
                Ok(Self {
                    makeshift: true,
                    ..live
                })
            }
            Err(_) => opened,
        }
    }

    /// Returns what a newer version of the program wrote, as the error of its opening: that must not be replaced.
    pub(crate) fn newer(&self) -> Option<&Error> {
        self.closed_slots()
            .find(|err| err.kind() == ErrorKind::Unsupported)
    }

    pub(crate) fn closed_slots(&self) -> impl Iterator<Item = &Error> {
        let vector = self.vector.as_ref().and_then(Slot::why_closed);
        self.lexical.why_closed().into_iter().chain(vector)
    }

    /// Returns whether no slot is closed that could be tried again.
    pub(crate) fn is_whole(&self) -> bool {
        self.lexical.is_open() && self.vector.as_ref().is_none_or(Slot::is_open)
    }

    /// Returns the index by meaning with where its changes come from, where both are there and of one space.
    pub(crate) fn by_meaning(&self) -> Option<(&dyn VectorIndex, Meaning<'_>)> {
        let (Some(Slot::Open(index)), Some(vectors), Some(background)) =
            (&self.vector, &self.vectors, &self.background)
        else {
            return None;
        };
        let changes = Meaning {
            store: &self.store,
            vectors,
            background,
        };
        (*index.space() == background.indexed_space()).then_some((&**index, changes))
    }

    /// Closes all.
    pub(crate) async fn close(&self) -> Result<()> {
        self.store.close().await;
        let mut result = Ok(());
        if let Slot::Open(lexical) = &self.lexical {
            result = lexical.close().await;
        }
        if let Some(Slot::Open(vector)) = &self.vector {
            result = result.and(vector.close().await);
        }
        if let Some(vectors) = &self.vectors {
            vectors.close().await;
        }
        result
    }
}

/// Opens the index folder that the manifest names, if it was filled by the plugin as it is configured now.
async fn open_named(
    options: &Options,
    part: &Part,
    folder: &IndexFolder,
) -> Result<Arc<dyn LexicalIndex>> {
    let dir = existing(options, part, folder)?;
    let lexical = open_lexical(part, &dir, options.read_only).await?;
    let fingerprint = lexical.fingerprint();
    if fingerprint == folder.fingerprint {
        Ok(lexical)
    } else {
        lexical.close().await?;
        Err(stale(&folder.fingerprint.0, &fingerprint.0))
    }
}

async fn open_vector_named(
    options: &Options,
    part: &Part,
    folder: &VectorFolder,
) -> Result<Arc<dyn VectorIndex>> {
    let dir = existing(options, part, &folder.index)?;
    let vector = open_vector(part, &dir, &folder.space, options.read_only).await?;
    let fingerprint = vector.fingerprint();
    if fingerprint == folder.index.fingerprint {
        Ok(vector)
    } else {
        vector.close().await?;
        Err(stale(&folder.index.fingerprint.0, &fingerprint.0))
    }
}

/// Returns the index folder, if it is this plugin's and there.
fn existing(options: &Options, part: &Part, folder: &IndexFolder) -> Result<PathBuf> {
    if folder.plugin != part.plugin.name {
        return Err(stale(&folder.plugin, part.plugin.name));
    }
    let dir = options.state_dir.join(&folder.dir);
    if dir.is_dir() {
        Ok(dir)
    } else {
        let message = format!("`{}` is missing", dir.display());
        Err(Error::new(ErrorKind::Corrupt, message))
    }
}

fn stale(was: &str, is: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!("the index was built by `{was}`, configured is `{is}`"),
    )
    .with_hint(BUILD_ANEW)
}

async fn open_lexical(part: &Part, dir: &Path, read_only: bool) -> Result<Arc<dyn LexicalIndex>> {
    let Factory::Lexical(open) = part.plugin.factory else {
        return Err(part.misplaced("lexical"));
    };
    let context = OpenContext::new(&part.config)
        .with_dir(dir)
        .with_read_only(read_only);
    let inner = open(context).await.map_err(|err| part.named(err))?;
    Ok(Arc::new(ContractLexical::new(part.plugin, inner)?))
}

async fn open_vector(
    part: &Part,
    dir: &Path,
    space: &EmbeddingSpace,
    read_only: bool,
) -> Result<Arc<dyn VectorIndex>> {
    let Factory::Vector(open) = part.plugin.factory else {
        return Err(part.misplaced("vector"));
    };
    let context = OpenContext::new(&part.config)
        .with_dir(dir)
        .with_space(space)
        .with_read_only(read_only);
    let inner = open(context).await.map_err(|err| part.named(err))?;
    Ok(Arc::new(ContractVector::new(part.plugin, inner)?))
}

/// Makes the chunkers.
pub(crate) fn open_chunkers(parts: &[Part]) -> Result<Vec<Arc<dyn Chunker>>> {
    let open = |part: &Part| -> Result<Arc<dyn Chunker>> {
        let Factory::Chunker(open) = part.plugin.factory else {
            return Err(part.misplaced("chunker"));
        };
        let inner = open(&OpenContext::new(&part.config)).map_err(|err| part.named(err))?;
        Ok(Arc::new(ContractChunker::new(part.plugin.name, inner)))
    };
    parts.iter().map(open).collect()
}

/// Makes the decay policy.
pub(crate) fn open_decay(part: &Part) -> Result<ContractDecay> {
    let Factory::Decay(open) = part.plugin.factory else {
        return Err(part.misplaced("decay"));
    };
    let inner = open(&OpenContext::new(&part.config)).map_err(|err| part.named(err))?;
    Ok(ContractDecay::new(part.plugin.name, inner))
}

/// Opens the rerankers.
pub(crate) async fn open_rerankers(parts: &[Part]) -> Result<Vec<ContractReranker>> {
    let mut rerankers = Vec::with_capacity(parts.len());
    for part in parts {
        let Factory::Reranker(open) = part.plugin.factory else {
            return Err(part.misplaced("rerank"));
        };
        let inner = open(OpenContext::new(&part.config))
            .await
            .map_err(|err| part.named(err))?;
        rerankers.push(ContractReranker::new(part.plugin.name, inner));
    }
    Ok(rerankers)
}

/// Creates a store in a new folder of this generation: an empty one, or a copy.
pub(crate) async fn new_store(
    options: &Options,
    generation: u64,
    id: StoreId,
    copied: Option<&Store>,
) -> Result<(StoreFolder, Store)> {
    let (name, dir) = new_dir(options, &format!("{generation}-store"))?;
    let store = match copied {
        Some(store) => store.copy(&dir, id).await?,
        None => Store::create(&dir, id).await?,
    };
    step("store_made");
    Ok((StoreFolder { dir: name, id }, store))
}

/// Creates an empty lexical index in a new folder of this generation.
pub(crate) async fn new_lexical(
    options: &Options,
    part: &Part,
    generation: u64,
) -> Result<(IndexFolder, Arc<dyn LexicalIndex>)> {
    let (name, dir) = new_dir(
        options,
        &format!("{generation}-lexical-{}", part.plugin.name),
    )?;
    let lexical = open_lexical(part, &dir, false).await?;
    let folder = IndexFolder {
        plugin: part.plugin.name.to_owned(),
        dir: name,
        fingerprint: lexical.fingerprint(),
    };
    Ok((folder, lexical))
}

/// Creates an empty vector index in a new folder of this generation.
pub(crate) async fn new_vector(
    options: &Options,
    part: &Part,
    generation: u64,
    space: &EmbeddingSpace,
) -> Result<(VectorFolder, Arc<dyn VectorIndex>)> {
    let (name, dir) = new_dir(
        options,
        &format!("{generation}-vector-{}", part.plugin.name),
    )?;
    let vector = open_vector(part, &dir, space, false).await?;
    let folder = VectorFolder {
        index: IndexFolder {
            plugin: part.plugin.name.to_owned(),
            dir: name,
            fingerprint: vector.fingerprint(),
        },
        space: space.clone(),
    };
    Ok((folder, vector))
}

/// What an interrupted build left under this name is removed first.
fn new_dir(options: &Options, name: &str) -> Result<(String, PathBuf)> {
    let relative = format!("{GENERATIONS}/{name}");
    let dir = options.state_dir.join(&relative);
    remove(&dir)?;
    fs::create_dir_all(&dir).map_err(|err| io_error(&err, "create", &dir))?;
    step("folder_made");
    Ok((relative, dir))
}

/// Makes the names of new folders durable, before a manifest names them.
pub(crate) fn sync_names(options: &Options) -> Result<()> {
    let dir = options.state_dir.join(GENERATIONS);
    sync_dir(&dir).map_err(|err| io_error(&err, "sync", &dir))
}

/// Marks a folder as in use until the file is dropped or this process dies. Where the system has no locks on folders, a reader whose
/// folder was removed notices when it reads, and opens what is live then.
#[cfg(unix)]
fn share(dir: &Path) -> Option<File> {
    let file = open_folder(dir).ok()?;
    file.try_lock_shared().ok().map(|()| file)
}

#[cfg(not(unix))]
fn share(_: &Path) -> Option<File> {
    None
}

/// Returns whether somebody reads what is in the folder.
#[cfg(unix)]
fn is_in_use(dir: &Path) -> bool {
    open_folder(dir).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(not(unix))]
fn is_in_use(_: &Path) -> bool {
    false
}

/// Returns the generation folders that the manifest does not name.
pub(crate) fn others(options: &Options, manifest: Option<&Manifest>) -> Result<Vec<String>> {
    let is_live = |relative: &String| {
        manifest.is_some_and(|live| live.folders().any(|folder| folder == relative))
    };
    let all = generations(options)?.into_iter();
    Ok(all
        .map(|(name, _)| format!("{GENERATIONS}/{name}"))
        .filter(|relative| !is_live(relative))
        .collect())
}

/// Removes every generation folder that the manifest does not name and nobody reads, and says in a line each which ones were kept
/// under another name. Only the holder of the writer lock may.
pub(crate) fn remove_others(options: &Options, manifest: Option<&Manifest>) -> Result<Vec<String>> {
    let mut kept = Vec::new();
    let others = others(options, manifest)?;
    if !others.is_empty() {
        // Whoever published may have died before the name was on disk; the manifest before it named these folders.
        let dir = &options.state_dir;
        sync_dir(dir).map_err(|err| io_error(&err, "sync", dir))?;
    }
    for relative in others {
        let dir = options.state_dir.join(&relative);
        if is_in_use(&dir) {
            continue;
        }
        if aside::is_marked(&dir) {
            let name = aside::rename(&options.state_dir, &relative)?;
            kept.push(format!("what was damaged is kept as `{name}`"));
        } else {
            step("before_folder_removed");
            remove(&dir)?;
            step("folder_removed");
        }
    }
    Ok(kept)
}

fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
            Err(io_error(&err, "remove", dir))
        }
        _ => Ok(()),
    }
}

/// Returns a number that no folder has, also when the manifest is lost.
pub(crate) fn next_number(options: &Options, manifest: Option<&Manifest>) -> Result<u64> {
    let on_disk = generations(options)?.into_iter().map(|(_, number)| number);
    let highest = on_disk
        .chain(manifest.map(|live| live.generation))
        .max()
        .unwrap_or(0);
    highest.checked_add(1).ok_or_else(|| {
        Error::new(
            ErrorKind::Corrupt,
            format!("`{highest}` is no number of a generation"),
        )
    })
}

/// Returns the folders of generations, by name and number. What else lies beside them is not ours.
fn generations(options: &Options) -> Result<Vec<(String, u64)>> {
    let dir = options.state_dir.join(GENERATIONS);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(err) => return Err(io_error(&err, "list", &dir)),
    };
    let mut generations = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|err| io_error(&err, "list", &dir))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(number) = number(&name) {
            generations.push((name, number));
        }
    }
    Ok(generations)
}

/// Reads the number of `3-store` and `4-lexical-fts5`.
fn number(name: &str) -> Option<u64> {
    let (number, rest) = name.split_once('-')?;
    let is_ours = rest == "store" || rest.starts_with("lexical-") || rest.starts_with("vector-");
    number.parse().ok().filter(|_| is_ours)
}
