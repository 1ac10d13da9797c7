//! What earlier versions wrote, as they wrote it: `tests/data/format-<n>` is never changed, and every later version opens it.

use std::fs;
use std::path::Path;

use memory::{Mode, Query};

use crate::notes::Notes;

/// A workspace with the state folder that a version left behind, and the configuration it was written with.
fn written_by(format: &str) -> Notes {
    let notes = Notes::new()
        // Transcripts came later; another list of chunkers cuts everything anew.
        .with("chunker.use", "markdown")
        .with("embedder.use", "hash")
        .with("embedder.hash.dimensions", 16);
    let data = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(format);
    copy(&data.join("notes"), &notes.path("notes"));
    copy(&data.join("state"), &notes.path(".memory"));
    notes
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::write(to, fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}

#[test]
fn format_1_is_opened_searched_and_brought_up_to_date() {
    let notes = written_by("format-1");
    // What was written answers, before anything is indexed again.
    let response = notes.ask(&Query::new("What happened to the crane?"));
    assert_eq!(response.mode, Mode::Hybrid);
    assert_eq!(response.degraded, [""; 0]);
    let best = &response.results[0];
    assert_eq!((best.path.as_str(), best.line_start), ("notes/crane.md", 5));
    assert_eq!(best.tags, ["harbour"]);
    let status = notes.status();
    assert_eq!((status.documents, status.entries), (2, 2));
    // Its files were copied, so they look changed; their content is known, and so are their vectors.
    let report = notes.index();
    assert_eq!(report.warnings, [""; 0]);
    assert_eq!(
        (report.unchanged, report.embedded, report.pending),
        (2, 0, 0)
    );
    notes.write("notes/new.md", "The tide table hangs in the hut.");
    assert_eq!(notes.index().embedded, 1);
    assert_eq!(notes.found("typescript")[0], "notes/偏好.md");
}
