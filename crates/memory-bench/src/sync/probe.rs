//! What another process took. The system tells what all the children of a process took together, so each one that is measured
//! is the only child of a small process: this program, asked to `probe` a command.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::{Result, USAGE, print};

/// The word that asks this program to probe a command.
pub(crate) const NAME: &str = "probe";

/// What a process took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Usage {
    /// Seconds of the processor, all threads together.
    pub(crate) cpu: f64,
    /// The most memory it ever held, in bytes.
    pub(crate) peak: u64,
}

/// Runs a command and returns what it took.
pub(crate) fn usage<'a>(program: &Path, args: impl IntoIterator<Item = &'a str>) -> Result<Usage> {
    let output = Command::new(std::env::current_exe()?)
        .arg(NAME)
        .arg(program)
        .args(args)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("`{}` failed", program.display()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Does what [`usage`] asks for: runs the command without its output and prints what it took.
pub(crate) fn run(args: &[OsString]) -> Result<bool> {
    let (program, args) = args.split_first().ok_or(USAGE)?;
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{args:?} ended with {:?}: {said}", output.status.code()).into());
    }
    print(&serde_json::to_string(&of_children()?)?);
    Ok(true)
}

#[cfg(unix)]
fn of_children() -> Result<Usage> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;

    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let microseconds =
        usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok(Usage {
        cpu: microseconds as f64 / 1e6,
        peak: usage.max_rss().unsigned_abs() * unit,
    })
}

#[cfg(not(unix))]
fn of_children() -> Result<Usage> {
    Err("this system does not say what a process took".into())
}
