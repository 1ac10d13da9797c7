//! What happens to a tree of notes, from a seed: files are added, edited, moved and deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::Result;

/// States of the tree, each followed by one sync.
const N_ROUNDS: usize = 7;
/// The round whose sync builds anew, whatever is there.
pub(crate) const FORCED: usize = 3;
/// The first round whose documents are cut by another rule.
pub(crate) const OTHER_SPLIT: usize = 5;
/// The folder of the notes in the workspace.
const NOTES: &str = "notes";

const WORDS: &[&str] = &[
    "harbour", "keel", "varnish", "mooring", "tide", "compass", "lantern", "ledger", "orchard",
    "barley", "kettle", "bridge", "signal", "copper", "glacier", "violin", "saffron", "quarry",
];

/// Content by path.
pub(crate) type Tree = BTreeMap<String, String>;

/// Numbers that a seed decides (splitmix64).
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    fn word(&mut self) -> &'static str {
        let skipped = WORDS.iter().cycle();
        let n = self.below(WORDS.len() as u64);
        skipped
            .zip(0..=n)
            .last()
            .map_or("harbour", |(word, _)| word)
    }

    fn path(&mut self, tree: &Tree) -> Option<String> {
        let n = self.below(tree.len().max(1) as u64);
        tree.keys().zip(0..=n).last().map(|(path, _)| path.clone())
    }
}

/// The states of a tree, one after the other.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) rounds: Vec<Tree>,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut tree = Tree::new();
        let mut rounds = Vec::new();
        for round in 0..N_ROUNDS {
            let (added, edited, moved, deleted) = if round == 0 {
                (24, 0, 0, 0)
            } else {
                (3, 4, 2, 2)
            };
            for _ in 0..deleted {
                if let Some(path) = random.path(&tree) {
                    tree.remove(&path);
                }
            }
            for n in 0..moved {
                if let Some(content) = random.path(&tree).and_then(|path| tree.remove(&path)) {
                    tree.insert(format!("moved/{round}-{n}.md"), content);
                }
            }
            for n in 0..edited {
                if let Some(path) = random.path(&tree) {
                    let content = note(&mut random, &format!("edit{round}x{n}"));
                    tree.insert(path, content);
                }
            }
            for n in 0..added {
                let content = note(&mut random, &format!("new{round}x{n}"));
                tree.insert(format!("{}/{round}-{n}.md", random.word()), content);
            }
            rounds.push(tree.clone());
        }
        Self { rounds }
    }

    pub(crate) fn last(&self) -> Tree {
        self.rounds.last().cloned().unwrap_or_default()
    }

    /// Returns the words of every version of every file, by path.
    pub(crate) fn versions(&self) -> BTreeMap<&str, Vec<BTreeSet<&str>>> {
        let mut versions: BTreeMap<&str, Vec<BTreeSet<&str>>> = BTreeMap::new();
        for (path, content) in self.rounds.iter().flatten() {
            let words = content.split_whitespace().collect();
            versions.entry(path).or_default().push(words);
        }
        versions
    }
}

/// Three sections, each with a word that no other version of any note has.
fn note(random: &mut Random, mark: &str) -> String {
    let mut section = |n: u64| {
        let (a, b, c, d) = (random.word(), random.word(), random.word(), random.word());
        format!("# {a} {mark}s{n}\n\nThe {b} lies beside the {c}.\n\n- a {d} for the {a}\n\n")
    };
    [section(0), section(1), section(2)].concat()
}

/// Makes the notes of a workspace equal to the tree; files that are so already are not touched.
pub(crate) fn write(workspace: &Path, tree: &Tree) -> Result<()> {
    let notes = workspace.join(NOTES);
    for path in files(&notes, "")? {
        if !tree.contains_key(&path) {
            fs::remove_file(notes.join(path))?;
        }
    }
    for (path, content) in tree {
        let file = notes.join(path);
        if fs::read_to_string(&file).is_ok_and(|there| there == *content) {
            continue;
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, content)?;
    }
    Ok(())
}

fn files(notes: &Path, below: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let dir = notes.join(below);
    if !dir.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if entry.file_type()?.is_dir() {
            found.extend(files(notes, &path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
