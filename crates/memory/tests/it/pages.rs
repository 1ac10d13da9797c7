//! More entries than are looked at together: 1,000 changes for an index, 1,024 texts to embed.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use memory::{Phase, Progress, SyncRequest};

use crate::indexing_reports::{forced, sync_beside};
use crate::notes::Notes;

const N_ENTRIES: u64 = 1_100;

/// A note of so many entries that the first and the last are on different pages; these two say the same.
fn long_note() -> Notes {
    let notes = Notes::new()
        .with_meaning()
        // It takes 300 changes at once.
        .with("vector.use", "reluctant")
        .with("chunker.markdown.split", "block");
    let mut text = "said twice\n\n".to_owned();
    for n in 2..N_ENTRIES {
        write!(text, "number{n}\n\n").unwrap();
    }
    notes.write("notes/long.md", text + "said twice");
    notes
}

#[test]
fn what_is_embedded_is_found_page_by_page_and_embedded_once() {
    let notes = long_note();
    let calls = notes.path("calls-of-the-model");
    let notes = Arc::new(notes.with("embedder.fake.calls", calls.to_str().unwrap()));
    let told = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let found_early = Arc::new(AtomicBool::new(false));
    let (heard, seen) = (Arc::clone(&told), Arc::clone(&found_early));
    let report = sync_beside(&notes, SyncRequest::default(), move |notes, progress| {
        heard.lock().unwrap().push(progress);
        // The last call of the embedder has not come back yet.
        if progress.phase == Phase::Meaning
            && progress.done > 1_030
            && !seen.load(Ordering::Relaxed)
        {
            let n_found = notes.status().vector.unwrap().index.entries;
            assert!((1_000..N_ENTRIES).contains(&n_found), "{n_found}");
            seen.store(true, Ordering::Relaxed);
        }
    });
    assert!(found_early.load(Ordering::Relaxed));
    assert_eq!(
        (report.entries, report.embedded, report.pending),
        (N_ENTRIES, N_ENTRIES - 1, 0)
    );
    let embedded = notes.embedded();
    let distinct: HashSet<&String> = embedded.iter().collect();
    assert_eq!(embedded.len(), distinct.len());
    // The model takes 7 texts at once.
    let sizes = crate::fake::taken(&calls);
    assert!(sizes.len() < embedded.len() / 6, "{}", sizes.len());
    assert_eq!(sizes.iter().max().unwrap(), "7");
    let status = notes.status();
    assert_eq!(status.lexical.entries, N_ENTRIES);
    assert_eq!(status.vector.unwrap().index.entries, N_ENTRIES);
    // Every phase counts up to its end.
    let told = told.lock().unwrap();
    for (phase, n) in [
        (Phase::Files, 1),
        (Phase::Words, N_ENTRIES),
        (Phase::Meaning, N_ENTRIES),
    ] {
        // The second round of words finds nothing to do.
        let of_phase: Vec<_> = told
            .iter()
            .filter(|progress| progress.phase == phase && progress.total > 0)
            .collect();
        assert!(
            of_phase.iter().all(|progress| progress.total == n),
            "{phase:?}: {of_phase:?}"
        );
        assert!(of_phase.is_sorted_by_key(|progress| progress.done));
        assert_eq!(of_phase.last().unwrap().done, n, "{phase:?}");
    }
}

#[test]
fn vectors_that_are_known_need_no_model() {
    let notes = long_note();
    notes.index();
    notes.write("missing", "");
    let report = notes.index_with(&forced()).unwrap();
    // A store that is new does not know its space without the model; the live one does.
    assert_eq!((report.entries, report.embedded), (N_ENTRIES, 0));
    std::fs::remove_file(notes.path("missing")).unwrap();
    notes.embedded();
    let report = notes.index();
    assert_eq!((report.embedded, report.pending), (0, 0));
    assert_eq!(notes.embedded(), [""; 0]);
    notes.write("missing", "");
    let text = std::fs::read_to_string(notes.path("notes/long.md")).unwrap();
    notes.remove("notes/long.md");
    notes.index();
    notes.write("notes/moved.md", text);
    let report = notes.index();
    assert_eq!((report.new, report.pending), (1, 0));
    assert_eq!(notes.status().vector.unwrap().index.entries, N_ENTRIES);
}

#[test]
fn a_sync_that_is_stopped_ends_after_the_page_it_is_at() {
    let notes = Arc::new(long_note());
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let pages = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&pages);
    let request = SyncRequest {
        cancel,
        ..SyncRequest::default()
    };
    let report = sync_beside(&notes, request, move |_, progress| {
        if progress.phase == Phase::Words {
            heard.lock().unwrap().push(progress.done);
            flag.store(true, Ordering::Relaxed);
        }
    });
    assert!(report.cancelled);
    assert_eq!(*pages.lock().unwrap(), [1_000]);
    let report = notes.index();
    assert_eq!((report.entries, report.pending), (N_ENTRIES, 0));
    assert_eq!(notes.status().lexical.entries, N_ENTRIES);
}
