//! Opens the memory of a workspace and looks at what is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{App, AskedMode, FixedClock, Health, Memory, Query, SyncRequest};
use memory_api::Timestamp;
use serde_json::{Value, json};

use crate::Result;
use crate::script::{Script, Setup, files};
use crate::state::{State, expected_files, words_folder};

/// The state folder in a workspace.
pub(crate) const STATE: &str = ".memory";
/// Where [`lose_words`] puts what it takes.
const LOST: &str = "lost";
/// Midnight of 2026-06-01, UTC.
const NOW: Timestamp = Timestamp(1_780_272_000_000);
const QUESTIONS: &[&str] = &[
    "which varnish lies beside the keel",
    "mooring and tide",
    "a lantern for the orchard",
    "glacier violin saffron",
];
const MODES: &[AskedMode] = &[AskedMode::Lexical, AskedMode::Vector, AskedMode::Hybrid];

/// What an index that is as it should be is held against.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Answers, a line per result.
    answers: Vec<String>,
    /// Entries, a line each.
    entries: BTreeSet<String>,
}

/// Opens the memory of a workspace whose index lies in its folder `state`.
pub(crate) fn open(workspace: &Path, state: &str, setup: Setup) -> Result<Memory> {
    let app = App::with_default_plugins()?.with_clock(Arc::new(FixedClock::new(NOW)));
    let flag = |key: &str, value: Value| Flag::new("crash", key, value);
    let split = if setup.other_split {
        "block"
    } else {
        "section"
    };
    let plugin = if setup.other_plugin {
        "sqlite-vec"
    } else {
        "flat"
    };
    let sources = Sources {
        flags: vec![
            flag("documents.include", json!(["notes/**/*.md"])),
            flag("documents.transcripts", json!(["notes/chats"])),
            flag("embedder.use", json!("hash")),
            flag("vector.use", json!(plugin)),
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

/// Takes the index by words out of the state folder, as somebody may who tidies up.
pub(crate) fn lose_words(workspace: &Path) -> Result<()> {
    let state = workspace.join(STATE);
    if let Some(dir) = words_folder(&state)? {
        let dir = state.join(dir);
        // A process that died before it built another one leaves it lost.
        if dir.is_dir() {
            fs::rename(dir, workspace.join(LOST))?;
        }
    }
    Ok(())
}

/// Returns whether [`lose_words`] took something.
pub(crate) fn has_lost_words(workspace: &Path) -> bool {
    workspace.join(LOST).is_dir()
}

/// Removes what [`lose_words`] took, so that it can take it again; returns whether it had taken something.
#[cfg(target_os = "linux")]
pub(crate) fn forget_lost_words(workspace: &Path) -> Result<bool> {
    let is_lost = has_lost_words(workspace);
    if is_lost {
        fs::remove_dir_all(workspace.join(LOST))?;
    }
    Ok(is_lost)
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
fn answers(memory: &Memory) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for question in QUESTIONS {
        for mode in MODES {
            let query = Query::new(*question).with_mode(*mode).everything(40);
            let answer = block_on(memory.search(&query))?;
            if !answer.degraded.is_empty() {
                let degraded = answer.degraded;
                return Err(
                    format!("`{question}` ({mode:?}) is answered without: {degraded:?}").into(),
                );
            }
            lines.push(format!("{question} ({mode:?}): {}", answer.results.len()));
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

/// Looks at an index that has been synced, through the engine and at its files; adds to `problems` numbers that differ, changes or
/// vectors that are missing, files that are left over.
pub(crate) fn look(
    workspace: &Path,
    state: &str,
    setup: Setup,
    problems: &mut Vec<String>,
) -> Result<Whole> {
    let memory = open(workspace, state, setup)?;
    let answers = answers(&memory)?;
    through_the_engine(&memory, problems)?;
    block_on(memory.close())?;

    let state = workspace.join(state);
    let found = State::read(&state)?.ok_or("there is no manifest")?;
    problems.extend(found.incomplete());
    leftovers(&state, problems)?;
    Ok(Whole {
        answers,
        entries: found.lines(),
    })
}

/// Adds what is wrong with an index that has been synced: numbers that differ, changes or vectors that are missing, parts that are
/// not green.
pub(crate) fn through_the_engine(memory: &Memory, problems: &mut Vec<String>) -> Result<()> {
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
    let findings = block_on(memory.examine())?;
    let ill = findings
        .iter()
        .filter(|finding| finding.health != Health::Green);
    problems.extend(ill.map(|finding| format!("{}: {}", finding.part, finding.message)));
    Ok(())
}

/// Adds what lies in a state folder and belongs to nothing, and what is missing there.
pub(crate) fn leftovers(state: &Path, problems: &mut Vec<String>) -> Result<()> {
    let (there, expected) = (files(state)?, expected_files(state)?);
    let left = there.difference(&expected);
    for file in left {
        // What lies beside a database holds nothing any more where whoever read closed it last.
        let is_empty = fs::metadata(state.join(file))?.len() == 0;
        if !(file.ends_with("-shm") || file.ends_with("-wal") && is_empty) {
            problems.push(format!("`{file}` is left over"));
        }
    }
    let missing = expected.difference(&there);
    problems.extend(missing.map(|file| format!("`{file}` is missing")));
    let generations = fs::read_dir(state.join("gen"))?;
    for folder in generations {
        let name = format!("gen/{}/", folder?.file_name().to_string_lossy());
        if !expected.iter().any(|file| file.starts_with(&name)) {
            problems.push(format!("`{name}` is left over"));
        }
    }
    Ok(())
}

impl Whole {
    /// Adds a line for everything that is in one of the two alone: `+` here, `-` in what is expected.
    pub(crate) fn compare(&self, expected: &Self, differences: &mut Vec<String>) {
        let lines = |whole: &Self| -> BTreeSet<String> {
            whole
                .answers
                .iter()
                .chain(&whole.entries)
                .cloned()
                .collect()
        };
        let (found, expected) = (lines(self), lines(expected));
        let surplus = found.difference(&expected);
        differences.extend(surplus.map(|line| format!("+ {line}")));
        let missing = expected.difference(&found);
        differences.extend(missing.map(|line| format!("- {line}")));
    }
}
