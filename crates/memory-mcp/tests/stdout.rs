//! A stray line on stdout does not reach the client: this program serves a memory, prints all the while, and looks at itself
//! from outside. It has a `main` of its own, since a test harness prints as well.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test, though without the harness that says so"
)]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs, thread};

use libtest_mimic::{Arguments, Failed, Trial};
use memory::App;
use memory::config::{self, Flag, Sources};
use serde_json::{Value, json};

/// The variable that makes this program the server of the folder it names.
const SERVE: &str = "MEMORY_TEST_SERVE";

fn main() {
    #[expect(clippy::disallowed_methods, reason = "how a test finds itself")]
    if let Ok(workspace) = env::var(SERVE) {
        serve_noisily(&workspace);
        return;
    }
    let mut trials = Vec::new();
    if cfg!(unix) {
        trials.push(Trial::test(
            "stray_lines_go_to_stderr",
            stray_lines_go_to_stderr,
        ));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

#[expect(clippy::print_stdout, reason = "that is what this is about")]
fn serve_noisily(workspace: &str) {
    let stdio = memory_mcp::Stdio::take().unwrap();
    println!("a stray line at the start");
    let app = App::with_default_plugins().unwrap();
    let sources = Sources {
        flags: vec![Flag::new("test", "embedder.use", "none")],
        ..Sources::default()
    };
    let loaded = config::load(&sources, app.registry()).unwrap();
    let memory = futures::executor::block_on(app.open(&loaded.config, workspace.as_ref())).unwrap();
    thread::spawn(|| {
        loop {
            println!("a stray line of a thread");
            thread::yield_now();
        }
    });
    // A child process prints into the same place.
    let status = Command::new("sh")
        .args(["-c", "echo a stray line of a child"])
        .status();
    assert!(status.unwrap().success());
    let settings = memory_watch::Settings::new(&loaded.config.sync);
    let log = Arc::new(|line: &str| println!("log: {line}"));
    memory_mcp::serve(memory, settings, stdio, log).unwrap();
}

fn stray_lines_go_to_stderr() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    fs::create_dir(dir.path().join("memory"))?;
    fs::write(dir.path().join("memory/a.md"), "pump")?;
    let mut server = Command::new(env::current_exe()?)
        .env(SERVE, dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stderr = BufReader::new(server.stderr.take().ok_or("no stderr")?).lines();
    let drained = thread::spawn(move || {
        let mut seen = [false; 4];
        while let Some(Ok(line)) = stderr.next() {
            for (seen, start) in seen.iter_mut().zip([
                "a stray line at the start",
                "a stray line of a thread",
                "a stray line of a child",
                "log: no index yet",
            ]) {
                *seen |= line.starts_with(start);
            }
        }
        seen
    });
    let mut stdin = server.stdin.take().ok_or("no stdin")?;
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "memory_search", "arguments": {"query": "pump"},
        }}),
    ] {
        writeln!(stdin, "{message}")?;
    }
    let mut stdout = BufReader::new(server.stdout.take().ok_or("no stdout")?).lines();
    for id in [1, 2] {
        let line = stdout.next().ok_or("the server went away")??;
        let message: Value = serde_json::from_str(&line).map_err(|err| format!("{err}: {line}"))?;
        assert_eq!(
            (&message["jsonrpc"], &message["id"]),
            (&json!("2.0"), &json!(id)),
            "{line}"
        );
    }
    drop(stdin);
    assert!(server.wait()?.success());
    assert!(stdout.next().is_none());
    let seen = drained.join().map_err(|_| "no thread")?;
    assert_eq!(seen, [true; 4]);
    Ok(())
}
