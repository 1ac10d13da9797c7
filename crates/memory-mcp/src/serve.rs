use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memory::Memory;
use memory_api::{Error, ErrorKind, Result};
use memory_watch::Settings;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::server::{Log, Server};
use crate::stdio::Stdio;
use crate::transport::Patient;

/// How long calls that run may go on after the last message: what a script pipes in gets its answers. Hosts wait for two seconds
/// before they use force.
const GRACE: Duration = Duration::from_secs(1);
/// How long a build of the index and the writing of answers may take to end once they are told to.
const MOMENT: Duration = Duration::from_millis(500);

/// Answers on stdin and stdout until the client closes them or the process gets SIGINT or SIGTERM. Calls that run then are
/// cancelled: by a signal at once, after the end of stdin within a second.
///
/// # Errors
///
/// `Unavailable` when the process cannot have the threads it needs; `InvalidInput` when client and server have no version of the
/// protocol in common. A client that goes away is none.
pub fn serve(memory: Memory, settings: Settings, stdio: Stdio, log: Log) -> Result<()> {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .thread_name("memory-mcp")
        .build()
        .map_err(|err| unavailable("start", &err))?;
    let server = Server::new(memory, settings, log)?;
    let result = runtime.block_on(async {
        let signal = signal()?;
        let stdin = tokio::io::stdin();
        match stdio.stdout {
            Some(stdout) => {
                serve_on(server, stdin, tokio::fs::File::from_std(stdout), signal).await
            }
            None => serve_on(server, stdin, tokio::io::stdout(), signal).await,
        }
    });
    // A read of stdin cannot be ended, so nothing waits for its thread.
    runtime.shutdown_background();
    result
}

/// Answers on a pair of streams until the first ends or the signal comes.
pub(crate) async fn serve_on(
    server: Server,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    signal: impl Future<Output = ()>,
) -> Result<()> {
    let has_ended = Arc::new(Notify::new());
    let transport = Patient::new(AsyncRwTransport::new(input, output), Arc::clone(&has_ended));
    let mut signal = pin!(signal);
    let begun = tokio::select! {
        begun = server.clone().serve(transport) => begun,
        () = &mut signal => return Ok(()),
    };
    let running = match begun {
        Ok(running) => running,
        Err(ServerInitializeError::InitializeFailed(err)) => {
            return Err(Error::new(ErrorKind::InvalidInput, err.message));
        }
        // It went away before it said anything.
        Err(_) => return Ok(()),
    };
    let cancel = running.cancellation_token();
    let mut running = pin!(running.waiting());
    let is_over = tokio::select! {
        _ = &mut running => true,
        () = &mut signal => false,
        () = async {
            has_ended.notified().await;
            sleep(GRACE).await;
        } => false,
    };
    cancel.cancel();
    server.desk().fresh.stop(MOMENT).await;
    if !is_over {
        // Whoever is late has no client any more.
        drop(timeout(MOMENT, running).await);
    }
    server.desk().memory.close().await
}

/// Becomes ready when the process is asked to end.
#[cfg(unix)]
fn signal() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).map_err(|err| unavailable("listen for signals", &err));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signal() -> Result<impl Future<Output = ()>> {
    Ok(async {
        // A process that cannot listen is ended by the system.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

fn unavailable(what: &str, err: &std::io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot {what}: {err}"))
}
