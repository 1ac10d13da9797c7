use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memory_api::{Error, ErrorKind, Result};
use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::exit::Exit;

/// Returns a flag that Ctrl-C sets, for work that can stop in good order; a second Ctrl-C ends the program at once.
pub(crate) fn flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    // Actions run in the order they are registered, so the first Ctrl-C finds the flag still down.
    register_conditional_shutdown(SIGINT, Exit::Interrupted as i32, Arc::clone(&flag))
        .and_then(|_| register(SIGINT, Arc::clone(&flag)))
        .map_err(|err| {
            Error::new(
                ErrorKind::Internal,
                format!("cannot listen for Ctrl-C: {err}"),
            )
        })?;
    Ok(flag)
}
