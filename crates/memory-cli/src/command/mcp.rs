use std::sync::Arc;

use futures::executor::block_on;
use memory_mcp::Stdio;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

pub(crate) fn run(context: &Context, output: Output) -> Result<Exit, Failure> {
    // Before anything is opened that might print.
    let stdio = Stdio::take()?;
    let memory = block_on(context.open())?;
    memory_mcp::serve(memory, stdio, Arc::new(move |line| output.note(line)))?;
    Ok(Exit::Ok)
}
