//! Every test goes through [`load`] with real files in a folder of its own; places are shown relative to it.

mod errors;
mod hostile;
mod layers;
mod presets;
mod search;
mod show;
mod slots;
mod unit;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use memory_api::{
    Chunked, Chunker, DecayPolicy, Document, Embedder, Error, ErrorKind, Factory, Fingerprint,
    Identity, LexicalIndex, OpenContext, Opening, Plugin, Registry, Reranker, Result, VectorIndex,
    parse_config,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Flag, Loaded, Problems, Sources, load};

/// A plugin's config with one key of every sort.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Fts {
    /// Pages kept in memory.
    #[schemars(range(min = 1, max = 4096))]
    cache_kib: u32,
    tokenizer: Tokenizer,
    stop_words: Vec<String>,
    weights: Vec<f32>,
    label: String,
    fold: bool,
    limits: Limits,
    api_key: String,
    headers: BTreeMap<String, String>,
    #[schemars(extend("format" = "path"))]
    model: Option<std::path::PathBuf>,
}

impl Default for Fts {
    fn default() -> Self {
        Self {
            cache_kib: 64,
            tokenizer: Tokenizer::Unicode61,
            stop_words: Vec::new(),
            weights: vec![1.0, 0.5],
            label: String::new(),
            fold: true,
            limits: Limits::default(),
            api_key: String::new(),
            headers: BTreeMap::new(),
            model: None,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Tokenizer {
    Unicode61,
    Trigram,
}

#[derive(Debug, Default, Deserialize, JsonSchema, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    depth: Option<u8>,
}

impl serde::Serialize for Fts {
    /// Schemars wants the defaults.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let mut fields = serializer.serialize_struct("Fts", 10)?;
        fields.serialize_field("cache_kib", &self.cache_kib)?;
        fields.serialize_field("tokenizer", &self.tokenizer)?;
        fields.serialize_field("stop_words", &self.stop_words)?;
        fields.serialize_field("weights", &self.weights)?;
        fields.serialize_field("label", &self.label)?;
        fields.serialize_field("fold", &self.fold)?;
        fields.serialize_field("limits", &self.limits)?;
        fields.serialize_field("api_key", &self.api_key)?;
        fields.serialize_field("headers", &self.headers)?;
        fields.serialize_field("model", &self.model)?;
        fields.end()
    }
}

/// Has a key that has to be there, and lets unknown ones pass.
#[derive(Debug, Deserialize, JsonSchema)]
struct Remote {
    #[serde(rename = "url")]
    _url: String,
    #[serde(rename = "timeout_ms")]
    _timeout_ms: Option<u64>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

#[derive(Debug)]
struct Stub;

impl Identity for Stub {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("stub/1".to_owned())
    }
}

impl Chunker for Stub {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, _: &Document<'_>) -> Result<Chunked> {
        Ok(Chunked::default())
    }
}

fn chunker(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    parse_config::<Nothing>(context.config)?;
    Ok(Arc::new(Stub))
}

/// Opens nothing, as a config never does.
fn opens<T: ?Sized + 'static>(_: OpenContext<'_>) -> Opening<'_, T> {
    let refusal = async { Err(Error::new(ErrorKind::Unsupported, "a config opens nothing")) };
    Box::pin(refusal) as Pin<Box<_>>
}

fn decay(_: &OpenContext<'_>) -> Result<Arc<dyn DecayPolicy>> {
    Err(Error::new(ErrorKind::Unsupported, "a config opens nothing"))
}

#[derive(Debug, Default, Deserialize, serde::Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Fading {
    half_life_days: f64,
}

#[derive(Debug, Default, Deserialize, serde::Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Variety {
    #[schemars(range(min = 0, max = 1))]
    lambda: f64,
}

static MARKDOWN: Plugin =
    Plugin::new::<Nothing>("markdown", "1.0.0", "cuts notes", Factory::Chunker(chunker));
static PLAIN_TEXT: Plugin = Plugin::new::<Nothing>(
    "plain-text",
    "1.0.0",
    "cuts lines",
    Factory::Chunker(chunker),
);
static FTS5: Plugin = Plugin::new::<Fts>(
    "fts5",
    "1.0.0",
    "finds words",
    Factory::Lexical(opens::<dyn LexicalIndex>),
);
static REMOTE: Plugin = Plugin::new::<Remote>(
    "remote",
    "1.0.0",
    "finds words afar",
    Factory::Lexical(opens::<dyn LexicalIndex>),
);
static FLAT: Plugin = Plugin::new::<Nothing>(
    "flat",
    "1.0.0",
    "compares with every vector",
    Factory::Vector(opens::<dyn VectorIndex>),
);
static SQLITE_VEC: Plugin = Plugin::new::<Nothing>(
    "sqlite-vec",
    "1.0.0",
    "compares in SQLite",
    Factory::Vector(opens::<dyn VectorIndex>),
);
static LOCAL: Plugin = Plugin::new::<Nothing>(
    "local",
    "1.0.0",
    "embeds here",
    Factory::Embedder(opens::<dyn Embedder>),
);
static HASH: Plugin = Plugin::new::<Nothing>(
    "hash",
    "1.0.0",
    "embeds without meaning",
    Factory::Embedder(opens::<dyn Embedder>),
);
static OPENAI: Plugin = Plugin::new::<Nothing>(
    "openai",
    "1.0.0",
    "embeds afar",
    Factory::Embedder(opens::<dyn Embedder>),
);
static MMR: Plugin = Plugin::new::<Variety>(
    "mmr",
    "1.0.0",
    "prefers variety",
    Factory::Reranker(opens::<dyn Reranker>),
);
static EXPONENTIAL: Plugin = Plugin::new::<Fading>(
    "exponential",
    "1.0.0",
    "halves again and again",
    Factory::Decay(decay),
);

/// Enough to find by words.
const WORDS: &[&Plugin] = &[&MARKDOWN, &PLAIN_TEXT, &FTS5, &REMOTE];

fn registry() -> Registry {
    Registry::new(WORDS.iter().copied()).unwrap()
}

/// Every slot can be filled.
fn every_kind() -> Registry {
    let more = [
        &FLAT,
        &SQLITE_VEC,
        &LOCAL,
        &HASH,
        &OPENAI,
        &MMR,
        &EXPONENTIAL,
    ];
    Registry::new(WORDS.iter().copied().chain(more)).unwrap()
}

/// What a test gives: files are written into a folder; `user.toml` is the user's, `memory.toml` the workspace's.
#[derive(Default)]
struct Given {
    files: Vec<(&'static str, Vec<u8>)>,
    env: Vec<(&'static str, &'static str)>,
    flags: Vec<Flag>,
    explicit: Option<&'static str>,
    linked: Option<Registry>,
}

impl Given {
    fn file(mut self, name: &'static str, text: impl Into<Vec<u8>>) -> Self {
        self.files.push((name, text.into()));
        self
    }

    fn env(mut self, name: &'static str, text: &'static str) -> Self {
        self.env.push((name, text));
        self
    }

    fn flag(mut self, name: &str, key: &str, value: impl Into<Value>) -> Self {
        self.flags.push(Flag::new(name, key, value));
        self
    }

    fn explicit(mut self, name: &'static str) -> Self {
        self.explicit = Some(name);
        self
    }

    fn linked(mut self, registry: Registry) -> Self {
        self.linked = Some(registry);
        self
    }

    fn registry(&self) -> Registry {
        self.linked.clone().unwrap_or_else(registry)
    }

    fn sources(&self, folder: &Path) -> Sources {
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).unwrap();
        }
        let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
        Sources {
            user_file: Some(folder.join("user.toml")),
            workspace_file: Some(folder.join("memory.toml")),
            explicit_file: self.explicit.map(|name| folder.join(name)),
            env: self.env.iter().map(own).collect(),
            flags: self.flags.clone(),
        }
    }

    fn load(&self) -> std::result::Result<Loaded, Problems> {
        let folder = TempDir::new().unwrap();
        load(&self.sources(folder.path()), &self.registry())
    }

    #[track_caller]
    fn loaded(&self) -> Loaded {
        self.load().unwrap_or_else(|err| panic!("{err}"))
    }

    /// Returns the problems, one per line.
    #[track_caller]
    fn problems(&self) -> String {
        let folder = TempDir::new().unwrap();
        let problems = load(&self.sources(folder.path()), &self.registry()).unwrap_err();
        let prefix = format!("{}/", folder.path().display());
        let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(lines.join("\n"), problems.to_string());
        lines.join("\n").replace(&prefix, "")
    }
}

fn given() -> Given {
    Given::default()
}

/// A workspace file alone.
fn toml(text: impl Into<Vec<u8>>) -> Given {
    given().file("memory.toml", text)
}

#[track_caller]
fn check(given: &Given, expect: &[&str]) {
    let found = given.problems();
    assert_eq!(found.lines().collect::<Vec<_>>(), expect, "\n{found}\n");
}
