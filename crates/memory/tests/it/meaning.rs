//! Search by meaning: vectors, their keeping, and what happens without them. The embedder is a test double.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use memory::{AskedMode, Mode, Phase, Progress, Query, SyncRequest};
use memory_sqlite::rusqlite::Connection;
use serde_json::json;

use crate::notes::Notes;

/// Two notes, one of which is near the question without a common word.
fn harbour() -> Notes {
    let notes = Notes::of(&[
        ("notes/paint.md", "The hull gets two layers of antifouling."),
        ("notes/milk.md", "Oat milk is on the shopping list."),
    ])
    .with_meaning()
    .with(
        "embedder.fake.near",
        json!({ "antifouling": ["hull", 0.8], "coat": ["hull", 0.8] }),
    );
    notes.index();
    notes
}

#[test]
fn an_entry_without_a_common_word_is_found_by_its_meaning() {
    let response = harbour().ask(&Query::new("which coat does it need"));
    assert_eq!(response.mode, Mode::Hybrid);
    assert_eq!(response.degraded, [""; 0]);
    let embedder = response.embedder.unwrap();
    assert_eq!(
        (embedder.provider.as_str(), embedder.dimensions),
        ("fake", 384)
    );
    let best = &response.results[0];
    assert_eq!(best.path, "notes/paint.md");
    assert_eq!(best.scores.lexical, Some(0.0));
    assert!(best.scores.vector.unwrap() > 0.9);
    assert!(best.score >= 0.35);
}

#[test]
fn a_model_that_leans_to_one_side_finds_the_same() {
    // Every two texts of one script have a cosine of 0.9 here, and the answer is in the other script.
    let notes = Notes::of(&[
        ("notes/paint.md", "船底要刷两层防污漆。"),
        ("notes/milk.md", "Oat milk is on the shopping list."),
        ("notes/bread.md", "The bread is baked on Fridays."),
    ])
    .with_meaning()
    .with("embedder.fake.lean", 2.0)
    .with(
        "embedder.fake.near",
        json!({ "防污漆": ["hull", 0.8], "coat": ["hull", 0.8] }),
    );
    notes.index();
    let response = notes.ask(&Query::new("which coat does it need"));
    let found: Vec<_> = response.results.iter().map(|hit| &hit.path).collect();
    assert_eq!(found, ["notes/paint.md"], "{response:?}");
    assert!(response.results[0].scores.vector.unwrap() > 0.8);
    let all = notes
        .ask(&Query::new("which coat does it need").everything(9))
        .results;
    assert!(all[1].scores.vector.unwrap() < 0.3, "{all:?}");
}

#[test]
fn both_legs_say_what_they_think_of_every_result() {
    let notes = harbour();
    let response = notes.ask(&Query::new("coat and milk").everything(10));
    assert_eq!(response.results.len(), 2);
    for result in &response.results {
        let scores = &result.scores;
        let (text, vector) = (scores.lexical.unwrap(), scores.vector.unwrap());
        // Half of the words at most: no entry is sure.
        assert!(text < 0.6);
        assert!((scores.relevance - (0.7 * vector + 0.3 * text)).abs() < 1e-12);
        assert!((scores.freshness - scores.relevance * scores.retention).abs() < 1e-12);
    }
}

#[test]
fn a_mode_can_be_asked_for_and_is_reported() {
    let notes = harbour();
    let ask = |mode| notes.ask(&Query::new("antifouling").with_mode(mode));
    let words = ask(AskedMode::Lexical);
    assert_eq!((words.mode, words.embedder), (Mode::Lexical, None));
    assert_eq!(words.results[0].scores.vector, None);
    let meaning = ask(AskedMode::Vector);
    assert_eq!(meaning.mode, Mode::Vector);
    assert_eq!(meaning.results[0].scores.lexical, None);
    assert_eq!(ask(AskedMode::Hybrid).mode, Mode::Hybrid);
}

#[test]
fn asking_for_what_is_not_there_answers_with_what_is() {
    let notes = Notes::of(&[("notes/a.md", "tide tables")]);
    notes.index();
    for mode in [AskedMode::Hybrid, AskedMode::Vector] {
        let response = notes.ask(&Query::new("tide").with_mode(mode));
        assert!(
            response.degraded[0].starts_with("vector: search by meaning is switched off"),
            "{:?}",
            response.degraded
        );
    }
    let response = notes.ask(&Query::new("tide"));
    assert_eq!((response.mode, response.degraded.len()), (Mode::Lexical, 0));
}

#[test]
fn the_model_is_asked_only_when_a_query_needs_it() {
    let notes = harbour();
    notes.embedded();
    notes.ask(&Query::new("antifouling").with_mode(AskedMode::Lexical));
    notes.ask(&Query::new("  "));
    assert_eq!(notes.embedded(), [""; 0]);
    notes.ask(&Query::new("antifouling -milk"));
    assert_eq!(notes.embedded(), ["antifouling"]);
    // The same question is known, also to the next process.
    notes.ask(&Query::new("antifouling"));
    assert_eq!(notes.embedded(), [""; 0]);
}

#[test]
fn an_empty_memory_needs_no_model() {
    let notes = Notes::new().with_meaning();
    notes.index();
    notes.ask(&Query::new("anything"));
    assert_eq!(notes.embedded(), [""; 0]);
}

#[test]
fn an_excluded_word_is_excluded_from_both_legs() {
    let notes = harbour();
    let found = |query: &str| {
        let results = notes.ask(&Query::new(query).everything(10)).results;
        results
            .into_iter()
            .map(|result| result.path)
            .collect::<Vec<_>>()
    };
    assert_eq!(found("coat"), ["notes/paint.md", "notes/milk.md"]);
    assert_eq!(found("coat -milk"), ["notes/paint.md"]);
    assert_eq!(found("coat -\"two layers\""), ["notes/milk.md"]);
}

#[test]
fn nothing_is_embedded_twice() {
    let notes = harbour();
    assert!(notes.embedded().len() >= 2);
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    for _ in 0..2 {
        let report = notes.index_with(&forced).unwrap();
        assert_eq!((report.new, report.embedded, report.pending), (2, 0, 0));
    }
    // Moved, and said a second time elsewhere.
    notes.write("notes/milk.md", "\n\nOat milk is on the shopping list.");
    notes.write("notes/copy.md", "Oat milk is on the shopping list.");
    assert_eq!(notes.index().embedded, 0);
    // Another index by meaning, another index by words: from what is there.
    let notes = notes.with("vector.use", "sqlite-vec");
    assert_eq!(notes.index().embedded, 0);
    assert_eq!(notes.embedded(), [""; 0]);
    assert_eq!(notes.search("which coat")[0].path, "notes/paint.md");
    notes.write("notes/new.md", "A new thought.");
    assert_eq!(notes.index().embedded, 1);
    assert_eq!(notes.embedded(), ["which coat", "A new thought."]);
}

#[test]
fn what_could_not_be_embedded_says_why_and_is_all_that_is_tried_again() {
    // The model was there once: what all its texts share is known.
    let notes = harbour();
    notes.embedded();
    fs::write(notes.path("down"), "").unwrap();
    notes.write("notes/new.md", "Sails are sewn.");
    let report = notes.index();
    assert_eq!((report.new, report.embedded, report.pending), (1, 0, 1));
    assert!(
        report.warnings[0].contains("the model is down"),
        "{report:?}"
    );
    let reasons = notes.status().vector.unwrap().reasons;
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].0.contains("the model is down"), "{reasons:?}");
    fs::remove_file(notes.path("down")).unwrap();
    notes.embedded();
    assert_eq!(notes.index().pending, 0);
    assert_eq!(notes.embedded(), ["Sails are sewn."]);
    assert_eq!(notes.status().vector.unwrap().reasons, []);
}

#[test]
fn what_was_embedded_before_a_stop_can_be_found_at_once() {
    let notes = Notes::new().with_meaning();
    for n in 0..100 {
        notes.write(&format!("notes/{n}.md"), format!("note {n} about things"));
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let request = SyncRequest {
        progress: Some(Arc::new(move |progress: Progress| {
            let is_far = progress.phase == Phase::Meaning && progress.done >= 20;
            flag.fetch_or(is_far, Ordering::Relaxed);
        })),
        cancel,
        ..SyncRequest::default()
    };
    // In the same process: who opens an index feeds what it lacks.
    let (report, status) = notes
        .once(async |memory| Ok((memory.sync(&request).await?, memory.status().await?)))
        .unwrap();
    assert!(report.cancelled && report.embedded >= 20, "{report:?}");
    assert_eq!(status.vector.unwrap().index.entries, report.embedded);
}

#[test]
fn more_entries_than_are_looked_at_together_all_get_their_vectors() {
    // Pages of entries to embed, and of changes to feed, are about a thousand.
    const N: u64 = 1_100;
    let texts: Vec<String> = (0..N).map(|n| format!("all about {n}\n\n")).collect();
    let text = texts.concat();
    let notes = Notes::of(&[("notes/a.md", &text)])
        .with_meaning()
        .with("embedder.fake.dimensions", 8)
        .with("chunker.markdown.split", "block");
    // What is embedded can be found page by page, by whoever else is there.
    let reader = Arc::new(notes.open());
    let on_the_way = Arc::new(Mutex::new(None));
    let progress = {
        let (reader, on_the_way) = (Arc::clone(&reader), Arc::clone(&on_the_way));
        move |progress: Progress| {
            let mut on_the_way = on_the_way.lock().unwrap();
            if progress.phase == Phase::Meaning && progress.done > 1_024 && on_the_way.is_none() {
                let reader = Arc::clone(&reader);
                // An executor does not run within another one.
                let look = std::thread::spawn(move || block_on(reader.status()).unwrap());
                let status = look.join().unwrap();
                *on_the_way = Some(status.vector.unwrap().index.entries);
            }
        }
    };
    let request = SyncRequest {
        progress: Some(Arc::new(progress)),
        ..SyncRequest::default()
    };
    let report = notes.index_with(&request).unwrap();
    assert_eq!((report.entries, report.embedded, report.pending), (N, N, 0));
    assert_eq!(*on_the_way.lock().unwrap(), Some(1_024));
    block_on(reader.close()).unwrap();
    let n_indexed = |notes: &Notes| notes.status().vector.unwrap().index.entries;
    assert_eq!(n_indexed(&notes), N);
    // Under another name every entry is a new one, whose vector is known: no model is needed.
    fs::rename(notes.path("notes/a.md"), notes.path("notes/b.md")).unwrap();
    fs::write(notes.path("missing"), "").unwrap();
    let report = notes.index();
    assert_eq!((report.new, report.removed, report.pending), (1, 1, 0));
    assert_eq!(n_indexed(&notes), N);
}

#[test]
fn a_text_is_embedded_once_however_often_it_is_said() {
    let notes = Notes::new().with_meaning();
    for n in 0..5 {
        notes.write(&format!("notes/{n}.md"), "Oat milk is on the list.");
    }
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    for embedded in [1, 0] {
        let report = notes.index_with(&forced).unwrap();
        assert_eq!((report.embedded, report.pending), (embedded, 0));
        assert_eq!(notes.status().vector.unwrap().index.entries, 5);
    }
}

#[test]
fn what_is_stored_is_embedded_as_such_and_a_question_as_a_question() {
    let notes = harbour();
    let questions = notes.path("questions");
    let notes = notes.with("embedder.fake.questions", questions.to_str().unwrap());
    notes.write("notes/tide.md", "The tide table hangs in the hut.");
    assert_eq!(notes.index().embedded, 1);
    notes.search("which coat");
    assert_eq!(crate::fake::taken(&questions), ["which coat"]);
}

#[test]
fn headings_above_an_entry_are_embedded_with_it() {
    let notes = Notes::of(&[("notes/a.md", "# Boat\n\nwords\n\n## Hull\n\npaint")]).with_meaning();
    notes.index();
    let embedded = notes.embedded();
    assert!(
        embedded.contains(&"# Boat  words".to_owned()),
        "{embedded:?}"
    );
    assert!(
        embedded.contains(&"Boat ## Hull  paint".to_owned()),
        "{embedded:?}"
    );
}

#[test]
fn what_is_deleted_is_found_by_neither_leg() {
    let notes = harbour();
    notes.remove("notes/paint.md");
    notes.index();
    let response = notes.ask(&Query::new("which coat").everything(10));
    let paths: Vec<_> = response.results.iter().map(|result| &result.path).collect();
    assert_eq!(paths, ["notes/milk.md"]);
}

#[test]
fn words_answer_while_the_model_is_away_and_vectors_follow() {
    let notes =
        Notes::of(&[("notes/a.md", "tide tables"), ("notes/b.md", "pump seals")]).with_meaning();
    fs::write(notes.path("down"), "").unwrap();
    let report = notes.index();
    assert_eq!((report.entries, report.embedded, report.pending), (2, 0, 2));
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("the model is down")),
        "{report:?}"
    );
    let response = notes.ask(&Query::new("tide"));
    assert_eq!(response.results[0].path, "notes/a.md");
    assert!(
        response.degraded[0].starts_with("vector: nothing is embedded yet"),
        "{response:?}"
    );
    let status = notes.once(async |memory| memory.status().await).unwrap();
    let vector = status.vector.unwrap();
    assert_eq!((vector.pending, vector.index.entries), (2, 0));
    assert_eq!(vector.reasons.len(), 1);
    assert!(vector.reasons[0].0.contains("the model is down"));
    fs::remove_file(notes.path("down")).unwrap();
    let report = notes.index();
    assert_eq!(
        (report.unchanged, report.embedded, report.pending),
        (2, 2, 0)
    );
    let response = notes.ask(&Query::new("tide"));
    assert_eq!((response.mode, response.degraded.len()), (Mode::Hybrid, 0));
}

#[test]
fn a_text_that_is_refused_leaves_the_others_alone() {
    let files: Vec<(String, String)> = (0..20)
        .map(|n| (format!("notes/{n}.md"), format!("note number {n} of many")))
        .collect();
    let notes = Notes::new()
        .with_meaning()
        .with("embedder.fake.refuse", json!(["number 7 "]));
    for (path, content) in &files {
        notes.write(path, content);
    }
    let report = notes.index();
    assert_eq!((report.embedded, report.pending), (19, 1));
    let status = notes.once(async |memory| memory.status().await).unwrap();
    assert!(
        status.vector.unwrap().reasons[0]
            .0
            .contains("not to its liking")
    );
    notes.embedded();
    // Only the one is tried again.
    let notes = notes.with("embedder.fake.refuse", json!([]));
    let report = notes.index();
    assert_eq!((report.embedded, report.pending), (1, 0));
    assert_eq!(notes.embedded(), ["note number 7 of many"]);
}

#[test]
fn a_model_that_is_missing_is_tried_again_while_the_memory_is_open() {
    let notes = harbour();
    fs::write(notes.path("missing"), "").unwrap();
    notes
        .once(async |memory| {
            let query = Query::new("antifouling");
            let response = memory.search(&query).await?;
            assert_eq!(response.mode, Mode::Lexical);
            assert_eq!(response.degraded.len(), 1);
            assert!(response.degraded[0].contains("the model is not here; fetch it"));
            assert_eq!(response.results[0].path, "notes/paint.md");
            fs::remove_file(notes.path("missing")).unwrap();
            let response = memory.search(&query).await?;
            assert_eq!((response.mode, response.degraded.len()), (Mode::Hybrid, 0));
            Ok(())
        })
        .unwrap();
}

#[test]
fn an_index_is_kept_up_while_the_model_is_missing() {
    let notes = harbour();
    fs::write(notes.path("missing"), "").unwrap();
    notes.remove("notes/milk.md");
    notes.write("notes/new.md", "Sails are sewn.");
    let report = notes.index();
    assert_eq!((report.removed, report.new, report.pending), (1, 1, 1));
    assert!(
        report.warnings[0].contains("the model is not here"),
        "{report:?}"
    );
    fs::remove_file(notes.path("missing")).unwrap();
    notes.embedded();
    assert_eq!(notes.index().embedded, 1);
    assert_eq!(notes.embedded(), ["Sails are sewn."]);
    assert_eq!(notes.entries("coat").len(), 2);
}

#[test]
fn a_stopped_embedding_goes_on_where_it_was() {
    let notes = Notes::new().with_meaning();
    for n in 0..300 {
        notes.write(&format!("notes/{n}.md"), format!("note {n} about things"));
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let progress = {
        let (cancel, seen) = (Arc::clone(&cancel), Arc::clone(&seen));
        move |progress: Progress| {
            if progress.phase == Phase::Meaning {
                seen.lock().unwrap().push((progress.done, progress.total));
                cancel.store(progress.done >= 100, Ordering::Relaxed);
            }
        }
    };
    let request = SyncRequest {
        progress: Some(Arc::new(progress)),
        cancel,
        ..SyncRequest::default()
    };
    let report = notes.index_with(&request).unwrap();
    assert!(report.cancelled);
    assert!((100..300).contains(&report.embedded), "{report:?}");
    assert_eq!(report.pending, 300 - report.embedded);
    assert!(seen.lock().unwrap().is_sorted());
    let rest = notes.index();
    assert_eq!(rest.embedded, 300 - report.embedded);
    assert_eq!(rest.pending, 0);
}

#[test]
fn damaged_vectors_are_set_aside_and_computed_anew() {
    let notes = harbour();
    let file = notes.path(".memory/vectors.db");
    fs::write(&file, "no database").unwrap();
    // A search does without; its question is embedded each time.
    assert_eq!(notes.search("which coat")[0].path, "notes/paint.md");
    let report = notes.index();
    assert!(
        report.warnings[0].contains("vectors.db.damaged-1"),
        "{report:?}"
    );
    // What the index has, it keeps; a new index needs the vectors again.
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    assert_eq!(notes.index_with(&forced).unwrap().embedded, 2);
    assert_eq!(notes.search("which coat")[0].path, "notes/paint.md");
}

#[test]
fn damage_inside_the_vectors_is_healed_by_the_sync_that_meets_it() {
    for force in [false, true] {
        let notes = harbour();
        let file = notes.path(".memory/vectors.db");
        let mut bytes = fs::read(&file).unwrap();
        bytes[4096..].fill(0x5a);
        fs::write(&file, bytes).unwrap();
        notes.write("notes/tide.md", "The tide table hangs in the hut.");
        let request = SyncRequest {
            force,
            ..SyncRequest::default()
        };
        let report = notes.index_with(&request).unwrap();
        assert!(
            report.warnings[0].contains("kept as `vectors.db.damaged-1`"),
            "{report:?}"
        );
        assert_eq!(report.pending, 0, "{report:?}");
        let response = notes.ask(&Query::new("which coat"));
        assert_eq!(response.mode, Mode::Hybrid);
        assert_eq!(response.degraded, [""; 0]);
        assert_eq!(response.results[0].path, "notes/paint.md");
        assert_eq!(notes.index().warnings, [""; 0]);
    }
}

#[test]
fn a_cache_of_vectors_that_cannot_be_opened_leaves_the_words() {
    let notes = Notes::of(&[("notes/a.md", "The hull gets antifouling.")]).with_meaning();
    fs::create_dir_all(notes.path(".memory/vectors.db")).unwrap();
    fs::write(
        notes.path(".memory/.gitignore"),
        "# An index that can be built anew from the memory files.\n*\n",
    )
    .unwrap();
    let report = notes.index();
    assert!(report.warnings[0].starts_with("vector: "), "{report:?}");
    assert_eq!((report.entries, report.pending), (1, 1));
    let response = notes.ask(&Query::new("antifouling"));
    assert_eq!(response.mode, Mode::Lexical);
    assert_eq!(response.results[0].path, "notes/a.md");
    fs::remove_dir(notes.path(".memory/vectors.db")).unwrap();
    assert_eq!(notes.index().pending, 0);
}

#[test]
fn punctuation_alone_has_no_meaning() {
    let notes = harbour();
    for text in ["!!! ??? ... ()[]{}", "  ", "？！。"] {
        let response = notes.ask(&Query::new(text));
        assert_eq!(response.results.len(), 0, "{text}");
        assert_eq!(
            response.warnings,
            ["the query has no word to search for"],
            "{text}"
        );
    }
}

#[test]
fn status_says_what_a_search_by_meaning_lacks() {
    let notes = harbour();
    assert_eq!(notes.status().degraded, [""; 0]);
    let other = notes.with("embedder.fake.model", "b");
    assert!(
        other.status().degraded[0].contains("configured is `fake/b`"),
        "{:?}",
        other.status().degraded
    );
    let missing = other.path("notes/paint.md");
    let gone = other.with("embedder.fake.missing", missing.to_str().unwrap());
    assert_eq!(
        gone.status().degraded,
        ["vector: the model is not here; fetch it"]
    );
}

#[test]
fn a_lost_vector_is_computed_anew_by_the_sync_that_misses_it() {
    let notes = harbour();
    fs::remove_file(notes.path(".memory/vectors.db")).unwrap();
    let notes = notes.with("vector.use", "sqlite-vec");
    let report = notes.index();
    assert_eq!((report.embedded, report.pending), (2, 0));
    assert_eq!(notes.search("which coat")[0].path, "notes/paint.md");
}

#[test]
fn an_index_by_meaning_that_is_ahead_of_its_store_is_built_anew() {
    let notes = harbour();
    let store = notes.path(".memory/gen/1-store/store.db");
    let old = fs::read(&store).unwrap();
    notes.write("notes/rope.md", "The mooring rope is worn.");
    notes.index();
    // The store goes back, and its numbers pass the index's again.
    for suffix in ["-wal", "-shm"] {
        let beside = notes.path(&format!(".memory/gen/1-store/store.db{suffix}"));
        if beside.exists() {
            fs::remove_file(beside).unwrap();
        }
    }
    fs::write(&store, old).unwrap();
    notes.remove("notes/rope.md");
    for n in 0..9 {
        notes.write(&format!("notes/{n}.md"), format!("Lantern number {n}."));
    }
    let report = notes.index();
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("index by meaning does not follow the store")),
        "{:?}",
        report.warnings
    );
    let status = notes.status();
    assert_eq!(
        (status.entries, status.vector.unwrap().index.entries),
        (11, 11)
    );
}

#[test]
fn a_damaged_index_by_meaning_leaves_the_words_and_is_built_anew() {
    let notes = harbour();
    let gen_dir = fs::read_dir(notes.path(".memory/gen")).unwrap();
    let folder = gen_dir
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("vector"))
        .unwrap();
    for file in fs::read_dir(&folder).unwrap() {
        fs::write(file.unwrap().path(), "garbage, more than a page of it? no").unwrap();
    }
    let response = notes.ask(&Query::new("antifouling"));
    assert_eq!((response.mode, response.results.len()), (Mode::Lexical, 1));
    assert!(response.degraded[0].starts_with("vector: "), "{response:?}");
    let report = notes.index();
    assert!(
        report
            .warnings
            .iter()
            .any(|warning| warning.contains("built anew")),
        "{report:?}"
    );
    assert_eq!(report.embedded, 0);
    assert_eq!(notes.search("which coat")[0].path, "notes/paint.md");
}

#[test]
fn a_cache_keeps_what_entries_need_and_forgets_the_rest() {
    let notes = harbour().with("cache.max_entries", 0);
    notes.write("notes/milk.md", "Now it is soy milk.");
    assert_eq!(notes.index().embedded, 1);
    // The old text is gone from the cache, so that it has to be embedded again.
    notes.write("notes/milk.md", "Oat milk is on the shopping list.");
    assert_eq!(notes.index().embedded, 1);
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    // Nor what tells a similarity from noise.
    notes.embedded();
    assert_eq!(notes.index_with(&forced).unwrap().embedded, 0);
    assert_eq!(notes.embedded(), [""; 0]);
}

#[test]
fn a_vector_that_was_used_again_outlives_one_that_was_not() {
    let (rope, sail) = ("A rope is tied.", "A sail is sewn.");
    let mut notes = Notes::of(&[("notes/a.md", rope)]).with_meaning().on_day(1);
    notes.index();
    // Nobody needs the rope, then the rope is back, then neither is there any more and one of them has to go.
    for (day, text) in [(3, sail), (5, rope)] {
        notes = notes.on_day(day);
        notes.write("notes/a.md", text);
        notes.index();
    }
    let rows = Connection::open(notes.path(".memory/vectors.db")).unwrap();
    let n_rows: i64 = rows
        .query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))
        .unwrap();
    drop(rows);
    notes = notes.on_day(7).with("cache.max_entries", n_rows);
    notes.write("notes/a.md", "A mast is painted.");
    notes.index();
    for (text, embedded) in [(rope, 0), (sail, 1)] {
        notes.write("notes/a.md", text);
        assert_eq!(notes.index().embedded, embedded, "{text}");
    }
}

#[test]
fn an_embedder_that_is_turned_off_leaves_words_and_comes_back_for_nothing() {
    let notes = harbour().with("embedder.use", "none");
    let report = notes.index();
    assert_eq!((report.warnings.len(), report.pending), (0, 0));
    assert_eq!(notes.ask(&Query::new("antifouling")).mode, Mode::Lexical);
    let notes = notes.with("embedder.use", "fake");
    assert_eq!(notes.index().embedded, 0);
    assert_eq!(notes.search("which coat")[0].path, "notes/paint.md");
}

#[test]
fn a_reranker_sees_candidates_and_age_weighs_them() {
    // 2026-03-01 is day 20,513; the half-life is 30 days.
    let notes = Notes::new()
        .with("documents.include", json!([]))
        .with("decay.use", "exponential")
        .on_day(20_513 + 30);
    notes.write("memory/2026-03-01.md", "sextant repair");
    notes.write("memory/tools.md", "sextant repair");
    notes.index();
    let results = notes.search("sextant repair");
    assert_eq!(results[0].path, "memory/tools.md");
    assert!((results[0].scores.retention - 1.0).abs() < 1e-6);
    assert!((results[1].scores.retention - 0.5).abs() < 1e-6);
    assert!((results[1].score - results[1].scores.relevance * 0.5).abs() < 1e-6);
}

#[test]
fn evergreen_documents_are_the_users_choice() {
    let notes = Notes::new()
        .with("documents.include", json!(["**/*.md"]))
        .with("decay.use", "exponential")
        .with("decay.evergreen", json!(["journal/**"]))
        .with("decay.evergreen_undated", false)
        .on_day(30_000);
    for path in ["journal/2026-03-01.md", "memory/tools.md", "MEMORY.md"] {
        notes.write(path, "sextant");
    }
    notes.index();
    let kept: Vec<_> = notes
        .entries("sextant")
        .into_iter()
        .map(|hit| (hit.path, hit.scores.retention > 0.99))
        .collect();
    assert_eq!(
        kept,
        [
            ("MEMORY.md".to_owned(), false),
            ("journal/2026-03-01.md".to_owned(), true),
            ("memory/tools.md".to_owned(), false),
        ]
    );
}

#[test]
fn the_preset_openclaw_is_the_recipe_to_the_letter() {
    // 0.7 × cosine + 0.3 / (1 + place among the hits by words), then decay, then the floor of 0.35, then mmr.
    let notes = Notes::new()
        .with("preset", "openclaw")
        .with("documents.include", json!([]))
        .with_meaning()
        .with(
            "embedder.fake.near",
            json!({ "beacon": ["light", 0.7], "lantern": ["light", 0.6], "torch": ["light", 0.6] }),
        )
        .on_day(20_454 + 30);
    notes.write("memory/2026-01-01.md", "The beacon was lit.");
    notes.write(
        "memory/beacons.md",
        "Every beacon has a keeper, and a beacon burns oil.",
    );
    notes.write("memory/lamps.md", "A lantern hangs at the stern.");
    notes.write("memory/2024-01-01.md", "A torch was lost.");
    notes.index();
    let everything = notes.ask(&Query::new("beacon").with_min_score(0.0));
    let of = |path: &str| {
        let hit = everything.results.iter().find(|hit| hit.path == path);
        *hit.map(|hit| &hit.scores).unwrap()
    };
    let mut by_place: Vec<f64> = everything
        .results
        .iter()
        .map(|hit| hit.scores.lexical.unwrap())
        .collect();
    by_place.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(by_place, [1.0, 0.5, 0.0, 0.0]);
    for hit in &everything.results {
        let scores = &hit.scores;
        let relevance = 0.7 * scores.vector.unwrap() + 0.3 * scores.lexical.unwrap();
        assert!((scores.relevance - relevance).abs() < 1e-12, "{hit:?}");
        assert!((scores.freshness - relevance * scores.retention).abs() < 1e-12);
    }
    assert!((of("memory/2026-01-01.md").retention - 0.5).abs() < 1e-6);
    assert!((of("memory/beacons.md").retention - 1.0).abs() < 1e-6);
    // Relevant enough, but two years old: with this recipe the floor comes after decay, and only words come through it.
    assert!(of("memory/2024-01-01.md").relevance >= 0.35);
    let found: Vec<String> = notes
        .search("beacon")
        .into_iter()
        .map(|hit| hit.path)
        .collect();
    assert!(
        !found.contains(&"memory/2024-01-01.md".to_owned()),
        "{found:?}"
    );
    assert!(found.contains(&"memory/lamps.md".to_owned()), "{found:?}");
}

#[test]
fn floors_and_age_are_decided_together() {
    let notes = Notes::new()
        .with("documents.include", json!([]))
        .with("decay.use", "exponential")
        .with_meaning()
        .with(
            "embedder.fake.near",
            json!({ "antifouling": ["hull", 0.8], "coat": ["hull", 0.8] }),
        )
        .on_day(20_454);
    notes.write(
        "memory/2023-06-01.md",
        "The hull got two layers of antifouling.",
    );
    notes.write(
        "memory/2026-01-01.md",
        "Bread and a long list of other things, milk among them.",
    );
    notes.index();
    let found = |query: Query| -> Vec<String> {
        let results = notes.ask(&query).results;
        results.into_iter().map(|hit| hit.path).collect()
    };
    // Age hides the only match of neither leg, though next to nothing is left of its score.
    let old = ["memory/2023-06-01.md"];
    assert_eq!(found(Query::new("which coat does it need")), old);
    assert_eq!(found(Query::new("antifouling")), old);
    assert!(notes.search("antifouling")[0].score < 0.01);
    // A typed floor is held against that score, and can empty the answer.
    assert_eq!(
        found(Query::new("antifouling").with_min_score(0.1)),
        [""; 0]
    );
    // Under the floor altogether: what holds a word comes through, what is only a little like it does not.
    assert_eq!(
        found(Query::new("a list of zebras, quaggas and okapis")),
        ["memory/2026-01-01.md"]
    );
    assert_eq!(found(Query::new("zebras, quaggas and okapis")), [""; 0]);
}

#[test]
fn an_index_by_meaning_that_cannot_be_opened_leaves_the_words() {
    let notes = Notes::of(&[("notes/a.md", "tide tables")])
        .with_meaning()
        .with("vector.use", "no-vector");
    let report = notes.index();
    assert_eq!((report.new, report.pending), (1, 1));
    assert_eq!(
        report.warnings,
        ["vector: the extension is missing; install it"]
    );
    let response = notes.ask(&Query::new("tide"));
    assert_eq!((response.mode, response.results.len()), (Mode::Lexical, 1));
    assert_eq!(response.degraded.len(), 1);
    // With another index the vectors are there at once.
    let notes = notes.with("vector.use", "flat");
    assert_eq!(notes.index().pending, 0);
    assert_eq!(notes.ask(&Query::new("tide")).mode, Mode::Hybrid);
    // And when that one cannot be opened any more, the words answer again.
    let notes = notes.with("vector.use", "no-vector");
    let response = notes.ask(&Query::new("tide"));
    assert_eq!((response.mode, response.results.len()), (Mode::Lexical, 1));
    let report = notes.index();
    assert_eq!(
        report.warnings.last().unwrap(),
        "vector: the extension is missing; install it"
    );
}

/// A question for two notes of which each leg finds one, so that what is said of it by the other leg is asked for.
fn one_find_per_leg(near: serde_json::Value) -> Notes {
    let notes = Notes::of(&[
        ("notes/words.md", "beta rope sail."),
        ("notes/meaning.md", "alpha sail."),
    ])
    .with_meaning()
    .with("search.candidate_multiplier", 1)
    .with("embedder.fake.near", near);
    notes.index();
    notes
}

#[test]
fn a_find_of_one_leg_has_the_true_score_of_the_other() {
    let query = Query::new("rope sail").everything(1);
    let best = |notes: &Notes| notes.ask(&query).results.remove(0);
    let notes = one_find_per_leg(json!({ "=rope sail": ["knot", 0.8], "alpha": ["knot", 0.8] }));
    let hit = best(&notes);
    assert_eq!(hit.path, "notes/meaning.md");
    assert!(hit.scores.lexical.unwrap() > 0.1, "{hit:?}");
    let near = json!({
        "=rope sail": ["knot", 0.8], "alpha": ["knot", 0.9], "beta": ["knot", 0.7],
    });
    let hit = best(&one_find_per_leg(near.clone()));
    assert_eq!(hit.path, "notes/words.md");
    assert!(hit.scores.vector.unwrap() > 0.8, "{hit:?}");
    // The literal recipe knows no score but that of the list: 0.3 for the first by words, 0.7 × cosine for the first by meaning.
    let hit = best(&one_find_per_leg(near).with("preset", "openclaw"));
    assert_eq!(hit.path, "notes/meaning.md");
    assert_eq!(hit.scores.lexical, Some(0.0));
}

#[test]
fn an_answer_says_how_many_vectors_are_pending() {
    let notes = harbour().with("embedder.fake.refuse", json!(["sewn"]));
    notes.write("notes/new.md", "Sails are sewn.");
    assert_eq!(notes.index().pending, 1);
    let response = notes.ask(&Query::new("antifouling"));
    assert_eq!(response.mode, Mode::Hybrid);
    assert_eq!(response.degraded, ["vector: 1 pending; run `memory index`"]);
}

#[test]
fn a_saturated_score_of_words_does_not_depend_on_what_could_be_had() {
    // Of two words one is found: a share of the attainable falls with the second word, r / (1 + r) does not.
    let notes = Notes::of(&[("notes/a.md", "tide tables"), ("notes/b.md", "pump seals")])
        .with("search.text_score", "saturate");
    notes.index();
    let score = |query: &str| notes.entries(query)[0].scores.lexical.unwrap();
    assert!((score("tide") - score("tide zebra")).abs() < 1e-6);
}
