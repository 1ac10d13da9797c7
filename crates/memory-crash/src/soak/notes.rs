//! The notes, and the words that tell them and their versions apart.

use std::fs;
use std::path::Path;

use crate::Result;

/// Half of them belong to the thread, half to the second process.
pub(crate) const N_NOTES: usize = 60;
/// The folder of the notes in the workspace.
const FOLDER: &str = "notes";
/// What the word of a note begins with, and that of a version.
const NOTE: &str = "kaf";
const VERSION: &str = "vor";
/// Words of them end like no word of a language, so that no stemmer changes them, and hold no digits, at which words are cut.
const DIGITS: [char; 8] = ['b', 'd', 'f', 'g', 'k', 'm', 'p', 'z'];

/// Returns the word that all versions of a note have.
pub(crate) fn note_word(note: usize) -> String {
    word(NOTE, note as u64, 3)
}

/// Returns the word that one version of one note has.
pub(crate) fn version_word(note: usize, version: u64) -> String {
    format!("{}{}", word(VERSION, note as u64, 3), word("", version, 7))
}

fn word(prefix: &str, number: u64, n_digits: u32) -> String {
    let digit = |place: u32| {
        let digit = (number >> (3 * place)) % 8;
        DIGITS.iter().zip(0..=digit).last().map_or('b', |(c, _)| *c)
    };
    let digits = (0..n_digits).rev().map(digit);
    prefix.chars().chain(digits).collect()
}

/// Returns the note and the version that a text is of.
pub(crate) fn read(text: &str) -> Option<(usize, u64)> {
    let word = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .find(|word| word.len() == 13 && word.starts_with(VERSION))?;
    let number = |digits: &str| {
        digits.chars().try_fold(0_u64, |number, c| {
            let digit = DIGITS.iter().position(|digit| *digit == c)?;
            Some(number * 8 + digit as u64)
        })
    };
    let (note, version) = word.strip_prefix(VERSION)?.split_at_checked(3)?;
    Some((usize::try_from(number(note)?).ok()?, number(version)?))
}

/// Returns a note's path in the workspace.
pub(crate) fn path(note: usize) -> String {
    format!("{FOLDER}/{}/{note}.md", note % 5)
}

/// Returns the text of a version: one to three sections, of which each says which version it is.
fn text(note: usize, version: u64) -> String {
    let (name, word) = (note_word(note), version_word(note, version));
    let section =
        |n: u64| format!("# Part {n}\n\nThe {name} says {word}, and part {n} says it as well.\n\n");
    (0..=version % 3).map(section).collect()
}

/// Writes a version. Nobody ever sees half of one.
pub(crate) fn write(dir: &Path, note: usize, version: u64) -> Result<()> {
    let path = dir.join(path(note));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let beside = path.with_extension("new");
    fs::write(&beside, text(note, version))?;
    fs::rename(beside, path)?;
    Ok(())
}

/// Deletes a note that may be there.
pub(crate) fn delete(dir: &Path, note: usize) -> Result<()> {
    match fs::remove_file(dir.join(path(note))) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => Err(err.into()),
        _ => Ok(()),
    }
}

/// Returns the version that is on disk.
pub(crate) fn on_disk(dir: &Path, note: usize) -> Result<Option<u64>> {
    match fs::read_to_string(dir.join(path(note))) {
        Ok(text) => Ok(read(&text).map(|(_, version)| version)),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(err) => Err(err.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{N_NOTES, note_word, read, text};

    #[test]
    fn text_says_which_version_of_which_note_it_is() {
        for note in [0, 1, N_NOTES - 1] {
            for version in [1, 8, 123_456] {
                let text = text(note, version);
                assert_eq!(read(&text), Some((note, version)));
                assert!(text.contains(&note_word(note)));
            }
        }
        assert_eq!(read("vorbbb and vorbbbbbbbbbbx"), None);
    }
}
