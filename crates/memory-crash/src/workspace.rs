//! Opens the memory of a workspace and looks at what is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{App, AskedMode, FixedClock, Memory, Query, SyncRequest};
use memory_api::Timestamp;
use serde_json::{Value, json};

use crate::Result;
use crate::script::Script;

/// Midnight of 2026-06-01, UTC.
const NOW: Timestamp = Timestamp(1_780_272_000_000);
const QUESTIONS: &[&str] = &[
    "which varnish lies beside the keel",
    "mooring and tide",
    "a lantern for the orchard",
    "glacier violin saffron",
];
const MODES: &[AskedMode] = &[AskedMode::Lexical, AskedMode::Vector, AskedMode::Hybrid];

/// Opens the memory of a workspace whose index lies in its folder `state`.
pub(crate) fn open(workspace: &Path, state: &str, other_split: bool) -> Result<Memory> {
    let app = App::with_default_plugins()?.with_clock(Arc::new(FixedClock::new(NOW)));
    let flag = |key: &str, value: Value| Flag::new("crash", key, value);
    let split = if other_split { "block" } else { "section" };
    let sources = Sources {
        flags: vec![
            flag("documents.include", json!(["notes/**/*.md"])),
            flag("embedder.use", json!("hash")),
            // Vectors that no entry needs go at once, so that this is a step as well.
            flag("cache.max_entries", json!(0)),
            flag("chunker.markdown.split", json!(split)),
            flag("state_dir", json!(workspace.join(state))),
        ],
        ..Sources::default()
    };
    let loaded = config::load(&sources, app.registry()).map_err(|err| err.to_string())?;
    Ok(block_on(app.open(&loaded.config, workspace))?)
}

/// Brings an index to the state of the files.
pub(crate) fn sync(memory: &Memory, force: bool) -> Result<()> {
    let request = SyncRequest {
        force,
        ..SyncRequest::default()
    };
    let report = block_on(memory.sync(&request))?;
    if report.failed.is_empty() {
        Ok(())
    } else {
        Err(format!("not indexed: {:?}", report.failed).into())
    }
}

/// Asks everything in every mode; each answer is one line per result: id, place and score.
pub(crate) fn answers(memory: &Memory) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for question in QUESTIONS {
        for mode in MODES {
            let query = Query::new(*question).with_mode(*mode).everything(40);
            let answer = block_on(memory.search(&query))?;
            lines.push(format!("{question} ({mode:?}): {:?}", answer.degraded));
            let mut results: Vec<_> = answer
                .results
                .iter()
                .map(|hit| {
                    let (path, from, to) = (&hit.path, hit.line_start, hit.line_end);
                    format!("{:.9} {:?} {path}:{from}-{to}", hit.score, hit.id)
                })
                .collect();
            // Equals in any order.
            results.sort();
            lines.extend(results);
        }
    }
    Ok(lines)
}

/// Asks right after a death: no error, no text that no version of its file had, and no empty answer once something is published.
pub(crate) fn ask_at_once(memory: &Memory, script: &Script, published: bool) -> Result<()> {
    let versions = script.versions();
    let mut found_by_words = 0;
    for question in QUESTIONS {
        for mode in MODES {
            let query = Query::new(*question).with_mode(*mode).everything(40);
            let results = block_on(memory.search(&query))?.results;
            if *mode == AskedMode::Lexical {
                found_by_words += results.len();
            }
            for hit in results {
                let path = hit.path.trim_start_matches("notes/");
                let words: BTreeSet<_> = hit.snippet.split_whitespace().collect();
                let known = versions.get(path).into_iter().flatten();
                if !known.into_iter().any(|version| words.is_subset(version)) {
                    let text = hit.snippet;
                    return Err(format!("no version of `{path}` has the text `{text}`").into());
                }
            }
        }
    }
    if published && found_by_words == 0 {
        return Err("what is published answers nothing".into());
    }
    Ok(())
}

/// Says what is wrong with an index that has been synced: numbers that differ, changes or vectors that are missing, files that are
/// left over.
pub(crate) fn problems(memory: &Memory, state: &Path) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let status = block_on(memory.status())?;
    let vector = status.vector.as_ref().ok_or("no index by meaning")?;
    let entries = (status.entries, status.lexical.entries, vector.index.entries);
    if entries.0 != entries.1 || entries.0 != entries.2 || entries.0 == 0 {
        problems.push(format!("entries of store, words, meaning: {entries:?}"));
    }
    let missing = (status.lexical.behind, vector.index.behind, vector.pending);
    if missing != (0, 0, 0) {
        problems.push(format!(
            "words behind, meaning behind, pending: {missing:?}"
        ));
    }
    if !status.degraded.is_empty() {
        problems.push(format!("degraded: {:?}", status.degraded));
    }
    let manifest: Value = serde_json::from_slice(&fs::read(state.join("MANIFEST.json"))?)?;
    let named: BTreeSet<_> = ["/store/dir", "/lexical/dir", "/vector/index/dir"]
        .iter()
        .filter_map(|key| manifest.pointer(key)?.as_str())
        .map(|dir| dir.trim_start_matches("gen/").to_owned())
        .collect();
    let there = names(&state.join("gen"))?;
    if named != there {
        problems.push(format!("the manifest names {named:?}, there is {there:?}"));
    }
    let is_temporary = |name: &String| [".new", ".tmp"].iter().any(|end| name.ends_with(end));
    problems.extend(
        names(state)?
            .into_iter()
            .filter(is_temporary)
            .map(|name| format!("`{name}` is left over")),
    );
    Ok(problems)
}

fn names(dir: &Path) -> Result<BTreeSet<String>> {
    let entries = fs::read_dir(dir)?.collect::<std::io::Result<Vec<_>>>()?;
    Ok(entries
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect())
}
