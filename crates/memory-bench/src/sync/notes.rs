//! Notes as somebody might write them, made from a seed: the same number gives the same notes on every machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Result;

/// Notes per folder.
const PER_FOLDER: usize = 50;
/// Sections per note; each becomes an entry.
const SECTIONS: usize = 3;
/// Words per section.
const WORDS: usize = 70;
/// Different words. Word `n` is drawn about 1 / n as often as the first, as in texts.
const VOCABULARY: u64 = 20_000;

/// A repeatable source of numbers (xorshift64*, Vigna 2016).
#[derive(Debug, Clone)]
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Returns a rank from 1 on: equal steps of the logarithm are equally likely.
    fn rank(&mut self) -> u64 {
        let share = self.next() as f64 / (1_u64 << 53) as f64;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and the size of the vocabulary"
        )]
        let rank = (VOCABULARY as f64).powf(share) as u64;
        rank.clamp(1, VOCABULARY)
    }
}

/// Returns the word of a rank: syllables, more of them for rarer words.
fn word(rank: u64) -> String {
    const ONSETS: [&str; 14] = [
        "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z",
    ];
    const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
    let mut word = String::new();
    let mut left = rank;
    while left > 0 {
        for (letters, n) in [(&ONSETS[..], 14), (&VOWELS[..], 5)] {
            let at = usize::try_from(left % n).unwrap_or_default();
            word.push_str(letters.get(at).copied().unwrap_or_default());
            left /= n;
        }
    }
    word
}

/// Returns the text of a note; another `version` is another text of the same size.
pub(crate) fn note(number: usize, version: u64) -> String {
    let mut dice = Dice::new(number as u64 * 1_000 + version + 1);
    let mut text = String::new();
    for section in 0..SECTIONS {
        let level = if section == 0 { "#" } else { "##" };
        text.push_str(level);
        for _ in 0..3 {
            text.push(' ');
            text.push_str(&word(dice.rank() + STOP_WORDS));
        }
        text.push_str("\n\n");
        for at in 0..WORDS {
            text.push_str(&word(dice.rank()));
            text.push_str(if at % 12 == 11 { ".\n" } else { " " });
        }
        text.push_str("end.\n\n");
    }
    text
}

/// Returns where a note lies below the workspace.
pub(crate) fn path(number: usize) -> PathBuf {
    PathBuf::from(format!(
        "memory/folder-{:03}/note-{number:05}.md",
        number / PER_FOLDER
    ))
}

/// Writes notes below a folder.
pub(crate) fn write(dir: &Path, n: usize) -> Result<()> {
    for number in 0..n {
        let path = dir.join(path(number));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, note(number, 0))?;
    }
    Ok(())
}

/// Returns how many entries so many notes give.
pub(crate) fn n_entries(n: usize) -> usize {
    n * SECTIONS
}

/// The first words are as short as stop words, which a question is not asked for.
const STOP_WORDS: u64 = 70;

/// Returns questions of three words each.
pub(crate) fn questions(n: usize) -> Vec<String> {
    let mut dice = Dice::new(7);
    (0..n)
        .map(|_| {
            let words: Vec<String> = (0..3).map(|_| word(dice.rank() + STOP_WORDS)).collect();
            words.join(" ")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{note, path, questions, word};

    #[test]
    fn a_number_gives_one_note_and_a_version_another() {
        assert_eq!(note(3, 0), note(3, 0));
        assert_ne!(note(3, 0), note(3, 1));
        assert_ne!(note(3, 0), note(4, 0));
        assert_eq!(note(3, 0).matches('#').count(), 5);
    }

    #[test]
    fn ranks_have_words_of_their_own() {
        let words: HashSet<String> = (1..=20_070).map(word).collect();
        assert_eq!(words.len(), 20_070);
    }

    #[test]
    fn common_words_are_common() {
        let texts: String = (0..50).map(|number| note(number, 0)).collect();
        let times = |wanted: &str| {
            let words = texts.split(|c: char| !c.is_alphabetic());
            words.filter(|word| *word == wanted).count()
        };
        assert!(times(&word(2)) > 100, "{}", times(&word(2)));
        assert!(times(&word(2_000)) < 5, "{}", times(&word(2_000)));
    }

    #[test]
    fn notes_lie_in_folders_of_fifty() {
        assert_eq!(path(49).parent(), path(0).parent());
        assert_ne!(path(50).parent(), path(49).parent());
    }

    #[test]
    fn questions_are_the_same_each_time() {
        assert_eq!(questions(5), questions(9).get(..5).unwrap());
    }
}
