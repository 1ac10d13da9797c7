//! Texts and questions: from the sets in `$EVAL_DIR`, else from the sample workspaces.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Result;

/// Where the sets are when the environment does not say.
const DEFAULT_DIR: &str = "../shared/eval";
/// The set that is used.
const SET: &str = "locomo";
/// As many of its folders as are indexed within half a minute.
const MAX_UNITS: usize = 2;
/// The sample workspaces, below this crate.
const EXAMPLES: &str = "../../examples/workspaces";

/// A folder of notes with questions about them.
#[derive(Debug)]
struct Unit {
    name: String,
    notes: PathBuf,
    queries: PathBuf,
}

/// Folders of notes with questions about them.
#[derive(Debug)]
pub(crate) struct Corpus {
    /// For a person to read.
    pub(crate) name: String,
    units: Vec<Unit>,
}

impl Corpus {
    /// Finds the set, or the sample workspaces where it is not there.
    pub(crate) fn find() -> Result<Self> {
        let dir =
            std::env::var_os("EVAL_DIR").map_or_else(|| PathBuf::from(DEFAULT_DIR), PathBuf::from);
        let set = Self::below(&dir.join(SET), SET, "corpus")?;
        if !set.units.is_empty() {
            return Ok(set);
        }
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join(EXAMPLES);
        let examples = Self::below(&examples, "examples/workspaces", ".")?;
        if examples.units.is_empty() {
            Err("neither evaluation sets nor sample workspaces are here; set EVAL_DIR".into())
        } else {
            Ok(examples)
        }
    }

    /// Takes the first folders in a folder that have questions.
    fn below(dir: &Path, name: &str, notes: &str) -> Result<Self> {
        let mut units = Vec::new();
        if dir.is_dir() {
            for path in entries(dir)? {
                let unit = Unit {
                    name: path
                        .file_name()
                        .map(|name| name.to_string_lossy().into_owned())
                        .unwrap_or_default(),
                    notes: path.join(notes),
                    queries: path.join("queries.jsonl"),
                };
                if unit.queries.is_file() {
                    units.push(unit);
                }
            }
        }
        units.truncate(MAX_UNITS);
        let names: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
        Ok(Self {
            name: format!("{name} ({})", names.join(", ")),
            units,
        })
    }

    /// Copies all notes below a folder.
    pub(crate) fn copy_to(&self, dir: &Path) -> Result<()> {
        for unit in &self.units {
            copy_notes(&unit.notes, &dir.join(&unit.name))?;
        }
        Ok(())
    }

    /// Returns `n` questions, spread over all there are.
    pub(crate) fn questions(&self, n: usize) -> Result<Vec<String>> {
        let mut all = Vec::new();
        for unit in &self.units {
            for line in fs::read_to_string(&unit.queries)?.lines() {
                let row: Value = serde_json::from_str(line)?;
                if let Some(text) = row.get("text").and_then(Value::as_str) {
                    all.push(text.to_owned());
                }
            }
        }
        // Two units may ask the same; the second time it would not be new.
        all.sort_unstable();
        all.dedup();
        spread(&all, n).ok_or_else(|| format!("fewer than {n} questions").into())
    }

    /// Returns `n` texts of about this many characters, spread over all notes.
    pub(crate) fn texts(&self, n: usize, chars: usize) -> Result<Vec<String>> {
        let mut pieces = Vec::new();
        for unit in &self.units {
            let mut notes = Vec::new();
            find_notes(&unit.notes, &mut notes)?;
            for note in notes {
                pieces.extend(cut(&fs::read_to_string(note)?, chars));
            }
        }
        // What is short of notes begins again: a text costs the same the second time.
        let n_all = pieces.len();
        if n_all == 0 {
            return Err("the notes are empty".into());
        }
        if n_all >= n {
            return spread(&pieces, n).ok_or_else(|| "too few texts".into());
        }
        Ok(pieces.into_iter().cycle().take(n).collect())
    }
}

/// Returns `n` of the values at equal distances; `None` when there are fewer.
fn spread(values: &[String], n: usize) -> Option<Vec<String>> {
    (0..n)
        .map(|place| values.get(place * values.len() / n).cloned())
        .collect::<Option<Vec<_>>>()
        .filter(|_| values.len() >= n)
}

/// Cuts a text between words into pieces of this many characters or a word more; what is left at the end is no piece.
fn cut(text: &str, chars: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        piece.push_str(word);
        if piece.chars().count() >= chars {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    pieces
}

/// Returns what is in a folder, by name.
fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(dir)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    Ok(paths)
}

fn is_note(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn find_notes(dir: &Path, notes: &mut Vec<PathBuf>) -> Result<()> {
    for path in entries(dir)? {
        if path.is_dir() {
            find_notes(&path, notes)?;
        } else if is_note(&path) {
            notes.push(path);
        }
    }
    Ok(())
}

fn copy_notes(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for path in entries(from)? {
        let Some(name) = path.file_name() else {
            continue;
        };
        let copy = to.join(name);
        if path.is_dir() {
            copy_notes(&path, &copy)?;
        } else if is_note(&path) {
            // Not `copy`, which would keep the file read-only.
            fs::write(copy, fs::read(&path)?)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Corpus, cut, spread};

    fn strings(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn pieces_are_cut_between_words_and_lose_none_but_the_last() {
        assert_eq!(cut("one two three four", 6), ["one two ", "three "]);
        assert_eq!(cut("one two three", 6), ["one two "]);
        assert_eq!(cut("今天 天气 很好", 3), ["今天 ", "天气 "]);
    }

    #[test]
    fn values_are_spread_or_too_few() {
        let values = strings(&["a", "b", "c", "d", "e"]);
        assert_eq!(spread(&values, 2), Some(strings(&["a", "c"])));
        assert_eq!(spread(&values, 5), Some(values.clone()));
        assert_eq!(spread(&values, 6), None);
    }

    #[test]
    fn a_corpus_is_read_and_copied_the_same_way_each_time() {
        let dir = tempfile::tempdir().unwrap();
        for (unit, text) in [("b", "north wind"), ("a", "south wind"), ("c", "left out")] {
            let unit = dir.path().join("set").join(unit);
            fs::create_dir_all(unit.join("corpus/memory")).unwrap();
            fs::write(unit.join("corpus/memory/day.md"), text).unwrap();
            fs::write(unit.join("corpus/other.txt"), "no note").unwrap();
            let row = format!("{{\"text\":\"{text}?\"}}\n{{\"text\":\"why?\"}}\n");
            fs::write(unit.join("queries.jsonl"), row).unwrap();
        }
        let corpus = Corpus::below(&dir.path().join("set"), "set", "corpus").unwrap();
        assert_eq!(corpus.name, "set (a, b)");
        assert_eq!(
            corpus.questions(3).unwrap(),
            ["north wind?", "south wind?", "why?"]
        );
        assert!(corpus.questions(4).is_err());
        assert_eq!(
            corpus.texts(3, 10).unwrap(),
            ["south wind", "north wind", "south wind"]
        );
        let copy = dir.path().join("copy");
        corpus.copy_to(&copy).unwrap();
        let note = fs::read_to_string(copy.join("a/memory/day.md")).unwrap();
        assert_eq!(note, "south wind");
        assert!(!copy.join("a/other.txt").exists() && !copy.join("c").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_units() {
        let dir = tempfile::tempdir().unwrap();
        let corpus = Corpus::below(&dir.path().join("none"), "none", ".").unwrap();
        assert!(corpus.units.is_empty());
    }
}
