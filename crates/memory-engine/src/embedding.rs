//! What of an entry is embedded, and the embedder itself, opened when it is first needed.

use std::sync::{Arc, PoisonError, RwLock};

use memory_api::{
    ContentHash, Embedder, EmbeddingSpace, Error, ErrorKind, Factory, OpenContext, Result,
};

use crate::contract::ContractEmbedder;
use crate::document::content_hash;
use crate::options::{Options, Part};

/// The configured embedder.
#[derive(Debug)]
pub(crate) struct Model {
    part: Part,
    open: RwLock<Option<Arc<dyn Embedder>>>,
}

impl Model {
    pub(crate) fn new(part: Part) -> Self {
        Self {
            part,
            open: RwLock::new(None),
        }
    }

    /// Returns the embedder. One that could not be opened is tried again with the next call: a model may have been fetched since.
    pub(crate) async fn embedder(&self, options: &Options) -> Result<Arc<dyn Embedder>> {
        let open = self
            .open
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(embedder) = open {
            return Ok(embedder);
        }
        let Factory::Embedder(open) = self.part.plugin.factory else {
            return Err(self.part.misplaced("embedder"));
        };
        let name = self.part.plugin.name;
        let mut context = OpenContext::new(&self.part.config);
        if let Some(cache_dir) = &options.cache_dir {
            context = context.with_cache_dir(cache_dir);
        }
        let inner = open(context)
            .await
            .map_err(|err| err.with_plugin(name).with_operation("open"))?;
        if inner.space().dimensions == 0 {
            let message = "the embedder's vectors have no numbers";
            return Err(Error::new(ErrorKind::Internal, message).with_plugin(name));
        }
        let embedder: Arc<dyn Embedder> = Arc::new(ContractEmbedder::new(name, inner));
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        // Two callers may have opened one each; the first stays, so that a model is loaded once.
        Ok(Arc::clone(open.get_or_insert(embedder)))
    }

    pub(crate) fn name(&self) -> &'static str {
        self.part.plugin.name
    }
}

/// What is embedded of an entry: its text below the headings above it. A section's text begins with its own heading, so that one
/// is not said twice.
pub(crate) fn embedded_text(heading_path: &[String], text: &str) -> String {
    let above = match heading_path.split_last() {
        Some((_, above)) if text.starts_with('#') => above,
        _ => heading_path,
    };
    if above.is_empty() {
        text.to_owned()
    } else {
        format!("{}\n{text}", above.join(" > "))
    }
}

/// The name of an embedded text in `vectors.db`.
pub(crate) fn key(text: &str) -> ContentHash {
    content_hash(text.as_bytes())
}

/// Says of two spaces that they are two.
pub(crate) fn other_space(was: &EmbeddingSpace, is: &EmbeddingSpace) -> String {
    format!(
        "the index holds vectors of `{}` ({} numbers), configured is `{}` ({})",
        was.id, was.dimensions, is.id, is.dimensions
    )
}

/// Returns whether a vector has no direction.
pub(crate) fn is_zero(vector: &[f32]) -> bool {
    vector.iter().all(|number| *number == 0.0)
}
