use memory::{LockWait, Memory, SyncReport, SyncRequest};

use crate::args::IndexArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{Failure, Output};
use crate::progress::SyncBar;

pub(crate) async fn run(
    context: &Context,
    args: &IndexArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let wait = if args.no_wait {
        LockWait::Refuse
    } else {
        LockWait::Wait
    };
    let request = SyncRequest {
        force: args.force,
        wait,
        cancel: interrupt::flag()?,
        ..SyncRequest::default()
    };
    let report = sync(&memory, request, output).await?;
    if output.json {
        output.json(&report)?;
    } else {
        output.data(summary(&report))?;
        if report.cancelled {
            output.hint("it was interrupted; `memory index` goes on from here");
        } else if report.n_documents() == 0 {
            output.hint("memory files are `MEMORY.md`, `USER.md` and `memory/**/*.md`; `--include '**/*.md'` takes others, and `documents.include` in memory.toml makes that last");
        }
    }
    memory.close().await?;
    Ok(if report.cancelled {
        Exit::Interrupted
    } else if report.failed.is_empty() {
        Exit::Ok
    } else {
        Exit::Partial
    })
}

/// Syncs with a progress bar, and says what a person should know.
pub(crate) async fn sync(
    memory: &Memory,
    mut request: SyncRequest,
    output: Output,
) -> Result<SyncReport, Failure> {
    let bar = SyncBar::new(output);
    request.progress = Some(bar.callback());
    let result = memory.sync(&request).await;
    bar.finish();
    let report = result?;
    say(&report, output);
    Ok(report)
}

/// Says what a person should know about a sync.
pub(crate) fn say(report: &SyncReport, output: Output) {
    for warning in &report.warnings {
        output.warning(warning);
    }
    for failure in &report.failed {
        output.warning(format_args!("{}: {}", failure.path, failure.reason));
        if let Some(hint) = &failure.hint {
            output.hint(hint);
        }
    }
}

/// `2 new, 1 updated, 340 unchanged, 1 removed, 1 failed (1210 entries, 7 embedded, 3 pending)`, or that there was nothing to find and where.
pub(crate) fn summary(report: &SyncReport) -> String {
    let mut counts: Vec<String> = [
        (report.new, "new"),
        (report.updated, "updated"),
        (report.unchanged, "unchanged"),
        (report.removed, "removed"),
        (report.failed.len() as u64, "failed"),
    ]
    .into_iter()
    .filter(|(n, name)| *n > 0 || matches!(*name, "new" | "updated" | "unchanged"))
    .map(|(n, name)| format!("{n} {name}"))
    .collect();
    if report.n_documents() == 0 && report.failed.is_empty() {
        counts = vec![format!("0 files found in {}", report.workspace)];
        if report.removed > 0 {
            counts.push(format!("{} removed", report.removed));
        }
    }
    let mut entries = vec![format!("{} entries", report.entries)];
    for (n, name) in [(report.embedded, "embedded"), (report.pending, "pending")] {
        if n > 0 {
            entries.push(format!("{n} {name}"));
        }
    }
    format!("{} ({})", counts.join(", "), entries.join(", "))
}
