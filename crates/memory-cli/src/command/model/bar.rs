use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memory_api::PullProgress;

use crate::output::{Output, printable};

/// Shows how far a pull is: lines, and between them a bar on a terminal.
#[derive(Debug)]
pub(crate) struct PullBar {
    bar: Option<ProgressBar>,
    output: Output,
}

impl PullBar {
    pub(crate) fn new(output: Output) -> Self {
        let shown = !output.quiet && std::io::stderr().is_terminal();
        let bar = shown.then(|| {
            let bar = ProgressBar::no_length().with_style(spinner());
            // What takes no time draws nothing.
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { bar, output }
    }

    pub(crate) fn show(&self, progress: PullProgress<'_>) {
        let line = line(progress);
        let Some(bar) = &self.bar else {
            if let Some(line) = line {
                self.output.note(line);
            }
            return;
        };
        match (progress, line) {
            (PullProgress::Bytes { done, total }, _) => {
                match total {
                    Some(total) if bar.length() != Some(total) => {
                        bar.set_style(download());
                        bar.set_length(total);
                    }
                    _ => {}
                }
                bar.set_position(done);
            }
            (PullProgress::Failed { .. }, Some(line)) => {
                bar.suspend(|| self.output.note(line));
            }
            (_, Some(line)) => {
                // The next stage has a length of its own, or none.
                bar.unset_length();
                bar.reset();
                bar.set_style(spinner());
                bar.set_message(line);
            }
            (_, None) => {}
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns what there is to say in words.
pub(super) fn line(progress: PullProgress<'_>) -> Option<String> {
    Some(match progress {
        PullProgress::Trying(source) => format!("trying {}", printable(source)),
        PullProgress::Failed { source, reason } => {
            format!("failed: {}: {}", printable(source), printable(reason))
        }
        PullProgress::Converting => "converting".to_owned(),
        PullProgress::Verifying => "verifying".to_owned(),
        _ => return None,
    })
}

fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg} {bytes}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn download() -> ProgressStyle {
    ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}
