use std::path::{Path, PathBuf};

/// A model file that is known by name: everything that decides what its numbers are.
#[derive(Debug)]
pub(crate) struct Variant {
    /// The name in the config and on the command line.
    pub(crate) name: &'static str,
    /// One line for people.
    pub(crate) summary: &'static str,
    /// The licence, as an SPDX expression.
    pub(crate) licence: &'static str,
    /// What is opened, below the folder of models: a GGUF file, or a folder with safetensors.
    pub(crate) path: &'static str,
    /// Every file that belongs to it, the weights first.
    pub(crate) files: &'static [ModelFile],
    /// Numbers per vector.
    pub(crate) dimensions: usize,
    /// How token vectors become one.
    pub(crate) pooling: Pooling,
    /// Tokens per text, with the two special ones.
    pub(crate) max_tokens: usize,
    /// What stands before a question.
    pub(crate) query_prefix: &'static str,
    /// What stands before a stored text.
    pub(crate) document_prefix: &'static str,
}

/// One file of a variant.
#[derive(Debug)]
pub(crate) struct ModelFile {
    /// Where it lies below the folder of models, with `/`.
    pub(crate) name: &'static str,
    /// Its SHA-256, in lowercase hex digits.
    pub(crate) sha256: &'static str,
    /// Its length.
    pub(crate) bytes: u64,
}

impl Variant {
    /// Returns the bytes of all its files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Returns what is opened.
    pub(crate) fn path(&self, cache_dir: &Path) -> PathBuf {
        models_dir(cache_dir).join(self.path)
    }
}

/// Returns the folder of models in the folder of caches.
pub(crate) fn models_dir(cache_dir: &Path) -> PathBuf {
    cache_dir.join("models")
}

/// How the vectors of a text's tokens become the text's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first one's.
    Cls,
}
