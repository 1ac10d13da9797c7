use memory::{Drift, IndexStatus, Status};

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
    let mut files = format!("{} on disk, {} indexed", status.files, status.documents);
    if status.indexed {
        let Drift {
            new,
            changed,
            removed,
            ..
        } = status.drift;
        let parts = [(new, "new"), (changed, "changed"), (removed, "removed")];
        for (n, name) in parts.into_iter().filter(|(n, _)| *n > 0) {
            files.extend([", ", &n.to_string(), " ", name]);
        }
    }
    row("files", files)?;
    row("entries", status.entries.to_string())?;
    row("words", index(&status.lexical))?;
    if let Some(vector) = &status.vector {
        let pending = match vector.pending {
            0 => String::new(),
            n => format!(", {n} pending"),
        };
        row("meaning", format!("{}{pending}", index(&vector.index)))?;
        if let Some(space) = &vector.space {
            let dimensions = space.dimensions;
            let id = printable(&space.id);
            row("model", format!("{id} ({dimensions} numbers)"))?;
        }
        for (reason, n) in &vector.reasons {
            row("pending", format!("{n}: {}", printable(reason)))?;
        }
    }
    let last_sync = status
        .last_sync
        .and_then(|time| jiff::Timestamp::from_millisecond(time.0).ok());
    row(
        "last sync",
        last_sync.map_or_else(|| "never".to_owned(), |time| time.to_string()),
    )?;
    row("size", format!("{} KiB", status.bytes.div_ceil(1024)))?;
    match status.writer {
        None => {}
        Some(0) => row("writer", "another process writes now".to_owned())?,
        Some(pid) => row("writer", format!("process {pid} writes now"))?,
    }
    for link in &status.links {
        output.warning(format_args!("{link}: skipped: link"));
    }
    for degraded in &status.degraded {
        output.warning(degraded);
    }
    Ok(())
}

/// `fts5: 120 entries, 64 KiB, 2 behind`
fn index(status: &IndexStatus) -> String {
    let mut parts = vec![format!("{}: {} entries", status.plugin, status.entries)];
    if let Some(bytes) = status.bytes {
        parts.push(format!("{} KiB", bytes.div_ceil(1024)));
    }
    if status.behind > 0 {
        parts.push(format!("{} behind", status.behind));
    }
    parts.join(", ")
}
