use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EmbeddingSpace, EntryId, Error, ErrorKind, Fingerprint, Hit, Identity,
    IndexStats, OpenContext, Opening, Projection, Result, VectorIndex, VectorOp, VectorQuery,
    Watermark, parse_config,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::index::{Entries, OracleIndex};

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn VectorIndex> {
    Box::pin(async move {
        parse_config::<Config>(context.config)?;
        let space = context.require_space()?.clone();
        let inner = OracleIndex::<Vectors>::open(&context)?;
        inner.with(|content| content.entries.bind(&space))?;
        Ok(Arc::new(OracleVectorIndex { inner, space }) as Arc<dyn VectorIndex>)
    })
}

/// The vector of each entry, as it came.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Vectors {
    space: Option<EmbeddingSpace>,
    vectors: BTreeMap<EntryId, Vec<f32>>,
}

impl Vectors {
    fn bind(&mut self, space: &EmbeddingSpace) -> Result<()> {
        let own = self.space.get_or_insert_with(|| space.clone());
        if own == space {
            return Ok(());
        }
        let message = format!(
            "the index holds vectors of `{}`, not of `{}`",
            own.id, space.id
        );
        Err(Error::new(ErrorKind::InvalidInput, message)
            .with_hint("build the index anew for the other space"))
    }

    fn check_vector(&self, vector: &[f32]) -> Result<()> {
        let dimensions = self.space.as_ref().map_or(0, |space| space.dimensions);
        let message = if vector.len() != dimensions {
            format!("{} numbers instead of {dimensions}", vector.len())
        } else if !vector.iter().all(|number| number.is_finite()) {
            "a number of the vector is not finite".to_owned()
        } else if vector.iter().all(|number| *number == 0.0) {
            "the vector has no direction".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::InvalidInput, message))
    }
}

impl Entries for Vectors {
    type Op = VectorOp;
    const FINGERPRINT: &'static str = "oracle-vector/1";

    fn capabilities() -> Capabilities {
        super::VECTOR.capabilities
    }

    fn check(&self, op: &VectorOp) -> Result<()> {
        match op {
            VectorOp::Put(_, vector, _) => self.check_vector(vector),
            _ => Ok(()),
        }
    }

    fn apply(&mut self, op: &VectorOp) {
        match op {
            VectorOp::Put(id, vector, _) => {
                self.vectors.insert(*id, vector.clone());
            }
            VectorOp::Delete(id) => {
                self.vectors.remove(id);
            }
            // Filters are resolved to ids before they come here.
            _ => {}
        }
    }

    fn count(&self) -> usize {
        self.vectors.len()
    }
}

#[derive(Debug)]
struct OracleVectorIndex {
    inner: OracleIndex<Vectors>,
    space: EmbeddingSpace,
}

impl Identity for OracleVectorIndex {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[async_trait]
impl Projection<VectorOp> for OracleVectorIndex {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn apply(&self, batch: &Batch<VectorOp>) -> Result<()> {
        self.inner.apply(batch).await
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        self.inner.watermark().await
    }

    async fn stats(&self) -> Result<IndexStats> {
        self.inner.stats().await
    }

    async fn flush(&self) -> Result<()> {
        self.inner.flush().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}

#[async_trait]
impl VectorIndex for OracleVectorIndex {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>> {
        let is_allowed = |id: &EntryId| {
            query
                .allowed
                .is_none_or(|allowed| allowed.binary_search(id).is_ok())
        };
        self.inner.with(|content| {
            content.entries.check_vector(query.vector)?;
            let mut hits: Vec<_> = content
                .entries
                .vectors
                .iter()
                .filter(|(id, _)| is_allowed(id))
                .map(|(id, vector)| Hit {
                    id: *id,
                    score: cosine(query.vector, vector),
                })
                .collect();
            hits.sort_by(Hit::rank);
            hits.truncate(query.k);
            Ok(hits)
        })
    }

    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        self.inner.with(|content| {
            content.entries.check_vector(query.vector)?;
            let vectors = &content.entries.vectors;
            let of = |id| vectors.get(id).map(|vector| cosine(query.vector, vector));
            Ok(ids.iter().map(of).collect())
        })
    }
}

fn cosine(left: &[f32], right: &[f32]) -> f32 {
    let dot = |left: &[f32], right: &[f32]| -> f64 {
        left.iter()
            .zip(right)
            .map(|(left, right)| f64::from(*left) * f64::from(*right))
            .sum()
    };
    // Two roots, since the product of two squares may be too small for one.
    let cosine = dot(left, right) / (dot(left, left).sqrt() * dot(right, right).sqrt());
    #[expect(clippy::cast_possible_truncation, reason = "it lies between -1 and 1")]
    let cosine = cosine as f32;
    cosine
}
