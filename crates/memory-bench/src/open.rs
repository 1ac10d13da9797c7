//! Opens plugins as the engine would, by name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::executor::block_on;
use memory_api::{
    Embedder, EmbeddingSpace, Factory, Kind, LexicalIndex, OpenContext, Plugin, VectorIndex,
};
use serde_json::{Value, json};

use crate::Result;

/// As many threads as the figures of every machine are for.
const THREADS: usize = 2;

fn plugin(kind: Kind, name: &str) -> Result<&'static Plugin> {
    let found = memory_plugins::ALL
        .iter()
        .find(|plugin| plugin.kind() == kind && plugin.name == name);
    found
        .copied()
        .ok_or_else(|| format!("no {kind} plugin `{name}` is linked").into())
}

/// Returns the folder of caches that the environment names.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let env: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    memory::config::env::cache_dir(&env).ok_or_else(|| "there is no place for caches".into())
}

/// Opens the embedder of this machine with its default model, which is not loaded by that.
pub(crate) fn embedder() -> Result<Arc<dyn Embedder>> {
    let Factory::Embedder(open) = plugin(Kind::Embedder, "local")?.factory else {
        return Err("`local` is no embedder".into());
    };
    let config = json!({ "threads": THREADS });
    let cache_dir = cache_dir()?;
    Ok(block_on(open(
        OpenContext::new(&config).with_cache_dir(&cache_dir),
    ))?)
}

/// Returns the file of that embedder's default model.
pub(crate) fn model_file() -> Result<PathBuf> {
    let models = plugin(Kind::Embedder, "local")?
        .models
        .ok_or("`local` has no models")?;
    let default = (models.list)(&cache_dir()?).into_iter().next();
    default
        .and_then(|model| model.path)
        .ok_or_else(|| "the model is not here; run `cargo xtask prepare`".into())
}

/// Opens an index by meaning in a folder that is there.
pub(crate) fn vector_index(
    name: &str,
    dir: &Path,
    space: &EmbeddingSpace,
    read_only: bool,
) -> Result<Arc<dyn VectorIndex>> {
    let Factory::Vector(open) = plugin(Kind::Vector, name)?.factory else {
        return Err(format!("`{name}` is no index by meaning").into());
    };
    let context = OpenContext::new(&Value::Null)
        .with_dir(dir)
        .with_space(space)
        .with_read_only(read_only);
    Ok(block_on(open(context))?)
}

/// Opens an index by words to read it.
pub(crate) fn lexical_index(name: &str, dir: &Path) -> Result<Arc<dyn LexicalIndex>> {
    let Factory::Lexical(open) = plugin(Kind::Lexical, name)?.factory else {
        return Err(format!("`{name}` is no index by words").into());
    };
    let context = OpenContext::new(&Value::Null)
        .with_dir(dir)
        .with_read_only(true);
    Ok(block_on(open(context))?)
}
