//! What is left when all have stopped: an index that says what the files say, and nothing beside it.

use std::process::{Command, Stdio};

use futures::executor::block_on;
use memory::{Memory, Query};

use super::notes::{N_NOTES, note_word};
use super::settings::Opened;
use super::writer::STATE;
use super::{Shared, notes};
use crate::{Result, workspace};

/// Folders that were built for nobody and are not removed are seen by a sync that has nothing else to do.
pub(crate) fn problems(shared: &Shared) -> Result<Vec<String>> {
    let dir = &shared.dir;
    let opened = Opened::new(dir, STATE)?;
    workspace::sync(&opened.memory, false)?;
    opened.close()?;
    let opened = Opened::new(dir, STATE)?;
    let mut problems = Vec::new();
    workspace::through_the_engine(&opened.memory, &mut problems)?;
    let found = answers(&opened.memory)?;
    opened.close()?;
    workspace::leftovers(&dir.join(STATE), &mut problems)?;
    for (note, lines) in found.iter().enumerate() {
        let on_disk = notes::on_disk(dir, note)?;
        let is_there = lines.iter().any(|line| line.contains(&notes::path(note)));
        if on_disk.is_some() != is_there {
            problems.push(format!(
                "note {note}: on disk {on_disk:?}, found: {lines:?}"
            ));
        }
    }
    let fresh = Opened::new(dir, "fresh")?;
    workspace::sync(&fresh.memory, false)?;
    let expected = answers(&fresh.memory)?;
    fresh.close()?;
    for (note, (found, expected)) in found.iter().zip(&expected).enumerate() {
        if found != expected {
            problems.push(format!(
                "note {note}: {found:?} instead of {expected:?} of a new index"
            ));
        }
    }
    let output = Command::new(&shared.program)
        .arg("--workspace")
        .arg(dir)
        .arg("doctor")
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || said.lines().any(|line| !line.starts_with("green")) {
        problems.push(format!("`memory doctor`: {}: {said}", output.status));
    }
    Ok(problems)
}

/// Asks for every note; each answer is a line per result: id, place and text.
fn answers(memory: &Memory) -> Result<Vec<Vec<String>>> {
    let answer = |note| -> Result<Vec<String>> {
        let query = Query::new(note_word(note)).everything(N_NOTES);
        let results = block_on(memory.search(&query))?.results.into_iter();
        let mut lines: Vec<_> = results
            .map(|hit| {
                let (id, path, from, to) = (hit.id, hit.path, hit.line_start, hit.line_end);
                format!("{id:?} {path}:{from}-{to} {:.6} {}", hit.score, hit.snippet)
            })
            .collect();
        lines.sort();
        Ok(lines)
    };
    (0..N_NOTES).map(answer).collect()
}
