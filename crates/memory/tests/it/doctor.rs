//! What the doctor sees, and what a sync mends of it.

use std::fs;

use memory::{Health, SyncRequest};
use serde_json::json;

use crate::notes::Notes;

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

/// The parts that are not green.
fn ill(notes: &Notes) -> Vec<(&'static str, Health)> {
    let findings = notes.once(async |memory| memory.examine().await).unwrap();
    for finding in &findings {
        assert_eq!(
            finding.hint.is_some(),
            finding.health != Health::Green,
            "{finding:?}"
        );
    }
    findings
        .into_iter()
        .filter(|finding| finding.health != Health::Green)
        .map(|finding| (finding.part, finding.health))
        .collect()
}

#[test]
fn a_whole_memory_is_green() {
    assert_eq!(ill(&harbour()), []);
    let words = Notes::of(&[("notes/a.md", "pump")]);
    assert_eq!(ill(&words), [("store", Health::Yellow)]);
    words.index();
    assert_eq!(ill(&words), []);
}

#[test]
fn damage_that_no_sync_meets_is_seen_and_mended() {
    for (file, part) in [
        ("gen/1-store/store.db", "store"),
        ("gen/1-lexical-fts5/index.db", "words"),
        ("gen/1-vector-flat/index.db", "meaning"),
        ("vectors.db", "vectors"),
    ] {
        let notes = harbour();
        let path = notes.path(".memory").join(file);
        let mut bytes = fs::read(&path).unwrap();
        let from = bytes.len() / 2;
        bytes[from..].fill(0x5a);
        fs::write(&path, bytes).unwrap();
        assert!(
            ill(&notes).contains(&(part, Health::Red)),
            "{file}: {:?}",
            ill(&notes)
        );
        let forced = SyncRequest {
            force: true,
            ..SyncRequest::default()
        };
        notes.index_with(&forced).unwrap();
        let left = ill(&notes);
        // A file that was set aside is left for a person to look at.
        assert!(
            left.iter().all(|ill| *ill == ("folder", Health::Yellow)),
            "{file}: {left:?}"
        );
        assert_eq!(notes.found("number7"), ["notes/7.md"]);
    }
}

#[test]
fn what_is_missing_is_told_from_what_is_damaged() {
    let notes = harbour().with("embedder.fake.model", "b");
    assert_eq!(ill(&notes), [("model", Health::Yellow)]);
    let notes = notes.with("vector.use", "sqlite-vec");
    assert_eq!(
        ill(&notes),
        [("meaning", Health::Red), ("model", Health::Yellow)]
    );
    notes.index();
    assert_eq!(ill(&notes), []);
    let notes = notes.with("embedder.fake.refuse", json!(["sewn"]));
    notes.write("notes/sail.md", "sails are sewn");
    notes.index();
    assert_eq!(ill(&notes), [("meaning", Health::Yellow)]);
    fs::remove_file(notes.path(".memory/vectors.db")).unwrap();
    fs::create_dir_all(notes.path(".memory/gen/77-store")).unwrap();
    assert_eq!(
        ill(&notes),
        [
            ("folder", Health::Yellow),
            ("vectors", Health::Yellow),
            ("meaning", Health::Yellow)
        ]
    );
}
