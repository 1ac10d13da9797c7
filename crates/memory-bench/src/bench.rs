//! How a bench runs: its parts one after the other, each in a process of its own, so that the memory of one does not count for
//! another.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::report::{Report, verdict};
use crate::{Result, USAGE, print, say};

/// A bench: its parts, in order.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) parts: &'static [Part],
}

/// A part of a bench.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Measures, with the program `memory` at this path.
    pub(crate) run: fn(&Path) -> Result<Report>,
}

impl Bench {
    /// Runs the bench, or the part of it that a process was started for, and returns whether every aim was met.
    pub(crate) fn run(&self, args: &[OsString]) -> Result<bool> {
        match args {
            [program] => self.parts(Path::new(program)),
            [program, name] => {
                let part = self.parts.iter().find(|part| name == part.name);
                let report = (part.ok_or(USAGE)?.run)(Path::new(program))?;
                print(&serde_json::to_string(&report)?);
                Ok(true)
            }
            _ => Err(USAGE.into()),
        }
    }

    fn parts(&self, program: &Path) -> Result<bool> {
        let mut ratios = Vec::new();
        for part in self.parts {
            say(&format!("measuring: {}", part.name));
            let output = Command::new(std::env::current_exe()?)
                .arg(self.name)
                .arg(program)
                .arg(part.name)
                .stderr(Stdio::inherit())
                .output()?;
            if !output.status.success() {
                return Err(format!("the part `{}` failed", part.name).into());
            }
            let report: Report = serde_json::from_slice(&output.stdout)?;
            print(&format!("{}\n\n{}\n", part.title, report.lines()));
            ratios.extend(report.ratios);
        }
        let (lines, held) = verdict(&ratios);
        print(&lines);
        Ok(held)
    }
}
