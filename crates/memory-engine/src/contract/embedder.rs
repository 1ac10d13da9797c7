use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    EmbedLimits, Embedder, EmbeddingSpace, Error, ErrorKind, Fingerprint, Identity, Matrix, Result,
    Role,
};

use super::broken;

/// How far the length of a unit vector may be off.
const UNIT_TOLERANCE: f64 = 1e-3;

/// An embedder whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractEmbedder {
    name: &'static str,
    inner: Arc<dyn Embedder>,
}

impl ContractEmbedder {
    /// Wraps the embedder of this plugin name.
    pub(crate) fn new(name: &'static str, inner: Arc<dyn Embedder>) -> Self {
        Self { name, inner }
    }

    fn check(&self, rows: &Matrix, n_texts: usize) -> Result<()> {
        let broken = |what: String| Err(broken(self.name, "embed", what));
        let space = self.inner.space();
        if rows.rows().len() != n_texts {
            return broken(format!("{} vectors for {n_texts} texts", rows.rows().len()));
        }
        if n_texts > 0 && rows.dimensions() != space.dimensions {
            // A setting that a provider did not honour looks the same as a bug; both numbers tell which.
            return broken(format!(
                "vectors have {} numbers, the space says {}",
                rows.dimensions(),
                space.dimensions
            ));
        }
        for row in rows.rows() {
            if !row.iter().all(|number| number.is_finite()) {
                return broken("a vector holds a number that is not finite".to_owned());
            }
            let norm: f64 = row.iter().map(|number| f64::from(*number).powi(2)).sum();
            // A vector of zeros says "nothing": allowed, and kept out of the index.
            if space.unit_norm && norm > 0.0 && (norm.sqrt() - 1.0).abs() > UNIT_TOLERANCE {
                return broken(format!(
                    "a vector has length {:.4}, the space says 1",
                    norm.sqrt()
                ));
            }
        }
        Ok(())
    }
}

impl Identity for ContractEmbedder {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl Embedder for ContractEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    fn limits(&self) -> EmbedLimits {
        self.inner.limits()
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Matrix> {
        let max_texts = self.inner.limits().max_texts;
        if texts.len() > max_texts {
            let message = format!(
                "{} texts are more than the {max_texts} of one call",
                texts.len()
            );
            return Err(Error::new(ErrorKind::InvalidInput, message).with_plugin(self.name));
        }
        let rows = self
            .inner
            .embed(texts, role)
            .await
            .map_err(|err| err.with_plugin(self.name).with_operation("embed"))?;
        self.check(&rows, texts.len())?;
        Ok(rows)
    }
}
