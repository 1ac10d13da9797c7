use std::fmt;
use std::io::Write as _;

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

    /// Prints a line of the program's answer. A reader that went away is no failure.
    #[expect(
        clippy::unused_self,
        reason = "everything the program prints goes through here"
    )]
    pub(crate) fn data(self, text: impl fmt::Display) -> Result<(), Failure> {
        match writeln!(anstream::stdout(), "{text}") {
            Err(err) if err.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::new(
                ErrorKind::Unavailable,
                format!("cannot write to stdout: {err}"),
            )
            .into()),
            _ => Ok(()),
        }
    }

    /// Says something that is not the answer.
    pub(crate) fn note(self, text: impl fmt::Display) {
        if !self.quiet {
            say(&text.to_string());
        }
    }

    /// Says what to do about the warning before it.
    pub(crate) fn hint(self, text: impl fmt::Display) {
        self.note(format_args!("{HINT}hint{HINT:#}: {text}"));
    }

    pub(crate) fn warning(self, text: impl fmt::Display) {
        self.note(format_args!("{WARNING}warning{WARNING:#}: {text}"));
    }

    #[expect(
        clippy::unused_self,
        reason = "everything the program prints goes through here"
    )]
    pub(crate) fn failure(self, failure: &Failure) {
        match failure {
            Failure::Error(err) => say_error(err, err.hint()),
            Failure::Config(problems) => {
                for problem in problems.iter() {
                    say_error(problem, problem.hint.as_deref());
                }
            }
        }
    }
}

fn say_error(message: &impl fmt::Display, hint: Option<&str>) {
    say(&format!("{ERROR}error{ERROR:#}: {message}"));
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
