use std::sync::Arc;

use futures::executor::block_on;
use memory_mcp::Stdio;
use memory_watch::Settings;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

pub(crate) fn run(context: &Context, output: Output) -> Result<Exit, Failure> {
    // Before anything is opened that might print.
    let stdio = Stdio::take()?;
    let (memory, config) = block_on(context.open_with_config())?;
    let settings = Settings::new(&config.sync);
    memory_mcp::serve(
        memory,
        settings,
        stdio,
        Arc::new(move |line| output.note(line)),
    )?;
    Ok(Exit::Ok)
}
