use memory::Status;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output, printable};

pub(crate) async fn run(context: &Context, output: Output) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let status = memory.status().await?;
    if output.json {
        output.json(&status)?;
    } else {
        print(&status, output)?;
    }
    memory.close().await?;
    Ok(Exit::Ok)
}

fn print(status: &Status, output: Output) -> Result<(), Failure> {
    let row = |name: &str, value: String| output.data(format_args!("{name:<10} {value}"));
    row("workspace", printable(&status.workspace))?;
    row("index", printable(&status.state_dir))?;
    row(
        "files",
        format!("{} on disk, {} indexed", status.files, status.documents),
    )?;
    row("entries", status.entries.to_string())?;
    let lexical = &status.lexical;
    let size = lexical.bytes.map_or_else(String::new, |bytes| {
        format!(", {} KiB", bytes.div_ceil(1024))
    });
    let behind = if lexical.behind == 0 {
        String::new()
    } else {
        format!(", {} behind", lexical.behind)
    };
    row(
        "words",
        format!(
            "{}: {} entries{size}{behind}",
            lexical.plugin, lexical.entries
        ),
    )?;
    let last_sync = status
        .last_sync
        .and_then(|time| jiff::Timestamp::from_millisecond(time.0).ok());
    row(
        "last sync",
        last_sync.map_or_else(|| "never".to_owned(), |time| time.to_string()),
    )?;
    for link in &status.links {
        output.warning(format_args!("{link}: skipped: link"));
    }
    for degraded in &status.degraded {
        output.warning(degraded);
    }
    Ok(())
}
