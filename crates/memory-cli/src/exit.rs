use std::process::ExitCode;

/// How the program ends. The numbers are part of its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well; no results are well, too.
    Ok = 0,
    /// Something failed.
    Failure = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// Some documents could not be indexed.
    Partial = 3,
    /// Another process writes to the index, and `--no-wait` was given.
    Locked = 4,
    /// A flush is due.
    Due = 5,
    /// A person stopped it.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
