//! Timings of what users wait for. `cargo xtask bench meaning|sync` builds this in release mode and runs it.
//!
//! * `bench`: how a bench runs; each of its parts has a process of its own.
//! * `meaning` with the parts `embedder`, `query`, `index`; `sync` with the parts `files`, `search`.
//! * `corpus`, `open`, `plain`: texts and questions, plugins, and the scan that indexes are held against.
//! * `watch`, `sample`, `report`: time and memory, what many measurements say, and what is printed.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod bench;
mod corpus;
mod embedder;
mod index;
mod meaning;
mod open;
mod plain;
mod query;
mod report;
mod sample;
mod sync;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

/// An error is for a person to read.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "usage: memory-bench meaning|sync PATH-OF-THE-PROGRAM-memory";

/// An aim was missed.
const GATE_FAILED: u8 = 5;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    match run(&args) {
        Ok(held) => exit(held),
        Err(err) => {
            say(&format!("error: {err}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[OsString]) -> Result<bool> {
    let (what, args) = args.split_first().ok_or(USAGE)?;
    match &*what.to_string_lossy() {
        "meaning" => meaning::BENCH.run(args),
        "sync" => sync::BENCH.run(args),
        sync::probe::NAME => sync::probe::run(args),
        sync::bare::NAME => sync::bare::run(args),
        _ => Err(USAGE.into()),
    }
}

/// Says how the program ends.
fn exit(held: bool) -> ExitCode {
    if held {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(GATE_FAILED)
    }
}

#[expect(clippy::print_stderr, reason = "a tool for the terminal")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stdout, reason = "a tool for the terminal")]
fn print(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    #[test]
    fn a_missed_aim_ends_with_5_and_no_missed_aim_with_0() {
        // An exit code can only be compared by what it shows.
        let shown = |code: ExitCode| format!("{code:?}");
        assert_eq!(shown(super::exit(true)), shown(ExitCode::SUCCESS));
        assert_eq!(shown(super::exit(false)), shown(ExitCode::from(5)));
    }
}
