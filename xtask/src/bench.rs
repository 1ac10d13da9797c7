//! Times what users wait for. Measuring needs a program of its own, in release mode: the crate `memory-bench`.

use std::process::Command;

use xshell::{Shell, cmd};

use crate::{GATE_FAILED, Result, prepare, program, release, undisturbed};

const BENCHES: &[&str] = &["meaning", "sync"];

/// Returns whether every aim was met.
pub(crate) fn run(shell: &Shell, args: &[String]) -> Result<bool> {
    let bench = match args {
        [bench] if BENCHES.contains(&bench.as_str()) => bench,
        _ => return Err(format!("which bench: {}", BENCHES.join(", ")).into()),
    };
    let programs = release(shell, &["memory", "memory-bench"])?;
    let (memory, bencher) = (
        program(&programs, "memory"),
        program(&programs, "memory-bench"),
    );
    if bench == "meaning" {
        prepare::models(shell, &memory)?;
    }
    let command = cmd!(shell, "{bencher} {bench} {memory}");
    // xshell would make one error of every code that is not 0.
    let status = Command::from(undisturbed(command, shell)).status()?;
    held(status.code())
}

/// Reads the exit code of the bench.
fn held(code: Option<i32>) -> Result<bool> {
    match code {
        Some(0) => Ok(true),
        Some(code) if code == i32::from(GATE_FAILED) => Ok(false),
        Some(code) => Err(format!("the bench ended with {code}").into()),
        None => Err("the bench was killed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::held;

    #[test]
    fn a_missed_aim_is_told_from_a_bench_that_failed() {
        assert!(held(Some(0)).unwrap());
        assert!(!held(Some(5)).unwrap());
        assert!(held(Some(1)).is_err());
        assert!(held(None).is_err());
    }
}
