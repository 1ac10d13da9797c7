//! What an index says of itself: its watermark, which may be wrong, and which decides what may be forgotten.

use std::fs;
use std::path::PathBuf;

use memory::{AskedMode, Health, Query, SyncReport, SyncRequest};
use memory_sqlite::rusqlite::Connection;

use crate::notes::Notes;

fn notes_with(index: &str) -> Notes {
    let notes = Notes::new().with_meaning().with("vector.use", index);
    for n in 0..10 {
        notes.write(&format!("notes/{n}.md"), format!("pump number{n}"));
    }
    notes.index();
    notes
}

/// The file of an index of the only generation.
fn index_file(notes: &Notes, plugin: &str) -> PathBuf {
    let leg = if plugin == "fts5" {
        "lexical"
    } else {
        "vector"
    };
    notes.path(&format!(".memory/gen/1-{leg}-{plugin}/index.db"))
}

fn sql(file: &PathBuf, sql: &str) {
    Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

fn n_tombstones(notes: &Notes) -> i64 {
    let store = Connection::open(notes.path(".memory/gen/1-store/store.db")).unwrap();
    store
        .query_row("SELECT count(*) FROM tombstones", [], |row| row.get(0))
        .unwrap()
}

fn ill(notes: &Notes) -> Vec<(&'static str, Health)> {
    let findings = notes.once(async |memory| memory.examine().await).unwrap();
    findings
        .into_iter()
        .filter(|finding| finding.health != Health::Green)
        .map(|finding| (finding.part, finding.health))
        .collect()
}

/// What a leg finds, whatever its score.
fn texts(notes: &Notes, mode: AskedMode) -> Vec<String> {
    let query = Query::new("pump").with_mode(mode).everything(100);
    let mut texts: Vec<_> = notes
        .ask(&query)
        .results
        .into_iter()
        .map(|hit| hit.snippet)
        .collect();
    texts.sort_unstable();
    texts
}

/// Asserts that both legs find this many notes, and none of what was deleted.
fn assert_holds(notes: &Notes, n: usize, gone: &str) {
    for mode in [AskedMode::Lexical, AskedMode::Vector] {
        let texts = texts(notes, mode);
        assert_eq!(texts.len(), n, "{mode:?}: {texts:?}");
        assert!(!texts.iter().any(|text| text.contains(gone)), "{texts:?}");
    }
    let status = notes.status();
    assert_eq!(status.lexical.entries, n as u64);
    assert_eq!(status.vector.unwrap().index.entries, n as u64);
}

fn is_built_anew(report: &SyncReport) -> bool {
    report
        .warnings
        .iter()
        .any(|warning| warning.contains("built anew"))
}

#[test]
fn an_index_that_lost_an_entry_unnoticed_is_seen_by_the_doctor_and_mended() {
    for (plugin, part, lost) in [
        (
            "fts5",
            "words",
            "DELETE FROM ids WHERE row = 5; UPDATE state SET n_entries = n_entries - 1",
        ),
        (
            "flat",
            "meaning",
            "DELETE FROM vectors WHERE row = 5; UPDATE state SET n_entries = n_entries - 1",
        ),
        // It counts its tables when it is opened, so that as many are left here.
        (
            "sqlite-vec",
            "meaning",
            "UPDATE entries SET id = randomblob(16) WHERE row = 5",
        ),
    ] {
        let index = if plugin == "fts5" { "flat" } else { plugin };
        let notes = notes_with(index);
        let file = index_file(&notes, plugin);
        sql(&file, lost);
        // Its watermark says that all is there, so a sync has nothing to do.
        assert_eq!(notes.index().warnings, [""; 0]);
        assert_eq!(ill(&notes), [(part, Health::Red)], "{plugin}");
        // As `memory doctor --fix` does.
        let forced = SyncRequest {
            force: true,
            ..SyncRequest::default()
        };
        assert_eq!(notes.index_with(&forced).unwrap().embedded, 0);
        assert_eq!(ill(&notes), [], "{plugin}");
        assert_holds(&notes, 10, "nothing");
    }
}

#[test]
fn an_index_that_notices_what_it_lost_is_built_anew() {
    // Entries and vectors are counted when it is opened.
    let notes = notes_with("sqlite-vec");
    let file = index_file(&notes, "sqlite-vec");
    sql(&file, "DELETE FROM entries WHERE row = 5");
    sql(&file, "UPDATE state SET n_entries = n_entries - 1");
    assert!(is_built_anew(&notes.index()));
    // The damaged folder was kept.
    assert_eq!(ill(&notes), [("folder", Health::Yellow)]);
    assert_holds(&notes, 10, "nothing");
}

#[test]
fn an_index_that_holds_what_the_store_has_not_is_seen_by_the_doctor() {
    const MORE: &str = "UPDATE state SET n_entries = n_entries + 1";
    for (plugin, part) in [("fts5", "words"), ("flat", "meaning")] {
        let notes = notes_with("flat");
        let file = index_file(&notes, plugin);
        let more = match plugin {
            "fts5" => "INSERT INTO ids VALUES (999, randomblob(16), 1)",
            _ => {
                "INSERT INTO vectors SELECT 999, randomblob(16), vector FROM vectors WHERE row = 5"
            }
        };
        sql(&file, more);
        sql(&file, MORE);
        assert_eq!(ill(&notes), [(part, Health::Red)], "{plugin}");
    }
}

#[test]
fn what_is_deleted_while_an_index_is_away_is_not_forgotten_before_it_is_back() {
    for index in ["flat", "sqlite-vec"] {
        let notes = notes_with(index).with("vector.use", "no-vector");
        notes.remove("notes/3.md");
        for n in 0..3 {
            notes.write(&format!("notes/new{n}.md"), "pump of another kind");
            assert_eq!(notes.index().pending, n + 1);
            // The words have long passed it.
            assert_eq!(n_tombstones(&notes), 1);
        }
        let notes = notes.with("vector.use", index);
        let report = notes.index();
        assert_eq!((report.embedded, report.pending), (1, 0));
        assert!(!is_built_anew(&report), "{report:?}");
        assert_holds(&notes, 12, "number3");
        assert_eq!(n_tombstones(&notes), 0);
        assert!(index_file(&notes, index).is_file());
    }
}

#[test]
fn an_old_copy_of_an_index_brings_no_deleted_text_back() {
    for (plugin, index) in [
        ("fts5", "flat"),
        ("flat", "flat"),
        ("sqlite-vec", "sqlite-vec"),
    ] {
        let notes = notes_with(index);
        let file = index_file(&notes, plugin);
        let old = fs::read(&file).unwrap();
        notes.remove("notes/3.md");
        notes.index();
        assert_eq!(n_tombstones(&notes), 0);
        // Later changes bring its watermark no nearer to what it missed.
        notes.write("notes/later.md", "pump of another kind");
        notes.index();
        fs::write(&file, old).unwrap();
        // A search returns nothing that the store has not, and says that something is wrong.
        let mode = if plugin == "fts5" {
            AskedMode::Lexical
        } else {
            AskedMode::Vector
        };
        let response = notes.ask(&Query::new("pump").with_mode(mode).everything(100));
        assert_eq!(response.degraded.len(), 1, "{plugin}: {response:?}");
        assert!(
            response
                .results
                .iter()
                .all(|hit| !hit.snippet.contains("number3"))
        );
        let report = notes.index();
        assert!(is_built_anew(&report), "{plugin}: {report:?}");
        assert_eq!(report.embedded, 0);
        assert_holds(&notes, 10, "number3");
        assert_eq!(ill(&notes), []);
    }
}

#[test]
fn an_old_copy_of_the_store_makes_no_index_believe_it_has_all() {
    let notes = notes_with("flat");
    let file = notes.path(".memory/gen/1-store/store.db");
    let old = fs::read(&file).unwrap();
    // What the indexes got since is what the old store will number anew.
    notes.write("notes/between.md", "pump number77");
    notes.index();
    notes.remove("notes/between.md");
    fs::write(&file, old).unwrap();
    notes.write("notes/later.md", "pump of another kind");
    let report = notes.index();
    assert!(is_built_anew(&report), "{report:?}");
    assert_holds(&notes, 11, "number77");
    assert_eq!(ill(&notes), []);
}

#[test]
fn an_index_of_another_store_is_not_believed() {
    let (notes, other) = (notes_with("flat"), notes_with("flat"));
    for n in 0..10 {
        other.write(&format!("notes/{n}.md"), format!("pump stranger{n}"));
    }
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    other.index_with(&forced).unwrap();
    for (plugin, theirs) in [("fts5", "2-lexical-fts5"), ("flat", "2-vector-flat")] {
        let theirs = other.path(&format!(".memory/gen/{theirs}/index.db"));
        fs::copy(theirs, index_file(&notes, plugin)).unwrap();
    }
    let report = notes.index();
    assert!(is_built_anew(&report), "{report:?}");
    assert_eq!(report.embedded, 0);
    assert_holds(&notes, 10, "stranger");
    assert_eq!(ill(&notes), []);
}

/// Notes with an index that says what it is given.
fn notes_with_reluctant() -> Notes {
    let notes = Notes::new();
    let (refuse, log) = (notes.path("refuse"), notes.path("changes"));
    let notes = notes
        .with_meaning()
        .with("vector.use", "reluctant")
        .with("vector.reluctant.refuse", refuse.to_str().unwrap())
        .with("vector.reluctant.log", log.to_str().unwrap());
    for n in 0..10 {
        notes.write(&format!("notes/{n}.md"), format!("pump number{n}"));
    }
    notes.index();
    notes
}

#[test]
fn what_is_deleted_while_an_index_refuses_changes_is_not_forgotten_before_it_has_passed() {
    let notes = notes_with_reluctant();
    notes.write("refuse", "");
    notes.remove("notes/3.md");
    for _ in 0..3 {
        let report = notes.index();
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.contains("not today")),
            "{report:?}"
        );
        assert_eq!(notes.status().lexical.entries, 9);
        assert_eq!(n_tombstones(&notes), 1);
    }
    assert!(
        texts(&notes, AskedMode::Vector)
            .iter()
            .all(|text| !text.contains("number3"))
    );
    fs::remove_file(notes.path("refuse")).unwrap();
    assert_eq!(notes.index().warnings, [""; 0]);
    assert_holds(&notes, 9, "number3");
    assert_eq!(n_tombstones(&notes), 0);
}

#[test]
fn an_index_by_meaning_hears_of_what_filters_look_at() {
    let notes = notes_with_reluctant();
    let changes = |notes: &Notes| crate::fake::taken(&notes.path("changes"));
    assert_eq!(changes(&notes), vec!["put"; 10]);
    notes.write("notes/3.md", "---\ntags: [old]\n---\npump number3");
    notes.index();
    assert_eq!(changes(&notes), ["set_meta"]);
    notes.remove("notes/3.md");
    notes.index();
    assert_eq!(changes(&notes), ["delete"]);
}
