use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memory::{Phase, Progress};

use crate::output::Output;

/// Shows how far a sync is: a bar with the time left, on a terminal alone.
#[derive(Debug, Clone)]
pub(crate) struct SyncBar {
    bar: Option<ProgressBar>,
    output: Output,
}

impl SyncBar {
    pub(crate) fn new(output: Output) -> Self {
        let shown = !output.quiet && !output.json && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::new(0);
            // A short sync draws nothing.
            bar.enable_steady_tick(Duration::from_millis(200));
            bar.with_style(style()).with_message("reading files")
        });
        Self { bar, output }
    }

    pub(crate) fn callback(&self) -> Arc<dyn Fn(Progress) + Send + Sync> {
        let this = self.clone();
        Arc::new(move |progress| this.show(progress))
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self, progress: Progress) {
        if progress.phase == Phase::Waiting {
            let holder = match progress.total {
                0 => "another process".to_owned(),
                pid => format!("process {pid}"),
            };
            self.output.note(format_args!(
                "waiting for {holder}, which writes to this index"
            ));
            return;
        }
        let Some(bar) = &self.bar else { return };
        let message = match progress.phase {
            Phase::Files => "reading files",
            Phase::Meaning => "embedding",
            _ => "indexing words",
        };
        if bar.message() != message {
            bar.reset();
            bar.set_message(message);
        }
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
