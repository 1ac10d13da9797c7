//! The binary `memory`: a folder of notes as an agent's memory, on the command line.
#![cfg_attr(not(test), deny(unused_crate_dependencies))]

mod args;
mod command;
mod context;
mod exit;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use args::Args;

fn main() -> ExitCode {
    let args = Args::parse_from(args::words_last(std::env::args_os()));
    let output = output::Output::new(args.global.json, args.global.quiet);
    match command::run(args, output) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output.failure(&failure);
            failure.exit().into()
        }
    }
}
