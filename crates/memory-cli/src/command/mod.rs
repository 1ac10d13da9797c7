//! One module per command.

mod add;
mod completions;
mod config;
mod doctor;
mod eval;
mod flush;
mod get;
mod index;
mod init;
mod mcp;
mod model;
mod plugins;
mod search;
mod status;
mod watch;

use futures::executor::block_on;

use crate::args::{Args, Command, EvalCommand, FlushCommand};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

/// Runs the command of the command line.
pub(crate) fn run(args: Args, output: Output) -> Result<Exit, Failure> {
    let context = Context::new(args.global)?;
    match args.command {
        Command::Init(args) => init::run(&context, &args, output),
        Command::Index(args) => block_on(index::run(&context, &args, output)),
        Command::Watch => block_on(watch::run(&context, output)),
        Command::Search(args) => block_on(search::run(&context, &args, output)),
        Command::Get(args) => block_on(get::run(&context, &args, output)),
        Command::Doctor(args) => block_on(doctor::run(&context, &args, output)),
        Command::Add(args) => block_on(add::run(&context, &args, output)),
        Command::Flush(FlushCommand::Check(args)) => {
            block_on(flush::check(&context, &args, output))
        }
        Command::Status => block_on(status::run(&context, output)),
        Command::Mcp => mcp::run(&context, output),
        Command::Eval(EvalCommand::Run(args)) => block_on(eval::run(&context, &args, output)),
        Command::Config(command) => config::run(&context, &command, output),
        Command::Plugins(command) => plugins::run(&context, &command, output),
        Command::Model(command) => model::run(&context, &command, output),
        Command::Completions { shell } => completions::run(shell, output),
    }
}
