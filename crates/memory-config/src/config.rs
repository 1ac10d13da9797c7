use std::path::PathBuf;

use memory_api::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::PluginConfig;
use crate::slot::Slots;

/// The effective configuration.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The set of defaults.
    pub preset: Preset,
    /// Whose memory it is.
    pub namespace: String,
    /// The folder of the index; `None` means `.memory` in the workspace.
    pub state_dir: Option<PathBuf>,
    /// Which documents belong to the memory.
    pub documents: DocumentsConfig,
    /// How a search answers.
    pub search: SearchConfig,
    pub(crate) slots: Slots,
}

impl Config {
    /// Returns the plugins in use in a slot, in their order.
    pub fn plugins(&self, kind: Kind) -> &[PluginConfig] {
        self.slots.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Returns the plugin in use in a slot that holds one.
    pub fn plugin(&self, kind: Kind) -> Option<&PluginConfig> {
        self.plugins(kind).first()
    }
}

/// The tables that are not slots.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "memory.toml")]
pub(crate) struct General {
    /// The set of defaults. Default `default`.
    pub(crate) preset: Preset,
    /// Whose memory it is; one state folder can hold several. Not blank. Default `default`.
    #[serde(deserialize_with = "not_blank")]
    pub(crate) namespace: String,
    /// The folder of the index. Default: `.memory` in the workspace.
    #[schemars(extend("format" = "path"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Which documents belong to the memory.
    pub(crate) documents: DocumentsConfig,
    /// How a search answers.
    pub(crate) search: SearchConfig,
}

impl Default for General {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            namespace: "default".to_owned(),
            state_dir: None,
            documents: DocumentsConfig::default(),
            search: SearchConfig::default(),
        }
    }
}

/// A set of defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Preset {
    /// What measures best.
    #[default]
    Default,
}

/// Which documents belong to the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DocumentsConfig {
    /// Globs relative to the workspace, instead of the default memory files. Empty: the default memory files.
    pub include: Vec<String>,
    /// Files and folders outside the workspace that are indexed too. Default: none.
    #[schemars(extend("items" = serde_json::json!({"type": "string", "format": "path"})))]
    pub extra_paths: Vec<PathBuf>,
    /// The size in KiB above which a file is skipped. Default 10240, range 1 to 1048576.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_file_kib: u64,
}

impl Default for DocumentsConfig {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            extra_paths: Vec::new(),
            max_file_kib: 10 * 1024,
        }
    }
}

/// How a search answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchConfig {
    /// How many results at most. Default 6, range 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub max_results: usize,
    /// The relevance that results should reach; what only holds a word of the question comes behind those that do, on the places
    /// left. Default 0.35, range 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub min_score: f64,
    /// Candidates each index returns per wanted result. Default 4, range 1 to 20.
    #[schemars(range(min = 1, max = 20))]
    pub candidate_multiplier: usize,
    /// Whether results cite file and lines. Default `auto`.
    pub citations: Citations,
    /// The length of a snippet in characters. Default 700, range 40 to 20000.
    #[schemars(range(min = 40, max = 20_000))]
    pub snippet_chars: usize,
    /// The length of all snippets of one answer together, in characters; 0 means no limit. Default 8000, range 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub max_chars: usize,
}

impl SearchConfig {
    /// Returns the budget of all snippets of one answer in characters; `None` means no limit.
    pub fn snippet_budget(&self) -> Option<usize> {
        (self.max_chars > 0).then_some(self.max_chars)
    }
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            max_results: 6,
            min_score: 0.35,
            candidate_multiplier: 4,
            citations: Citations::default(),
            snippet_chars: 700,
            max_chars: 8000,
        }
    }
}

/// Whether results cite file and lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Citations {
    /// The front end decides.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(serde::de::Error::custom("is blank"));
    }
    Ok(text)
}
