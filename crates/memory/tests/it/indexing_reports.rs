//! Groups sync-watch, crash-safety, concurrency-locks, resource-scale, and of dimension-model what is not in
//! `ranking-reports.json`.

use std::collections::BTreeMap;
use std::fs;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use futures::executor::block_on;
use memory::{AskedMode, LockWait, Memory, Mode, Phase, Progress, Query, SyncReport, SyncRequest};
use serde_json::json;

use crate::notes::Notes;

pub(crate) fn forced() -> SyncRequest {
    SyncRequest {
        force: true,
        ..SyncRequest::default()
    }
}

/// Syncs, and at each step of the progress does a job on a thread of its own, as another process would.
pub(crate) fn sync_beside(
    notes: &Arc<Notes>,
    request: SyncRequest,
    job: impl Fn(&Notes, Progress) + Send + Sync + 'static,
) -> SyncReport {
    let (shared, job) = (Arc::clone(notes), Arc::new(job));
    let progress = move |progress| {
        let (notes, job) = (Arc::clone(&shared), Arc::clone(&job));
        thread::spawn(move || job(&notes, progress)).join().unwrap();
    };
    let request = SyncRequest {
        progress: Some(Arc::new(progress)),
        ..request
    };
    notes.index_with(&request).unwrap()
}

/// Wakes the thread that waits for a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Begins a sync and lets go of everything after `n` steps of it, as a process that dies then. Returns whether it was done before.
fn dies_after(notes: &Notes, request: &SyncRequest, n: u32) -> bool {
    let memory = notes.open();
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut sync = pin!(memory.sync(request));
    for _ in 0..n {
        match sync.as_mut().poll(&mut context) {
            Poll::Ready(report) => return report.is_ok(),
            Poll::Pending => thread::park(),
        }
    }
    false
}

/// The names of the folders of generations.
fn generations(notes: &Notes) -> Vec<String> {
    let listed = fs::read_dir(notes.path(".memory/gen")).unwrap();
    let mut names: Vec<_> = listed
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

/// The content of every file below a folder.
fn content(dir: &std::path::Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(content(&path));
        } else {
            files.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    files
}

fn ask(memory: &Memory, query: &Query) -> Vec<String> {
    let results = block_on(memory.search(query)).unwrap().results;
    results.into_iter().map(|hit| hit.path).collect()
}

/// What a leg finds, whatever its score.
fn found_by(notes: &Notes, mode: AskedMode, query: &str) -> Vec<String> {
    let query = Query::new(query).with_mode(mode).everything(1_000);
    let response = notes.ask(&query);
    assert_eq!(response.degraded, [""; 0], "{query:?}");
    response
        .results
        .into_iter()
        .map(|hit| hit.snippet)
        .collect()
}

/// Notes of which each has a word of its own.
fn many(n: u32) -> Notes {
    let notes = Notes::new().with_meaning();
    for n in 0..n {
        notes.write(&format!("notes/{n}.md"), format!("lighthouse number{n}"));
    }
    notes
}

reports! {
    "indexing-reports.json";

    "SW-01" => a_file_that_shrinks_leaves_no_old_entries {
        let part = |n: u32| format!("## Part {n}\n{}quartz{n}\n\n", "word ".repeat(200));
        let notes = Notes::of(&[("notes/a.md", &(1..=5).map(part).collect::<String>())]).with_meaning();
        let before = notes.index().entries;
        notes.write("notes/a.md", (1..=2).map(part).collect::<String>());
        notes.index();
        let status = notes.status();
        assert!(status.entries < before);
        assert_eq!(status.lexical.entries, status.entries);
        assert_eq!(status.vector.unwrap().index.entries, status.entries);
        for mode in [AskedMode::Lexical, AskedMode::Vector] {
            let holding = |word: &str| found_by(&notes, mode, word).iter().filter(|text| text.contains(word)).count();
            assert_eq!((holding("quartz5"), holding("quartz2")), (0, 1), "{mode:?}");
        }
    }

    // That a watcher tells a rename from a deletion comes with it.
    "SW-09" => what_an_editor_leaves_beside_a_note_is_no_note {
        let notes = Notes::of(&[("memory/a.md", "violet")]).with("documents.include", json!([]));
        notes.index();
        // By rename.
        notes.write("memory/a.md.tmp", "indigo");
        fs::rename(notes.path("memory/a.md.tmp"), notes.path("memory/a.md")).unwrap();
        notes.index();
        assert_eq!(notes.found("indigo violet"), ["memory/a.md"]);
        // In the style of backups, seen in the middle and at the end.
        fs::rename(notes.path("memory/a.md"), notes.path("memory/a.md~")).unwrap();
        for side in ["memory/.a.md.swp", "memory/.#a.md", "memory/._a.md", "memory/#a.md#", "memory/a.md.bak"] {
            notes.write(side, "indigo");
        }
        notes.index();
        assert_eq!(notes.found("indigo"), [""; 0]);
        notes.write("memory/a.md", "indigo and violet");
        let report = notes.index();
        assert_eq!((report.new, report.entries), (1, 1));
        assert_eq!(notes.found("violet"), ["memory/a.md"]);
    }

    // Transcripts are another source, which does not exist yet; notes of another folder are as new to the index.
    "SW-13" => what_is_included_later_is_filled {
        let notes = Notes::of(&[("notes/a.md", "pump")]);
        for n in 0..50 {
            notes.write(&format!("chats/{n}.md"), format!("orchard gate{n}"));
        }
        notes.index();
        let notes = notes.with("documents.include", json!(["notes/**/*.md", "chats/**/*.md"]));
        let report = notes.index_with(&forced()).unwrap();
        assert_eq!((report.new, report.entries), (51, 51));
        assert_eq!(notes.found("gate49"), ["chats/49.md"]);
        let status = notes.status();
        assert_eq!((status.files, status.documents), (51, 51));
    }

    "SW-16" => memory_files_are_never_written {
        let files = [
            ("notes/a.md", "---\ntitle: A\n---\npump"),
            ("notes/b.md", "---\ntitle: [\n---\npump"),
            ("notes/c.md", "\u{feff}pump\r\n"),
        ];
        let notes = Notes::of(&files);
        let stamps =
            || files.map(|(path, _)| fs::metadata(notes.path(path)).unwrap().modified().unwrap());
        let before = stamps();
        notes.index();
        notes.index_with(&forced()).unwrap();
        assert_eq!(stamps(), before);
        for (path, content) in files {
            assert_eq!(fs::read_to_string(notes.path(path)).unwrap(), content);
        }
    }

    "SW-18" => an_open_memory_notices_what_another_one_published {
        let notes = Notes::of(&[("notes/1.md", "basalt")]).with_meaning();
        notes.index();
        let open = notes.open();
        let by_words = |word: &str| ask(&open, &Query::new(word).with_mode(AskedMode::Lexical));
        assert_eq!(by_words("basalt"), ["notes/1.md"]);
        notes.write("notes/2.md", "gypsum");
        notes.index();
        assert_eq!(by_words("gypsum"), ["notes/2.md"]);
        notes.write("notes/3.md", "marble");
        notes.index_with(&forced()).unwrap();
        assert_eq!(by_words("marble"), ["notes/3.md"]);
        block_on(open.close()).unwrap();
    }

    "CL-02" => searches_beside_a_writer_have_no_error {
        let notes = Arc::new(many(30));
        notes.index();
        let n_asked = Arc::new(AtomicU32::new(0));
        for round in 0..3 {
            notes.write(&format!("notes/new{round}.md"), "harbour");
            let n_asked = Arc::clone(&n_asked);
            sync_beside(&notes, SyncRequest::default(), move |notes, _| {
                n_asked.fetch_add(1, Ordering::Relaxed);
                let response = notes.ask(&Query::new("number7"));
                assert_eq!(response.results[0].path, "notes/7.md");
                assert_eq!(response.mode, Mode::Hybrid);
            });
        }
        // At least while files are read, words are fed and texts are embedded.
        assert!(n_asked.load(Ordering::Relaxed) >= 9);
    }

    // That several servers can be open comes with them; they are what `Notes::open` returns.
    "CL-03" => a_second_writer_is_told_who_writes_and_searches_go_on {
        for index in ["flat", "sqlite-vec"] {
            let notes = Arc::new(many(3).with("vector.use", index));
            notes.index();
            notes.write("notes/new.md", "harbour");
            let told = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&told);
            sync_beside(&notes, SyncRequest::default(), move |notes, _| {
                assert_eq!(notes.ask(&Query::new("number2")).results[0].path, "notes/2.md");
                assert_eq!(notes.status().writer, Some(std::process::id()));
                let refuse = SyncRequest { wait: LockWait::Refuse, ..SyncRequest::default() };
                heard.lock().unwrap().push(notes.index_with(&refuse).unwrap_err());
            });
            let told = told.lock().unwrap();
            assert!(!told.is_empty());
            for err in told.iter() {
                assert_eq!(err.context("lock"), Some("held"));
                let line = err.to_string();
                assert!(line.contains(&std::process::id().to_string()) && !line.contains('\n'), "{line}");
            }
        }
    }

    // The index by words is the one there is; it has to let go of its lock as any other.
    "CL-04" => memories_that_are_idle_hold_no_lock {
        let notes = many(3);
        notes.index();
        let idle = [notes.open(), notes.open()];
        for memory in &idle {
            assert_eq!(ask(memory, &Query::new("number1"))[0], "notes/1.md");
        }
        notes.write("notes/new.md", "harbour");
        let refuse = SyncRequest { wait: LockWait::Refuse, ..SyncRequest::default() };
        assert_eq!(notes.index_with(&refuse).unwrap().new, 1);
        for memory in &idle {
            assert_eq!(ask(memory, &Query::new("harbour")), ["notes/new.md"]);
        }
        // One that has written holds it no longer either.
        notes.write("notes/newer.md", "jetty");
        block_on(idle[0].sync(&refuse)).unwrap();
        assert_eq!(ask(&idle[1], &Query::new("jetty")), ["notes/newer.md"]);
        notes.index_with(&refuse).unwrap();
    }

    "CL-05" => a_rebuild_is_seen_by_nobody_until_it_is_whole {
        let notes = Arc::new(many(30));
        notes.index();
        let phases = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&phases);
        // Everything is embedded again, so that the rebuild takes its time with the vectors as well.
        fs::remove_file(notes.path(".memory/vectors.db")).unwrap();
        sync_beside(&notes, forced(), move |notes, progress| {
            seen.lock().unwrap().push(progress.phase);
            let response = notes.ask(&Query::new("number7"));
            assert_eq!(response.results[0].path, "notes/7.md", "{progress:?}");
            let status = notes.status();
            assert!(status.indexed);
            assert_eq!((status.entries, status.lexical.entries), (30, 30));
            assert_eq!(status.writer, Some(std::process::id()));
        });
        let phases = phases.lock().unwrap();
        for phase in [Phase::Files, Phase::Words, Phase::Meaning] {
            assert!(phases.contains(&phase), "{phase:?}");
        }
    }

    // A rename that a reader makes fail is one of Windows; no file that a reader may have open is renamed or replaced here.
    "CL-06" => rebuilds_beside_a_reader_succeed_and_leave_nothing {
        let notes = many(3);
        notes.index();
        let reader = notes.open();
        assert_eq!(ask(&reader, &Query::new("number1"))[0], "notes/1.md");
        for _ in 0..3 {
            notes.index_with(&forced()).unwrap();
        }
        let live = ["4-lexical-fts5", "4-store", "4-vector-flat"];
        let left = generations(&notes);
        assert!(live.iter().all(|name| left.contains(&(*name).to_owned())), "{left:?}");
        // What is read stays, but nothing of the generations between.
        assert!(left.iter().all(|name| name.starts_with("1-") || name.starts_with("4-")), "{left:?}");
        assert_eq!(ask(&reader, &Query::new("number1"))[0], "notes/1.md");
        notes.index();
        assert_eq!(generations(&notes), live);
        block_on(reader.close()).unwrap();
    }

    "CL-07" => an_open_memory_follows_a_rebuild {
        let notes = many(3);
        notes.index();
        let server = notes.open();
        assert_eq!(ask(&server, &Query::new("number1"))[0], "notes/1.md");
        notes.write("notes/new.md", "harbour");
        notes.remove("notes/1.md");
        notes.index_with(&forced()).unwrap();
        assert_eq!(ask(&server, &Query::new("harbour")), ["notes/new.md"]);
        assert_eq!(ask(&server, &Query::new("number1").with_mode(AskedMode::Lexical)), [""; 0]);
        let all = ask(&server, &Query::new("number1").with_mode(AskedMode::Vector).everything(100));
        assert_eq!(all.len(), 3);
        assert!(!all.contains(&"notes/1.md".to_owned()));
        block_on(server.close()).unwrap();
    }

    "CL-09" => who_opened_the_index_earlier_wipes_nothing {
        for index in ["flat", "sqlite-vec"] {
            let notes = many(1).with("vector.use", index);
            notes.index();
            let early = notes.open();
            // So that it holds the vectors of that time in its memory.
            assert_eq!(ask(&early, &Query::new("number0"))[0], "notes/0.md");
            for n in 0..200 {
                notes.write(&format!("notes/new{n}.md"), format!("harbour word{n}"));
            }
            notes.index();
            notes.write("notes/last.md", "jetty");
            block_on(early.sync(&SyncRequest::default())).unwrap();
            let status = block_on(early.status()).unwrap();
            assert_eq!((status.entries, status.vector.unwrap().index.entries), (202, 202), "{index}");
            let query = Query::new("harbour word77").with_mode(AskedMode::Vector);
            assert_eq!(ask(&early, &query)[0], "notes/new77.md", "{index}");
            block_on(early.close()).unwrap();
            assert_eq!(notes.search("harbour word77")[0].path, "notes/new77.md");
        }
    }

    "CL-11" => writers_that_take_turns_lose_nothing {
        let notes = many(1);
        let writers = [notes.open(), notes.open()];
        for n in 0..12 {
            notes.write(&format!("notes/turn{n}.md"), format!("harbour word{n}"));
            block_on(writers[n % 2].sync(&SyncRequest::default())).unwrap();
        }
        for writer in &writers {
            for n in 0..12 {
                let query = Query::new(format!("word{n}")).with_mode(AskedMode::Lexical);
                assert_eq!(ask(writer, &query), [format!("notes/turn{n}.md")]);
            }
        }
        assert_eq!(generations(&notes), ["1-lexical-fts5", "1-store", "1-vector-flat"]);
        let status = notes.status();
        assert_eq!((status.lexical.entries, status.vector.unwrap().index.entries), (13, 13));
    }

    "CS-03" => what_a_dead_rebuild_left_is_removed_and_a_living_one_is_not_touched {
        let notes = Arc::new(many(20));
        notes.index();
        let mut has_left_something = false;
        for n in [4, 12, 20, 28, 36] {
            assert!(!dies_after(&notes, &forced(), n));
            let left = generations(&notes);
            // What the one before left is gone by now.
            assert!(left.len() <= 6, "{left:?}");
            has_left_something |= left.len() > 3;
        }
        assert!(has_left_something);
        notes.index();
        assert_eq!(generations(&notes).len(), 3);
        let unpublished = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&unpublished);
        sync_beside(&notes, forced(), move |notes, _| {
            let before = generations(notes);
            seen.fetch_or(before.len() > 3, Ordering::Relaxed);
            notes.status();
            notes.once(async |memory| memory.examine().await).unwrap();
            notes.ask(&Query::new("number7"));
            assert_eq!(generations(notes), before);
        });
        assert!(unpublished.load(Ordering::Relaxed));
        assert_eq!(notes.status().entries, 20);
    }

    "CS-04" => a_rebuild_while_notes_change_ends_and_leaves_nothing {
        let notes = Arc::new(many(10));
        notes.index();
        let n_changes = AtomicU32::new(0);
        let report = sync_beside(&notes, forced(), move |notes, _| {
            let n = n_changes.fetch_add(1, Ordering::Relaxed);
            notes.write("notes/3.md", format!("changed {n} times"));
        });
        assert!(!report.cancelled && report.failed.is_empty(), "{report:?}");
        assert_eq!(generations(&notes).len(), 3);
        notes.index();
        let changed = Query::new("changed").with_mode(AskedMode::Lexical);
        assert_eq!(notes.ask(&changed).results[0].path, "notes/3.md");
        // One that is given up removes what it made.
        let live = generations(&notes);
        let cancel = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&cancel);
        let given_up = SyncRequest { cancel, ..forced() };
        let report = sync_beside(&notes, given_up, move |_, progress| {
            flag.store(progress.phase == Phase::Words, Ordering::Relaxed);
        });
        assert!(report.cancelled);
        assert_eq!(generations(&notes), live);
    }

    "CS-05" => whenever_a_sync_dies_the_next_one_finds_everything {
        let notes = Notes::new().with_meaning();
        notes.write("notes/stays.md", "basalt");
        notes.index();
        // Every third step is enough: two syncs do not take the same steps anyway.
        for n in (1..).step_by(3) {
            notes.write("notes/a.md", format!("harbour word{n}"));
            let is_done = dies_after(&notes, &SyncRequest::default(), n);
            let report = notes.index();
            assert_eq!((report.entries, report.pending), (2, 0), "{n}");
            assert_eq!(notes.found(&format!("word{n}")), ["notes/a.md"], "{n}");
            for mode in [AskedMode::Lexical, AskedMode::Vector] {
                let found = found_by(&notes, mode, "harbour");
                let old = format!("word{}", n.saturating_sub(3));
                assert!(found.iter().any(|text| text.ends_with(&format!("word{n}"))), "{n}: {found:?}");
                assert!(!found.iter().any(|text| text.ends_with(&old)), "{n}: {found:?}");
            }
            if is_done {
                assert!(n > 20, "{n}");
                break;
            }
        }
    }

    "CS-06" => an_embedding_that_broke_off_is_seen_and_goes_on_where_it_was {
        let notes = Arc::new(many(200));
        let beside = notes.open();
        let report = sync_beside(&notes, SyncRequest::default(), |notes, progress| {
            if progress.phase == Phase::Meaning && progress.done >= 50 && !notes.path("down").exists() {
                notes.embedded();
                notes.write("down", "");
            }
        });
        assert!((50..100).contains(&report.embedded), "{report:?}");
        assert_eq!(report.pending, 200 - report.embedded);
        assert!(report.warnings.iter().any(|warning| warning.contains("the model is down")), "{report:?}");
        // It was asked once more, for as many texts as it takes.
        assert_eq!(notes.embedded().len(), 7);
        // Who does not feed the index finds what was embedded, too.
        let vector = block_on(beside.status()).unwrap().vector.unwrap();
        assert_eq!((vector.pending, vector.index.entries), (report.pending, report.embedded));
        assert!(vector.reasons[0].0.contains("the model is down"), "{vector:?}");
        fs::remove_file(notes.path("down")).unwrap();
        let rest = notes.index();
        assert_eq!((rest.unchanged, rest.embedded, rest.pending), (200, report.pending, 0));
        assert_eq!(notes.status().vector.unwrap().index.entries, 200);
        let memory = notes.open();
        for n in 0..200 {
            let query = Query::new(format!("lighthouse number{n}")).with_mode(AskedMode::Vector);
            assert_eq!(ask(&memory, &query)[0], format!("notes/{n}.md"));
        }
    }

    "CS-07" => a_rebuild_that_breaks_off_leaves_an_index_that_answers {
        let notes = Arc::new(many(100));
        notes.index();
        let notes = Arc::new(Arc::into_inner(notes).unwrap().with("embedder.fake.model", "b"));
        let report = sync_beside(&notes, forced(), |notes, progress| {
            assert_eq!(notes.ask(&Query::new("number7")).results[0].path, "notes/7.md");
            if progress.phase == Phase::Meaning && progress.done >= 30 {
                notes.write("down", "");
            }
        });
        assert!((30..90).contains(&report.embedded), "{report:?}");
        assert_eq!(notes.ask(&Query::new("number99")).results[0].path, "notes/99.md");
        let vector = notes.status().vector.unwrap();
        assert_eq!(vector.pending, 100 - report.embedded);
        assert!(vector.reasons[0].0.contains("the model is down"), "{vector:?}");
        fs::remove_file(notes.path("down")).unwrap();
        assert_eq!(notes.index().embedded, 100 - report.embedded);
        // The vectors of the model before are kept: whoever goes back to it waits for nothing.
        let notes = Arc::into_inner(notes).unwrap().with("embedder.fake.model", "a");
        assert_eq!(notes.index().embedded, 0);
    }

    "CS-10" => the_index_can_be_deleted_at_any_time {
        let notes = many(5);
        notes.index();
        let files = content(&notes.path("notes"));
        let all = |notes: &Notes| {
            let hits = notes.entries("lighthouse");
            hits.into_iter().map(|hit| (hit.id, hit.path, hit.snippet)).collect::<Vec<_>>()
        };
        let before = all(&notes);
        // The one place that README.md and docs/platform.md name.
        fs::remove_dir_all(notes.path(".memory")).unwrap();
        assert_eq!(notes.ask(&Query::new("lighthouse")).degraded, ["no index yet: run `memory index`"]);
        assert_eq!(notes.index().new, 5);
        assert_eq!(all(&notes), before);
        assert_eq!(content(&notes.path("notes")), files);
    }

    "RS-02" => the_cache_of_vectors_does_not_grow_with_what_is_gone {
        let notes = many(20).with("cache.max_entries", 40);
        let mut sizes = Vec::new();
        for round in 0..12 {
            for n in 0..20 {
                notes.write(&format!("notes/{n}.md"), format!("round{round} number{n}"));
            }
            assert_eq!(notes.index().embedded, 20);
            sizes.push(fs::metadata(notes.path(".memory/vectors.db")).unwrap().len());
        }
        assert!(sizes[11] <= sizes[3], "{sizes:?}");
        // Far over the limit, what is in use stays.
        let notes = notes.with("cache.max_entries", 3);
        assert_eq!(notes.index_with(&forced()).unwrap().embedded, 0);
        assert_eq!(notes.index_with(&forced()).unwrap().embedded, 0);
        assert_eq!(notes.status().vector.unwrap().index.entries, 20);
    }

    "RS-04" => without_the_extension_words_answer_with_a_note {
        let notes = many(5);
        notes.index();
        let notes = notes.with("vector.use", "no-vector");
        let response = notes.ask(&Query::new("number3"));
        assert_eq!((response.mode, response.results[0].path.as_str()), (Mode::Lexical, "notes/3.md"));
        assert_eq!(response.degraded.len(), 1);
    }

    // How long it takes is measured by `cargo xtask bench`; here, cubic work would not end.
    "RS-07" => diversity_among_many_long_notes_is_no_cubic_work {
        let notes = Notes::new().with("rerank.use", json!(["mmr"]));
        for n in 0..300 {
            let text = (0..60).map(|word| format!("word{} ", (n + word) % 80)).collect::<Vec<_>>().concat();
            notes.write(&format!("notes/{n}.md"), format!("lantern {text}"));
        }
        notes.index();
        let response = notes.ask(&Query::new("lantern").with_max_results(100));
        assert_eq!(response.results.len() + response.omitted, 100);
        assert_eq!(response.degraded, [""; 0]);
    }

    "RS-08" => more_entries_than_a_statement_has_room_for_come_and_go {
        let notes = Notes::new().with("chunker.markdown.split", "block");
        // SQLite takes 32,766 parameters a statement.
        let sections = (0..33_000).map(|n| format!("n{n}\n\n")).collect::<Vec<_>>().concat();
        notes.write("notes/long.md", sections);
        for n in 0..300 {
            notes.write(&format!("notes/{n}.md"), "tiny");
        }
        assert_eq!(notes.index().entries, 33_300);
        fs::remove_dir_all(notes.path("notes")).unwrap();
        let report = notes.index();
        assert_eq!((report.removed, report.entries), (301, 0));
        let status = notes.status();
        assert_eq!((status.documents, status.entries, status.lexical.entries), (0, 0, 0));
    }

    "RS-09" => a_file_too_large_is_named_and_not_read {
        let notes = Notes::of(&[("notes/a.md", "pump"), ("notes/huge.md", "")]);
        // Whoever reads a terabyte does not get here.
        fs::File::options().write(true).open(notes.path("notes/huge.md")).unwrap().set_len(1 << 40).unwrap();
        let report = notes.index();
        assert_eq!((report.new, report.failed.len()), (1, 1));
        assert_eq!(report.failed[0].path, "notes/huge.md");
        assert!(report.failed[0].hint.as_ref().unwrap().contains("documents.max_file_kib"), "{report:?}");
        let err = notes.get("notes/huge.md").unwrap_err();
        assert!(err.hint().unwrap().contains("documents.max_file_kib"), "{err:?}");
        assert_eq!(notes.found("pump"), ["notes/a.md"]);
    }

    "RS-10" => a_search_embeds_its_question_and_writes_nothing_else {
        let notes = many(40);
        notes.index();
        notes.embedded();
        let state = notes.path(".memory");
        let index = || {
            let mut files = content(&state);
            // It keeps the question's vector, so that the same question needs no model.
            files.retain(|path, _| !path.contains("vectors.db"));
            files
        };
        let before = index();
        for _ in 0..5 {
            assert_eq!(notes.search("lighthouse number7")[0].path, "notes/7.md");
        }
        assert_eq!(notes.embedded(), ["lighthouse number7"]);
        let after = index();
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
        assert!(before == after);
        let cached = content(&state);
        notes.search("lighthouse number7");
        assert!(cached == content(&state));
    }

    elsewhere {
        "SW-05": "in `memory-watch/src/tests`; what `status` compares is in `sync`",
        "SW-06": "in `memory-watch/src/tests`",
        "SW-07": "in `memory-watch/src/tests`",
        "SW-08": "in `memory-watch/src/tests`",
        "SW-10": "in `memory-watch/src/tests`",
        "SW-11": "in `memory-watch/src/tests`",
        "SW-12": "in `transcripts.rs`",
        "SW-14": "in `memory-chunker-transcript`; of Markdown it is among the documents of the conformance suite",
        "SW-15": "in `transcripts.rs`",
        "CL-10": "in `add.rs`",
        "CS-08": "in `add.rs`",
        "CS-09": "in `memory-cli/tests/it/indexing_reports.rs`: another user is another process",
        "DM-07": "about Qdrant, which is no plugin yet",
        "DM-08": "about servers, which do not exist yet",
        "DM-10": "about remote models, which are no plugins yet",
        "DM-11": "about remote models, which are no plugins yet",
        "RS-03": "in `memory-cli/tests/it/indexing_reports.rs`: few handles are a limit of a process",
        "RS-06": "in `transcripts.rs`, and in `memory-chunker-transcript`",
        "RS-11": "about speed: `cargo xtask bench`; `memory-vector-sqlite-vec` has no search but by its operator",
    }
}
