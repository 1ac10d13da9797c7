//! The bench `meaning`: what search by meaning costs.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::report::{Report, verdict};
use crate::{Result, USAGE, embedder, index, print, query, say};

const NAME: &str = "meaning";

/// Each part has a process of its own, so that the memory of one does not count for another.
const PARTS: &[(&str, &str)] = &[
    ("embedder", "The embedder of this machine"),
    ("query", "A question by words and meaning"),
    ("index", "Indexes by meaning, 384 numbers, 24 hits"),
];

/// Runs the bench, or the part of it that a process was started for, and returns whether every aim was met.
pub(crate) fn run(args: &[OsString]) -> Result<bool> {
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let (program, part) = match (words.as_slice(), args) {
        ([NAME, _], [_, program]) => (Path::new(program), None),
        ([NAME, _, part], [_, program, _]) => (Path::new(program), Some(*part)),
        _ => return Err(USAGE.into()),
    };
    match part {
        None => bench(program),
        Some(part) => {
            let report = match part {
                "embedder" => embedder::run()?,
                "query" => query::run(program)?,
                "index" => index::run()?,
                _ => return Err(USAGE.into()),
            };
            print(&serde_json::to_string(&report)?);
            Ok(true)
        }
    }
}

fn bench(program: &Path) -> Result<bool> {
    let mut ratios = Vec::new();
    for (part, title) in PARTS {
        say(&format!("measuring: {part}"));
        let output = Command::new(std::env::current_exe()?)
            .arg(NAME)
            .arg(program)
            .arg(part)
            .stderr(Stdio::inherit())
            .output()?;
        if !output.status.success() {
            return Err(format!("the part `{part}` failed").into());
        }
        let report: Report = serde_json::from_slice(&output.stdout)?;
        print(&format!("{title}\n\n{}\n", report.lines()));
        ratios.extend(report.ratios);
    }
    let (lines, held) = verdict(&ratios);
    print(&lines);
    Ok(held)
}
