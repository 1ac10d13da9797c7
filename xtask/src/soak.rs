//! Readers and writers on one state folder for a while. The crate `memory-crash` does it, with the program `memory` beside it.

use std::process::Command;

use xshell::{Shell, cmd};

use crate::{GATE_FAILED, Result, program, target, undisturbed};

const SECONDS: &str = "600";
const SEED: &str = "1";

/// Returns whether no answer was wrong and what is left is whole.
pub(crate) fn run(shell: &Shell, args: &[String]) -> Result<bool> {
    let (seconds, seed) = parse(args)?;
    // The features of all programs together, as the tests were built with.
    cmd!(
        shell,
        "cargo build --workspace --locked --bin memory --bin memory-crash"
    )
    .run()?;
    let folder = target(shell)?.join("debug");
    let (crash, memory) = (program(&folder, "memory-crash"), program(&folder, "memory"));
    let command = cmd!(shell, "{crash} soak {seconds} {seed} {memory}");
    // xshell would make one error of every code that is not 0.
    match Command::from(undisturbed(command, shell)).status()?.code() {
        Some(0) => Ok(true),
        Some(code) if code == i32::from(GATE_FAILED) => Ok(false),
        Some(code) => Err(format!("memory-crash ended with {code}").into()),
        None => Err("memory-crash was killed".into()),
    }
}

/// Reads `--seconds N` and `--seed N`.
fn parse(args: &[String]) -> Result<(&str, &str)> {
    let (mut seconds, mut seed) = (SECONDS, SEED);
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let value = args.next().filter(|value| value.parse::<u64>().is_ok());
        match (arg, value) {
            ("--seconds", Some(value)) => seconds = value,
            ("--seed", Some(value)) => seed = value,
            _ => return Err("usage: cargo xtask soak [--seconds N] [--seed N]".into()),
        }
    }
    Ok((seconds, seed))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn seconds_and_seed_are_numbers_with_defaults() {
        let args = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>();
        assert_eq!(parse(&[]).unwrap(), ("600", "1"));
        let given = args(&["--seed", "7", "--seconds", "12"]);
        assert_eq!(parse(&given).unwrap(), ("12", "7"));
        assert!(parse(&args(&["--seconds"])).is_err());
        assert!(parse(&args(&["--seconds", "long"])).is_err());
    }
}
