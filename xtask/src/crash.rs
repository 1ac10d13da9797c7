//! Lets a process that syncs die at each of its steps, and at other moments. The crate `memory-crash` does it; it is built in a
//! folder of its own, since it alone has the steps.

use std::process::Command;

use xshell::{Shell, cmd};

use crate::{GATE_FAILED, Result, program, target, undisturbed};

const ROUNDS: &str = "200";
const SEED: &str = "1";

/// Returns whether every death left what it should.
pub(crate) fn run(shell: &Shell, args: &[String]) -> Result<bool> {
    let (rounds, seed) = parse(args)?;
    let folder = target(shell)?.join("crash");
    cmd!(
        shell,
        "cargo build --workspace --locked --bin memory-crash --features memory-crash/failpoints --target-dir {folder}"
    )
    .run()?;
    let crash = program(&folder.join("debug"), "memory-crash");
    let command = cmd!(shell, "{crash} {rounds} {seed}");
    // xshell would make one error of every code that is not 0.
    match Command::from(undisturbed(command, shell)).status()?.code() {
        Some(0) => Ok(true),
        Some(code) if code == i32::from(GATE_FAILED) => Ok(false),
        Some(code) => Err(format!("memory-crash ended with {code}").into()),
        None => Err("memory-crash was killed".into()),
    }
}

/// Reads `--rounds N` and `--seed N`.
fn parse(args: &[String]) -> Result<(&str, &str)> {
    let (mut rounds, mut seed) = (ROUNDS, SEED);
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let value = args.next().filter(|value| value.parse::<u64>().is_ok());
        match (arg, value) {
            ("--rounds", Some(value)) => rounds = value,
            ("--seed", Some(value)) => seed = value,
            _ => return Err("usage: cargo xtask crash [--rounds N] [--seed N]".into()),
        }
    }
    Ok((rounds, seed))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn rounds_and_seed_are_numbers_with_defaults() {
        let args = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>();
        assert_eq!(parse(&[]).unwrap(), ("200", "1"));
        let given = args(&["--seed", "7", "--rounds", "30"]);
        assert_eq!(parse(&given).unwrap(), ("30", "7"));
        assert!(parse(&args(&["--rounds"])).is_err());
        assert!(parse(&args(&["--rounds", "many"])).is_err());
        assert!(parse(&args(&["30"])).is_err());
    }
}
