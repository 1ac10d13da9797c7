//! What a sync keeps, changes and forgets.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::executor::block_on;
use memory::{AskedMode, Clock, FixedClock, LockWait, Phase, Query, SyncReport, SyncRequest};
use memory_api::{ErrorKind, Timestamp};
use memory_sqlite::rusqlite::Connection;
use serde_json::json;

use crate::notes::Notes;

fn counts(report: &SyncReport) -> [u64; 4] {
    [report.new, report.updated, report.unchanged, report.removed]
}

#[test]
fn a_sync_follows_the_files() {
    let notes = Notes::of(&[
        ("notes/a.md", "basalt"),
        ("notes/b.md", "gypsum"),
        ("notes/c.md", "marble"),
    ]);
    assert_eq!(counts(&notes.index()), [3, 0, 0, 0]);
    assert_eq!(counts(&notes.index()), [0, 0, 3, 0]);
    notes.write("notes/a.md", "granite, longer than before");
    notes.remove("notes/b.md");
    notes.write("notes/d.md", "slate");
    assert_eq!(counts(&notes.index()), [1, 1, 1, 1]);
    for (word, path) in [
        ("granite", "notes/a.md"),
        ("marble", "notes/c.md"),
        ("slate", "notes/d.md"),
    ] {
        assert_eq!(notes.found(word), [path]);
    }
    for gone in ["basalt", "gypsum"] {
        assert!(notes.search(gone).is_empty(), "{gone}");
    }
    let status = notes.once(async |memory| memory.status().await).unwrap();
    assert_eq!(
        (
            status.files,
            status.documents,
            status.entries,
            status.lexical.entries
        ),
        (3, 3, 3, 3)
    );
}

#[test]
fn moved_text_keeps_its_id_and_gets_new_lines() {
    let notes = Notes::of(&[("notes/a.md", "# One\n\nalpha\n\n# Two\n\nbeta")]);
    notes.index();
    let before = notes.search("beta");
    notes.write(
        "notes/a.md",
        "# One\n\nalpha\nand more\nand more\n\n# Two\n\nbeta",
    );
    notes.index();
    let after = notes.search("beta");
    assert_eq!(before[0].id, after[0].id);
    assert_eq!((before[0].line_start, after[0].line_start), (5, 7));
}

#[test]
fn equal_texts_in_one_file_are_entries_of_their_own() {
    let notes = Notes::of(&[(
        "notes/a.md",
        "# Day\n\nsame pump\n\n# Day\n\nsame pump\n\n# Day\n\nsame pump",
    )]);
    assert_eq!(notes.index().entries, 3);
    let lines: Vec<u32> = notes
        .entries("pump")
        .iter()
        .map(|hit| hit.line_start)
        .collect();
    assert_eq!(lines, [1, 5, 9]);
}

#[test]
fn what_filters_look_at_changes_without_the_text() {
    let note = |tag: &str| format!("---\ntags: [{tag}]\n---\npump in the cellar\n");
    let notes = Notes::of(&[("notes/a.md", &note("old"))]);
    notes.index();
    let before = notes.search("pump");
    notes.write("notes/a.md", note("newer"));
    notes.index();
    let after = notes.search("pump");
    assert_eq!(before[0].id, after[0].id);
    assert_eq!(after[0].tags, ["newer"]);
}

#[test]
fn a_file_touched_without_a_change_is_unchanged() {
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    // The file is the only source of its time.
    let year_2000 = std::time::UNIX_EPOCH + std::time::Duration::from_hours(24 * 10_957);
    fs::File::options()
        .write(true)
        .open(notes.path("notes/a.md"))
        .unwrap()
        .set_modified(year_2000)
        .unwrap();
    let until = memory_api::Timestamp(10_958 * 86_400_000);
    let old = || {
        notes
            .ask(&Query::new("pump").with_filter(memory::Filter {
                until: Some(until),
                ..Default::default()
            }))
            .results
    };
    assert!(old().is_empty());
    assert_eq!(counts(&notes.index()), [0, 0, 1, 0]);
    assert_eq!(old().len(), 1);
}

#[test]
fn a_file_that_cannot_be_indexed_stops_nothing_and_keeps_what_was_known() {
    let notes = Notes::of(&[("notes/a.md", "basalt"), ("notes/b.md", "gypsum")])
        .with("documents.max_file_kib", 1);
    notes.index();
    notes.write("notes/a.md", "x ".repeat(2_000));
    notes.write("notes/c.md", "marble");
    let report = notes.index();
    assert_eq!(counts(&report), [1, 0, 1, 0]);
    assert_eq!(report.failed.len(), 1);
    assert_eq!(report.failed[0].path, "notes/a.md");
    assert!(
        report.failed[0].reason.contains("more than 1 KiB"),
        "{}",
        report.failed[0].reason
    );
    assert_eq!(notes.found("basalt"), ["notes/a.md"]);
    assert_eq!(notes.found("marble"), ["notes/c.md"]);
}

#[test]
fn a_file_of_odd_bytes_is_indexed_with_a_warning() {
    let notes = Notes::new();
    notes.write("notes/a.md", b"# Pump\n\nlatin1 caf\xe9 \x00 end\n");
    let report = notes.index();
    assert_eq!(counts(&report), [1, 0, 0, 0]);
    assert_eq!(
        report.warnings,
        ["notes/a.md: line 3 is not UTF-8; the bytes that are not stand as U+FFFD"]
    );
    assert_eq!(notes.found("latin1"), ["notes/a.md"]);
}

#[test]
fn a_touched_file_keeps_a_date_of_its_own() {
    // The date in the name is the file's time as well, by chance or because a program set it.
    let notes = Notes::of(&[("notes/2000-01-01.md", "pump")]);
    let set_day = |day: u64| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_hours(24 * day);
        fs::File::options()
            .write(true)
            .open(notes.path("notes/2000-01-01.md"))
            .unwrap()
            .set_modified(time)
            .unwrap();
    };
    set_day(10_957);
    notes.index();
    set_day(20_000);
    assert_eq!(counts(&notes.index()), [0, 0, 1, 0]);
    let until = memory_api::Timestamp(10_958 * 86_400_000);
    let old = notes.ask(&Query::new("pump").with_filter(memory::Filter {
        until: Some(until),
        ..Default::default()
    }));
    assert_eq!(old.results.len(), 1);
}

#[cfg(unix)]
#[test]
fn a_state_folder_may_be_reached_through_links() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    let link = notes.path("link");
    std::os::unix::fs::symlink(notes.path(".memory"), &link).unwrap();
    notes.index();
    let through_link = notes.with("state_dir", json!(link));
    assert_eq!(through_link.found("basalt"), ["notes/a.md"]);
    assert_eq!(counts(&through_link.index()), [0, 0, 1, 0]);
    // What lies inside is ours alone.
    let manifest = through_link.path(".memory/MANIFEST.json");
    fs::rename(&manifest, through_link.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(through_link.path("elsewhere"), &manifest).unwrap();
    let err = through_link.once(async |memory| memory.search(&Query::new("basalt")).await);
    assert!(err.unwrap_err().message().contains("MANIFEST.json"));
}

#[test]
fn what_cannot_be_removed_stops_nothing() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    notes.index();
    // A file where a folder is expected, as good as one that belongs to somebody else.
    notes.write(".memory/gen/7-store", "x");
    notes.write("notes/b.md", "gypsum");
    let report = notes.index();
    assert_eq!(counts(&report), [1, 0, 1, 0]);
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("7-store")),
        "{report:?}"
    );
    assert_eq!(notes.found("gypsum"), ["notes/b.md"]);
}

#[test]
fn a_writer_whose_folder_was_taken_away_publishes_nothing() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    let state = notes.path(".memory");
    let moved = notes.path("moved");
    let (from, to) = (state.clone(), moved.clone());
    let request = SyncRequest {
        progress: Some(Arc::new(move |progress| {
            if progress.phase == Phase::Words && from.exists() {
                fs::rename(&from, &to).unwrap();
                // Somebody else begins in its place.
                fs::create_dir_all(from.join("gen")).unwrap();
                fs::write(from.join("lock"), "").unwrap();
                fs::write(
                    from.join(".gitignore"),
                    fs::read(to.join(".gitignore")).unwrap(),
                )
                .unwrap();
                fs::create_dir(from.join("gen/1-store")).unwrap();
            }
        })),
        ..SyncRequest::default()
    };
    let err = notes.index_with(&request).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unavailable, "{err}");
    assert!(err.message().contains("removed or replaced"), "{err}");
    assert!(state.join("gen/1-store").is_dir() && !state.join("MANIFEST.json").exists());
    // It is another one's by now.
    assert!(!moved.join("MANIFEST.json").exists());
    notes.index();
    assert_eq!(notes.found("basalt"), ["notes/a.md"]);
}

#[test]
fn an_empty_memory_loses_the_rows_of_deleted_files() {
    // MC-08.
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    notes.remove("notes/a.md");
    let report = notes.index();
    assert_eq!((counts(&report), report.entries), ([0, 0, 0, 1], 0));
    assert_eq!(
        report.workspace,
        fs::canonicalize(notes.root())
            .unwrap()
            .display()
            .to_string()
    );
    assert!(notes.search("pump").is_empty());
}

#[test]
fn another_cut_reaches_unchanged_files() {
    let text = "# Day\n\nfirst pump\n\nsecond pump\n";
    let notes = Notes::of(&[("notes/a.md", text)]);
    assert_eq!(notes.index().entries, 1);
    let notes = notes.with("chunker.markdown.split", "block");
    let report = notes.index();
    assert_eq!((report.updated, report.entries), (1, 2));
    assert_eq!(
        report.warnings,
        ["documents are cut in another way now; the index is built anew"]
    );
    let report = notes.index();
    assert_eq!((counts(&report), report.warnings), ([0, 0, 1, 0], vec![]));
    assert_eq!(notes.search("pump").len(), 2);
}

#[test]
fn what_is_live_answers_until_all_is_cut_anew() {
    let notes = Notes::new();
    for n in 0..9 {
        notes.write(
            &format!("notes/{n}.md"),
            "# Day\n\nfirst pump\n\nsecond pump\n",
        );
    }
    notes.index();
    let reader = notes.open();
    let found = || {
        let all = Query::new("pump").everything(100);
        block_on(reader.search(&all)).unwrap().results.len()
    };
    assert_eq!(found(), 9);
    let notes = notes.with("chunker.markdown.split", "block");
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let stopped = SyncRequest {
        cancel,
        progress: Some(Arc::new(move |progress| {
            if progress.phase == Phase::Words {
                flag.store(true, Ordering::Relaxed);
            }
        })),
        ..SyncRequest::default()
    };
    // All is cut and the words are fed, but nothing is published.
    assert!(notes.index_with(&stopped).unwrap().cancelled);
    assert_eq!(found(), 9);
    notes.index();
    assert_eq!(found(), 18);
    block_on(reader.close()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_generation_stays_while_somebody_reads_it() {
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    let reader = notes.open();
    let found = || {
        block_on(reader.search(&Query::new("pump")))
            .unwrap()
            .results
            .len()
    };
    assert_eq!(found(), 1);
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    let is_there = |folder: &str| notes.path(".memory/gen").join(folder).is_dir();
    notes.index_with(&forced).unwrap();
    assert!(is_there("1-store") && is_there("1-lexical-fts5") && is_there("2-store"));
    // The reader goes over to the new one, and the next sync clears away.
    assert_eq!(found(), 1);
    notes.index();
    assert!(!is_there("1-store") && !is_there("1-lexical-fts5") && is_there("2-store"));
    // Its own sync need not wait for itself.
    block_on(reader.sync(&forced)).unwrap();
    assert!(!is_there("2-store") && is_there("3-store"));
    assert_eq!(found(), 1);
    block_on(reader.close()).unwrap();
}

#[test]
fn who_waits_for_another_writer_can_be_stopped() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    notes.index();
    let lock = fs::File::options()
        .write(true)
        .open(notes.path(".memory/lock"))
        .unwrap();
    lock.lock().unwrap();
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let request = SyncRequest {
        cancel,
        progress: Some(Arc::new(move |_| flag.store(true, Ordering::Relaxed))),
        ..SyncRequest::default()
    };
    assert!(notes.index_with(&request).unwrap().cancelled);
}

#[test]
fn status_compares_the_files_with_the_index_and_names_the_writer() {
    let notes = Notes::of(&[
        ("notes/same.md", "basalt"),
        ("notes/changed.md", "gypsum"),
        ("notes/gone.md", "slate"),
    ]);
    let drift = |notes: &Notes| {
        let drift = notes.status().drift;
        [drift.new, drift.changed, drift.removed]
    };
    assert_eq!(drift(&notes), [3, 0, 0]);
    notes.index();
    assert_eq!(drift(&notes), [0, 0, 0]);
    notes.write("notes/changed.md", "gypsum and marble");
    notes.write("notes/new.md", "granite");
    notes.remove("notes/gone.md");
    assert_eq!(drift(&notes), [1, 1, 1]);
    let status = notes.status();
    assert_eq!(status.writer, None);
    // A store of no entry has a page or more.
    assert!(status.bytes > 4096, "{}", status.bytes);
    let lock = fs::File::options()
        .write(true)
        .open(notes.path(".memory/lock"))
        .unwrap();
    lock.lock().unwrap();
    fs::write(notes.path(".memory/lock"), "4711\n").unwrap();
    assert_eq!(notes.status().writer, Some(4711));
}

#[test]
fn a_file_that_fails_while_it_should_be_cut_anew_is_cut_anew_later() {
    let notes = Notes::of(&[("notes/a.md", &"one line\n\n".repeat(200))]);
    let before = notes.index().entries;
    let notes = notes
        .with("chunker.markdown.split", "block")
        .with("documents.max_file_kib", 1);
    assert_eq!(notes.index().failed.len(), 1);
    let notes = notes.with("documents.max_file_kib", 100);
    let report = notes.index();
    assert_eq!(counts(&report), [0, 1, 0, 0]);
    assert!(report.entries > before);
}

#[test]
fn two_workspaces_cannot_share_a_state_folder_by_mistake() {
    let state = tempfile::tempdir().unwrap();
    let dir = state.path().join("state").display().to_string();
    let one = Notes::of(&[("notes/a.md", "basalt")]).with("state_dir", dir.clone());
    let two = Notes::of(&[("notes/b.md", "gypsum")]).with("state_dir", dir);
    one.index();
    let err = two.index_with(&SyncRequest::default()).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert!(err.message().contains("holds the index of"), "{err}");
    assert_eq!(one.found("basalt"), ["notes/a.md"]);
    let warnings = two.ask(&Query::new("basalt")).warnings;
    assert!(
        warnings[0].contains("the index was built from"),
        "{warnings:?}"
    );
    two.index_with(&SyncRequest {
        force: true,
        ..SyncRequest::default()
    })
    .unwrap();
    assert_eq!(two.found("gypsum"), ["notes/b.md"]);
}

#[test]
fn a_forced_sync_builds_a_new_generation_and_removes_the_old_one() {
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    let generations = || {
        let mut names: Vec<_> = fs::read_dir(notes.path(".memory/gen"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(generations(), ["1-lexical-fts5", "1-store"]);
    let before = notes.search("pump");
    notes
        .index_with(&SyncRequest {
            force: true,
            ..SyncRequest::default()
        })
        .unwrap();
    assert_eq!(generations(), ["2-lexical-fts5", "2-store"]);
    assert_eq!(notes.search("pump")[0].id, before[0].id);
}

/// A test double: whenever a sync asks for the time, somebody else asks whether there is an index.
#[derive(Debug)]
struct Watched {
    manifest: PathBuf,
    look: fn(PathBuf) -> bool,
    seen: Arc<Mutex<Vec<bool>>>,
    inner: FixedClock,
}

impl Clock for Watched {
    fn now(&self) -> Timestamp {
        let (look, manifest) = (self.look, self.manifest.clone());
        if manifest.is_file() {
            // A thread of its own, since executors do not nest.
            let seen = std::thread::spawn(move || look(manifest)).join().unwrap();
            self.seen.lock().unwrap().push(seen);
        }
        self.inner.now()
    }

    fn monotonic(&self) -> Duration {
        self.inner.monotonic()
    }

    fn random(&self) -> u128 {
        self.inner.random()
    }
}

/// Whoever finds none builds one first, and would wait for the sync that has just published it.
#[test]
fn what_is_published_is_an_index_before_its_sync_has_ended() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    let seen = Arc::default();
    let clock = Watched {
        manifest: notes.path(".memory/MANIFEST.json"),
        look: |manifest| {
            let root = manifest.parent().unwrap().parent().unwrap();
            let memory = Notes::new().open_with(&Notes::new().app(), root);
            let seen = block_on(memory.is_indexed()).unwrap();
            block_on(memory.close()).unwrap();
            seen
        },
        seen: Arc::clone(&seen),
        inner: FixedClock::new(Timestamp(0)),
    };
    let memory = notes.open_with(&notes.app().with_clock(Arc::new(clock)), notes.root());
    for force in [false, true] {
        let request = SyncRequest {
            force,
            ..SyncRequest::default()
        };
        block_on(memory.sync(&request)).unwrap();
        let seen = std::mem::take(&mut *seen.lock().unwrap());
        assert!(!seen.is_empty() && !seen.contains(&false), "{seen:?}");
    }
    block_on(memory.close()).unwrap();
}

#[test]
fn a_lost_or_damaged_index_is_built_anew_from_the_store() {
    for damage in ["missing", "garbage", "empty"] {
        let notes = Notes::of(&[("notes/a.md", "pump"), ("notes/b.md", "valve")]);
        notes.index();
        let dir = notes.path(".memory/gen/1-lexical-fts5");
        let file = dir.join("index.db");
        assert!(file.is_file());
        match damage {
            "missing" => fs::remove_dir_all(&dir).unwrap(),
            "garbage" => fs::write(&file, "no database ".repeat(1_000)).unwrap(),
            _ => fs::write(&file, "").unwrap(),
        }
        let report = notes.index();
        assert_eq!(counts(&report), [0, 0, 2, 0], "{damage}");
        assert_eq!(notes.found("pump"), ["notes/a.md"], "{damage}");
    }
}

#[test]
fn damage_inside_a_database_is_healed_by_the_next_sync_that_meets_it() {
    for damaged in ["gen/1-lexical-fts5/index.db", "gen/1-store/store.db"] {
        let notes = Notes::new();
        for n in 0..60 {
            notes.write(
                &format!("notes/{n}.md"),
                format!("pump number{n} {}", "word ".repeat(100)),
            );
        }
        notes.index();
        let path = notes.path(".memory").join(damaged);
        let mut bytes = fs::read(&path).unwrap();
        bytes[4096..].fill(0x5a);
        fs::write(&path, bytes).unwrap();
        notes.write("notes/0.md", "changed pump");
        // Files can be read whatever the index is like.
        assert_eq!(notes.get("notes/0.md").unwrap().text, "changed pump");
        let report = notes.index();
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.contains("built anew")),
            "{damaged}: {:?}",
            report.warnings
        );
        assert_eq!(notes.found("changed"), ["notes/0.md"], "{damaged}");
        assert_eq!(report.entries, 60);
        let folder = damaged.split('/').nth(1).unwrap();
        let kept = notes.path(&format!(".memory/{folder}.damaged-1"));
        assert!(kept.is_dir(), "{damaged}");
    }
}

#[test]
fn a_damaged_store_or_manifest_is_built_anew_from_the_files() {
    for damaged in ["MANIFEST.json", "gen/1-store/store.db"] {
        let notes = Notes::of(&[("notes/a.md", "pump")]);
        notes.index();
        let path = notes.path(".memory").join(damaged);
        assert!(path.is_file(), "{damaged}");
        fs::write(path, "no database ".repeat(1_000)).unwrap();
        let report = notes.index();
        assert_eq!(counts(&report), [1, 0, 0, 0], "{damaged}");
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.contains("built anew")),
            "{:?}",
            report.warnings
        );
        assert_eq!(notes.found("pump"), ["notes/a.md"], "{damaged}");
    }
}

#[test]
fn an_index_restored_from_an_old_copy_is_not_trusted() {
    // Text that was deleted since must not come back.
    let notes = Notes::of(&[("notes/a.md", "basalt"), ("notes/b.md", "gypsum")]);
    notes.index();
    let file = notes.path(".memory/gen/1-lexical-fts5/index.db");
    let old = fs::read(&file).unwrap();
    notes.remove("notes/a.md");
    notes.index();
    fs::write(&file, old).unwrap();
    notes.index();
    assert!(notes.search("basalt").is_empty());
    assert_eq!(notes.found("gypsum"), ["notes/b.md"]);
    let status = notes.once(async |memory| memory.status().await).unwrap();
    assert_eq!(
        (
            status.entries,
            status.lexical.entries,
            status.lexical.behind
        ),
        (1, 1, 0)
    );
}

/// The texts that a search by one leg gives, without a floor.
fn by_leg(notes: &Notes, mode: AskedMode) -> Vec<String> {
    let all = Query::new("basalt gypsum marble")
        .everything(100)
        .with_mode(mode);
    let mut texts: Vec<_> = notes
        .ask(&all)
        .results
        .into_iter()
        .map(|hit| hit.snippet)
        .collect();
    texts.sort_unstable();
    texts
}

fn entries_of_both(notes: &Notes) -> (u64, u64) {
    let status = notes.status();
    assert_eq!(status.degraded, [""; 0]);
    (status.lexical.entries, status.vector.unwrap().index.entries)
}

const BOTH: [AskedMode; 2] = [AskedMode::Lexical, AskedMode::Vector];

#[test]
fn a_folder_of_an_index_restored_from_an_old_copy_brings_nothing_back() {
    for (folder, vector) in [
        ("1-lexical-fts5", "flat"),
        ("1-vector-flat", "flat"),
        ("1-vector-sqlite-vec", "sqlite-vec"),
    ] {
        let notes = Notes::of(&[("notes/a.md", "basalt"), ("notes/b.md", "gypsum")])
            .with_meaning()
            .with("vector.use", vector);
        notes.index();
        let dir = notes.path(".memory/gen").join(folder);
        let old: Vec<_> = fs::read_dir(&dir)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let content = fs::read(&path).unwrap();
                (path, content)
            })
            .collect();
        notes.remove("notes/a.md");
        notes.index();
        fs::remove_dir_all(&dir).unwrap();
        fs::create_dir(&dir).unwrap();
        for (path, content) in old {
            fs::write(path, content).unwrap();
        }
        // Neither before the next sync nor after it.
        for mode in BOTH {
            let found = by_leg(&notes, mode);
            assert!(!found.contains(&"basalt".to_owned()), "{folder}: {found:?}");
        }
        let report = notes.index();
        assert!(
            report.warnings[0].contains("does not follow the store"),
            "{folder}: {report:?}"
        );
        for mode in BOTH {
            assert_eq!(by_leg(&notes, mode), ["gypsum"], "{folder}");
        }
        assert_eq!(entries_of_both(&notes), (1, 1), "{folder}");
        assert_eq!(notes.index().warnings, [""; 0], "{folder}");
    }
}

#[test]
fn deletions_are_remembered_until_the_index_by_meaning_has_them_as_well() {
    let blocked = |notes: &Notes, is_blocked: bool| {
        let (file, aside) = (notes.path(".memory/vectors.db"), notes.path("vectors"));
        if is_blocked {
            fs::rename(&file, &aside).unwrap();
            fs::create_dir(&file).unwrap();
        } else {
            fs::remove_dir(&file).unwrap();
            fs::rename(&aside, &file).unwrap();
        }
    };
    let refusing = |notes: &Notes, sql: &str| {
        let index = Connection::open(notes.path(".memory/gen/1-vector-flat/index.db")).unwrap();
        index.execute_batch(sql).unwrap();
    };
    // It cannot be opened, nor its vectors, or it takes nothing.
    for away in ["plugin", "vectors", "feeding"] {
        let mut notes = Notes::of(&[
            ("notes/a.md", "basalt"),
            ("notes/b.md", "gypsum"),
            ("notes/c.md", "marble"),
        ])
        .with_meaning();
        notes.index();
        match away {
            "plugin" => notes = notes.with("vector.use", "no-vector"),
            "vectors" => blocked(&notes, true),
            _ => refusing(
                &notes,
                "CREATE TRIGGER refuse BEFORE UPDATE ON state
                 BEGIN SELECT RAISE(ABORT, 'refused'); END",
            ),
        }
        notes.remove("notes/a.md");
        notes.index();
        notes.write("notes/b.md", "gypsum again");
        notes.index();
        assert!(!notes.index().warnings.is_empty());
        assert_eq!(
            by_leg(&notes, AskedMode::Lexical),
            ["gypsum again", "marble"]
        );
        match away {
            "plugin" => notes = notes.with("vector.use", "flat"),
            "vectors" => blocked(&notes, false),
            _ => refusing(&notes, "DROP TRIGGER refuse"),
        }
        // It is fed what it lacks; nothing is built anew.
        let report = notes.index();
        assert_eq!(report.warnings, [""; 0], "{away}");
        assert_eq!(report.pending, 0);
        for mode in BOTH {
            assert_eq!(by_leg(&notes, mode), ["gypsum again", "marble"]);
        }
        assert_eq!(entries_of_both(&notes), (2, 2));
        assert!(notes.path(".memory/gen/1-vector-flat").is_dir());
    }
}

#[test]
fn an_index_that_lags_is_fed_at_open_by_who_gets_the_lock() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    notes.index();
    let file = notes.path(".memory/gen/1-lexical-fts5/index.db");
    let old = fs::read(&file).unwrap();
    notes.write("notes/b.md", "gypsum");
    notes.index();
    fs::write(&file, &old).unwrap();
    let lock = fs::File::options()
        .write(true)
        .open(notes.path(".memory/lock"))
        .unwrap();
    lock.lock().unwrap();
    let response = notes.ask(&Query::new("basalt gypsum"));
    assert_eq!(response.degraded, ["words: 1 behind; run `memory index`"]);
    assert_eq!(response.results.len(), 1);
    drop(lock);
    assert_eq!(notes.found("gypsum"), ["notes/b.md"]);
}

#[test]
fn text_that_comes_back_is_found_again() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    for _ in 0..2 {
        notes.index();
        assert_eq!(notes.found("basalt"), ["notes/a.md"]);
        notes.remove("notes/a.md");
        notes.index();
        assert!(notes.search("basalt").is_empty());
        notes.write("notes/a.md", "basalt");
    }
}

#[test]
fn a_stopped_sync_keeps_what_was_there_and_the_next_one_goes_on() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    notes.index();
    for n in 0..20 {
        notes.write(&format!("notes/b{n}.md"), "gypsum");
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let request = SyncRequest {
        cancel,
        progress: Some(Arc::new(move |_| flag.store(true, Ordering::Relaxed))),
        ..SyncRequest::default()
    };
    let report = notes.index_with(&request).unwrap();
    assert!(report.cancelled);
    assert_eq!(report.removed, 0);
    assert_eq!(notes.found("basalt"), ["notes/a.md"]);
    let report = notes.index();
    assert_eq!(
        (
            report.new + report.unchanged,
            report.entries,
            report.cancelled
        ),
        (21, 21, false)
    );
}

#[test]
fn a_stopped_first_sync_publishes_nothing() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    let cancel = Arc::new(AtomicBool::new(true));
    let report = notes
        .index_with(&SyncRequest {
            cancel,
            ..SyncRequest::default()
        })
        .unwrap();
    assert!(report.cancelled);
    assert!(!block_on(notes.open().is_indexed()).unwrap());
    assert_eq!(counts(&notes.index()), [1, 0, 0, 0]);
}

#[test]
fn a_second_writer_is_refused_or_waits() {
    let notes = Notes::of(&[("notes/a.md", "basalt")]);
    notes.index();
    let lock = fs::File::options()
        .write(true)
        .open(notes.path(".memory/lock"))
        .unwrap();
    lock.lock().unwrap();
    let refuse = SyncRequest {
        wait: LockWait::Refuse,
        ..SyncRequest::default()
    };
    let err = notes.index_with(&refuse).unwrap_err();
    assert_eq!(
        (err.kind(), err.context("lock")),
        (ErrorKind::Unavailable, Some("held"))
    );
    // Readers do not wait.
    assert_eq!(notes.found("basalt"), ["notes/a.md"]);
    // The holder lets go as soon as it hears that somebody waits.
    let lock = std::sync::Mutex::new(Some(lock));
    let waiting = SyncRequest {
        progress: Some(Arc::new(move |_| drop(lock.lock().unwrap().take()))),
        ..SyncRequest::default()
    };
    assert_eq!(counts(&notes.index_with(&waiting).unwrap()), [0, 0, 1, 0]);
}

#[cfg(unix)]
#[test]
fn the_state_folder_is_for_its_owner_alone_and_ignored_by_git() {
    use std::os::unix::fs::PermissionsExt as _;
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    let mode = fs::metadata(notes.path(".memory"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    assert!(
        fs::read_to_string(notes.path(".memory/.gitignore"))
            .unwrap()
            .lines()
            .any(|line| line == "*")
    );
}

#[cfg(unix)]
#[test]
fn links_are_named_and_not_followed() {
    let notes = Notes::of(&[("notes/a.md", "pump"), ("secret/plan.md", "secretword")]);
    std::os::unix::fs::symlink(notes.path("secret"), notes.path("notes/link")).unwrap();
    let report = notes.index();
    assert_eq!(report.warnings, ["notes/link: skipped: link"]);
    assert!(notes.search("secretword").is_empty());
    assert_eq!(
        notes.get("notes/link/plan.md").unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn namespaces_share_a_state_folder_without_meeting() {
    let notes = Notes::of(&[("notes/a.md", "pump"), ("others/b.md", "pump valve")]);
    notes.index();
    let other = notes
        .with("namespace", "other")
        .with("documents.include", json!(["others/*.md"]));
    assert!(other.search("pump").is_empty());
    other.index();
    assert_eq!(other.found("pump"), ["others/b.md"]);
    let notes = other
        .with("namespace", "default")
        .with("documents.include", json!(["notes/*.md"]));
    assert_eq!(counts(&notes.index()), [0, 0, 1, 0]);
    assert_eq!(notes.found("pump"), ["notes/a.md"]);
    // A rebuild of one takes over what the other has.
    notes.write("notes/a.md", "anchor");
    notes.remove("others/b.md");
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    let report = notes.index_with(&forced).unwrap();
    assert_eq!((counts(&report), report.warnings), ([1, 0, 0, 0], vec![]));
    assert_eq!(notes.found("anchor pump"), ["notes/a.md"]);
    let other = notes
        .with("namespace", "other")
        .with("documents.include", json!(["others/*.md"]));
    assert_eq!(other.found("pump"), ["others/b.md"]);
    assert_eq!(counts(&other.index()), [0, 0, 0, 1]);
    assert!(other.search("pump").is_empty());
}
