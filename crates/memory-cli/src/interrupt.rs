use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use memory_api::{Error, ErrorKind, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::exit::Exit;

/// Returns a flag that Ctrl-C or a request to end sets, for work that can stop in good order; a second one ends the program at once.
pub(crate) fn flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Actions run in the order they are registered, so the first signal finds the flag still down.
        register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&flag))
            .and_then(|_| register(signal, Arc::clone(&flag)))
            .map_err(|err| {
                Error::new(
                    ErrorKind::Internal,
                    format!("cannot listen for signals: {err}"),
                )
            })?;
    }
    Ok(flag)
}
