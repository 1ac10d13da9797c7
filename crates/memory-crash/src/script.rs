//! What happens to a tree of notes, from a seed: files are added, edited, grown, touched, moved and deleted; a transcript grows and
//! starts over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::Result;

/// States of the tree, each followed by one sync.
const N_ROUNDS: usize = 7;
/// The round whose sync builds anew, whatever is there, in a plan that rebuilds.
const FORCED: usize = 3;
/// The rounds whose vectors lie in another plugin's index, in a plan that rebuilds. What is indexed there comes from the store.
const OTHER_PLUGIN: std::ops::Range<usize> = 1..3;
/// The round before which the index by words is lost, in a plan that rebuilds.
const LOST_WORDS: usize = 4;
/// The first round whose documents are cut by another rule, in a plan that rebuilds.
const OTHER_SPLIT: usize = 5;
/// The transcript of a chat among the notes.
pub(crate) const CHAT: &str = "chats/one.jsonl";
/// The round in which it starts over.
const OTHER_CHAT: usize = 4;
/// The folder of the notes in the workspace.
const NOTES: &str = "notes";
/// The time of the files of the first round, in seconds since 1970; each round is a day later.
const FIRST_DAY: u64 = 1_767_225_600;
const DAY: u64 = 24 * 60 * 60;

const WORDS: &[&str] = &[
    "harbour", "keel", "varnish", "mooring", "tide", "compass", "lantern", "ledger", "orchard",
    "barley", "kettle", "bridge", "signal", "copper", "glacier", "violin", "saffron", "quarry",
];

/// How the trees of a script are indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// One generation takes every round, so that the sync after a death goes on with what is there.
    Steady,
    /// Some rounds have vectors in another plugin's index, one builds anew from the files, one finds no index by words, a later
    /// one cuts all documents by another rule.
    Rebuilding,
}

impl Plan {
    pub(crate) const ALL: [Self; 2] = [Self::Steady, Self::Rebuilding];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Rebuilding => "rebuilding",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plan| plan.name() == name)
    }

    /// Returns whether the sync of a round builds anew.
    pub(crate) fn forces(self, round: usize) -> bool {
        self == Self::Rebuilding && round == FORCED
    }

    /// Returns whether the index by words is lost before a round.
    pub(crate) fn loses_words(self, round: usize) -> bool {
        self == Self::Rebuilding && round == LOST_WORDS
    }

    /// Returns how the sync of a round is configured.
    pub(crate) fn setup(self, round: usize) -> Setup {
        Setup {
            other_plugin: self == Self::Rebuilding && OTHER_PLUGIN.contains(&round),
            other_split: self == Self::Rebuilding && round >= OTHER_SPLIT,
        }
    }
}

/// How a sync is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setup {
    /// Vectors lie in another plugin's index.
    pub(crate) other_plugin: bool,
    /// Documents are cut by another rule.
    pub(crate) other_split: bool,
}

/// Files by path.
pub(crate) type Tree = BTreeMap<String, Note>;

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) content: String,
    /// The round whose day is its time.
    round: u64,
}

impl Note {
    fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(FIRST_DAY + self.round * DAY)
    }
}

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
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) rounds: Vec<Tree>,
}

impl Script {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut tree = Tree::new();
        let mut rounds = Vec::new();
        let mut said = Random::new(!seed);
        let chats = [
            chat(&mut said, "first", OTHER_CHAT),
            chat(&mut said, "second", N_ROUNDS - OTHER_CHAT),
        ];
        for round in 0..N_ROUNDS as u64 {
            tree.remove(CHAT);
            if round > 0 {
                change(&mut tree, &mut random, round);
            }
            for n in 0..if round == 0 { 24 } else { 3 } {
                let content = note(&mut random, &format!("new{round}x{n}"));
                let path = format!("{}/{round}-{n}.md", random.word());
                tree.insert(path, Note { content, round });
            }
            let [first, second] = &chats;
            let said = usize::try_from(round).unwrap_or(0);
            let said = first
                .get(said)
                .or_else(|| second.get(said.saturating_sub(OTHER_CHAT)));
            let content = said.cloned().unwrap_or_default();
            tree.insert(CHAT.to_owned(), Note { content, round });
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
        for (path, note) in self.rounds.iter().flatten() {
            // What is said in a transcript stands between the quotes of its rows; entries say by whom.
            let is_border = |c: char| c.is_whitespace() || c == '"';
            let speakers = ["user:", "assistant:"];
            let words = note.content.split(is_border).chain(speakers).collect();
            versions.entry(path).or_default().push(words);
        }
        versions
    }
}

/// Deletes, moves, edits, grows and touches some notes.
fn change(tree: &mut Tree, random: &mut Random, round: u64) {
    for _ in 0..2 {
        if let Some(path) = random.path(tree) {
            tree.remove(&path);
        }
    }
    for n in 0..2 {
        if let Some(note) = random.path(tree).and_then(|path| tree.remove(&path)) {
            tree.insert(format!("moved/{round}-{n}.md"), note);
        }
    }
    for n in 0..4 {
        if let Some(path) = random.path(tree) {
            let content = note(random, &format!("edit{round}x{n}"));
            tree.insert(path, Note { content, round });
        }
    }
    // What was there before stays, on other lines; its time is the file's, and so another one.
    for n in 0..3 {
        let begin = section(random, &format!("grown{round}x{n}"));
        if let Some(note) = random.path(tree).and_then(|path| tree.get_mut(&path)) {
            note.content.insert_str(0, &begin);
            note.round = round;
        }
    }
    for _ in 0..2 {
        if let Some(note) = random.path(tree).and_then(|path| tree.get_mut(&path)) {
            note.round = round;
        }
    }
}

/// A chat that grows, as it is after each of some rounds; what is being said at that moment is half a row.
fn chat(random: &mut Random, mark: &str, n_rounds: usize) -> Vec<String> {
    let mut said = String::new();
    let mut so_far = Vec::new();
    for round in 0..n_rounds {
        for n in 0..4 {
            let (a, b, c) = (random.word(), random.word(), random.word());
            let question = format!(
                "{{\"role\": \"user\", \"content\": \"which {a} {mark}{round}q{n} lies beside the {b}\"}}\n"
            );
            let answer = format!(
                "{{\"role\": \"assistant\", \"content\": \"the {c} {mark}{round}a{n} does\"}}\n"
            );
            said.extend([question, answer]);
        }
        let n_unsaid = usize::try_from(random.below(60)).unwrap_or(0);
        let end = said.len().saturating_sub(n_unsaid);
        so_far.push(said.get(..end).unwrap_or_default().to_owned());
    }
    so_far
}

/// Three sections, each with a word that no other version of any note has.
fn note(random: &mut Random, mark: &str) -> String {
    (0..3)
        .map(|n| section(random, &format!("{mark}s{n}")))
        .collect()
}

fn section(random: &mut Random, mark: &str) -> String {
    let (a, b, c, d) = (random.word(), random.word(), random.word(), random.word());
    format!("# {a} {mark}\n\nThe {b} lies beside the {c}.\n\n- a {d} for the {a}\n\n")
}

/// Makes the notes of a workspace equal to the tree; files that are so already are not touched.
pub(crate) fn write(workspace: &Path, tree: &Tree) -> Result<()> {
    let notes = workspace.join(NOTES);
    for path in files(&notes)? {
        if !tree.contains_key(&path) {
            fs::remove_file(notes.join(path))?;
        }
    }
    for (path, note) in tree {
        let file = notes.join(path);
        let is_there = fs::read_to_string(&file).is_ok_and(|there| there == note.content);
        if is_there && fs::metadata(&file)?.modified()? == note.time() {
            continue;
        }
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        if !is_there {
            fs::write(&file, &note.content)?;
        }
        fs::File::options()
            .write(true)
            .open(&file)?
            .set_modified(note.time())?;
    }
    Ok(())
}

/// Returns the files in a folder and below it, relative to it, with `/`; none where there is no such folder.
pub(crate) fn files(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut below = vec![String::new()];
    while let Some(prefix) = below.pop() {
        let dir = folder.join(&prefix);
        if !dir.is_dir() {
            continue;
        }
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                below.push(format!("{name}/"));
            } else {
                found.insert(name);
            }
        }
    }
    Ok(found)
}
