//! Asks for notes and judges the answers by the ledger.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use memory::{AskedMode, Query};
use serde_json::Value;

use super::Shared;
use super::ledger::State;
use super::notes::{self, N_NOTES, note_word, version_word};
use super::settings::Opened;
use super::writer::STATE;
use crate::Result;
use crate::script::Random;

/// Results of a question.
const N_RESULTS: usize = 20;
/// What a line of `degraded` begins with while the index by words lacks changes.
const BEHIND: &str = "words: ";

/// How a reader comes to its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By a handle that is opened once.
    Stays,
    /// By a handle that is opened again when the config file has changed.
    Follows,
    /// By a handle for each question.
    Anew,
    /// By the program, a process for each question.
    Program,
}

impl Kind {
    pub(crate) const ALL: &[Self] = &[Self::Stays, Self::Follows, Self::Anew, Self::Program];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stays => "handles that stay",
            Self::Follows => "handles that follow the settings",
            Self::Anew => "handles opened anew",
            Self::Program => "the program",
        }
    }
}

/// What a reader has seen.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) kind: Kind,
    pub(crate) answers: u64,
    /// Answers without the note that was asked for, which said that changes are missing, while the note was being changed.
    pub(crate) gaps: u64,
    pub(crate) slowest: Duration,
}

/// A question, and the note it is for.
#[derive(Debug)]
struct Question {
    note: usize,
    text: String,
    mode: AskedMode,
    /// The version whose word is asked for; without one it is the word of all versions.
    version: Option<u64>,
}

/// What an answer says that matters here.
#[derive(Debug)]
struct Answer {
    /// Path and text of each result.
    results: Vec<(String, String)>,
    degraded: Vec<String>,
}

/// One that asks.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    shared: &'a Shared,
    random: Random,
    opened: Option<Opened>,
    tally: Tally,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(shared: &'a Shared, kind: Kind, seed: u64) -> Self {
        Self {
            shared,
            random: Random::new(seed ^ 0x4ead),
            opened: None,
            tally: Tally {
                kind,
                answers: 0,
                gaps: 0,
                slowest: Duration::ZERO,
            },
        }
    }

    /// Asks until the run is over.
    pub(crate) fn run(mut self) -> Tally {
        while !self.shared.is_over() {
            if let Err(err) = self.ask() {
                self.shared.fail(format!("{:?}: {err}", self.tally.kind));
            }
        }
        self.tally
    }

    fn ask(&mut self) -> Result<()> {
        let before = self.shared.ledger.now()?;
        let question = self.question(&before)?;
        let begin = Instant::now();
        let answer = match self.tally.kind {
            Kind::Program => self.by_program(&question),
            _ => self.by_handle(&question),
        };
        let answer = answer.map_err(|err| format!("{question:?}: {err}"))?;
        self.tally.slowest = self.tally.slowest.max(begin.elapsed());
        let after = self.shared.ledger.now()?;
        self.tally.answers += 1;
        match judge(&question, &answer, &before, &after) {
            Ok(is_gap) => self.tally.gaps += u64::from(is_gap),
            Err(wrong) => return Err(format!("{wrong}\n    {question:?}\n    {answer:?}").into()),
        }
        Ok(())
    }

    fn question(&mut self, before: &State) -> Result<Question> {
        let note = usize::try_from(self.random.below(N_NOTES as u64))?;
        let synced = before.note(note).synced;
        // Now and then for the very version, or for one that is gone.
        let version = match self.random.below(8) {
            0 | 1 => Some(synced),
            2 => Some(synced.saturating_sub(1 + self.random.below(3))),
            _ => None,
        };
        let mode = match self.random.below(6) {
            0 => AskedMode::Vector,
            1 | 2 => AskedMode::Hybrid,
            _ => AskedMode::Lexical,
        };
        let text = version.map_or_else(|| note_word(note), |version| version_word(note, version));
        Ok(Question {
            note,
            text,
            mode,
            version,
        })
    }

    fn by_handle(&mut self, question: &Question) -> Result<Answer> {
        let dir = &self.shared.dir;
        let opened = match self.opened.take() {
            Some(opened) if self.tally.kind != Kind::Follows || opened.is_current(dir)? => opened,
            Some(opened) => {
                opened.close()?;
                Opened::new(dir, STATE)?
            }
            None => Opened::new(dir, STATE)?,
        };
        let query = Query::new(&*question.text)
            .with_mode(question.mode)
            .everything(N_RESULTS);
        let response = block_on(opened.memory.search(&query))?;
        if self.tally.kind == Kind::Anew {
            opened.close()?;
        } else {
            self.opened = Some(opened);
        }
        let results = response.results.into_iter();
        Ok(Answer {
            results: results
                .map(|result| (result.path, result.snippet))
                .collect(),
            degraded: response.degraded,
        })
    }

    fn by_program(&self, question: &Question) -> Result<Answer> {
        let mode = match question.mode {
            AskedMode::Vector => "vector",
            AskedMode::Hybrid => "hybrid",
            _ => "lexical",
        };
        let output = Command::new(&self.shared.program)
            .arg("--workspace")
            .arg(&self.shared.dir)
            .args(["search", "--json", "--min-score", "0", "--mode", mode])
            .args(["--max-results", &N_RESULTS.to_string(), &question.text])
            .stdin(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        // One that sees no index would build one first.
        if !output.status.success() || said.contains("no index") {
            return Err(format!("`memory search` ended with {}: {said}", output.status).into());
        }
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let list = |key: &str| {
            let list = answer.get(key).and_then(Value::as_array);
            list.ok_or_else(|| format!("no `{key}` in {answer}"))
        };
        let text = |value: &Value, key: &str| {
            let text = value.get(key).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let results = list("results")?.iter();
        let degraded = list("degraded")?.iter();
        Ok(Answer {
            results: results
                .map(|result| (text(result, "path"), text(result, "snippet")))
                .collect(),
            degraded: degraded
                .filter_map(|line| line.as_str().map(str::to_owned))
                .collect(),
        })
    }
}

/// Says what is wrong with an answer, or whether it lacks the note because a sync was just at it.
fn judge(
    question: &Question,
    answer: &Answer,
    before: &State,
    after: &State,
) -> std::result::Result<bool, String> {
    let mut is_found = false;
    for (path, text) in &answer.results {
        let Some((note, version)) = notes::read(text) else {
            return Err(format!("nobody wrote `{text}`"));
        };
        if *path != notes::path(note) {
            return Err(format!("`{path}` does not say `{text}`"));
        }
        let (synced, begun) = (before.note(note).synced, after.note(note).begun);
        if version < synced {
            return Err(format!(
                "version {version} of note {note} is older than {synced}, which was synced before the question"
            ));
        }
        if version > begun {
            return Err(format!(
                "version {version} of note {note} is newer than {begun}, which nobody began before the answer"
            ));
        }
        is_found |= note == question.note;
    }
    let (was, is) = (before.note(question.note), after.note(question.note));
    // By meaning anything may come first. A version that was replaced is found no more, nor is a note that was deleted.
    let need_not_be_found = question.mode == AskedMode::Vector
        || question
            .version
            .is_some_and(|version| version < was.synced || is.begun > version)
        || is.begun_deletion >= was.synced;
    if is_found || need_not_be_found {
        return Ok(false);
    }
    let is_behind = answer.degraded.iter().any(|line| line.starts_with(BEHIND));
    if is.begun > was.synced && is_behind {
        return Ok(true);
    }
    Err(format!(
        "note {} is missing; synced before the question: {}, begun before the answer: {}",
        question.note, was.synced, is.begun
    ))
}

#[cfg(test)]
mod tests {
    use memory::AskedMode;

    use super::{Answer, Question, judge};
    use crate::soak::ledger::Ledger;
    use crate::soak::notes::{path, version_word};

    const NOTE: usize = 7;

    /// Judges an answer of these versions, when version 4 was synced before the question and 6 was begun before the answer.
    fn check(
        version: Option<u64>,
        deletion: Option<u64>,
        found: &[u64],
        degraded: &[&str],
    ) -> Result<bool, String> {
        let dir = tempfile::tempdir().unwrap();
        let ledger = Ledger::open(dir.path()).unwrap();
        let change = |number| {
            let is_deletion = deletion == Some(number);
            ledger.begin(NOTE, number, is_deletion).unwrap();
            ledger.written(NOTE, number).unwrap();
        };
        (1..=4).for_each(change);
        ledger.synced(&ledger.now().unwrap()).unwrap();
        let before = ledger.now().unwrap();
        (5..=6).for_each(change);
        let answer = Answer {
            results: found
                .iter()
                .map(|version| (path(NOTE), version_word(NOTE, *version)))
                .collect(),
            degraded: degraded.iter().map(|line| (*line).to_owned()).collect(),
        };
        let question = Question {
            note: NOTE,
            text: String::new(),
            mode: AskedMode::Lexical,
            version,
        };
        judge(&question, &answer, &before, &ledger.now().unwrap())
    }

    #[test]
    fn answer_is_neither_older_than_a_sync_nor_newer_than_a_change() {
        for version in 4..=6 {
            assert_eq!(check(None, None, &[version], &[]), Ok(false));
        }
        let older = check(None, None, &[5, 3], &[]).unwrap_err();
        assert!(older.contains("older than 4"), "{older}");
        let newer = check(None, None, &[7], &[]).unwrap_err();
        assert!(newer.contains("newer than 6"), "{newer}");
        // Nor is one that was deleted.
        assert!(check(None, Some(4), &[3], &[]).is_err());
    }

    #[test]
    fn note_is_missing_only_where_it_was_deleted_or_the_answer_says_so() {
        assert!(check(None, None, &[], &[]).is_err());
        assert!(check(None, None, &[], &["vector: 1 behind"]).is_err());
        assert_eq!(check(None, None, &[], &["words: 1 behind"]), Ok(true));
        for deletion in [4, 5, 6] {
            assert_eq!(check(None, Some(deletion), &[], &[]), Ok(false));
        }
        assert!(check(None, Some(3), &[], &[]).is_err());
        // The word of a version that may be gone by now.
        assert_eq!(check(Some(4), None, &[], &[]), Ok(false));
        assert_eq!(check(Some(6), None, &[6], &[]), Ok(false));
    }
}
