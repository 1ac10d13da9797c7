//! Ends a process that syncs at each of its steps, and at seeded moments. `cargo xtask crash` builds this with the steps.
//!
//! * `parent`: lets children die and compares what they leave.
//! * `child`: the process that dies.
//! * `replay`: records what syncs do to files, and looks at what a disk could have of it when the machine stops.
//! * `script`: what happens to the files.
//! * `state`: what lies in a state folder, read from its files alone.
//! * `workspace`: opens a memory and looks at it.
//! * `soak`: readers and writers on one state folder for a while.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod child;
mod parent;
#[cfg_attr(not(target_os = "linux"), path = "replay/elsewhere.rs")]
mod replay;
mod script;
mod soak;
mod state;
mod workspace;

#[cfg(test)]
mod tests;

// Without its feature only the name is used.
use memory_engine as _;

use std::path::Path;
use std::process::ExitCode;

use script::Plan;

/// An error is for a person to read.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: memory-crash ROUNDS SEED
       memory-crash child DIR PLAN SEED (record | step NAME OCCURRENCE | run | trace LOG ROUND [LAST])
       memory-crash replay ROUNDS SEED
       memory-crash soak SECONDS SEED MEMORY
       memory-crash soak-writer DIR MEMORY SEED";

/// A death left something else than it should.
const GATE_FAILED: u8 = 5;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(GATE_FAILED),
        Err(err) => {
            say(&format!("error: {err}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<bool> {
    match args {
        ["child", dir, plan, seed, rest @ ..] => {
            let plan = Plan::parse(plan).ok_or(USAGE)?;
            let mut first = 0;
            let step = match rest {
                ["record" | "run"] => None,
                ["trace", log, round, last @ ..] => {
                    first = round.parse()?;
                    let last = last.first().map(|last| last.parse()).transpose()?;
                    replay::record(&Path::new(dir).join(workspace::STATE), Path::new(log), last)?;
                    None
                }
                ["step", name, n] => Some(((*name).to_owned(), n.parse()?)),
                _ => return Err(USAGE.into()),
            };
            child::run(Path::new(dir), plan, seed.parse()?, first, step)?;
        }
        ["soak", seconds, seed, memory] => {
            return soak::run(seconds.parse()?, seed.parse()?, Path::new(memory));
        }
        ["soak-writer", dir, memory, seed] => {
            soak::run_process(Path::new(dir), Path::new(memory), seed.parse()?)?;
        }
        [rounds, seed] => {
            let (rounds, seed) = (rounds.parse()?, seed.parse()?);
            let held = parent::run(rounds, seed)?;
            return Ok(replay::run(rounds, seed)? && held);
        }
        ["replay", rounds, seed] => return replay::run(rounds.parse()?, seed.parse()?),
        _ => return Err(USAGE.into()),
    }
    Ok(true)
}

#[expect(clippy::print_stderr, reason = "a tool for the terminal")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stdout, reason = "a tool for the terminal")]
fn print(text: &str) {
    println!("{text}");
}
