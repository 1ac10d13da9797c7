//! `memory mcp` as a client sees it: by its streams, and by the official Python SDK.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::program::{Program, Run};

/// A scenario of `memory-mcp/tests/python/drive.py`.
fn drive(scenario: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join("target/cache/python/mcp-2.3.0/bin/python");
    assert!(
        python.exists(),
        "no Python SDK yet: run `cargo xtask prepare`"
    );
    let script = root.join("crates/memory-mcp/tests/python/drive.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .args([env!("CARGO_BIN_EXE_memory"), scenario])
        .env("PYTHONDONTWRITEBYTECODE", "1");
    Run::of(&mut command).exits(0);
}

macro_rules! scenarios {
    ($($name:ident)*) => {
        $(#[test] fn $name() { drive(stringify!($name)); })*
    };
}

scenarios! {
    tools_are_listed_and_answer
    wrong_calls_are_refused_in_plain_words
    calls_run_beside_each_other
    a_cancelled_call_leaves_the_server_well
    a_killed_server_ends_calls_and_another_goes_on
    what_is_added_is_found_and_so_is_what_is_written_by_hand
    a_server_notices_what_others_index
    get_refuses_what_is_no_memory
}

/// A server and its streams.
struct Server {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Server {
    fn of(program: &Program) -> Self {
        let mut child = program
            .command(&program.root(), &["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn begun(program: &Program) -> Self {
        let mut server = Self::of(program);
        server.initialize();
        server
    }

    fn initialize(&mut self) {
        self.say(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        }}).to_string());
        assert_eq!(self.hear()["result"]["serverInfo"]["name"], "memory");
        self.say(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let message: Value =
            serde_json::from_str(&line).unwrap_or_else(|err| panic!("{err}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.say(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
                .to_string(),
        );
    }

    /// Asserts that it ends by itself, with nothing more on stdout, and returns its exit code and stderr.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        for line in rest.lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
        }
        let mut stderr = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        (self.child.wait().unwrap().code(), stderr)
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(status.unwrap().success());
    }
}

#[test]
fn nothing_but_the_protocol_is_on_stdout_and_nothing_ends_the_server() {
    // MC-02, MC-11. No model is here, so there is something to warn of.
    let program = Program::of(&[("memory/a.md", "pump")]).with_meaning();
    let mut server = Server::of(&program);
    // Before the first request.
    server.say(
        r#"{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}"#,
    );
    server.initialize();
    for noise in ["", "GET / HTTP/1.1", "{", "\u{feff}", r#"{"method": "x"}"#] {
        server.say(noise);
    }
    server.call(1, "memory_search", &json!({"query": "pump"}));
    loop {
        let message = server.hear();
        // What is JSON and no message is answered without a number.
        if message.get("id").is_none_or(Value::is_null) {
            assert_eq!(message["error"]["code"], -32600, "{message}");
            continue;
        }
        let answer = &message["result"]["structuredContent"];
        assert_eq!(
            (&message["id"], &answer["results"][0]["path"]),
            (&json!(1), &json!("memory/a.md"))
        );
        assert!(
            answer["degraded"].to_string().contains("vector: "),
            "{answer}"
        );
        break;
    }
    for (id, arguments) in [json!([]), json!("text"), json!(null), json!({})]
        .into_iter()
        .enumerate()
    {
        let id = u32::try_from(id).unwrap() + 2;
        server.call(id, "memory_search", &arguments);
        let message = server.hear();
        assert_eq!(message["id"], id);
        let text = message.to_string();
        assert!(
            text.contains("-32602") || text.contains("`query` is missing"),
            "{text}"
        );
    }
    let (code, stderr) = server.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("no index yet"), "{stderr}");
}

#[test]
fn the_end_of_input_and_a_signal_end_the_server_in_good_order() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    assert_eq!(Server::of(&program).end().0, Some(0));
    assert_eq!(Server::begun(&program).end().0, Some(0));
    // What a script pipes in gets its answers.
    let mut server = Server::begun(&program);
    server.call(1, "memory_search", &json!({"query": "pump"}));
    drop(server.stdin.take());
    assert_eq!(server.hear()["result"]["isError"], false);
    assert_eq!(server.end().0, Some(0));
    for signal in ["-TERM", "-INT"] {
        let server = Server::begun(&program);
        server.signal(signal);
        assert_eq!(ended(server), Some(0), "{signal}");
    }
}

/// Waits until it ended though its stdin is open.
fn ended(mut server: Server) -> Option<i32> {
    let code = server.child.wait().unwrap().code();
    drop(server.stdin.take());
    code
}

#[test]
fn a_call_that_waits_is_cancelled_when_the_server_ends() {
    let program = Program::of(&[("memory/a.md", "pump")]);
    program.run(&["index"]).exits(0);
    // Building an index for another namespace waits for the lock.
    program.write("memory.toml", "namespace = \"other\"");
    let lock = std::fs::File::open(program.path(".memory/lock")).unwrap();
    lock.lock().unwrap();
    for by_signal in [true, false] {
        let mut server = Server::begun(&program);
        server.call(1, "memory_search", &json!({"query": "pump"}));
        server.call(2, "memory_get", &json!({"path": "memory/a.md"}));
        assert_eq!(server.hear()["id"], 2);
        if by_signal {
            server.signal("-TERM");
            assert_eq!(ended(server), Some(0));
        } else {
            assert_eq!(server.end().0, Some(0));
        }
    }
}

#[test]
fn a_workspace_that_is_not_there_is_an_error_at_the_start() {
    let program = Program::new();
    for args in [["mcp", "-w", "nowhere"], ["mcp", "-w", ""]] {
        let run = program.run(&args).exits(2);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("error"), "{}", run.stderr);
    }
    program.write("memory.toml", "serch.max_results = 3");
    let run = program.run(&["mcp"]).exits(2);
    assert!(run.stderr.contains("memory.toml:1"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}
