//! Adding text to memory files.

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use futures::executor::block_on;
use memory::{Added, Addition, AskedMode, LockWait, Phase, Query, SyncRequest, Target};
use memory_api::{ErrorKind, Result};

use crate::notes::Notes;

/// Memory files as they are without `include`, on 2026-06-01, midnight UTC.
fn desk() -> Notes {
    Notes::new()
        .with("documents.include", serde_json::json!([]))
        .with("write.time_zone", "UTC")
}

fn add_to(notes: &Notes, target: &str, text: &str) -> Result<Added> {
    let addition = Addition::new(text).with_target(Target::named(target));
    notes.once(async |memory| memory.add(&addition).await)
}

fn add(notes: &Notes, text: &str) -> Result<Added> {
    add_to(notes, "daily", text)
}

fn text(notes: &Notes, path: &str) -> String {
    fs::read_to_string(notes.path(path)).unwrap()
}

#[test]
fn what_is_added_is_found_where_the_answer_says() {
    let notes = desk();
    let added = add(&notes, "The port is 5433 because of the proxy.").unwrap();
    assert_eq!(added.path, "memory/2026-06-01.md");
    assert_eq!(added.citation, "memory/2026-06-01.md#L1-L3");
    assert_eq!((added.line_start, added.line_end), (1, 3));
    assert!(added.indexed && added.new_file);
    assert_eq!(added.warnings, [""; 0]);
    let hit = &notes.search("port proxy")[0];
    assert_eq!(hit.citation.as_ref(), Some(&added.citation));
    let again = add(&notes, "Lunch with Ann is at noon.").unwrap();
    assert_eq!(again.citation, "memory/2026-06-01.md#L5-L7");
    assert!(again.indexed && !again.new_file);
    assert_eq!(
        notes.search("lunch")[0].citation.as_ref(),
        Some(&again.citation)
    );
    assert_eq!(
        text(&notes, "memory/2026-06-01.md"),
        "## 00:00\n\nThe port is 5433 because of the proxy.\n\n## 00:00\n\nLunch with Ann is at noon.\n"
    );
}

#[test]
fn any_memory_file_can_be_named_and_no_other() {
    let notes = desk().with("documents.extra_paths", serde_json::json!(["shared"]));
    fs::create_dir(notes.path("shared")).unwrap();
    notes.write("MEMORY.md", "# Long-term\n\nAnn likes tea.\n");
    let added = add_to(&notes, "MEMORY.md", "Bob likes coffee.").unwrap();
    assert_eq!(added.citation, "MEMORY.md#L5-L7");
    assert_eq!(
        text(&notes, "MEMORY.md"),
        "# Long-term\n\nAnn likes tea.\n\n## 2026-06-01 00:00\n\nBob likes coffee.\n"
    );
    for (target, word) in [
        ("memory/projects/harbour/pumps.md", "basalt"),
        ("shared/todo.md", "gypsum"),
        ("./USER.md", "granite"),
    ] {
        let added = add_to(&notes, target, word).unwrap();
        assert!(added.indexed && added.new_file, "{target}");
        assert_eq!(notes.found(word), [added.path.as_str()], "{target}");
    }
    for target in ["notes.md", "../out.md", "/tmp/out.md", "memory/a.jsonl", ""] {
        let err = add_to(&notes, target, "text").unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{target}");
        assert!(err.hint().is_some(), "{target}");
    }
    assert!(!notes.path("notes.md").exists());
    assert!(!notes.path("memory/a.jsonl").exists());
}

#[test]
fn globs_decide_where_notes_are() {
    // `Notes` has `notes/**/*.md` alone.
    let notes = Notes::new();
    let err = add(&notes, "text").unwrap_err();
    assert!(err.hint().unwrap().contains("`write.file`"), "{err}");
    let notes = notes.with("write.file", "notes/{year}/{month}/{day}.md");
    let added = add(&notes, "basalt").unwrap();
    assert_eq!(added.path, "notes/2026/06/01.md");
    assert_eq!(notes.found("basalt"), ["notes/2026/06/01.md"]);
}

#[test]
fn days_and_hours_are_those_of_the_person() {
    let check = |zone: &str, path: &str, heading: &str| {
        let notes = desk().with("write.time_zone", zone);
        let added = add(&notes, "text").unwrap();
        assert_eq!(added.path, path, "{zone}");
        assert!(text(&notes, path).starts_with(heading), "{zone}");
    };
    check("UTC", "memory/2026-06-01.md", "## 00:00\n");
    check("Asia/Tokyo", "memory/2026-06-01.md", "## 09:00\n");
    check("America/New_York", "memory/2026-05-31.md", "## 20:00\n");
}

#[test]
fn a_stale_date_appends_to_its_own_day() {
    // CS-08 and DD-05: nothing is overwritten, and a text lands in one of the two days.
    let notes = desk();
    notes.write("memory/2026-05-31.md", "one\ntwo\nthree\n");
    let late = notes.open();
    let notes = notes.on_day(20_604);
    let added = block_on(late.add(&Addition::new("four\nfive"))).unwrap();
    block_on(late.close()).unwrap();
    assert_eq!(added.path, "memory/2026-06-01.md");
    let early = add(&notes, "six").unwrap();
    assert_eq!(early.path, "memory/2026-05-31.md");
    let day = text(&notes, "memory/2026-05-31.md");
    assert_eq!(day, "one\ntwo\nthree\n\n## 00:00\n\nsix\n");
    assert!(text(&notes, &added.path).ends_with("four\nfive\n"));
}

#[test]
fn headings_are_as_configured() {
    let notes = desk()
        .with("write.heading", "### {date}, {time} o'clock")
        .with("write.note_heading", "");
    add(&notes, "# Top\nbasalt").unwrap();
    assert_eq!(
        text(&notes, "memory/2026-06-01.md"),
        "### 2026-06-01, 00:00 o'clock\n\n#### Top\nbasalt\n"
    );
    let hit = &notes.search("basalt")[0];
    assert_eq!(hit.heading_path, ["2026-06-01, 00:00 o'clock", "Top"]);
    add_to(&notes, "MEMORY.md", "gypsum").unwrap();
    assert_eq!(text(&notes, "MEMORY.md"), "gypsum\n");
}

#[test]
fn headings_and_open_fences_of_a_text_leave_the_next_one_alone() {
    let notes = desk();
    add(&notes, "# Decision\nbasalt\n\n```sh\nmake").unwrap();
    add(&notes, "gypsum").unwrap();
    let hit = &notes.search("gypsum")[0];
    assert_eq!(hit.heading_path, ["00:00"]);
    let hit = &notes.search("basalt")[0];
    assert_eq!(hit.heading_path, ["00:00", "Decision"]);
}

#[test]
fn the_same_text_is_refused_and_cited() {
    let notes = desk();
    let first = add(&notes, "# Port\n5433 it is").unwrap();
    for same in ["# Port\n5433 it is", "\n# Port \r\n5433 it is\r\n\n"] {
        let err = add(&notes, same).unwrap_err();
        assert_eq!(err.context("refused"), Some("duplicate"), "{err}");
        assert_eq!(
            err.context("citation"),
            Some("memory/2026-06-01.md#L3-L4"),
            "{err}"
        );
        assert!(err.message().contains("memory/2026-06-01.md#L3-L4"));
    }
    assert_eq!(first.citation, "memory/2026-06-01.md#L1-L4");
    // Another note may say the same: what lasts is taken over from a day's note.
    assert!(add_to(&notes, "MEMORY.md", "# Port\n5433 it is").is_ok());
    // And so may a longer text.
    assert!(add(&notes, "# Port\n5433 it is, still").is_ok());
    assert_eq!(
        text(&notes, "memory/2026-06-01.md").matches("5433").count(),
        2
    );
}

#[test]
fn a_secret_is_refused_by_its_kind_and_written_nowhere() {
    let notes = desk();
    for (text, kind) in [
        (
            "deploy with sk-proj-Zq83kfLw02mXc7Vb5NtR1yUe4HgJ6dSa",
            "api key",
        ),
        ("see https://ann:hunter2hunter2@example.org/x", "password"),
    ] {
        let err = add(&notes, text).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput);
        assert_eq!(err.context("refused"), Some("secret"), "{err}");
        assert_eq!(err.context("secret"), Some(kind));
        assert!(!format!("{err:?}").contains("Zq83kf") && !format!("{err:?}").contains("hunter2"));
    }
    assert!(!notes.path("memory").exists());
    add(&notes, "the sk-learn port of the garden tool").unwrap();
}

#[test]
fn a_transcript_is_never_written() {
    let notes = desk().with("documents.transcripts", serde_json::json!(["chats"]));
    notes.write("chats/a.jsonl", "");
    for target in ["chats/a.jsonl", "chats/b.jsonl"] {
        let err = add_to(&notes, target, "pump").unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{err}");
    }
    assert_eq!(text(&notes, "chats/a.jsonl"), "");
}

#[test]
fn a_long_or_blank_text_is_refused_before_anything_is_made() {
    let notes = desk().with("write.max_chars", 10);
    for wrong in ["", " \n", "12345678901"] {
        let err = add(&notes, wrong).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput);
        assert_eq!(err.context("refused"), None);
    }
    assert!(!notes.path("memory").exists());
    assert!(add(&notes, "1234567890").is_ok());
}

#[test]
fn twenty_at_once_lose_nothing() {
    // CL-10.
    let notes = Arc::new(desk());
    notes.write("memory/2026-06-01.md", "morning\n");
    let barrier = Arc::new(Barrier::new(20));
    let threads: Vec<_> = (0..20)
        .map(|n| {
            let (notes, barrier) = (Arc::clone(&notes), Arc::clone(&barrier));
            thread::spawn(move || {
                barrier.wait();
                add(&notes, &format!("line number{n}")).unwrap()
            })
        })
        .collect();
    let added: Vec<Added> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    let day = text(&notes, "memory/2026-06-01.md");
    let lines: Vec<&str> = day.lines().collect();
    for (n, added) in added.iter().enumerate() {
        let place = lines[added.line_start as usize - 1..added.line_end as usize].join("\n");
        assert_eq!(place, format!("## 00:00\n\nline number{n}"));
    }
    assert_eq!(lines.len(), 1 + 20 * 4);
    assert_eq!(fs::read_dir(notes.path("memory")).unwrap().count(), 1);
    notes.index();
    assert_eq!(notes.entries("number7").len(), 1);
}

#[test]
fn a_backlog_of_vectors_keeps_nobody_waiting() {
    let notes = desk().with_meaning();
    notes.write(
        "MEMORY.md",
        "the first text brings the background of its space",
    );
    notes.index();
    notes.write("down", "");
    for n in 0..40 {
        notes.write(
            &format!("memory/old{n}.md"),
            format!("old number{n}\n\n## b\n\nmore{n}\n"),
        );
    }
    assert!(notes.index().pending >= 40);
    notes.remove("down");
    notes.embedded();
    notes.write(
        "memory/2026-06-01.md",
        "# Morning\n\nold morning\n\n# Noon\n\nold noon\n",
    );
    let added = add(&notes, "basalt pump").unwrap();
    assert_eq!(added.warnings, [""; 0]);
    let embedded = notes.embedded();
    assert_eq!(embedded.len(), 1, "{embedded:?}");
    assert!(embedded[0].contains("basalt pump"), "{embedded:?}");
    let by_meaning = Query::new("basalt pump")
        .everything(100)
        .with_mode(AskedMode::Vector);
    let hits = notes.ask(&by_meaning).results;
    assert!(
        hits.iter()
            .any(|hit| hit.citation.as_ref() == Some(&added.citation))
    );
    // The next sync embeds the rest.
    assert_eq!(notes.index().pending, 0);
}

#[test]
fn an_embedder_that_fails_leaves_words_and_says_so() {
    let notes = desk().with_meaning();
    notes.write("down", "");
    let added = add(&notes, "basalt pump").unwrap();
    assert!(added.indexed);
    assert_eq!(added.warnings.len(), 1, "{:?}", added.warnings);
    assert!(
        added.warnings[0].starts_with("vector: "),
        "{:?}",
        added.warnings
    );
    let by_words = Query::new("basalt").with_mode(AskedMode::Lexical);
    assert_eq!(notes.ask(&by_words).results.len(), 1);
}

#[test]
fn a_new_generation_keeps_the_vectors_that_are_known() {
    let notes = desk().with_meaning();
    for n in 0..5 {
        notes.write(&format!("memory/old{n}.md"), format!("old number{n}"));
    }
    notes.index();
    // Only `vectors.db` knows them now: no store is left to copy.
    notes.remove(".memory/MANIFEST.json");
    fs::remove_dir_all(notes.path(".memory/gen")).unwrap();
    add(&notes, "basalt pump").unwrap();
    let status = notes.status();
    assert_eq!(status.vector.unwrap().pending, 0);
}

#[test]
fn who_writes_the_index_for_long_keeps_nobody_from_a_note() {
    let notes = desk().with_meaning();
    notes.write("memory/a.md", "one");
    let memory = notes.open();
    let (began, has_begun) = std::sync::mpsc::channel();
    let (go_on, may_go_on) = std::sync::mpsc::channel::<()>();
    let may_go_on = std::sync::Mutex::new(may_go_on);
    let syncing = thread::spawn(move || {
        let request = SyncRequest {
            wait: LockWait::Refuse,
            progress: Some(Arc::new(move |progress| {
                if progress.phase == Phase::Meaning {
                    began.send(()).unwrap_or_default();
                    may_go_on.lock().unwrap().recv().unwrap_or_default();
                }
            })),
            ..SyncRequest::default()
        };
        block_on(memory.sync(&request)).unwrap();
        block_on(memory.close()).unwrap();
    });
    has_begun.recv().unwrap();
    let addition = Addition::new("basalt").with_wait(Duration::from_millis(1));
    let added = notes
        .once(async |memory| memory.add(&addition).await)
        .unwrap();
    assert!(!added.indexed);
    assert!(
        added.warnings[0].starts_with("not indexed yet: process "),
        "{:?}",
        added.warnings
    );
    assert!(added.warnings[0].contains("memory index"));
    drop(go_on);
    syncing.join().unwrap();
    assert_eq!(text(&notes, &added.path), "## 00:00\n\nbasalt\n");
    notes.index();
    assert_eq!(notes.found("basalt"), ["memory/2026-06-01.md"]);
}

#[test]
fn a_state_folder_that_is_none_keeps_nobody_from_a_note() {
    let notes = desk().with("state_dir", "/proc/none/of/ours");
    let added = add(&notes, "basalt").unwrap();
    assert!(!added.indexed);
    assert!(added.warnings[0].starts_with("not indexed yet: "));
    assert_eq!(text(&notes, &added.path), "## 00:00\n\nbasalt\n");
}
