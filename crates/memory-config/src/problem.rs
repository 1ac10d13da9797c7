use std::fmt;
use std::path::Path;

use memory_api::{Error, ErrorKind};

use crate::Origin;

/// One thing that is wrong with the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where it is.
    pub origin: Origin,
    /// The dotted key; empty for a file or a variable as a whole.
    pub key: String,
    /// A lowercase fragment without a final period.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The origin names the key already, as a variable and a flag do.
    key_is_origin: bool,
    /// The place of the origin among all.
    layer: usize,
}

impl Problem {
    pub(crate) fn new(layer: usize, origin: Origin, message: &str) -> Self {
        Self {
            origin,
            key: String::new(),
            message: printable(message),
            hint: None,
            key_is_origin: false,
            layer,
        }
    }

    pub(crate) fn with_key(mut self, key: String, key_is_origin: bool) -> Self {
        self.key = key;
        self.key_is_origin = key_is_origin;
        self
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn order(&self) -> (usize, Option<usize>, Option<usize>) {
        match self.origin {
            Origin::File { line, column, .. } => (self.layer, line, column),
            _ => (self.layer, None, None),
        }
    }
}

impl fmt::Display for Problem {
    /// Writes one line: `memory.toml:6: search.min_score: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if self.key.is_empty() {
            if let Origin::File {
                column: Some(column),
                ..
            } = self.origin
            {
                write!(f, ":{column}")?;
            }
        } else if !self.key_is_origin {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Everything that is wrong with a configuration, ordered by source and line; never empty.
///
/// [`Display`](fmt::Display) is one line per problem, without hints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Returns `None` when nothing is wrong.
    pub(crate) fn from_vec(mut problems: Vec<Problem>) -> Option<Self> {
        problems.sort_by_key(Problem::order);
        (!problems.is_empty()).then_some(Self(problems))
    }

    pub(crate) fn one(problem: Problem) -> Self {
        Self(vec![problem])
    }

    /// Names files below `dir` as somebody in that folder would.
    pub fn seen_from(mut self, dir: &Path) -> Self {
        for problem in &mut self.0 {
            problem.origin = problem.origin.clone().seen_from(dir);
        }
        self
    }

    /// Returns the problems, ordered by source and line.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, problem) in self.0.iter().enumerate() {
            let line_end = if idx > 0 { "\n" } else { "" };
            write!(f, "{line_end}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// A configuration problem has one kind whatever it is, so nothing is lost by converting without looking.
impl From<Problems> for Error {
    fn from(problems: Problems) -> Self {
        let mut error = Self::new(ErrorKind::Config, problems.to_string());
        if let Some(first) = problems.iter().find(|problem| !problem.key.is_empty()) {
            error = error.with_context("key", first.key.clone());
        }
        let mut hints: Vec<&str> = Vec::new();
        for hint in problems.iter().filter_map(|p| p.hint.as_deref()) {
            if !hints.contains(&hint) {
                hints.push(hint);
            }
        }
        if hints.is_empty() {
            error
        } else {
            error.with_hint(hints.join("\n"))
        }
    }
}

/// Makes a message fit for a terminal: one line, without control characters, of bearable length.
fn printable(message: &str) -> String {
    const LONGEST: usize = 400;
    const PART: usize = 150;
    let mut text = String::with_capacity(message.len());
    for c in message.chars() {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    let n_chars = text.chars().count();
    if n_chars <= LONGEST {
        return text;
    }
    let head = text.chars().take(PART);
    let tail = text.chars().skip(n_chars - PART);
    head.chain(['…']).chain(tail).collect()
}
