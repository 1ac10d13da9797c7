use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use memory::DocumentChange;
use memory_api::Error;
use memory_watch::{Keeper, Settings, Told};
use serde::Serialize;

use crate::command::index::{self, summary};
use crate::context::Context;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{Failure, Output};

/// How often it looks whether it should end.
const LOOK: Duration = Duration::from_millis(100);

/// A line of the answer.
#[derive(Debug, Serialize)]
struct Line<'a> {
    change: &'a str,
    path: &'a str,
}

pub(crate) async fn run(context: &Context, output: Output) -> Result<Exit, Failure> {
    let (memory, config) = context.open_with_config().await?;
    let interrupted = interrupt::flag()?;
    let mut settings = Settings::new(&config.sync);
    settings.at_start = true;
    settings.watch = true;
    let (sender, told) = mpsc::channel();
    let memory = Arc::new(memory);
    let keeper = Keeper::start(Arc::clone(&memory), settings, move |told| {
        drop(sender.send(told));
    })?;
    let mut is_first = true;
    while !interrupted.load(Ordering::Relaxed) {
        match told.recv_timeout(LOOK) {
            Ok(told) => say(told, &mut is_first, output)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    drop(keeper);
    memory.close().await?;
    Ok(Exit::Interrupted)
}

/// Prints a line per change on stdout; everything else is talk.
fn say(told: Told, is_first: &mut bool, output: Output) -> Result<(), Failure> {
    match told {
        Told::Document(path, change) => {
            let change = match change {
                DocumentChange::New => "new",
                DocumentChange::Updated => "updated",
                DocumentChange::Removed => "removed",
                // Its reason comes with the report.
                _ => return Ok(()),
            };
            // What is there at the beginning is no news.
            if !*is_first {
                output.line(
                    &Line {
                        change,
                        path: &path,
                    },
                    |line| format!("{} {}", line.change, line.path),
                )?;
            }
        }
        Told::Synced(report) => {
            index::say(&report, output);
            if std::mem::take(is_first) {
                output.note(summary(&report));
                output.note("watching; Ctrl-C ends it");
            }
        }
        Told::Failed(err) => fail(&err, output),
        Told::Blind(reason) => {
            output.warning(format_args!("files cannot be watched: {reason}"));
            output.hint("they are compared with the index every 15 seconds instead");
        }
        _ => {}
    }
    Ok(())
}

fn fail(err: &Error, output: Output) {
    output.warning(format_args!("not indexed: {err}; it is tried again"));
    if let Some(hint) = err.hint() {
        output.hint(hint);
    }
}
