use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_api::{Chunker, Error, ErrorKind, Factory, LexicalIndex, OpenContext, Result, StoreId};

use crate::contract::{ContractChunker, ContractLexical};
use crate::manifest::{IndexFolder, Manifest, StoreFolder, io_error, sync_dir};
use crate::options::{Options, Part};
use crate::store::Store;

/// What to do about an index that cannot be used as it is.
const BUILD_ANEW: &str = "run `memory index` to build it anew; nothing else is lost";

/// The folder below the state folder that holds all generations.
pub(crate) const GENERATIONS: &str = "gen";

/// The store and the indexes that a manifest names, opened.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) manifest: Manifest,
    pub(crate) store: Store,
    pub(crate) lexical: Slot,
}

/// An index that is there, or why it is not.
#[derive(Debug)]
pub(crate) enum Slot {
    Open(Arc<dyn LexicalIndex>),
    Closed(Error),
}

impl Live {
    /// Opens what the manifest names. An index that cannot be used leaves its slot closed; the store must open.
    pub(crate) async fn open(options: &Options, part: &Part, manifest: Manifest) -> Result<Self> {
        let dir = options.state_dir.join(&manifest.store.dir);
        let store = Store::open(&dir, manifest.store.id, options.read_only).await?;
        let lexical = match open_named(options, part, &manifest.lexical).await {
            Ok(lexical) => Slot::Open(lexical),
            // A plugin knows that its file is damaged, not how a person gets a new one.
            Err(err) if err.kind() == ErrorKind::Corrupt => Slot::Closed(err.with_hint(BUILD_ANEW)),
            Err(err) => Slot::Closed(err),
        };
        Ok(Self {
            manifest,
            store,
            lexical,
        })
    }

    /// Closes both.
    pub(crate) async fn close(&self) -> Result<()> {
        self.store.close().await;
        match &self.lexical {
            Slot::Open(lexical) => lexical.close().await,
            Slot::Closed(_) => Ok(()),
        }
    }
}

/// Opens the index folder that the manifest names, if it was filled by the plugin as it is configured now.
async fn open_named(
    options: &Options,
    part: &Part,
    folder: &IndexFolder,
) -> Result<Arc<dyn LexicalIndex>> {
    let stale = |was: &str, is: &str| {
        Error::new(
            ErrorKind::Unavailable,
            format!("the index was built by `{was}`, configured is `{is}`"),
        )
        .with_hint(BUILD_ANEW)
    };
    if folder.plugin != part.plugin.name {
        return Err(stale(&folder.plugin, part.plugin.name));
    }
    let dir = options.state_dir.join(&folder.dir);
    if !dir.is_dir() {
        return Err(Error::new(
            ErrorKind::Corrupt,
            format!("`{}` is missing", dir.display()),
        ));
    }
    let lexical = open_lexical(part, &dir, options.read_only).await?;
    let fingerprint = lexical.fingerprint();
    if fingerprint == folder.fingerprint {
        Ok(lexical)
    } else {
        lexical.close().await?;
        Err(stale(&folder.fingerprint.0, &fingerprint.0))
    }
}

async fn open_lexical(part: &Part, dir: &Path, read_only: bool) -> Result<Arc<dyn LexicalIndex>> {
    let Factory::Lexical(open) = part.plugin.factory else {
        return Err(part.misplaced("lexical"));
    };
    let context = OpenContext::new(&part.config)
        .with_dir(dir)
        .with_read_only(read_only);
    let inner = open(context)
        .await
        .map_err(|err| err.with_plugin(part.plugin.name).with_operation("open"))?;
    let checked = ContractLexical::new(part.plugin, inner);
    checked.check_declaration()?;
    Ok(Arc::new(checked))
}

/// Makes the chunkers.
pub(crate) fn open_chunkers(parts: &[Part]) -> Result<Vec<Arc<dyn Chunker>>> {
    let open = |part: &Part| -> Result<Arc<dyn Chunker>> {
        let Factory::Chunker(open) = part.plugin.factory else {
            return Err(part.misplaced("chunker"));
        };
        let name = part.plugin.name;
        let inner = open(&OpenContext::new(&part.config))
            .map_err(|err| err.with_plugin(name).with_operation("open"))?;
        Ok(Arc::new(ContractChunker::new(name, inner)))
    };
    parts.iter().map(open).collect()
}

/// Creates an empty store in a new folder of this generation.
pub(crate) async fn new_store(
    options: &Options,
    generation: u64,
    id: StoreId,
) -> Result<(StoreFolder, Store)> {
    let (name, dir) = new_dir(options, &format!("{generation}-store"))?;
    Ok((
        StoreFolder { dir: name, id },
        Store::create(&dir, id).await?,
    ))
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

/// What an interrupted build left under this name is removed first.
fn new_dir(options: &Options, name: &str) -> Result<(String, PathBuf)> {
    let relative = format!("{GENERATIONS}/{name}");
    let dir = options.state_dir.join(&relative);
    remove(&dir)?;
    fs::create_dir_all(&dir).map_err(|err| io_error(&err, "create", &dir))?;
    Ok((relative, dir))
}

/// Makes the names of new folders durable, before a manifest names them.
pub(crate) fn sync_names(options: &Options) -> Result<()> {
    let dir = options.state_dir.join(GENERATIONS);
    sync_dir(&dir).map_err(|err| io_error(&err, "sync", &dir))
}

/// Removes every generation folder that the manifest does not name. Only the holder of the writer lock may.
pub(crate) fn remove_others(options: &Options, manifest: Option<&Manifest>) -> Result<()> {
    let is_live = |relative: &str| {
        manifest.is_some_and(|live| relative == live.store.dir || relative == live.lexical.dir)
    };
    for (name, _) in generations(options)? {
        let relative = format!("{GENERATIONS}/{name}");
        if !is_live(&relative) {
            remove(&options.state_dir.join(relative))?;
        }
    }
    Ok(())
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
    let is_ours = rest == "store" || rest.starts_with("lexical-");
    number.parse().ok().filter(|_| is_ours)
}
