use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::Args;
use crate::exit::Exit;
use crate::output::{Failure, Output};

pub(crate) fn run(shell: Shell, output: Output) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    generate(shell, &mut Args::command(), "memory", &mut script);
    output.data(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Ok)
}
