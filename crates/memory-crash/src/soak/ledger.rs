//! What was written and synced, in a file that all processes append to and read.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::notes::N_NOTES;
use crate::Result;

const FILE_NAME: &str = "ledger.log";

/// A note as the ledger knows it. Versions of a note rise from 1; that it is deleted is a version as well.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Note {
    /// The version that somebody was about to write.
    pub(crate) begun: u64,
    /// The last of those that is a deletion.
    pub(crate) begun_deletion: u64,
    /// The version that is on disk, or an older one.
    pub(crate) written: u64,
    /// The version that a sync has seen that is finished, or an older one.
    pub(crate) synced: u64,
}

/// What the ledger says at a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    notes: Vec<Note>,
    deeds: BTreeMap<String, u64>,
}

impl State {
    pub(crate) fn note(&self, number: usize) -> Note {
        self.notes.get(number).copied().unwrap_or_default()
    }

    pub(crate) fn count(&self, deed: &str) -> u64 {
        self.deeds.get(deed).copied().unwrap_or_default()
    }

    pub(crate) fn n_changes(&self) -> u64 {
        self.notes.iter().map(|note| note.begun).sum()
    }

    /// Heeds one line. One that was cut off by a kill says nothing, or less than it should, which makes the judge milder.
    fn heed(&mut self, line: &str) {
        if let Some(deed) = line.strip_prefix("did ") {
            *self.deeds.entry(deed.to_owned()).or_default() += 1;
            return;
        }
        let mut words = line.split(' ');
        let verb = words.next();
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (Some(note), Some(version)) = (number(), number()) else {
            return;
        };
        let Some(note) = usize::try_from(note)
            .ok()
            .and_then(|note| self.notes.get_mut(note))
        else {
            return;
        };
        let raise = |known: &mut u64| *known = version.max(*known);
        match (verb, words.next()) {
            (Some("write"), Some("!")) => raise(&mut note.begun),
            (Some("delete"), Some("!")) => {
                raise(&mut note.begun);
                raise(&mut note.begun_deletion);
            }
            (Some("written"), Some("!")) => raise(&mut note.written),
            (Some("synced"), Some("!")) => raise(&mut note.synced),
            _ => {}
        }
    }
}

/// The file, and how far it was read.
#[derive(Debug)]
pub(crate) struct Ledger {
    file: File,
    followed: Mutex<Followed>,
}

#[derive(Debug)]
struct Followed {
    file: File,
    /// The beginning of a line whose end is not there yet.
    rest: Vec<u8>,
    state: State,
}

impl Ledger {
    /// Opens the ledger of a workspace, and makes it if it is not there.
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE_NAME);
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        let followed = Followed {
            file: File::open(path)?,
            rest: Vec::new(),
            state: State {
                notes: vec![Note::default(); N_NOTES],
                deeds: BTreeMap::new(),
            },
        };
        Ok(Self {
            file,
            followed: Mutex::new(followed),
        })
    }

    /// Says that a version is about to be written, or to be deleted.
    pub(crate) fn begin(&self, note: usize, version: u64, is_deletion: bool) -> Result<()> {
        let verb = if is_deletion { "delete" } else { "write" };
        self.append(&format!("{verb} {note} {version} !\n"))
    }

    pub(crate) fn written(&self, note: usize, version: u64) -> Result<()> {
        self.append(&format!("written {note} {version} !\n"))
    }

    /// Says that a sync is finished that began when this was written.
    pub(crate) fn synced(&self, seen: &State) -> Result<()> {
        let now = self.now()?;
        let mut lines = String::new();
        for (number, note) in seen.notes.iter().enumerate() {
            if note.written > now.note(number).synced {
                writeln!(lines, "synced {number} {} !", note.written)?;
            }
        }
        self.append(&lines)
    }

    /// Says that something happened that is counted.
    pub(crate) fn did(&self, deed: &str) -> Result<()> {
        self.append(&format!("did {deed}\n"))
    }

    /// Who was killed in the middle of a line has left its beginning; the line end before ours closes it.
    fn append(&self, lines: &str) -> Result<()> {
        (&self.file).write_all(format!("\n{lines}").as_bytes())?;
        Ok(())
    }

    /// Returns what the ledger says now.
    pub(crate) fn now(&self) -> Result<State> {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let Followed { file, rest, state } = &mut *followed;
        file.read_to_end(rest)?;
        let end = rest.iter().rposition(|byte| *byte == b'\n');
        let complete: Vec<u8> = rest.drain(..end.map_or(0, |end| end + 1)).collect();
        for line in String::from_utf8(complete)?.lines() {
            state.heed(line);
        }
        Ok(state.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;

    #[test]
    fn what_one_appends_another_reads() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (
            Ledger::open(dir.path()).unwrap(),
            Ledger::open(dir.path()).unwrap(),
        );
        one.begin(3, 7, false).unwrap();
        one.written(3, 7).unwrap();
        let seen = other.now().unwrap();
        assert_eq!((seen.note(3).begun, seen.note(3).written), (7, 7));
        one.begin(3, 8, true).unwrap();
        // A sync that began before has not seen what came after.
        other.synced(&seen).unwrap();
        other.did("thread sync").unwrap();
        let note = one.now().unwrap().note(3);
        assert_eq!(
            (note.begun, note.begun_deletion, note.written, note.synced),
            (8, 8, 7, 7)
        );
        assert_eq!(one.now().unwrap().count("thread sync"), 1);
    }

    #[test]
    fn line_that_a_kill_cut_off_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(dir.path()).unwrap();
        ledger.append("synced 1 23").unwrap();
        ledger.written(1, 2).unwrap();
        let note = ledger.now().unwrap().note(1);
        assert_eq!((note.synced, note.written), (0, 2));
    }
}
