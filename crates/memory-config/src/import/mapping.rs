//! What each key of an `openclaw.json` is called here.

use std::path::Path;

use serde_json::{Value, json};

use super::{Given, Mapper, NoteKind, is_plain};
use crate::key::KeyPath;
use crate::show;

/// Says the same in our words.
impl Mapper<'_> {
    /// Writes a value where it is not in force anyway.
    fn set(&mut self, key: &str, value: Value) {
        let same = |base: &Value| match (base.as_f64(), value.as_f64()) {
            (Some(base), Some(value)) => base.to_bits() == value.to_bits(),
            _ => *base == value,
        };
        if self.base.get(key).is_some_and(same) {
            return;
        }
        let nested = key
            .rsplit('.')
            .fold(value, |value, name| json!({ name: value }));
        let mut out = Value::Object(std::mem::take(&mut self.out));
        show::overlay(&mut out, nested);
        if let Value::Object(out) = out {
            self.out = out;
        }
    }

    fn set_flag(&mut self, from: &str, to: &str) {
        if let Some(flag) = self.flag(from) {
            self.set(to, flag.into());
        }
    }

    fn set_integer(&mut self, from: &str, to: &str, least: u32, most: u32) {
        if let Some(number) = self.integer(from, least, most) {
            self.set(to, number.into());
        }
    }

    fn set_number(&mut self, from: &str, to: &str, least: f64, most: f64) {
        if let Some(number) = self.number(from, least, most) {
            self.set(to, number.into());
        }
    }

    pub(super) fn map(&mut self) {
        self.documents();
        self.embedder();
        self.chunking();
        self.sync();
        self.query();
        self.weights();
        self.cache();
        self.flush();
        if let Some((key, word)) = self.word("citations") {
            match word.as_str() {
                "auto" | "on" | "off" => self.set("search.citations", word.into()),
                _ => self.wrong(&key, "`auto`, `on` or `off`"),
            }
        }
    }

    fn documents(&mut self) {
        if let Some(given) = self
            .given
            .get("search.enabled")
            .map(|given| given.key.clone())
            && self.flag("search.enabled") == Some(false)
        {
            let text = "memory search is off there; here it is used only by who asks: leave `memory mcp` out of that agent's tools";
            self.note(&given, NoteKind::NoCounterpart, text);
        }
        let session_memory = self
            .given
            .get("search.experimental.sessionMemory")
            .map(|given| given.key.clone());
        let is_on = self.flag("search.experimental.sessionMemory");
        let mut sessions = None;
        if let Some(Given { key, value }) = self.take("search.sources") {
            match value.as_array() {
                Some(items) => {
                    for (index, item) in items.iter().enumerate() {
                        match item.as_str() {
                            Some("memory") => {}
                            Some("sessions") => sessions = Some(key.clone()),
                            _ => self.note(
                                &key.index(index),
                                NoteKind::Unknown,
                                "no such source; there are `memory` and `sessions`",
                            ),
                        }
                    }
                    if !items.iter().any(|item| item == "memory") {
                        let text = "notes always belong to the memory here; `.memoryignore` leaves files out";
                        self.note(&key, NoteKind::NoCounterpart, text);
                    }
                }
                None => self.wrong(&key, "a list"),
            }
        }
        match (sessions, session_memory, is_on) {
            (Some(key), _, Some(false)) => {
                self.note(
                    &key,
                    NoteKind::Adapted,
                    "`experimental.sessionMemory` is false, so sessions are left out, as there",
                );
            }
            (Some(key), ..) | (None, Some(key), Some(true)) => self.sessions(&key),
            _ => {}
        }
        if let Some(Given { key, value }) = self.take("search.extraPaths") {
            let Some(items) = value.as_array() else {
                return self.wrong(&key, "a list");
            };
            let mut paths: Vec<Value> = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let key = key.index(index);
                let path = match item {
                    Value::Object(table) => {
                        for name in table.keys().filter(|name| *name != "path") {
                            let text = if name == "pattern" {
                                "of an extra folder, all Markdown files are taken; `.memoryignore` in it leaves files out"
                            } else {
                                "unknown key"
                            };
                            let kind = if name == "pattern" {
                                NoteKind::NoCounterpart
                            } else {
                                NoteKind::Unknown
                            };
                            self.note(&key.key(name), kind, text);
                        }
                        self.place(&key, table.get("path").unwrap_or(&Value::Null))
                    }
                    _ => self.place(&key, item),
                };
                paths.extend(path.map(Value::from));
            }
            self.set("documents.extra_paths", paths.into());
        }
    }

    fn sessions(&mut self, key: &KeyPath) {
        let dir = self.source.state_dir.filter(|_| is_plain(&self.agent));
        let dir = dir.map(|dir| dir.join("agents").join(&self.agent).join("sessions"));
        match dir.as_deref().and_then(Path::to_str) {
            Some(dir) => self.set("documents.transcripts", json!([dir])),
            None => self.note(
                key,
                NoteKind::NoCounterpart,
                "the folder of the sessions is not known; name it in `documents.transcripts`, as ~/.openclaw/agents/ID/sessions (with your home folder for `~`)",
            ),
        }
    }

    fn embedder(&mut self) {
        let mut is_here = true;
        if let Some((key, provider)) = self.word("search.provider") {
            match provider.as_str() {
                "auto" => {}
                "local" => self.set("embedder.use", "local".into()),
                "none" => {
                    is_here = false;
                    self.set("embedder.use", "none".into());
                }
                "openai" | "gemini" | "voyage" | "mistral" | "ollama" | "openai-compatible" => {
                    is_here = false;
                    let text = format!(
                        "`{provider}` is not asked; the model runs on this machine, after `memory model pull`"
                    );
                    self.note(&key, NoteKind::NoCounterpart, text);
                }
                _ => self.note(
                    &key,
                    NoteKind::Unknown,
                    "no such provider; the model runs on this machine, after `memory model pull`",
                ),
            }
        }
        let Some(Given { key, value }) = self.take("search.local.modelPath") else {
            return;
        };
        let is_address = value
            .as_str()
            .is_some_and(|text| text.starts_with("hf:") || text.contains("://"));
        if !is_here {
            self.note(
                &key,
                NoteKind::NoCounterpart,
                "not in use there; `embedder.local.path` takes a model of one's own",
            );
        } else if is_address {
            self.note(&key, NoteKind::NoCounterpart, "nothing is fetched by address; `memory model pull` gets a known model, `embedder.local.path` takes a file");
        } else if let Some(path) = self.place(&key, &value) {
            self.note(&key, NoteKind::Adapted, "taken over as `embedder.local.path`; only models of the BERT family run here, so leave it out for another one");
            self.set("embedder.local.path", path.into());
        }
    }

    fn chunking(&mut self) {
        let tokens = self.integer("search.chunking.tokens", 16, 8192);
        if let Some(tokens) = tokens {
            self.set("chunker.markdown.max_tokens", tokens.into());
            self.set("chunker.transcript.max_tokens", tokens.into());
        }
        // What that system takes when nothing is said; ours goes with the tokens.
        let (tokens, usual) = (tokens.unwrap_or(400), 80.min(tokens.unwrap_or(400) - 1));
        let overlap = self
            .integer("search.chunking.overlap", 0, tokens - 1)
            .unwrap_or(usual);
        if overlap != tokens / 5 {
            self.set("chunker.markdown.overlap_tokens", overlap.into());
        }
    }

    fn sync(&mut self) {
        self.set_flag("search.sync.onSessionStart", "sync.on_session_start");
        self.set_flag("search.sync.onSearch", "sync.on_search");
        self.set_flag("search.sync.watch", "sync.watch");
        self.set_integer(
            "search.sync.watchDebounceMs",
            "sync.watch_debounce_ms",
            10,
            600_000,
        );
        self.set_integer(
            "search.sync.intervalMinutes",
            "sync.interval_minutes",
            0,
            10_080,
        );
        self.set_integer(
            "search.sync.sessions.deltaBytes",
            "sync.delta_bytes",
            0,
            1_000_000_000,
        );
        self.set_integer(
            "search.sync.sessions.deltaMessages",
            "sync.delta_messages",
            0,
            1_000_000,
        );
    }

    fn query(&mut self) {
        self.set_integer("search.query.maxResults", "search.max_results", 1, 1000);
        self.set_number("search.query.minScore", "search.min_score", 0.0, 1.0);
        if self.flag("search.query.hybrid.enabled") == Some(false) {
            let is_words =
                self.out.get("embedder").and_then(|table| table.get("use")) == Some(&"none".into());
            self.set(
                "search.mode",
                if is_words { "lexical" } else { "vector" }.into(),
            );
        }
        self.set_integer(
            "search.query.hybrid.candidateMultiplier",
            "search.candidate_multiplier",
            1,
            20,
        );
        match self.flag("search.query.hybrid.mmr.enabled") {
            Some(true) => self.set("rerank.use", json!(["mmr"])),
            Some(false) => self.set("rerank.use", json!([])),
            None => {}
        }
        self.set_number(
            "search.query.hybrid.mmr.lambda",
            "rerank.mmr.lambda",
            0.0,
            1.0,
        );
        match self.flag("search.query.hybrid.temporalDecay.enabled") {
            Some(true) => self.set("decay.use", "exponential".into()),
            Some(false) => self.set("decay.use", "none".into()),
            None => {}
        }
        self.set_number(
            "search.query.hybrid.temporalDecay.halfLifeDays",
            "decay.exponential.half_life_days",
            1.0,
            f64::MAX,
        );
    }

    fn weights(&mut self) {
        let names = [
            "search.query.hybrid.vectorWeight",
            "search.query.hybrid.textWeight",
        ];
        let key = names
            .iter()
            .find_map(|name| Some(self.given.get(*name)?.key.clone()));
        let [vector, text] = names.map(|name| self.number(name, 0.0, 1.0));
        let (vector, text) = (vector.unwrap_or(0.7), text.unwrap_or(0.3));
        if vector + text > 0.0 {
            self.set("search.vector_weight", vector.into());
            self.set("search.text_weight", text.into());
        } else if let Some(key) = key {
            let text = "both weights are 0, which means 0.7 and 0.3, as there";
            self.note(&key, NoteKind::Clamped, text);
        }
    }

    fn cache(&mut self) {
        let entries = self.integer("search.cache.maxEntries", 0, 100_000_000);
        let entries = match self.flag("search.cache.enabled") {
            Some(false) => Some(0),
            _ => entries,
        };
        if let Some(entries) = entries {
            self.set("cache.max_entries", entries.into());
        }
    }

    fn flush(&mut self) {
        const MOST: u32 = 100_000_000;
        self.set_integer(
            "compaction.reserveTokensFloor",
            "flush.reserve_floor_tokens",
            0,
            MOST,
        );
        self.set_flag("compaction.memoryFlush.enabled", "flush.enabled");
        self.set_integer(
            "compaction.memoryFlush.softThresholdTokens",
            "flush.soft_tokens",
            0,
            MOST,
        );
        for (from, to) in [
            ("compaction.memoryFlush.prompt", "flush.prompt"),
            ("compaction.memoryFlush.systemPrompt", "flush.system_prompt"),
        ] {
            match self.word(from) {
                Some((key, text)) if text.trim().is_empty() => {
                    self.note(&key, NoteKind::Invalid, "is blank, and was left out");
                }
                Some((key, text)) => {
                    if text.contains("YYYY-MM-DD") {
                        let text = "taken over; `{path}` stands for the note of the day here, where that one has YYYY-MM-DD";
                        self.note(&key, NoteKind::Adapted, text);
                    }
                    self.set(to, text.into());
                }
                None => {}
            }
        }
        let Some(given) = self.take("compaction.memoryFlush.forceFlushTranscriptBytes") else {
            return;
        };
        let number = given
            .value
            .as_f64()
            .or_else(|| given.value.as_str().and_then(bytes_of));
        let Some(bytes) = number else {
            return self.wrong(&given.key, "a number of bytes");
        };
        let kib = self.clamp(&given.key, (bytes / 1024.0).ceil(), 0.0, 1_073_741_824.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it was clamped"
        )]
        self.set("flush.transcript_kib", (kib as u64).into());
    }
}

/// Reads a size such as `2mb`.
fn bytes_of(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let end = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    let unit = match unit {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let number: f64 = number.trim().parse().ok()?;
    number.is_finite().then_some(number * unit)
}
