use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    EmbedLimits, Embedder, EmbeddingSpace, Error, ErrorKind, Fingerprint, Identity, Matrix,
    OpenContext, Opening, Result, Role, parse_config,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::query::words_of;

const DIMENSIONS: usize = 64;
const MAX_TEXTS: usize = 32;

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn Embedder> {
    Box::pin(async move {
        parse_config::<Config>(context.config)?;
        let space = EmbeddingSpace::new("oracle/1", DIMENSIONS);
        Ok(Arc::new(OracleEmbedder { space }) as Arc<dyn Embedder>)
    })
}

/// Counts words in buckets.
#[derive(Debug)]
struct OracleEmbedder {
    space: EmbeddingSpace,
}

impl Identity for OracleEmbedder {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.space.id.clone())
    }
}

#[async_trait]
impl Embedder for OracleEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn limits(&self) -> EmbedLimits {
        EmbedLimits::new(MAX_TEXTS, usize::MAX)
    }

    async fn embed(&self, texts: &[&str], _: Role) -> Result<Matrix> {
        if texts.len() > MAX_TEXTS {
            let message = format!("{} texts, at most {MAX_TEXTS} are taken", texts.len());
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        Matrix::new(
            DIMENSIONS,
            texts.iter().flat_map(|text| row(text)).collect(),
        )
    }
}

fn row(text: &str) -> Vec<f32> {
    let mut counts = [0.0_f32; DIMENSIONS];
    // A text without words has a direction, too.
    let words = words_of(text);
    for bucket in words.iter().map(|word| bucket(word)).chain([0]) {
        if let Some(count) = counts.get_mut(bucket) {
            *count += 1.0;
        }
    }
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
    counts.iter().map(|count| count / length).collect()
}

fn bucket(word: &str) -> usize {
    word.bytes().fold(7, |sum: usize, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(byte))
    }) % DIMENSIONS
}
