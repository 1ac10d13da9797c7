use std::fs::File;

use memory_api::Result;
#[cfg(unix)]
use memory_api::{Error, ErrorKind};

/// The streams the process was started with, for the protocol alone.
#[derive(Debug)]
pub struct Stdio {
    /// The client's end; `None` where the system has no way to put it aside.
    pub(crate) stdout: Option<File>,
}

impl Stdio {
    /// Takes stdout away from the rest of the process: what anything prints from now on goes to stderr, a stray line of a library
    /// or of a child process as well. To be called before anything is opened.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the process has no file handle left.
    #[cfg(unix)]
    pub fn take() -> Result<Self> {
        let failed = |err: rustix::io::Errno| {
            let message = format!("cannot put stdout aside: {err}");
            Error::new(ErrorKind::Unavailable, message)
        };
        // Above the numbers of the three streams, and closed in child processes.
        let stdout = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3).map_err(failed)?;
        rustix::stdio::dup2_stdout(std::io::stderr()).map_err(failed)?;
        Ok(Self {
            stdout: Some(stdout.into()),
        })
    }

    /// Takes stdout as it is.
    ///
    /// # Errors
    ///
    /// None here.
    #[cfg(not(unix))]
    pub fn take() -> Result<Self> {
        Ok(Self { stdout: None })
    }
}
