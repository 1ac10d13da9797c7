use std::fmt;
use std::io::{IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};
use memory::config::Problems;
use memory_api::{Error, ErrorKind};
use serde::Serialize;

use crate::exit::Exit;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();
/// Names of places.
pub(crate) const PLACE: Style = AnsiColor::Green.on_default().bold();
/// What can be skipped when reading.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Where the program speaks: data on stdout, talk on stderr.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet }
    }

    /// Prints a value as the program's answer.
    pub(crate) fn json(self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|err| Error::new(ErrorKind::Internal, format!("cannot write JSON: {err}")))?;
        self.data(text)
    }

    /// Prints a line of the program's answer.
    #[expect(
        clippy::unused_self,
        reason = "everything the program prints goes through here"
    )]
    pub(crate) fn data(self, text: impl fmt::Display) -> Result<(), Failure> {
        written(writeln!(anstream::stdout(), "{text}"))
    }

    /// Prints one of many values: a line of JSON, or what `words` makes of it.
    pub(crate) fn line<T: Serialize>(
        self,
        value: &T,
        words: impl Fn(&T) -> String,
    ) -> Result<(), Failure> {
        if !self.json {
            return self.data(printable(&words(value)));
        }
        let text = serde_json::to_string(value)
            .map_err(|err| Error::new(ErrorKind::Internal, format!("cannot write JSON: {err}")))?;
        self.data(text)
    }

    /// Prints text of a file: as it is into a pipe, without what a terminal would obey on one.
    pub(crate) fn verbatim(self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout();
        if stdout.is_terminal() {
            return text
                .split('\n')
                .try_for_each(|line| self.data(printable(line)));
        }
        written(writeln!(stdout, "{text}"))
    }

    /// Says something that is not the answer.
    pub(crate) fn note(self, text: impl fmt::Display) {
        if !self.quiet {
            say(&text.to_string());
        }
    }

    /// Says what to do about the warning before it.
    pub(crate) fn hint(self, text: impl fmt::Display) {
        self.note(format_args!(
            "{HINT}hint{HINT:#}: {}",
            printable(&text.to_string())
        ));
    }

    pub(crate) fn warning(self, text: impl fmt::Display) {
        self.note(format_args!(
            "{WARNING}warning{WARNING:#}: {}",
            printable(&text.to_string())
        ));
    }

    #[expect(
        clippy::unused_self,
        reason = "everything the program prints goes through here"
    )]
    pub(crate) fn failure(self, failure: &Failure) {
        match failure {
            Failure::Error(err) => say_error(&err.located(), err.hint()),
            Failure::Config(problems) => {
                for problem in problems.iter() {
                    say_error(problem, problem.hint.as_deref());
                }
            }
        }
    }
}

/// A reader that went away is no failure.
fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(err) if err.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::new(
            ErrorKind::Unavailable,
            format!("cannot write to stdout: {err}"),
        )
        .into()),
        _ => Ok(()),
    }
}

/// Text of a note or a file's name must not move the cursor or change the colours of the terminal it is shown on.
pub(crate) fn printable(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
}

fn say_error(message: &impl fmt::Display, hint: Option<&str>) {
    say(&format!(
        "{ERROR}error{ERROR:#}: {}",
        printable(&message.to_string())
    ));
    if let Some(hint) = hint {
        say(&format!("{HINT}hint{HINT:#}: {hint}"));
    }
}

/// Nothing is left to tell it to when stderr is gone.
fn say(text: &str) {
    drop(writeln!(anstream::stderr(), "{text}"));
}

/// Why a command ended without its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    Error(Error),
    Config(Problems),
}

impl Failure {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) => Exit::Usage,
            Self::Error(err) if err.context("lock") == Some("held") => Exit::Locked,
            // The command is right; what it was to write is not wanted.
            Self::Error(err) if err.context("refused").is_some() => Exit::Failure,
            Self::Error(err) => match err.kind() {
                ErrorKind::Config | ErrorKind::InvalidInput => Exit::Usage,
                _ => Exit::Failure,
            },
        }
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Self {
        Self::Error(err)
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Config(problems)
    }
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_a_terminal_obeys_is_replaced() {
        // Clears the screen, sets the title, and the eight-bit form of an escape.
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}b\u{9b}31m\tc\r";
        let shown = printable(hostile);
        assert_eq!(shown, "a\u{fffd}[2J\u{fffd}]0;title\u{fffd}b\u{fffd}31m\tc");
    }
}
