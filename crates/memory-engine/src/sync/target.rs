//! What a sync fills: what is live, or a new generation beside it.

use std::sync::Arc;

use memory_api::{
    Embedder, Error, ErrorKind, LexicalIndex, Result, Seq, StoreId, VectorIndex, Watermark,
};

use super::{CUT_BY, Syncer, scan};
use crate::aside;
use crate::background::Background;
use crate::candidates::said_again;
use crate::embedding::{Model, other_space};
use crate::feed::{self, Meaning, Standing, Words};
use crate::generation::{self, Live, Slot};
use crate::manifest::{self, IndexFolder, Manifest};
use crate::search::degraded;
use crate::state_dir;
use crate::store::{self, Store};
use crate::vectors::{self, Vectors};

/// The store and the indexes a sync fills.
#[derive(Debug)]
pub(super) struct Target {
    /// What a new folder is numbered with.
    number: u64,
    pub(super) manifest: Manifest,
    pub(super) store: Store,
    pub(super) lexical: Arc<dyn LexicalIndex>,
    /// The live index by meaning, until [`Syncer::find_by_meaning`] decides about it.
    vector: Option<Slot<dyn VectorIndex>>,
    /// `None` where nothing is to be found by meaning, or nothing could ever be embedded.
    pub(super) by_meaning: Option<ByMeaning>,
    /// Why there is no `by_meaning` although it is configured.
    pub(super) no_meaning: Option<String>,
    /// Whether the manifest on disk does not name them yet.
    pub(super) unpublished: bool,
}

/// What a sync fills so that entries can be found by meaning.
#[derive(Debug)]
pub(super) struct ByMeaning {
    pub(super) index: Arc<dyn VectorIndex>,
    pub(super) vectors: Vectors,
    pub(super) background: Background,
    /// `None` while it cannot be opened: what is known already is kept up all the same.
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

impl ByMeaning {
    pub(super) fn changes<'a>(&'a self, store: &'a Store) -> Meaning<'a> {
        Meaning {
            store,
            vectors: &self.vectors,
            background: &self.background,
        }
    }
}

impl Target {
    pub(super) async fn close(&self) -> Result<()> {
        self.store.close().await;
        let mut result = self.lexical.close().await;
        if let Some(Slot::Open(index)) = &self.vector {
            result = result.and(index.close().await);
        }
        if let Some(by_meaning) = &self.by_meaning {
            by_meaning.vectors.close().await;
            result = result.and(by_meaning.index.close().await);
        }
        result
    }

    /// Returns the last change that every index of the manifest has.
    pub(super) async fn passed_by_all(&self) -> Result<Seq> {
        let seq =
            |watermark: Option<Watermark>| watermark.map_or(Seq(0), |watermark| watermark.seq);
        let words = seq(self.lexical.watermark().await?);
        match (&self.by_meaning, &self.manifest.vector) {
            (Some(by_meaning), _) => Ok(words.min(seq(by_meaning.index.watermark().await?))),
            (None, None) => Ok(words),
            // It is listed, but could not be opened: nobody knows how far it is.
            (None, Some(_)) => Ok(Seq(0)),
        }
    }

    /// Returns how many entries wait for a vector, where there are vectors at all.
    pub(super) async fn pending(&self, namespace: String) -> Result<u64> {
        if self.by_meaning.is_some() || self.no_meaning.is_some() {
            self.store.n_pending(namespace).await
        } else {
            Ok(0)
        }
    }
}

/// Returns whether a plugin cannot do its part, while what it has is not damaged: damage is healed by building anew.
pub(super) fn is_of_plugin(err: &Error) -> bool {
    err.plugin().is_some() && err.kind() != ErrorKind::Corrupt
}

/// Returns whether an error is about something that a newer version of the program wrote. That is never replaced.
fn is_newer(err: &Error) -> bool {
    err.kind() == ErrorKind::Unsupported
}

/// Closes an index by meaning that does not follow the store. Later, when documents are written, the numbers of a store that went
/// back may have passed the index, and nothing would tell.
async fn if_it_follows(
    store: &Store,
    slot: Option<Slot<dyn VectorIndex>>,
) -> Result<Option<Slot<dyn VectorIndex>>> {
    match slot {
        Some(Slot::Open(index)) if feed::is_lost(store, index.watermark().await?).await? => {
            index.close().await?;
            let message = "the index by meaning does not follow the store";
            Ok(Some(Slot::Closed(Error::new(ErrorKind::Corrupt, message))))
        }
        slot => Ok(slot),
    }
}

impl Syncer<'_> {
    /// Opens what is there, or begins a new generation.
    pub(super) async fn target(&self, anew: bool, warnings: &mut Vec<String>) -> Result<Target> {
        let manifest = match Manifest::read(&self.options.state_dir) {
            // A damaged manifest names nothing that could be kept.
            Err(err) if err.kind() == ErrorKind::Corrupt && anew => {
                let name = aside::copy(&self.options.state_dir, manifest::FILE_NAME)?;
                warnings.push(format!("what was damaged is kept as `{name}`"));
                None
            }
            manifest => manifest?,
        };
        // What an interrupted build left takes room that this one may need.
        match generation::remove_others(self.options, manifest.as_ref()) {
            Ok(kept) => warnings.extend(kept),
            Err(err) => warnings.push(err.to_string()),
        }
        Manifest::remove_temporary(&self.options.state_dir)?;
        let number = generation::next_number(self.options, manifest.as_ref())?;
        let Some(manifest) = manifest else {
            return self.new_target(number, None).await;
        };
        if anew {
            return self.target_from_files(number, manifest).await;
        }
        let live = Live::open(self.options, self.lexical, self.vector, manifest).await?;
        if let Err(err) = self.check_workspace(&live.store).await {
            live.close().await?;
            return Err(err);
        }
        let was_cut_by = live.store.meta(self.key(CUT_BY)).await?;
        if was_cut_by.is_some_and(|was| was != self.cut_by()) {
            // What is live answers as it is until all of it is cut anew.
            warnings
                .push("documents are cut in another way now; the index is built anew".to_owned());
            let target = self.new_target(number, Some(&live.store)).await;
            live.close().await?;
            return target;
        }
        let Live {
            mut manifest,
            store,
            lexical,
            vector,
            vectors,
            ..
        } = live;
        if let Some(vectors) = vectors {
            vectors.close().await;
        }
        let (folder, lexical) = self
            .lexical_index(number, &store, manifest.lexical.clone(), lexical, warnings)
            .await?;
        let vector = if_it_follows(&store, vector).await?;
        let unpublished = manifest.lexical != folder;
        manifest.lexical = folder;
        if unpublished {
            manifest.generation = number;
        }
        Ok(Target {
            number,
            manifest,
            store,
            lexical,
            vector,
            by_meaning: None,
            no_meaning: None,
            unpublished,
        })
    }

    /// Begins a new generation, from nothing or from a copy of a store.
    async fn new_target(&self, number: u64, copied: Option<&Store>) -> Result<Target> {
        let id = StoreId(self.clock.random());
        let (store_folder, store) = generation::new_store(self.options, number, id, copied).await?;
        let (folder, lexical) = generation::new_lexical(self.options, self.lexical, number).await?;
        Ok(Target {
            number,
            manifest: Manifest::new(number, store_folder, folder, None),
            store,
            lexical,
            vector: None,
            by_meaning: None,
            no_meaning: None,
            unpublished: true,
        })
    }

    /// Returns the live index by words, or an empty one where that one cannot be used.
    async fn lexical_index(
        &self,
        number: u64,
        store: &Store,
        folder: IndexFolder,
        slot: Slot<dyn LexicalIndex>,
        warnings: &mut Vec<String>,
    ) -> Result<(IndexFolder, Arc<dyn LexicalIndex>)> {
        let reason = match slot {
            Slot::Open(lexical) => match feed::standing(&Words(store), &*lexical).await? {
                Standing::Behind(_) => return Ok((folder, lexical)),
                Standing::Lost => {
                    lexical.close().await?;
                    "the index by words does not follow the store".to_owned()
                }
            },
            Slot::Closed(err) if is_newer(&err) => return Err(err),
            Slot::Closed(err) => {
                self.set_aside_later(&folder.dir, &err)?;
                err.to_string()
            }
        };
        warnings.push(format!("{reason}; the index by words is built anew"));
        generation::new_lexical(self.options, self.lexical, number).await
    }

    /// Has the folder of a damaged index set aside instead of removed. What its plugin says nothing of is not of the plugin's folder.
    fn set_aside_later(&self, folder: &str, err: &Error) -> Result<()> {
        if err.kind() == ErrorKind::Corrupt && err.plugin().is_some() {
            aside::mark_folder(&self.options.state_dir, folder, err)
        } else {
            Ok(())
        }
    }

    /// Decides how entries are found by meaning, once it is known that there are some.
    pub(super) async fn find_by_meaning(
        &self,
        target: &mut Target,
        warnings: &mut Vec<String>,
    ) -> Result<()> {
        let slot = target.vector.take();
        let was = target.manifest.vector.clone();
        let found = self
            .by_meaning(
                target.number,
                &target.store,
                &mut target.manifest,
                slot,
                warnings,
            )
            .await;
        (target.by_meaning, target.no_meaning) = match found {
            // An index or a cache that cannot be opened is no reason to do without the words.
            Err(err) if is_of_plugin(&err) || self.is_of_vectors(&err) => {
                warnings.push(degraded("vector", &err));
                target.manifest.vector.clone_from(&was);
                (None, Some(err.to_string()))
            }
            found => found?,
        };
        if target.manifest.vector != was {
            target.manifest.generation = target.number;
            target.unpublished = true;
        }
        Ok(())
    }

    /// Returns whether `vectors.db` cannot be used, while it is not damaged.
    pub(super) fn is_of_vectors(&self, err: &Error) -> bool {
        vectors::is_in(&self.options.state_dir, err) && err.kind() != ErrorKind::Corrupt
    }

    /// Returns what is needed to find by meaning: the live index where it holds vectors of the embedder's space, else an empty
    /// one; or why there is nothing. Brings `manifest` into line with it.
    async fn by_meaning(
        &self,
        number: u64,
        store: &Store,
        manifest: &mut Manifest,
        slot: Option<Slot<dyn VectorIndex>>,
        warnings: &mut Vec<String>,
    ) -> Result<(Option<ByMeaning>, Option<String>)> {
        let (Some(part), Some(model)) = (self.vector, self.model) else {
            if let Some(Slot::Open(index)) = slot {
                index.close().await?;
            }
            manifest.vector = None;
            return Ok((None, None));
        };
        if manifest.vector.is_none() && store.is_empty().await? {
            // Nothing to embed is no reason to load a model.
            return Ok((None, None));
        }
        let vectors = self.vectors(warnings).await?;
        let stored = store.background().await?;
        let (embedder, background) = match self.background(model, &vectors, stored.as_ref()).await {
            Ok((embedder, background)) => (Some(embedder), background),
            // Of `vectors.db`, not of the embedder.
            Err(err) if err.kind() == ErrorKind::Corrupt && err.plugin().is_none() => {
                vectors.close().await;
                return Err(err);
            }
            Err(err) => {
                warnings.push(degraded("vector", &err));
                // What is unknown is no other space: without the embedder the index stays as it is.
                match stored.clone() {
                    Some(background) if manifest.vector.is_some() => (None, background),
                    _ => {
                        vectors.close().await;
                        return Ok((None, Some(err.to_string())));
                    }
                }
            }
        };
        if stored.as_ref() != Some(&background) {
            store.begin_space(&background).await?;
        }
        let wanted = background.indexed_space();
        let reason = match slot {
            Some(Slot::Open(index)) if *index.space() == wanted => {
                let by_meaning = ByMeaning {
                    index,
                    vectors,
                    background,
                    embedder,
                };
                return Ok((Some(by_meaning), None));
            }
            Some(Slot::Open(index)) => {
                let was = index.space().clone();
                index.close().await?;
                Some(other_space(&was, &wanted))
            }
            Some(Slot::Closed(err)) if is_newer(&err) => {
                vectors.close().await;
                return Err(err);
            }
            Some(Slot::Closed(err)) => {
                if let Some(folder) = &manifest.vector {
                    self.set_aside_later(&folder.index.dir, &err)?;
                }
                Some(err.to_string())
            }
            None => None,
        };
        if let Some(reason) = reason {
            warnings.push(format!("{reason}; the index by meaning is built anew"));
        }
        let (folder, index) = generation::new_vector(self.options, part, number, &wanted).await?;
        manifest.vector = Some(folder);
        let by_meaning = ByMeaning {
            index,
            vectors,
            background,
            embedder,
        };
        Ok((Some(by_meaning), None))
    }

    /// Opens the embedder and returns it with the background of its space.
    async fn background(
        &self,
        model: &Model,
        vectors: &Vectors,
        stored: Option<&Background>,
    ) -> Result<(Arc<dyn Embedder>, Background)> {
        let embedder = model.embedder(self.options).await?;
        let background = match stored {
            Some(stored) if stored.is_of(embedder.space()) => stored.clone(),
            _ => Background::measure(vectors, &*embedder, self.clock.now()).await?,
        };
        Ok((embedder, background))
    }

    /// Opens `vectors.db`. What is damaged is set aside: its vectors can be computed again.
    async fn vectors(&self, warnings: &mut Vec<String>) -> Result<Vectors> {
        let state_dir = &self.options.state_dir;
        match Vectors::open_for_sync(state_dir).await {
            Err(err) if err.kind() == ErrorKind::Corrupt => {
                warnings.push(vectors::set_aside(state_dir, &err)?);
                Vectors::open_for_sync(state_dir).await
            }
            opened => opened,
        }
    }

    /// Two workspaces in one state folder would remove each other's documents.
    async fn check_workspace(&self, store: &Store) -> Result<()> {
        match state_dir::other_workspace(store, self.options).await? {
            None => Ok(()),
            Some(other) => Err(Error::new(
                ErrorKind::InvalidInput,
                format!("`{}` holds the index of `{other}`", self.options.state_dir.display()),
            )
            .with_hint(
                "name another folder by `--state DIR`, another `namespace`, or take it over by `memory index --force`",
            )),
        }
    }

    /// Begins a new generation from the files of this namespace; what others have in the live store is taken over.
    async fn target_from_files(&self, number: u64, manifest: Manifest) -> Result<Target> {
        let store_folder = manifest.store.dir.clone();
        let live = match Live::open(self.options, self.lexical, self.vector, manifest).await {
            Ok(live) => live,
            // A generation that is damaged has nothing to take over.
            Err(err) if err.kind() == ErrorKind::Corrupt => {
                if !store::is_absent(&self.options.state_dir.join(&store_folder)) {
                    aside::mark_folder(&self.options.state_dir, &store_folder, &err)?;
                }
                return self.new_target(number, None).await;
            }
            // One that cannot be read now may hold what others put there, and a newer one is none of ours.
            Err(err) => return Err(err),
        };
        if let Some(newer) = live.newer() {
            let newer = said_again(newer);
            live.close().await?;
            return Err(newer);
        }
        for damage in live.closed_slots() {
            aside::mark(&self.options.state_dir, damage)?;
        }
        let target = self.with_others_of(&live.store, number).await;
        // The old generation is replaced; how its closing went matters to nobody.
        drop(live.close().await);
        match target {
            // Nor can one be taken over that is damaged.
            Err(err) if err.kind() == ErrorKind::Corrupt => {
                aside::mark(&self.options.state_dir, &err)?;
                self.new_target(number, None).await
            }
            target => target,
        }
    }

    /// Begins a new generation with what a store holds of other namespaces.
    async fn with_others_of(&self, store: &Store, number: u64) -> Result<Target> {
        let namespace = || self.options.namespace.clone();
        if !store.has_other_namespace(namespace()).await? {
            return self.new_target(number, None).await;
        }
        let target = self.new_target(number, Some(store)).await?;
        target.store.remove_all(namespace()).await?;
        Ok(target)
    }

    /// Names what cuts documents, in the store.
    pub(super) fn cut_by(&self) -> String {
        scan::cut_by(self.chunkers).to_string()
    }
}
