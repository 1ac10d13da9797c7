//! What is said of the keys that have no counterpart.

use super::NoteKind::{self, Adapted, NoCounterpart};

/// Keys and tables, and what is said of each; `search` stands for `memorySearch`, wherever it was.
pub(super) const REMARKS: &[(&str, NoteKind, &str)] = &[
    (
        "search.model",
        NoCounterpart,
        "models are named otherwise here: `memory model list` prints them, `embedder.local.model` takes one",
    ),
    (
        "search.fallback",
        NoCounterpart,
        "while the model cannot be used, a search goes by words and says so; there is no second provider",
    ),
    (
        "search.remote.apiKey",
        NoCounterpart,
        "a secret, left out; no text leaves the machine here, so none is needed",
    ),
    (
        "search.remote.headers",
        NoCounterpart,
        "left out, since they may be secret; no text leaves the machine here",
    ),
    (
        "search.remote",
        NoCounterpart,
        "no embedder elsewhere is asked; the model runs on this machine, after `memory model pull`",
    ),
    (
        "search.outputDimensionality",
        NoCounterpart,
        "vectors have the length that the model gives them",
    ),
    (
        "search.inputType",
        NoCounterpart,
        "a model on this machine knows questions from texts by itself",
    ),
    (
        "search.queryInputType",
        NoCounterpart,
        "a known model has its own prefix for questions; for a model by path: `embedder.local.query_prefix`",
    ),
    (
        "search.documentInputType",
        NoCounterpart,
        "a known model has its own prefix for texts; for a model by path: `embedder.local.document_prefix`",
    ),
    (
        "search.local.modelCacheDir",
        NoCounterpart,
        "models lie in `$XDG_CACHE_HOME/memory/models`; set that variable to move them",
    ),
    (
        "search.store.path",
        NoCounterpart,
        "the index is a folder, `.memory` in the workspace; `state_dir` moves it; the old index is not read, it is built from your files",
    ),
    (
        "search.store.vector.enabled",
        Adapted,
        "vectors are always found exactly: `vector.use = \"flat\"` in memory, `\"sqlite-vec\"` from a file",
    ),
    (
        "search.store.vector.extensionPath",
        NoCounterpart,
        "the extension is built in: `vector.use = \"sqlite-vec\"`",
    ),
    (
        "search.store.fts.tokenizer",
        NoCounterpart,
        "words of every language, Chinese too, are found by one analysis; there is nothing to choose",
    ),
    ("search.multimodal", NoCounterpart, "only text is indexed"),
    (
        "backend",
        NoCounterpart,
        "this program is the only engine here",
    ),
    (
        "qmd",
        NoCounterpart,
        "settings of another engine; more folders go into `documents.extra_paths`",
    ),
];

/// The keys that are mapped, to find what a misspelt one meant.
pub(super) const MAPPED: &[&str] = &[
    "search.enabled",
    "search.sources",
    "search.extraPaths",
    "search.provider",
    "search.local.modelPath",
    "search.chunking.tokens",
    "search.chunking.overlap",
    "search.sync.onSessionStart",
    "search.sync.onSearch",
    "search.sync.watch",
    "search.sync.watchDebounceMs",
    "search.sync.intervalMinutes",
    "search.sync.sessions.deltaBytes",
    "search.sync.sessions.deltaMessages",
    "search.query.maxResults",
    "search.query.minScore",
    "search.query.hybrid.enabled",
    "search.query.hybrid.vectorWeight",
    "search.query.hybrid.textWeight",
    "search.query.hybrid.candidateMultiplier",
    "search.query.hybrid.mmr.enabled",
    "search.query.hybrid.mmr.lambda",
    "search.query.hybrid.temporalDecay.enabled",
    "search.query.hybrid.temporalDecay.halfLifeDays",
    "search.cache.enabled",
    "search.cache.maxEntries",
    "search.experimental.sessionMemory",
    "citations",
    "compaction.reserveTokensFloor",
    "compaction.memoryFlush.enabled",
    "compaction.memoryFlush.softThresholdTokens",
    "compaction.memoryFlush.prompt",
    "compaction.memoryFlush.systemPrompt",
    "compaction.memoryFlush.forceFlushTranscriptBytes",
];

/// Some of what such a file holds beside the memory; one of them, or one of ours, tells that it is such a file.
pub(super) const TOP: &[&str] = &[
    "agents", "memory", "auth", "bindings", "browser", "channels", "commands", "cron", "env",
    "gateway", "hooks", "logging", "messages", "meta", "models", "plugins", "session", "skills",
    "talk", "tools", "wizard",
];
