use std::fmt;
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
    /// When the index is brought up to date by itself.
    pub sync: SyncConfig,
    /// What is kept so that it need not be computed again.
    pub cache: CacheConfig,
    /// Where and how text is added.
    pub write: WriteConfig,
    /// When an agent is told to write down what it is about to forget.
    pub flush: FlushConfig,
    /// What the embedder's slot says beside its plugin.
    pub embedder: EmbedderConfig,
    /// What the slot of decay says beside its plugin.
    pub decay: DecayConfig,
    pub(crate) slots: Slots,
}

impl Config {
    /// Returns the plugins in use in a slot, in their order.
    pub fn plugins(&self, kind: Kind) -> &[PluginConfig] {
        self.slots.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Returns the plugin in use in a slot that holds one; `auto` has been resolved.
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
    /// When the index is brought up to date by itself.
    pub(crate) sync: SyncConfig,
    /// What is kept so that it need not be computed again.
    pub(crate) cache: CacheConfig,
    /// Where and how `memory add` writes.
    pub(crate) write: WriteConfig,
    /// When `memory flush check` says that an agent should write down what it is about to forget.
    pub(crate) flush: FlushConfig,
    pub(crate) embedder: EmbedderConfig,
    pub(crate) decay: DecayConfig,
}

impl Default for General {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
            namespace: "default".to_owned(),
            state_dir: None,
            documents: DocumentsConfig::default(),
            search: SearchConfig::default(),
            sync: SyncConfig::default(),
            cache: CacheConfig::default(),
            write: WriteConfig::default(),
            flush: FlushConfig::default(),
            embedder: EmbedderConfig::default(),
            decay: DecayConfig::default(),
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
    /// The recipe of the system whose memory files these are, number by number: keyword scores by place in the list, the
    /// cosine as it is (of vectors without what all texts share), a half-life of 30 days, the threshold after it, `mmr`.
    OpenClaw,
}

impl Preset {
    /// Returns its name in the config file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::OpenClaw => "openclaw",
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
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
    /// Transcripts of chats (JSONL), and folders of them. Default: none.
    #[schemars(extend("items" = serde_json::json!({"type": "string", "format": "path"})))]
    pub transcripts: Vec<PathBuf>,
    /// The size in KiB above which a note is skipped; transcripts may have any size. Default 10240, range 1 to 1048576.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_file_kib: u64,
}

impl Default for DocumentsConfig {
    fn default() -> Self {
        Self {
            include: Vec::new(),
            extra_paths: Vec::new(),
            transcripts: Vec::new(),
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
    /// How entries are found. Default `auto`.
    pub mode: SearchMode,
    /// How the scores of both indexes become one. Default `weighted`.
    pub fusion: Fusion,
    /// The share of meaning in the score; the two weights count in proportion. Default 0.7, range 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub vector_weight: f64,
    /// The share of words in the score; the two weights count in proportion. Default 0.3, range 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub text_weight: f64,
    /// How a score by words becomes a number from 0 to 1. Default `share`.
    pub text_score: TextScore,
    /// How a score by meaning becomes a number from 0 to 1. Default `calibrated`.
    pub vector_score: VectorScore,
    /// What `min_score` is held against. Default `relevance`.
    pub threshold: Threshold,
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

    /// Returns the weights of meaning and of words, so that they add up to 1.
    ///
    /// Two zeros, which [`load`](crate::load) refuses, mean the defaults.
    pub fn weights(&self) -> (f64, f64) {
        let sum = self.vector_weight + self.text_weight;
        if sum > 0.0 {
            (self.vector_weight / sum, self.text_weight / sum)
        } else {
            (VECTOR_WEIGHT, TEXT_WEIGHT)
        }
    }
}

const VECTOR_WEIGHT: f64 = 0.7;
const TEXT_WEIGHT: f64 = 0.3;

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            max_results: 6,
            min_score: 0.35,
            mode: SearchMode::default(),
            fusion: Fusion::default(),
            vector_weight: VECTOR_WEIGHT,
            text_weight: TEXT_WEIGHT,
            text_score: TextScore::default(),
            vector_score: VectorScore::default(),
            threshold: Threshold::default(),
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

/// How entries are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SearchMode {
    /// By words and by meaning, as far as both are there.
    #[default]
    Auto,
    /// By words and by meaning.
    Hybrid,
    /// By words alone.
    Lexical,
    /// By meaning alone.
    Vector,
}

/// How the scores of both indexes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// The weighted sum of both scores. Where an entry holds nearly every word of the question, words weigh more than `text_weight`.
    #[default]
    Weighted,
    /// The weighted sum of each score's share of the best one among the candidates of the question.
    Convex,
}

/// How a score by words becomes a number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TextScore {
    /// The share of the score that the question could reach.
    #[default]
    Share,
    /// 1 / (1 + place in the list of keyword hits, from 0).
    Position,
    /// r / (1 + r), with r the BM25 score.
    Saturate,
}

/// How a score by meaning becomes a number from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VectorScore {
    /// The cosine, held against those of texts that have nothing to do with each other: the same number means the same with every
    /// model.
    #[default]
    Calibrated,
    /// The cosine, without what all texts share; below 0, and for what was not found by meaning, it counts as 0.
    Cosine,
}

/// What `min_score` is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Threshold {
    /// What fits the question, so that age never hides the only match.
    #[default]
    Relevance,
    /// What fits the question, less what time took from it.
    Freshness,
}

/// When a process that runs for long (`memory mcp`, `memory watch`) brings the index up to date by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SyncConfig {
    /// When it starts. Default true.
    pub on_session_start: bool,
    /// In the background of each search, which answers from what is indexed already; only the very first index is waited for.
    /// Default true.
    pub on_search: bool,
    /// When files change. Default true.
    pub watch: bool,
    /// How long files have to be quiet before that, in milliseconds. Default 1500, range 10 to 600000.
    #[schemars(range(min = 10, max = 600_000))]
    pub watch_debounce_ms: u32,
    /// How many bytes a transcript has to have grown to be read again when files change. Default 100000, range 0 to 1000000000.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub delta_bytes: u32,
    /// Or how many messages. Default 50, range 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub delta_messages: u32,
    /// How often in any case, in minutes; 0 means never. Default 10, range 0 to 10080.
    #[schemars(range(min = 0, max = 10_080))]
    pub interval_minutes: u32,
}

impl Default for SyncConfig {
    fn default() -> Self {
        Self {
            on_session_start: true,
            on_search: true,
            watch: true,
            watch_debounce_ms: 1500,
            delta_bytes: 100_000,
            delta_messages: 50,
            interval_minutes: 10,
        }
    }
}

/// What is kept so that it need not be computed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheConfig {
    /// How many vectors are kept, so that text that comes back is not embedded again; above it, those go that no entry needs, the
    /// least recently used first. 0 keeps only what entries need. Default 50000, range 0 to 100000000.
    #[schemars(range(min = 0, max = 100_000_000))]
    pub max_entries: u64,
}

impl Default for CacheConfig {
    fn default() -> Self {
        Self {
            max_entries: 50_000,
        }
    }
}

/// Where and how text is added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WriteConfig {
    /// The note of the day, relative to the workspace; `{date}` (2026-05-18), `{year}`, `{month}` and `{day}` are filled in. It has
    /// to be a memory file. Default `memory/{date}.md`.
    pub file: String,
    /// The line above each text in the note of the day; `{date}` and `{time}` (09:30) are filled in. A heading keeps the headings
    /// of the text below it. Empty: none. Default `## {time}`.
    pub heading: String,
    /// The same above a text in any other note. Default `## {date} {time}`.
    pub note_heading: String,
    /// Whose days and hours: a name such as `Europe/Berlin`, or `system`. Default `system`.
    pub time_zone: String,
    /// The length of a text that is added, in characters. Default 20000, range 1 to 1000000.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_chars: usize,
}

impl WriteConfig {
    /// What `time_zone` is where the system decides.
    pub const SYSTEM: &str = "system";
}

impl Default for WriteConfig {
    fn default() -> Self {
        Self {
            file: "memory/{date}.md".to_owned(),
            heading: "## {time}".to_owned(),
            note_heading: "## {date} {time}".to_owned(),
            time_zone: Self::SYSTEM.to_owned(),
            max_chars: 20_000,
        }
    }
}

/// When an agent is told to write down what it is about to forget: before its conversation is compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FlushConfig {
    /// Whether it is. Default true.
    pub enabled: bool,
    /// Tokens at the end of the window that are kept free for the compaction; at most a quarter of the window counts. Default
    /// 20000, range 0 to 100000000.
    #[schemars(range(min = 0, max = 100_000_000))]
    pub reserve_floor_tokens: u64,
    /// How many tokens before that it is time; at most half of what the reserve leaves counts. Default 4000, range 0 to 100000000.
    #[schemars(range(min = 0, max = 100_000_000))]
    pub soft_tokens: u64,
    /// The size of a transcript, in KiB, from which it is time whatever the tokens are; 0: never. Default 2048, range 0 to
    /// 1073741824.
    #[schemars(range(min = 0, max = 1_073_741_824))]
    pub transcript_kib: u64,
    /// What the agent is told about its task; `{path}` (the note of the day), `{date}` and `{time}` are filled in. Not blank.
    #[serde(deserialize_with = "not_blank")]
    pub system_prompt: String,
    /// What it is asked then; filled in as well. Not blank.
    #[serde(deserialize_with = "not_blank")]
    pub prompt: String,
}

impl Default for FlushConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            reserve_floor_tokens: 20_000,
            soft_tokens: 4_000,
            transcript_kib: 2 * 1024,
            system_prompt: "The older part of this conversation is about to be replaced by a summary. This turn is for your memory alone: the person you work for does not see it. Save what would be missed later, or answer NO_REPLY.".to_owned(),
            prompt: "It is {time} on {date}. Look through the conversation for what will matter after today and is in no note yet: decisions and their reasons, facts, names, numbers and dates, preferences, open tasks and promises. Append it to {path}, in short sentences that make sense on their own; create the file if it is not there. Only append: change or delete nothing that is there, and leave MEMORY.md and every other file alone. Write down no passwords, keys or tokens. If there is nothing to save, or when you are done, answer with NO_REPLY and nothing else.".to_owned(),
        }
    }
}

/// What the embedder's slot says beside its plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EmbedderConfig {
    /// What a search does while the embedder cannot be used. Default `words`.
    pub fallback: Fallback,
    /// The plugin was chosen by `use = "auto"`, so that going without it is no mistake.
    #[serde(skip)]
    pub is_auto: bool,
}

/// What a search does while the embedder cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Fallback {
    /// It finds by words and says so.
    #[default]
    Words,
}

/// What the slot of decay says beside its plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct DecayConfig {
    /// Globs, relative to the workspace, of documents that never fade. Default `["MEMORY.md", "USER.md"]`.
    pub evergreen: Vec<String>,
    /// Whether documents below `memory/` that bear no date never fade either. Default true.
    pub evergreen_undated: bool,
}

impl Default for DecayConfig {
    fn default() -> Self {
        Self {
            evergreen: vec!["MEMORY.md".to_owned(), "USER.md".to_owned()],
            evergreen_undated: true,
        }
    }
}

fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(serde::de::Error::custom("is blank"));
    }
    Ok(text)
}
