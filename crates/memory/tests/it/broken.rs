//! Files of the index that are damaged, another program's, empty or newer: told apart, kept, and built anew from the memory files.

use std::fs;
use std::path::Path;

use memory::{Health, Query, SyncReport, SyncRequest};
use memory_api::ErrorKind;
use memory_sqlite::rusqlite::Connection;

use crate::notes::Notes;

const STORE: &str = "gen/1-store/store.db";
const WORDS: &str = "gen/1-lexical-fts5/index.db";
const MEANING: &str = "gen/1-vector-flat/index.db";
const VECTORS: &str = "vectors.db";
const ALL: [&str; 4] = [STORE, WORDS, MEANING, VECTORS];

fn harbour() -> Notes {
    let notes = Notes::new().with_meaning();
    for n in 0..40 {
        notes.write(
            &format!("notes/{n}.md"),
            format!("pump number{n} {}", "word ".repeat(100)),
        );
    }
    notes.index();
    notes
}

fn forced() -> SyncRequest {
    SyncRequest {
        force: true,
        ..SyncRequest::default()
    }
}

/// What lies in the state folder under the name of something that was set aside.
fn set_aside(notes: &Notes) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(notes.path(".memory"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".damaged-"))
        .collect();
    names.sort_unstable();
    names
}

/// The name under which a file of the first generation is kept.
fn kept(file: &str) -> String {
    let Some(below) = file.strip_prefix("gen/") else {
        return format!("{file}.damaged-1");
    };
    let (folder, file) = below.split_once('/').unwrap();
    format!("{folder}.damaged-1/{file}")
}

fn check_whole(notes: &Notes, report: &SyncReport, what: &str) {
    assert_eq!(report.entries, 40, "{what}");
    assert_eq!(report.pending, 0, "{what}");
    assert_eq!(notes.found("number7"), ["notes/7.md"], "{what}");
    let findings = notes.once(async |memory| memory.examine().await).unwrap();
    for finding in findings {
        assert!(
            finding.health == Health::Green || finding.part == "folder",
            "{what}: {finding:?}"
        );
    }
}

/// Another program's database, whose last change is in its log only.
fn foreign_database(path: &Path) -> Connection {
    for suffix in ["", "-wal", "-shm"] {
        let file = format!("{}{suffix}", path.display());
        drop(fs::remove_file(file));
    }
    let theirs = Connection::open(path).unwrap();
    theirs.pragma_update(None, "journal_mode", "WAL").unwrap();
    theirs
        .execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES ('precious')")
        .unwrap();
    theirs
}

fn precious(path: &Path) -> String {
    let theirs = Connection::open(path).unwrap();
    theirs
        .query_row("SELECT x FROM theirs", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn another_programs_database_is_kept_with_its_log() {
    for file in ALL {
        for request in [SyncRequest::default(), forced()] {
            let what = format!("{file}, force: {}", request.force);
            let notes = harbour();
            let path = notes.path(".memory").join(file);
            // It is open there, so its log is not folded in.
            let theirs = foreign_database(&path);
            let report = notes.index_with(&request).unwrap();
            let name = kept(file);
            assert!(
                report.warnings.iter().any(|warning| {
                    warning.contains(&format!("kept as `{}`", name.split('/').next().unwrap()))
                }),
                "{what}: {:?}",
                report.warnings
            );
            drop(theirs);
            assert_eq!(
                precious(&notes.path(".memory").join(name)),
                "precious",
                "{what}"
            );
            check_whole(&notes, &report, &what);
            assert_eq!(notes.index().warnings, [""; 0], "{what}");
        }
    }
}

#[test]
fn a_text_in_the_place_of_a_database_is_kept() {
    let text = "This is a shopping list. ".repeat(400);
    for file in ALL {
        for request in [SyncRequest::default(), forced()] {
            let what = format!("{file}, force: {}", request.force);
            let notes = harbour();
            fs::write(notes.path(".memory").join(file), &text).unwrap();
            let report = notes.index_with(&request).unwrap();
            let found = fs::read_to_string(notes.path(".memory").join(kept(file))).unwrap();
            assert_eq!(found, text, "{what}");
            check_whole(&notes, &report, &what);
            assert_eq!(notes.index().warnings, [""; 0], "{what}");
        }
    }
}

#[test]
fn a_truncated_database_is_kept_and_built_anew() {
    for file in ALL {
        for length in [40, 6_000] {
            let what = format!("{file} of {length} bytes");
            let notes = harbour();
            let path = notes.path(".memory").join(file);
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(length);
            fs::write(&path, bytes).unwrap();
            // Whether or not a plain sync meets the damage, the doctor's remedy brings everything back.
            notes.index();
            let report = notes.index_with(&forced()).unwrap();
            check_whole(&notes, &report, &what);
        }
    }
}

#[test]
fn an_empty_or_lost_file_is_built_anew_and_nothing_is_kept_of_it() {
    for file in ALL {
        for lost in [false, true] {
            let what = format!("{file}, lost: {lost}");
            let notes = harbour();
            let path = notes.path(".memory").join(file);
            if lost {
                fs::remove_file(&path).unwrap();
            } else {
                fs::write(&path, "").unwrap();
            }
            notes.index();
            let report = notes.index_with(&forced()).unwrap();
            check_whole(&notes, &report, &what);
            assert_eq!(set_aside(&notes), [""; 0], "{what}");
        }
    }
}

#[test]
fn a_store_of_another_index_is_kept() {
    let other = harbour();
    let notes = harbour();
    let content = fs::read(other.path(".memory").join(STORE)).unwrap();
    fs::write(notes.path(".memory").join(STORE), &content).unwrap();
    let report = notes.index();
    assert!(
        report.warnings[0].contains("is not the store that the manifest names"),
        "{:?}",
        report.warnings
    );
    check_whole(&notes, &report, "another store");
    assert_eq!(set_aside(&notes), ["1-store.damaged-1"]);
}

#[test]
fn a_damaged_manifest_is_kept() {
    let notes = harbour();
    fs::write(notes.path(".memory/MANIFEST.json"), "{ \"mine\": 1 }").unwrap();
    let report = notes.index();
    check_whole(&notes, &report, "manifest");
    let kept = fs::read_to_string(notes.path(".memory/MANIFEST.json.damaged-1")).unwrap();
    assert_eq!(kept, "{ \"mine\": 1 }");
}

#[test]
fn what_was_set_aside_is_named_by_the_doctor_and_never_touched_again() {
    let notes = harbour();
    for n in 1..=2 {
        let path = notes.path(".memory").join(VECTORS);
        fs::write(path, format!("text {n}")).unwrap();
        notes.index_with(&forced()).unwrap();
    }
    assert_eq!(
        set_aside(&notes),
        ["vectors.db.damaged-1", "vectors.db.damaged-2"]
    );
    let findings = notes.once(async |memory| memory.examine().await).unwrap();
    let folder = findings.iter().find(|finding| finding.part == "folder");
    let folder = folder.unwrap();
    assert_eq!(folder.health, Health::Yellow);
    assert_eq!(
        folder.message,
        "set aside as damaged: `vectors.db.damaged-1`, `vectors.db.damaged-2`"
    );
    notes.index_with(&forced()).unwrap();
    let first = fs::read_to_string(notes.path(".memory/vectors.db.damaged-1")).unwrap();
    assert_eq!(first, "text 1");
}

/// Writes a file as a version of the program would that knows one more step than this one.
fn make_newer(path: &Path) -> Vec<u8> {
    let conn = Connection::open(path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    conn.execute_batch("CREATE TABLE of_the_future (x)")
        .unwrap();
    drop(conn);
    fs::read(path).unwrap()
}

#[test]
fn a_newer_store_or_index_by_words_is_never_touched() {
    for file in [STORE, WORDS] {
        for request in [SyncRequest::default(), forced()] {
            let notes = harbour();
            let path = notes.path(".memory").join(file);
            let newer = make_newer(&path);
            let err = notes.index_with(&request).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::Unsupported, "{file}: {err}");
            assert!(
                err.hint().unwrap().starts_with("update this program"),
                "{err:?}"
            );
            assert_eq!(fs::read(&path).unwrap(), newer, "{file}");
            assert_eq!(set_aside(&notes), [""; 0], "{file}");
            // Nothing half built is left.
            let findings = notes.once(async |memory| memory.examine().await).unwrap();
            let folder = findings.iter().find(|finding| finding.part == "folder");
            assert!(
                folder.is_none_or(|folder| folder.health == Health::Green),
                "{folder:?}"
            );
        }
    }
}

#[test]
fn a_newer_manifest_is_never_touched() {
    for request in [SyncRequest::default(), forced()] {
        let notes = harbour();
        let path = notes.path(".memory/MANIFEST.json");
        let text = fs::read_to_string(&path).unwrap();
        let newer = text.replace("\"format\": 1", "\"format\": 2");
        assert_ne!(text, newer);
        fs::write(&path, &newer).unwrap();
        let err = notes.index_with(&request).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unsupported);
        assert!(
            err.hint().unwrap().starts_with("update this program"),
            "{err:?}"
        );
        let err = notes
            .once(async |memory| memory.search(&Query::new("pump")).await)
            .unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Unsupported);
        assert_eq!(fs::read_to_string(&path).unwrap(), newer);
        assert!(notes.path(".memory").join(STORE).is_file());
    }
}

#[test]
fn newer_vectors_or_a_newer_index_by_meaning_leave_the_words() {
    for (file, force) in [(MEANING, false), (VECTORS, false), (VECTORS, true)] {
        let notes = harbour();
        let path = notes.path(".memory").join(file);
        let newer = make_newer(&path);
        notes.write("notes/tide.md", "The tide table hangs in the hut.");
        let request = SyncRequest {
            force,
            ..SyncRequest::default()
        };
        let report = notes.index_with(&request).unwrap();
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.contains("update this program")),
            "{file}: {:?}",
            report.warnings
        );
        let response = notes.ask(&Query::new("tide table"));
        assert_eq!(response.results[0].path, "notes/tide.md", "{file}");
        assert_eq!(fs::read(&path).unwrap(), newer, "{file}");
    }
    let notes = harbour();
    let path = notes.path(".memory").join(MEANING);
    let newer = make_newer(&path);
    let err = notes.index_with(&forced()).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported);
    assert_eq!(fs::read(&path).unwrap(), newer);
}

#[test]
fn a_forced_sync_replaces_no_store_that_it_could_not_read() {
    // Another agent's memory may be in it.
    let notes = harbour();
    let path = notes.path(".memory").join(STORE);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("mine.txt"), "precious").unwrap();
    let report = notes.index_with(&forced()).unwrap();
    check_whole(&notes, &report, "a folder");
    let kept = notes.path(".memory/1-store.damaged-1/store.db/mine.txt");
    assert_eq!(fs::read_to_string(kept).unwrap(), "precious");
}

#[test]
fn a_build_that_failed_or_was_stopped_leaves_no_folder() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let notes = harbour();
    let stopped = SyncRequest {
        force: true,
        cancel: Arc::new(AtomicBool::new(true)),
        ..SyncRequest::default()
    };
    assert!(notes.index_with(&stopped).unwrap().cancelled);
    let names: Vec<_> = fs::read_dir(notes.path(".memory/gen"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("1-")), "{names:?}");
}

#[cfg(unix)]
#[test]
fn what_is_damaged_stays_while_somebody_reads_it() {
    use futures::executor::block_on;
    let notes = harbour();
    let reader = notes.open();
    let found = || {
        let found = block_on(reader.search(&Query::new("number7")));
        found.unwrap().results.len()
    };
    assert!(found() > 0);
    let text = "no database ".repeat(1_000);
    let theirs = notes.path(".memory/gen/1-lexical-fts5");
    // The reader has the old file open; under its name lies another one.
    fs::remove_file(theirs.join("index.db")).unwrap();
    fs::write(theirs.join("index.db"), &text).unwrap();
    notes.index();
    assert!(theirs.is_dir());
    assert!(found() > 0);
    let report = notes.index();
    assert_eq!(
        report.warnings,
        ["what was damaged is kept as `1-lexical-fts5.damaged-1`"]
    );
    let kept = notes.path(".memory/1-lexical-fts5.damaged-1/index.db");
    assert_eq!(fs::read_to_string(kept).unwrap(), text);
    block_on(reader.close()).unwrap();
}
