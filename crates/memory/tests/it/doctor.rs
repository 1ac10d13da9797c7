//! What the doctor sees, and what a sync mends of it.

use std::fs;

use memory::{Health, SyncRequest};
use memory_sqlite::rusqlite::Connection;
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

/// An index that lost entries, or kept what is gone, and believes to have all: an earlier copy under the watermark of the later.
fn believes_to_have_all(notes: &Notes, index: &str, change: impl FnOnce()) {
    let path = notes.path(".memory/gen").join(index);
    let old = fs::read(&path).unwrap();
    change();
    notes.index();
    let seq = |conn: &Connection| -> i64 {
        conn.query_row("SELECT seq FROM state", [], |row| row.get(0))
            .unwrap()
    };
    let conn = Connection::open(&path).unwrap();
    let last = seq(&conn);
    drop(conn);
    for suffix in ["-wal", "-shm"] {
        drop(fs::remove_file(format!("{}{suffix}", path.display())));
    }
    fs::write(&path, old).unwrap();
    let conn = Connection::open(&path).unwrap();
    assert!(seq(&conn) < last);
    conn.execute("UPDATE state SET seq = ?1", [last]).unwrap();
}

/// The indexes, with what the doctor calls them and the plugin by meaning they need.
const INDEXES: [(&str, &str, &str); 3] = [
    ("1-lexical-fts5/index.db", "words", "flat"),
    ("1-vector-flat/index.db", "meaning", "flat"),
    ("1-vector-sqlite-vec/index.db", "meaning", "sqlite-vec"),
];

fn small(vector: &str) -> Notes {
    let notes = Notes::of(&[("notes/a.md", "basalt"), ("notes/b.md", "gypsum")])
        .with_meaning()
        .with("vector.use", vector);
    notes.index();
    notes
}

fn check_mended(notes: &Notes, n_entries: u64, what: &str) {
    let forced = SyncRequest {
        force: true,
        ..SyncRequest::default()
    };
    notes.embedded();
    notes.index_with(&forced).unwrap();
    assert_eq!(notes.embedded(), [""; 0], "{what}");
    assert_eq!(ill(notes), [], "{what}");
    let status = notes.status();
    assert_eq!(status.lexical.entries, n_entries, "{what}");
    assert_eq!(status.vector.unwrap().index.entries, n_entries, "{what}");
}

#[test]
fn entries_that_an_index_lost_although_it_believes_to_have_them_are_seen() {
    for (index, part, vector) in INDEXES {
        let notes = small(vector);
        believes_to_have_all(&notes, index, || notes.write("notes/c.md", "marble"));
        // No sync can see it.
        assert_eq!(notes.index().warnings, [""; 0], "{index}");
        assert_eq!(ill(&notes), [(part, Health::Red)], "{index}");
        check_mended(&notes, 3, index);
        assert_eq!(notes.found("marble"), ["notes/c.md"], "{index}");
    }
}

#[test]
fn entries_that_an_index_has_too_many_are_seen() {
    for (index, part, vector) in INDEXES {
        let notes = small(vector);
        believes_to_have_all(&notes, index, || notes.remove("notes/a.md"));
        assert_eq!(notes.index().warnings, [""; 0], "{index}");
        // What is gone is in no answer, also while an index has it.
        let all = notes.entries("basalt gypsum");
        assert!(all.iter().all(|hit| hit.path == "notes/b.md"), "{all:?}");
        assert_eq!(ill(&notes), [(part, Health::Red)], "{index}");
        check_mended(&notes, 1, index);
    }
}

#[test]
fn as_many_entries_but_others_are_seen() {
    for (index, part, vector) in INDEXES {
        let notes = small(vector);
        believes_to_have_all(&notes, index, || {
            notes.remove("notes/a.md");
            notes.write("notes/c.md", "marble");
        });
        assert_eq!(ill(&notes), [(part, Health::Red)], "{index}");
        check_mended(&notes, 2, index);
    }
}

#[test]
fn an_entry_without_a_direction_is_missing_in_no_index() {
    for vector in ["flat", "sqlite-vec"] {
        let notes = Notes::of(&[("notes/a.md", "basalt"), ("notes/b.md", "void")])
            .with_meaning()
            .with("vector.use", vector)
            .with("embedder.fake.zero", json!(["void"]));
        assert_eq!(notes.index().pending, 0);
        assert_eq!(notes.status().vector.unwrap().index.entries, 1);
        assert_eq!(ill(&notes), [], "{vector}");
    }
}
