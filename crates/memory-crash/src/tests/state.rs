//! What is planted into the files of a sound index is seen.

use std::fs;
use std::path::{Path, PathBuf};

use futures::executor::block_on;
use memory_sqlite::rusqlite::Connection;
use tempfile::TempDir;

use crate::script::{Plan, Script, write};
use crate::state::State;
use crate::workspace::{self, STATE, Whole};

/// A workspace whose index is as it should be.
struct Sound {
    dir: TempDir,
}

impl Sound {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let script = Script::new(5);
        // Two rounds, so that there are changed and deleted entries.
        for tree in script.rounds.iter().take(2) {
            write(dir.path(), tree).unwrap();
            let memory = workspace::open(dir.path(), STATE, Plan::Steady.setup(0)).unwrap();
            workspace::sync(&memory, false).unwrap();
            block_on(memory.close()).unwrap();
        }
        Self { dir }
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join(STATE)
    }

    /// Changes a file of the index behind its back.
    fn plant(&self, file: &str, sql: &str) {
        let conn = Connection::open(self.state().join(file)).unwrap();
        assert!(conn.execute(sql, []).unwrap() > 0);
    }

    fn read(&self) -> State {
        State::read(&self.state()).unwrap().unwrap()
    }

    fn look(&self, problems: &mut Vec<String>) -> Whole {
        workspace::look(self.dir.path(), STATE, Plan::Steady.setup(0), problems).unwrap()
    }
}

const STORE: &str = "gen/1-store/store.db";
const WORDS: &str = "gen/1-lexical-fts5/index.db";
const MEANING: &str = "gen/1-vector-flat/index.db";

/// Plants a change and expects it to be named among what must never be.
fn is_seen(file: &str, sql: &str, said: &str) {
    let sound = Sound::new();
    sound.plant(file, sql);
    let violations = sound.read().violations();
    assert!(
        violations.iter().any(|violation| violation.contains(said)),
        "{sql}: {violations:?}"
    );
}

#[test]
fn a_sound_index_is_found_sound_by_every_look() {
    let sound = Sound::new();
    assert_eq!(sound.read().violations(), [""; 0]);
    assert_eq!(sound.read().incomplete(), [""; 0]);
    let mut problems = Vec::new();
    let whole = sound.look(&mut problems);
    whole.compare(&sound.look(&mut problems), &mut problems);
    assert_eq!(problems, [""; 0]);
}

#[test]
fn there_is_nothing_to_see_before_a_manifest() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(State::read(dir.path()).unwrap(), None);
}

#[test]
fn a_vector_that_the_store_alone_knows_is_seen() {
    is_seen(
        "vectors.db",
        "DELETE FROM vectors WHERE vector_id = (SELECT max(vector_id) FROM vectors WHERE role = 0)",
        "`vectors.db` has none",
    );
    is_seen(
        "vectors.db",
        "UPDATE vectors SET vector = x'00' WHERE role = 0",
        "`vectors.db` has none",
    );
}

#[test]
fn an_index_above_its_store_is_seen() {
    is_seen(WORDS, "UPDATE state SET seq = 999999", "is at 999999");
    is_seen(MEANING, "UPDATE state SET seq = 999999", "is at 999999");
}

#[test]
fn an_index_below_the_floor_of_tombstones_is_seen() {
    is_seen(WORDS, "UPDATE state SET seq = 1", "is at 1");
    is_seen(MEANING, "UPDATE state SET seq = 1", "is at 1");
}

#[test]
fn an_index_of_another_store_is_seen() {
    is_seen(WORDS, "UPDATE state SET store = randomblob(16)", "is at ");
}

#[test]
fn what_an_index_lacks_below_its_watermark_is_seen() {
    let sql = "DELETE FROM vectors WHERE row = (SELECT min(row) FROM vectors)";
    is_seen(MEANING, sql, "the index by meaning, at ");
    is_seen(MEANING, sql, "counted");
}

#[test]
fn what_an_index_has_and_its_store_has_not_is_seen() {
    let sql = "DELETE FROM entries WHERE entry = (SELECT min(entry) FROM entries)";
    is_seen(STORE, sql, "the index by words, at ");
    is_seen(STORE, sql, "the index by meaning, at ");
}

#[test]
fn an_id_without_words_is_seen() {
    let sound = Sound::new();
    sound.plant(
        WORDS,
        "DELETE FROM ids WHERE row = (SELECT min(row) FROM ids)",
    );
    let err = State::read(&sound.state()).unwrap_err();
    assert!(
        err.to_string().contains("1 rows of the index by words"),
        "{err}"
    );
}

#[test]
fn a_pending_vector_is_missing_but_no_violation() {
    let sound = Sound::new();
    sound.plant(
        MEANING,
        "DELETE FROM vectors WHERE row = (SELECT max(row) FROM vectors)",
    );
    sound.plant(MEANING, "UPDATE state SET n_entries = n_entries - 1");
    let lost = sound.read().violations();
    let [lost] = lost.as_slice() else {
        panic!("{lost:?}")
    };
    // The entry that is named there has no vector now, so the index may do without it.
    let id = lost.split("lacks ").nth(1).unwrap().get(..32).unwrap();
    sound.plant(
        STORE,
        &format!("UPDATE entries SET vector_seq = NULL, vector_key = NULL WHERE id = x'{id}'"),
    );
    assert_eq!(sound.read().violations(), [""; 0]);
    assert_eq!(sound.read().incomplete().len(), 2);
}

#[test]
fn another_text_another_line_and_another_answer_are_differences() {
    let sound = Sound::new();
    let mut problems = Vec::new();
    let before = sound.look(&mut problems);
    let first = "WHERE entry = (SELECT min(entry) FROM entries)";
    sound.plant(
        STORE,
        &format!("UPDATE entries SET text = text || '!' {first}"),
    );
    let mut differences = Vec::new();
    sound.look(&mut problems).compare(&before, &mut differences);
    assert_eq!(differences.len(), 2, "{differences:?}");

    sound.plant(STORE, "UPDATE entries SET line_end = line_end + 1");
    let mut differences = Vec::new();
    sound.look(&mut problems).compare(&before, &mut differences);
    let is_answer = |line: &&String| line.starts_with("+ 0.") || line.starts_with("- 0.");
    assert!(
        differences.iter().any(|line| is_answer(&line)),
        "{differences:?}"
    );
    assert_eq!(problems, [""; 0]);
}

#[test]
fn what_is_left_over_is_seen() {
    let sound = Sound::new();
    let state = sound.state();
    let left = |path: &Path| {
        let mut problems = Vec::new();
        workspace::leftovers(&state, &mut problems).unwrap();
        assert_eq!(problems.len(), 1, "{}: {problems:?}", path.display());
        problems.remove(0)
    };
    for file in ["MANIFEST.json.new", "gen/1-store/store.db-journal"] {
        let path = state.join(file);
        fs::write(&path, "").unwrap();
        assert_eq!(left(&path), format!("`{file}` is left over"));
        fs::remove_file(path).unwrap();
    }
    let path = state.join("gen/2-store");
    fs::create_dir(&path).unwrap();
    assert_eq!(left(&path), "`gen/2-store/` is left over");
    fs::remove_dir(path).unwrap();
    // A log with content was not folded in.
    let path = state.join(format!("{STORE}-wal"));
    fs::write(&path, "content").unwrap();
    left(&path);
    fs::remove_file(path).unwrap();
    fs::remove_file(state.join(".gitignore")).unwrap();
    assert_eq!(left(&state), "`.gitignore` is missing");
}

/// A process may die between losing the index and building another one; the next one plays the same round.
#[cfg(target_os = "linux")]
#[test]
fn an_index_by_words_can_be_lost_twice() {
    let sound = Sound::new();
    let workspace = sound.dir.path();
    workspace::lose_words(workspace).unwrap();
    assert!(workspace::forget_lost_words(workspace).unwrap());
    assert!(!sound.state().join(WORDS).exists());
    workspace::lose_words(workspace).unwrap();
    assert!(!workspace::forget_lost_words(workspace).unwrap());
}
