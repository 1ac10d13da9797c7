//! What holds for an index of any kind, checked against a model that needs no opinion: which entry holds which word.
//!
//! A kind of index says in [`IndexKind`] how words become its changes and how they are found again. The model and all its
//! checks are written once.

mod answer;
mod history;
mod machine;
mod model;
mod rig;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::sync::Arc;

use memory_api::{EntryId, Error, Fields, Limits, Projection};

use crate::Outcome;
use crate::subject::Home;

pub(crate) use answer::{check_length, check_ranked};
pub(crate) use history::{Change, History, batches};
pub(crate) use model::{scenarios, two_indexes_do_not_interfere};

/// The number of words there are.
pub(crate) const N_WORDS: u8 = 40;
/// The number of entries the model knows; few, because collisions are the point.
pub(crate) const N_ENTRIES: u8 = 16;

/// A word that every analysis leaves alone, from `tokbbk` to `tokgpk`: without digits, at which identifiers are cut into parts, and
/// without an ending that a stemmer takes away and another word has as well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(pub(crate) u8);

impl Word {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (1..=N_WORDS).map(Self)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LETTERS: [char; 8] = ['b', 'c', 'd', 'f', 'g', 'h', 'm', 'p'];
        let letter = |n: u8| LETTERS.into_iter().nth(usize::from(n) % LETTERS.len());
        let n = self.0.saturating_sub(1);
        f.write_str("tok")?;
        for letter in letter(n / 8).into_iter().chain(letter(n)) {
            f.write_char(letter)?;
        }
        f.write_char('k')
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The words of a text or a query, separated by spaces.
pub(crate) fn text_of(words: &[Word]) -> String {
    let words: Vec<_> = words.iter().map(Word::to_string).collect();
    words.join(" ")
}

/// The id of the n-th entry. Neither ascending in n nor small, so that an index which keeps ids as signed, truncated or
/// little-endian numbers gets their order wrong.
pub(crate) fn entry_id(n: u16) -> EntryId {
    const GOLDEN_RATIO: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    EntryId((u128::from(n) + 1).wrapping_mul(GOLDEN_RATIO))
}

/// The ids of the model's entries, ascending.
pub(crate) fn model_ids() -> Vec<EntryId> {
    let mut ids: Vec<_> = (0..u16::from(N_ENTRIES)).map(entry_id).collect();
    ids.sort_unstable();
    ids
}

pub(crate) fn fields(tag: u8) -> Fields {
    let mut fields = Fields::new("agent", "memory", "memory/2026-05-18.md");
    fields.tags.push(format!("tag{tag}"));
    fields
}

/// What is in an index: the words of each entry.
pub(crate) type Content = BTreeMap<EntryId, BTreeSet<Word>>;

/// A random question to an index, asked for few hits and for all; what it asks is up to the kind.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) words: Vec<Word>,
    /// Ascending.
    pub(crate) allowed: Option<Vec<EntryId>>,
}

/// A kind of index, as the model sees it.
pub(crate) trait IndexKind: 'static {
    type Op: fmt::Debug + Clone + Send + Sync + 'static;
    type Index: Projection<Self::Op> + ?Sized;

    async fn open(home: &Home<'_>) -> Outcome<Arc<Self::Index>>;

    fn op(change: &Change) -> Self::Op;

    /// Finds out by questions alone which of these entries are there, and with which words.
    async fn observe(index: &Self::Index, limits: Limits, ids: &[EntryId]) -> Outcome<Content>;

    /// Asks a question whose answer follows from the content.
    async fn ask(
        index: &Self::Index,
        limits: Limits,
        content: &Content,
        question: &Question,
    ) -> Outcome;

    /// Calls every method that reads, for indexes that have to refuse.
    async fn read_calls(index: &Self::Index) -> Vec<(&'static str, Option<Error>)>;
}
