//! A fixed library of entries for questions about ranking: words as uneven as in any language, many ties.

use std::collections::BTreeSet;
use std::sync::Arc;

use memory_api::{Batch, EntryId, Hit, LexicalIndex, LexicalOp, LexicalQuery, Seq, StoreId};

use super::probe::put;
use crate::dice::Dice;
use crate::index::{N_WORDS, Word, entry_id, text_of};
use crate::subject::Home;
use crate::{Outcome, Subject};

const N_ENTRIES: u16 = 120;

/// An open index that holds the library.
pub(super) struct Library<'a> {
    pub(super) index: Arc<dyn LexicalIndex>,
    /// Keeps the folder for as long as the index.
    _home: Home<'a>,
    entries: Vec<(EntryId, Vec<Word>)>,
}

impl<'a> Library<'a> {
    pub(super) async fn open(subject: &'a Subject) -> Outcome<Self> {
        let entries = entries();
        // Every third entry is put once more at the end, and one in ten was another one before: the scores have to come from
        // what is there, not from what was.
        let former = entries
            .iter()
            .step_by(10)
            .map(|(id, _)| put(*id, text_of(&[Word(1)])));
        let first = entries.iter().map(|(id, words)| put(*id, text_of(words)));
        let again = entries
            .iter()
            .step_by(3)
            .map(|(id, words)| put(*id, text_of(words)));
        let passing = entry_id(N_ENTRIES);
        let ops = former
            .chain([put(passing, text_of(&[Word(1), Word(2)]))])
            .chain(first)
            .chain(again)
            .chain([LexicalOp::Delete(passing)])
            .collect();
        let (home, index) = stocked(subject, ops).await?;
        Ok(Self {
            index,
            _home: home,
            entries,
        })
    }

    /// Returns the entries that hold one of the words, ascending.
    pub(super) fn holders(&self, words: &[Word]) -> BTreeSet<EntryId> {
        let holds = |held: &[Word]| words.iter().any(|word| held.contains(word));
        self.entries
            .iter()
            .filter(|(_, held)| holds(held))
            .map(|(id, _)| *id)
            .collect()
    }

    /// Returns every id, in no order.
    pub(super) fn ids(&self) -> Vec<EntryId> {
        self.entries.iter().map(|(id, _)| *id).collect()
    }

    pub(super) async fn search(&self, text: &str, k: usize) -> Outcome<Vec<Hit>> {
        Ok(self.index.search(&LexicalQuery::new(text, k)).await?)
    }

    /// Returns every hit of a query.
    pub(super) async fn search_all(&self, text: &str) -> Outcome<Vec<Hit>> {
        self.search(text, usize::from(N_ENTRIES) * 2).await
    }
}

/// Opens an index and puts changes into it.
pub(super) async fn stocked(
    subject: &Subject,
    ops: Vec<LexicalOp>,
) -> Outcome<(Home<'_>, Arc<dyn LexicalIndex>)> {
    let home = subject.home()?;
    let index = home.open_lexical().await?;
    let ops = (1..).map(Seq).zip(ops).collect();
    index.apply(&Batch::new(StoreId(1), ops)).await?;
    index.flush().await?;
    Ok((home, index))
}

/// Queries of one word each, then of two to four.
pub(super) fn queries() -> Vec<Vec<Word>> {
    let mut dice = Dice(7);
    let many = (0..40).map(|n| (0..2 + n % 3).map(|_| roll_word(&mut dice)).collect());
    Word::all().map(|word| vec![word]).chain(many).collect()
}

fn entries() -> Vec<(EntryId, Vec<Word>)> {
    let mut dice = Dice(1);
    (0..N_ENTRIES)
        .map(|n| {
            let words = match n % 8 {
                // Entries with the same words tie for every query.
                0 => vec![Word(1), Word(2), Word(3)],
                1 => vec![roll_word(&mut dice)],
                _ => (0..2 + dice.roll(28))
                    .map(|_| roll_word(&mut dice))
                    .collect(),
            };
            (entry_id(n), words)
        })
        .collect()
}

/// The smaller of two rolls: low numbers are frequent.
fn roll_word(dice: &mut Dice) -> Word {
    let sides = u64::from(N_WORDS);
    let roll = dice.roll(sides).min(dice.roll(sides));
    Word(u8::try_from(roll).map_or(N_WORDS, |roll| roll + 1))
}
