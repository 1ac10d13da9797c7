//! What a sync fills: what is live, or a new generation beside it.

use std::sync::Arc;

use memory_api::{
    Embedder, Error, ErrorKind, LexicalIndex, Result, Seq, StoreId, VectorIndex, Watermark,
};

use super::Syncer;
use crate::feed::{self, Meaning, Standing, Words};
use crate::generation::{self, Live, Slot};
use crate::manifest::{IndexFolder, Manifest};
use crate::search::degraded;
use crate::state_dir;
use crate::store::Store;
use crate::vectors::{self, Vectors};

/// The store and the indexes a sync fills.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) manifest: Manifest,
    pub(super) store: Store,
    pub(super) lexical: Arc<dyn LexicalIndex>,
    /// `None` where nothing is to be found by meaning, or nothing was ever embedded.
    pub(super) by_meaning: Option<ByMeaning>,
    /// Whether the manifest on disk does not name them yet.
    pub(super) unpublished: bool,
}

/// What a sync fills so that entries can be found by meaning.
#[derive(Debug)]
pub(super) struct ByMeaning {
    pub(super) index: Arc<dyn VectorIndex>,
    pub(super) vectors: Vectors,
    /// `None` while it cannot be opened: what is known already is kept up all the same.
    pub(super) embedder: Option<Arc<dyn Embedder>>,
}

impl ByMeaning {
    pub(super) fn changes<'a>(&'a self, store: &'a Store) -> Meaning<'a> {
        Meaning {
            store,
            vectors: &self.vectors,
            space: self.index.space(),
        }
    }
}

impl Target {
    pub(super) async fn close(&self) -> Result<()> {
        self.store.close().await;
        let mut result = self.lexical.close().await;
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
        match &self.by_meaning {
            Some(_) => Ok(self.store.counts(namespace).await?.n_pending),
            None => Ok(0),
        }
    }
}

impl Syncer<'_> {
    /// Opens what is there, or begins a new generation.
    pub(super) async fn target(&self, anew: bool, warnings: &mut Vec<String>) -> Result<Target> {
        let manifest = match Manifest::read(&self.options.state_dir) {
            // A damaged manifest names nothing that could be kept.
            Err(err) if err.kind() == ErrorKind::Corrupt && anew => None,
            manifest => manifest?,
        };
        // What an interrupted build left takes room that this one may need.
        generation::remove_others(self.options, manifest.as_ref())?;
        let number = generation::next_number(self.options, manifest.as_ref())?;
        let Some(manifest) = manifest else {
            return self.new_target(number, warnings).await;
        };
        if anew {
            self.warn_of_namespaces(manifest, warnings).await;
            return self.new_target(number, warnings).await;
        }
        let live = Live::open(self.options, self.lexical, self.vector, manifest).await?;
        if let Err(err) = self.check_workspace(&live.store).await {
            live.close().await?;
            return Err(err);
        }
        let Live {
            mut manifest,
            store,
            lexical,
            vector,
            vectors,
        } = live;
        if let Some(vectors) = vectors {
            vectors.close().await;
        }
        let was = manifest.clone();
        let (folder, lexical) = self
            .lexical_index(number, &store, manifest.lexical.clone(), lexical, warnings)
            .await?;
        manifest.lexical = folder;
        let by_meaning = self
            .by_meaning(number, &store, &mut manifest, vector, warnings)
            .await?;
        let unpublished = manifest != was;
        if unpublished {
            manifest.generation = number;
        }
        Ok(Target {
            manifest,
            store,
            lexical,
            by_meaning,
            unpublished,
        })
    }

    async fn new_target(&self, number: u64, warnings: &mut Vec<String>) -> Result<Target> {
        let id = StoreId(self.clock.random());
        let (store_folder, store) = generation::new_store(self.options, number, id).await?;
        let (folder, lexical) = generation::new_lexical(self.options, self.lexical, number).await?;
        let mut manifest = Manifest::new(number, store_folder, folder, None);
        let by_meaning = self
            .by_meaning(number, &store, &mut manifest, None, warnings)
            .await?;
        Ok(Target {
            manifest,
            store,
            lexical,
            by_meaning,
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
            Slot::Closed(err) => err.to_string(),
        };
        warnings.push(format!("{reason}; the index by words is built anew"));
        generation::new_lexical(self.options, self.lexical, number).await
    }

    /// Returns what is needed to find by meaning: the live index where it holds vectors of the embedder's space, else an empty
    /// one. Brings `manifest` into line with it.
    async fn by_meaning(
        &self,
        number: u64,
        store: &Store,
        manifest: &mut Manifest,
        slot: Option<Slot<dyn VectorIndex>>,
        warnings: &mut Vec<String>,
    ) -> Result<Option<ByMeaning>> {
        let (Some(part), Some(model)) = (self.vector, self.model) else {
            if let Some(Slot::Open(index)) = slot {
                index.close().await?;
            }
            manifest.vector = None;
            return Ok(None);
        };
        let embedder = match model.embedder(self.options).await {
            Ok(embedder) => Some(embedder),
            Err(err) => {
                warnings.push(degraded("vector", &err));
                None
            }
        };
        // What is unknown is no other space: without the embedder the index stays as it is.
        let wanted = match (&embedder, &manifest.vector) {
            (Some(embedder), _) => embedder.space().clone(),
            (None, Some(folder)) => folder.space.clone(),
            (None, None) => return Ok(None),
        };
        let vectors = self.vectors(warnings).await?;
        if store.vector_space().await?.as_ref() != Some(&wanted) {
            store.begin_space(&wanted).await?;
        }
        let reason = match slot {
            Some(Slot::Open(index)) if *index.space() == wanted => {
                let changes = Meaning {
                    store,
                    vectors: &vectors,
                    space: &wanted,
                };
                match feed::standing(&changes, &*index).await? {
                    Standing::Behind(_) => {
                        return Ok(Some(ByMeaning {
                            index,
                            vectors,
                            embedder,
                        }));
                    }
                    Standing::Lost => {
                        index.close().await?;
                        Some("the index by meaning does not follow the store".to_owned())
                    }
                }
            }
            Some(Slot::Open(index)) => {
                let was = index.space().clone();
                index.close().await?;
                Some(format!(
                    "the index holds vectors of `{}` ({} numbers), configured is `{}` ({})",
                    was.id, was.dimensions, wanted.id, wanted.dimensions
                ))
            }
            Some(Slot::Closed(err)) => Some(err.to_string()),
            None => None,
        };
        if let Some(reason) = reason {
            warnings.push(format!("{reason}; the index by meaning is built anew"));
        }
        let (folder, index) = generation::new_vector(self.options, part, number, &wanted).await?;
        manifest.vector = Some(folder);
        Ok(Some(ByMeaning {
            index,
            vectors,
            embedder,
        }))
    }

    /// Opens `vectors.db`. What is damaged is set aside: its vectors can be computed again.
    async fn vectors(&self, warnings: &mut Vec<String>) -> Result<Vectors> {
        let state_dir = &self.options.state_dir;
        match Vectors::open(state_dir, false).await {
            Err(err) if err.kind() == ErrorKind::Corrupt => {
                let name = vectors::set_aside(state_dir)?;
                warnings.push(format!(
                    "{err}; it is kept as `{name}`, and vectors are computed anew"
                ));
                Vectors::open(state_dir, false).await
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

    /// A new generation is built from the files of this namespace; others sharing the folder have to build theirs again.
    async fn warn_of_namespaces(&self, manifest: Manifest, warnings: &mut Vec<String>) {
        // A generation that cannot be opened has nothing to lose.
        let Ok(live) = Live::open(self.options, self.lexical, None, manifest).await else {
            return;
        };
        let namespace = self.options.namespace.clone();
        if live
            .store
            .has_other_namespace(namespace)
            .await
            .unwrap_or(false)
        {
            warnings.push(
                "other namespaces are missing from the new index until their next sync".to_owned(),
            );
        }
        // The old generation is replaced; how its closing went matters to nobody.
        drop(live.close().await);
    }
}
