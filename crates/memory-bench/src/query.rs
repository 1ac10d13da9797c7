//! A question by words and meaning, from a new process and in an open memory, and where its time goes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use futures::executor::block_on;
use memory::config::{Flag, Sources};
use memory::{App, AskedMode, Memory, Mode, Query, SyncRequest};
use memory_api::{
    Embedder, EmbeddingSpace, LexicalIndex, LexicalQuery, Role, VectorIndex, VectorQuery,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::corpus::Corpus;
use crate::report::{Aim, Report, millis};
use crate::sample::{median, paired_ratio};
use crate::watch::{seconds, time};
use crate::{Result, open};

const N_QUESTIONS: usize = 30;
/// How often the questions are asked once they are known.
const N_ROUNDS: usize = 5;
/// Openings of the model.
const N_OPENINGS: usize = 3;
/// The hits a search for six results wants of an index.
const K: usize = 24;

/// Notes, and two equal indexes of them: what one knows of a question, the other does not.
struct Workspace {
    dir: TempDir,
}

impl Workspace {
    fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    /// The index that new processes use.
    fn cold(&self) -> PathBuf {
        self.dir.path().join("cold")
    }

    /// The index of the memory that stays open.
    fn warm(&self) -> PathBuf {
        self.dir.path().join("warm")
    }

    fn open(&self) -> Result<Memory> {
        let app = App::with_default_plugins()?.with_cache_dir(open::cache_dir()?);
        let warm = self.warm();
        let sources = Sources {
            workspace_file: Some(self.notes().join("memory.toml")),
            flags: vec![Flag::new("--state", "state_dir", warm.to_string_lossy())],
            ..Sources::default()
        };
        let loaded = memory::config::load(&sources, app.registry())?;
        Ok(block_on(app.open(&loaded.config, &self.notes()))?)
    }
}

/// Measures, with the program at this path.
pub(crate) fn run(program: &Path) -> Result<Report> {
    let mut report = Report::default();
    let corpus = Corpus::find()?;
    // One more, to wake everything up with.
    let questions = corpus.questions(N_QUESTIONS + 1)?;
    let (first, questions) = questions.split_first().ok_or("no question")?;
    let workspace = index(&corpus, &mut report)?;
    cold(program, &workspace, first, questions, &mut report)?;
    warm(&workspace, first, questions, &mut report)?;
    Ok(report)
}

fn index(corpus: &Corpus, report: &mut Report) -> Result<Workspace> {
    let workspace = Workspace {
        dir: tempfile::tempdir()?,
    };
    corpus.copy_to(&workspace.notes().join("memory"))?;
    fs::write(
        workspace.notes().join("memory.toml"),
        "[embedder]\nuse = \"local\"\n",
    )?;
    let memory = workspace.open()?;
    let (synced, took) = time(|| Ok(block_on(memory.sync(&SyncRequest::default()))?))?;
    block_on(memory.close())?;
    if synced.pending > 0 || synced.entries == 0 || !synced.failed.is_empty() {
        let failed: Vec<_> = synced.failed.iter().map(|one| &one.reason).collect();
        return Err(format!(
            "the notes are not indexed: {} entries, {} pending, {failed:?}; run `cargo xtask prepare`",
            synced.entries, synced.pending
        )
        .into());
    }
    report.figure(
        "notes",
        format!("{}, {} entries", corpus.name, synced.entries),
    );
    report.figure("indexing them", format!("{:.1} s", took.wall));
    copy(&workspace.warm(), &workspace.cold())?;
    Ok(workspace)
}

/// Asks each question from processes of their own: by words, by both legs, and by both legs once more.
fn cold(
    program: &Path,
    workspace: &Workspace,
    first: &str,
    questions: &[String],
    report: &mut Report,
) -> Result<()> {
    let ask = |mode: &str, question: &str| {
        let output = Command::new(program)
            .args(["--json", "--workspace"])
            .arg(workspace.notes())
            .arg("--state")
            .arg(workspace.cold())
            .args(["search", "--mode", mode, question])
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let answer: Value = serde_json::from_slice(&output.stdout).map_err(|_| said)?;
        let went_by = answer.get("mode").and_then(Value::as_str);
        let whole = answer.get("degraded").and_then(Value::as_array);
        if went_by == Some(mode) && whole.is_some_and(Vec::is_empty) {
            Ok(())
        } else {
            Err(format!("`{question}` was not answered as asked: {answer}").into())
        }
    };
    for mode in ["lexical", "hybrid"] {
        ask(mode, first)?;
    }
    let (mut words, mut new, mut known) = (Vec::new(), Vec::new(), Vec::new());
    for question in questions {
        words.push(seconds(|| ask("lexical", question))?);
        new.push(seconds(|| ask("hybrid", question))?);
        known.push(seconds(|| ask("hybrid", question))?);
    }
    report.times("cold: words only", &words);
    report.times("cold: hybrid, new question", &new);
    report.times("cold: hybrid, known question", &known);
    report.ratio(
        "query: cold hybrid, known question / cold words only",
        paired_ratio(&known, &words),
        Aim::AtMost(2.0),
    );
    Ok(())
}

/// The plugins of an index, opened beside the memory that uses them.
struct Parts {
    embedder: Arc<dyn Embedder>,
    words: Arc<dyn LexicalIndex>,
    meaning: Arc<dyn VectorIndex>,
}

/// What each part of a question took, in seconds.
#[derive(Default)]
struct Legs {
    embedding: Vec<f64>,
    words: Vec<f64>,
    meaning: Vec<f64>,
}

impl Legs {
    fn sum(&self, with_embedding: bool) -> Vec<f64> {
        let legs = self.words.iter().zip(&self.meaning);
        legs.zip(&self.embedding)
            .map(|((words, meaning), embedding)| {
                words + meaning + if with_embedding { *embedding } else { 0.0 }
            })
            .collect()
    }
}

impl Parts {
    /// Opens what the manifest of an index names.
    fn open(state: &Path) -> Result<Self> {
        let manifest: Value = serde_json::from_slice(&fs::read(state.join("MANIFEST.json"))?)?;
        let text = |pointer: &str| {
            manifest
                .pointer(pointer)
                .and_then(Value::as_str)
                .ok_or_else(|| format!("the manifest has no `{pointer}`"))
        };
        let space = manifest.pointer("/vector/space").ok_or("no space")?;
        let space: EmbeddingSpace = serde_json::from_value(space.clone())?;
        Ok(Self {
            embedder: open::embedder()?,
            words: open::lexical_index(
                text("/lexical/plugin")?,
                &state.join(text("/lexical/dir")?),
            )?,
            meaning: open::vector_index(
                text("/vector/index/plugin")?,
                &state.join(text("/vector/index/dir")?),
                &space,
                true,
            )?,
        })
    }

    fn embed(&self, question: &str) -> Result<Vec<f32>> {
        let rows = block_on(self.embedder.embed(&[question], Role::Query))?;
        let row = rows.rows().next().map(<[f32]>::to_vec);
        row.ok_or_else(|| "the embedder has no answer".into())
    }

    /// Does to a question what a search does, one part after the other. The vector is taken as the model gives it, without the
    /// background that a search takes away from it: the index has to do as much.
    fn ask(&self, question: &str, legs: &mut Legs) -> Result<()> {
        let (vector, embedding) = time(|| self.embed(question))?;
        legs.embedding.push(embedding.wall);
        self.ask_indexes(question, &vector, legs)
    }

    fn ask_indexes(&self, question: &str, vector: &[f32], legs: &mut Legs) -> Result<()> {
        legs.words.push(seconds(|| {
            let query = LexicalQuery::new(question, K);
            block_on(self.words.search(&query))?;
            Ok(block_on(self.words.attainable(&query))?)
        })?);
        legs.meaning.push(seconds(|| {
            Ok(block_on(self.meaning.search(&VectorQuery::new(vector, K)))?)
        })?);
        Ok(())
    }
}

/// Asks one open memory, and its parts beside it.
fn warm(
    workspace: &Workspace,
    first: &str,
    questions: &[String],
    report: &mut Report,
) -> Result<()> {
    let memory = workspace.open()?;
    let ask = |mode: AskedMode, expected: Mode, question: &str| {
        let answer = block_on(memory.search(&Query::new(question).with_mode(mode)))?;
        if answer.mode == expected && answer.degraded.is_empty() {
            Ok(())
        } else {
            let why = answer.degraded.join("; ");
            Err(format!("`{question}` was not answered as asked: {why}").into())
        }
    };
    let hybrid = |question: &str| ask(AskedMode::Hybrid, Mode::Hybrid, question);
    let lexical = |question: &str| ask(AskedMode::Lexical, Mode::Lexical, question);
    hybrid(first)?;
    lexical(first)?;
    let parts = Parts::open(&workspace.warm())?;
    parts.ask(first, &mut Legs::default())?;

    let mut once = Legs::default();
    let (mut new, mut vectors) = (Vec::new(), Vec::new());
    for question in questions {
        parts.ask(question, &mut once)?;
        vectors.push(parts.embed(question)?);
        new.push(seconds(|| hybrid(question))?);
    }
    let mut again = Legs::default();
    let (mut known, mut words) = (Vec::new(), Vec::new());
    for _ in 0..N_ROUNDS {
        for (question, vector) in questions.iter().zip(&vectors) {
            again.embedding.push(0.0);
            parts.ask_indexes(question, vector, &mut again)?;
            known.push(seconds(|| hybrid(question))?);
            words.push(seconds(|| lexical(question))?);
        }
    }
    block_on(memory.close())?;
    block_on(parts.words.close())?;
    block_on(parts.meaning.close())?;

    report.times("warm: words only", &words);
    report.times("warm: hybrid, new question", &new);
    report.times("warm: hybrid, known question", &known);
    report.figure("part: loading the model", millis(loading(first, &once)?));
    report.times("part: embedding the question", &once.embedding);
    report.times("part: leg by words", &again.words);
    report.times("part: leg by meaning", &again.meaning);
    let legs = again.sum(false);
    let rest: Vec<f64> = known
        .iter()
        .zip(&legs)
        .map(|(all, legs)| all - legs)
        .collect();
    report.times("part: the rest (warm known − both legs)", &rest);
    report.ratio(
        "query: warm hybrid, known question / both legs",
        paired_ratio(&known, &legs),
        Aim::AtMost(6.0),
    );
    report.ratio(
        "query: warm hybrid, new question / embedding and both legs",
        paired_ratio(&new, &once.sum(true)),
        Aim::AtMost(1.6),
    );
    Ok(())
}

/// Returns what the first question costs a new model more than the next one.
fn loading(question: &str, legs: &Legs) -> Result<f64> {
    let mut first = Vec::new();
    for _ in 0..N_OPENINGS {
        first.push(seconds(|| {
            let embedder = open::embedder()?;
            Ok(block_on(embedder.embed(&[question], Role::Query))?)
        })?);
    }
    Ok(median(&first) - median(&legs.embedding))
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
