//! Any history of files, syncs, stops, rebuilds and switched parts leaves what the files say: in the store, in the index by words
//! and in the index by meaning. The model is a map from path to paragraphs.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use memory::{AskedMode, Query, SyncRequest};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::notes::Notes;

/// Files that histories are about; some in folders.
const PATHS: [&str; 5] = [
    "notes/a.md",
    "notes/b.md",
    "notes/deep/c.md",
    "notes/deep/er/d.md",
    "notes/e.md",
];

#[derive(Debug, Clone)]
enum Step {
    /// Replaces a file by paragraphs of these numbers.
    Write(usize, Vec<u8>),
    /// Puts a paragraph before what is there, so that all of it moves.
    Prepend(usize, u8),
    Append(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    /// Gives a file a time long ago.
    Touch(usize),
    Sync,
    /// A sync that is stopped when it has told its progress so often.
    Stopped {
        after: u32,
        force: bool,
    },
    Force,
    /// The index by meaning is another plugin's from now on.
    Index(bool),
    /// The embedder is another model from now on.
    Model(bool),
    /// The embedder fails from now on, or works again.
    Down(bool),
    /// Entries are smaller from now on, or not.
    Cut(bool),
    Lose(&'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let path = || 0..PATHS.len();
    prop_oneof![
        6 => (path(), vec(0..12_u8, 0..5)).prop_map(|(path, numbers)| Step::Write(path, numbers)),
        2 => (path(), 0..12_u8).prop_map(|(path, number)| Step::Prepend(path, number)),
        2 => (path(), 0..12_u8).prop_map(|(path, number)| Step::Append(path, number)),
        2 => path().prop_map(Step::Delete),
        2 => (path(), path()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => path().prop_map(Step::Touch),
        6 => Just(Step::Sync),
        3 => (0..12_u32, any::<bool>()).prop_map(|(after, force)| Step::Stopped { after, force }),
        1 => Just(Step::Force),
        1 => any::<bool>().prop_map(Step::Index),
        1 => any::<bool>().prop_map(Step::Model),
        2 => any::<bool>().prop_map(Step::Down),
        1 => any::<bool>().prop_map(Step::Cut),
        1 => prop_oneof![Just("vectors.db"), Just("MANIFEST.json"), Just("gen")].prop_map(Step::Lose),
    ]
}

/// A paragraph that words and meaning find by `all`.
fn paragraph(number: u8) -> String {
    format!("all about word{number} and what follows from it")
}

/// What the files say and how they are read.
#[derive(Default)]
struct Model {
    files: BTreeMap<usize, Vec<u8>>,
    /// Whether each paragraph is an entry of its own.
    in_blocks: bool,
}

impl Model {
    fn text(&self, path: usize) -> String {
        let paragraphs = self.files[&path].iter().copied().map(paragraph);
        paragraphs.collect::<Vec<_>>().join("\n\n")
    }

    /// Every entry as path and text.
    fn entries(&self) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        for (path, numbers) in &self.files {
            let path_name = PATHS[*path].to_owned();
            if self.in_blocks {
                let each = numbers.iter().map(|n| (path_name.clone(), paragraph(*n)));
                entries.extend(each);
            } else if !numbers.is_empty() {
                entries.push((path_name, self.text(*path)));
            }
        }
        entries.sort_unstable();
        entries
    }
}

fn run(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut model = Model::default();
    let mut notes = Notes::new()
        .with_meaning()
        .with("chunker.markdown.split", "section");
    fs::create_dir_all(notes.path("notes")).unwrap();
    for step in steps {
        match step {
            Step::Write(path, numbers) => {
                model.files.insert(*path, numbers.clone());
                notes.write(PATHS[*path], model.text(*path));
            }
            Step::Prepend(path, number) | Step::Append(path, number) => {
                let numbers = model.files.entry(*path).or_default();
                let at = if matches!(step, Step::Append(..)) {
                    numbers.len()
                } else {
                    0
                };
                numbers.insert(at, *number);
                notes.write(PATHS[*path], model.text(*path));
            }
            Step::Delete(path) => {
                if model.files.remove(path).is_some() {
                    notes.remove(PATHS[*path]);
                }
            }
            Step::Rename(from, to) => {
                if let Some(numbers) = model.files.remove(from) {
                    let to_path = notes.path(PATHS[*to]);
                    fs::create_dir_all(to_path.parent().unwrap()).unwrap();
                    fs::rename(notes.path(PATHS[*from]), to_path).unwrap();
                    model.files.insert(*to, numbers);
                }
            }
            Step::Touch(path) => {
                if model.files.contains_key(path) {
                    let file = fs::File::options()
                        .write(true)
                        .open(notes.path(PATHS[*path]));
                    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_hours(24);
                    file.unwrap().set_modified(long_ago).unwrap();
                }
            }
            Step::Sync | Step::Force => {
                let request = SyncRequest {
                    force: matches!(step, Step::Force),
                    ..SyncRequest::default()
                };
                let report = notes.index_with(&request).unwrap();
                let pending = report.pending;
                check(&notes, &model, pending)?;
            }
            Step::Stopped { after, force } => {
                let cancel = Arc::new(AtomicBool::new(*after == 0));
                let (flag, left) = (Arc::clone(&cancel), AtomicU32::new(*after));
                let request = SyncRequest {
                    force: *force,
                    cancel,
                    progress: Some(Arc::new(move |_| {
                        if left.fetch_sub(1, Ordering::Relaxed) <= 1 {
                            flag.store(true, Ordering::Relaxed);
                        }
                    })),
                    ..SyncRequest::default()
                };
                notes.index_with(&request).unwrap();
            }
            Step::Index(in_file) => {
                let index = if *in_file { "sqlite-vec" } else { "flat" };
                notes = notes.with("vector.use", index);
            }
            Step::Model(other) => {
                notes = notes.with("embedder.fake.model", if *other { "b" } else { "a" });
            }
            Step::Down(down) => {
                if *down {
                    notes.write("down", "");
                } else {
                    drop(fs::remove_file(notes.path("down")));
                }
            }
            Step::Cut(in_blocks) => {
                model.in_blocks = *in_blocks;
                let split = if *in_blocks { "block" } else { "section" };
                notes = notes.with("chunker.markdown.split", split);
            }
            Step::Lose(what) => {
                let path = notes.path(".memory").join(what);
                drop(fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)));
            }
        }
    }
    // Whatever the history, the embedder comes back and one more sync brings everything.
    drop(fs::remove_file(notes.path("down")));
    prop_assert_eq!(notes.index().pending, 0);
    check(&notes, &model, 0)
}

/// Compares store, words and meaning with the model; `pending` entries may be missing from the meaning.
fn check(notes: &Notes, model: &Model, pending: u64) -> Result<(), TestCaseError> {
    let expected = model.entries();
    let found = |mode: AskedMode| {
        let query = Query::new("all about").everything(1_000).with_mode(mode);
        let mut found: Vec<_> = notes
            .ask(&query)
            .results
            .into_iter()
            .map(|hit| (hit.path, hit.snippet))
            .collect();
        found.sort_unstable();
        found
    };
    prop_assert_eq!(&found(AskedMode::Lexical), &expected);
    let status = notes.status();
    prop_assert_eq!(status.entries, expected.len() as u64);
    prop_assert_eq!(status.lexical.entries, expected.len() as u64);
    let drift = status.drift;
    prop_assert_eq!([drift.new, drift.changed, drift.removed], [0; 3]);
    let by_meaning = status.vector.unwrap();
    prop_assert_eq!(by_meaning.pending, pending);
    if pending == 0 && !notes.path("down").exists() {
        prop_assert_eq!(by_meaning.index.entries, expected.len() as u64);
        if !expected.is_empty() {
            prop_assert_eq!(&found(AskedMode::Vector), &expected);
        }
    }
    Ok(())
}

#[test]
fn any_history_leaves_what_the_files_say() {
    let config = Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new(config)
        .run(&vec(step(), 1..16), |steps| run(&steps))
        .unwrap_or_else(|err| panic!("{err}"));
}
