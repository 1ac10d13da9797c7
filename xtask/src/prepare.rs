use xshell::{Shell, cmd};

use crate::Result;

/// Fetches the sources of all dependencies, as the lock file names them.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    cmd!(shell, "cargo fetch --locked").run()?;
    Ok(())
}
