use std::num::NonZeroUsize;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::variant::Pooling;

/// Settings of the embedder `local`, which runs a model on this machine. All but `threads` change what vectors mean: another value
/// makes vectors anew.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// A name from `memory model list`. Default `multilingual-e5-small-q4`.
    pub model: String,
    /// A model of one's own in place of a known one: the path of a `.gguf` file, or of a folder with `model.safetensors`,
    /// `tokenizer.json` and `config.json`. Default: none.
    #[schemars(extend("format" = "path"))]
    pub path: Option<PathBuf>,
    /// How many processor cores may work at once, from 1 to 64. Default: all there are, at most 4.
    #[serde(deserialize_with = "threads")]
    #[schemars(range(min = 1, max = 64))]
    pub threads: Option<NonZeroUsize>,
    /// What is put before a question, for a model by path. Default: nothing.
    pub query_prefix: Option<String>,
    /// What is put before a stored text, for a model by path. Default: nothing.
    pub document_prefix: Option<String>,
    /// How the vectors of a text's tokens become one, for a model by path: `mean`, or `cls` for the first one's. Default: what the
    /// model says, else `mean`.
    pub pooling: Option<Pooling>,
    /// Tokens per text, for a model by path; what is longer is cut. From 8 to what the model can take. Default: what the model says.
    #[serde(deserialize_with = "max_tokens")]
    #[schemars(range(min = 8))]
    pub max_tokens: Option<usize>,
}

/// The model that is used when none is named.
pub(crate) const DEFAULT_MODEL: &str = "multilingual-e5-small-q4";

/// The fewest tokens that leave room for words between the special ones.
pub(crate) const MIN_TOKENS: usize = 8;

/// More threads than this are a slip of the finger.
const MAX_THREADS: usize = 64;

impl Default for Config {
    fn default() -> Self {
        Self {
            model: DEFAULT_MODEL.to_owned(),
            path: None,
            threads: None,
            query_prefix: None,
            document_prefix: None,
            pooling: None,
            max_tokens: None,
        }
    }
}

impl Config {
    /// Returns the first key that is set but only counts for a model by path.
    pub(crate) fn path_only_key(&self) -> Option<&'static str> {
        let keys = [
            ("query_prefix", self.query_prefix.is_some()),
            ("document_prefix", self.document_prefix.is_some()),
            ("pooling", self.pooling.is_some()),
            ("max_tokens", self.max_tokens.is_some()),
        ];
        keys.into_iter().find(|(_, set)| *set).map(|(key, _)| key)
    }
}

fn threads<'de, D: Deserializer<'de>>(value: D) -> Result<Option<NonZeroUsize>, D::Error> {
    let threads = Option::<usize>::deserialize(value)?;
    match threads.map(|threads| (NonZeroUsize::new(threads), threads <= MAX_THREADS)) {
        None => Ok(None),
        Some((Some(threads), true)) => Ok(Some(threads)),
        Some(_) => Err(D::Error::custom(format!(
            "the number of threads is not between 1 and {MAX_THREADS}"
        ))),
    }
}

fn max_tokens<'de, D: Deserializer<'de>>(value: D) -> Result<Option<usize>, D::Error> {
    match Option::<usize>::deserialize(value)? {
        Some(tokens) if tokens < MIN_TOKENS => Err(D::Error::custom(format!(
            "`{tokens}` is below {MIN_TOKENS}"
        ))),
        tokens => Ok(tokens),
    }
}
