use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    EmbedLimits, Embedder, EmbeddingSpace, Error, ErrorKind, Fingerprint, Identity, Matrix,
    OpenContext, Result, Role, parse_config,
};
use memory_text::ANALYSIS_VERSION;

use crate::config::Config;
use crate::feature::{VERSION, vector_of};

/// Texts per call: as many as other embedders take, so that whoever asks has to split here as well.
const MAX_TEXTS: usize = 256;

pub(crate) fn open(context: &OpenContext<'_>) -> Result<Arc<dyn Embedder>> {
    let config: Config = parse_config(context.config)?;
    Ok(Arc::new(HashEmbedder::new(config)))
}

/// Hashes the words of texts. Both roles give the same vector; no text is too long.
#[derive(Debug)]
pub struct HashEmbedder {
    space: EmbeddingSpace,
}

impl HashEmbedder {
    /// Creates an embedder; there is nothing to load.
    pub fn new(config: Config) -> Self {
        let dimensions = config.dimensions;
        let id = format!("{}/{VERSION}/{dimensions}/{ANALYSIS_VERSION}", crate::NAME);
        Self {
            space: EmbeddingSpace::new(id, dimensions),
        }
    }
}

impl Identity for HashEmbedder {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.space.id.clone())
    }
}

#[async_trait]
impl Embedder for HashEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn limits(&self) -> EmbedLimits {
        EmbedLimits::new(MAX_TEXTS, usize::MAX)
    }

    async fn embed(&self, texts: &[&str], _: Role) -> Result<Matrix> {
        if texts.len() > MAX_TEXTS {
            let message = format!("{} texts in one call", texts.len());
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_hint(format!("embed at most {MAX_TEXTS} texts per call")));
        }
        let dimensions = self.space.dimensions;
        let vectors = texts.iter().flat_map(|text| vector_of(text, dimensions));
        Matrix::new(dimensions, vectors.collect())
    }
}
