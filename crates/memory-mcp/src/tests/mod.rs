mod answers;
mod calls;
mod fresh;
mod params;
mod reports;
mod schema;

use std::fs;
use std::future::pending;
use std::sync::Arc;

use memory::config::{self, Flag, Sources};
use memory::{App, FixedClock, Memory};
use memory_api::{Result, Timestamp};
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ServiceError, ServiceExt as _};
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

use crate::fresh::{Fresh, Patience};
use crate::serve::serve_on;
use crate::server::Server;
use crate::tool::Tool;
use crate::tools::ALL;

/// Midnight of 2026-06-01, UTC.
const NOW: Timestamp = Timestamp(1_780_272_000_000);

/// A workspace for one test. It goes by words.
pub(crate) struct Notes {
    dir: tempfile::TempDir,
    flags: Vec<Flag>,
}

impl Notes {
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let notes = Self {
            dir: tempfile::tempdir().unwrap(),
            flags: vec![Flag::new("test", "embedder.use", "none")],
        };
        for (path, content) in files {
            notes.write(path, content);
        }
        notes
    }

    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.flags.push(Flag::new("test", key, value));
        self
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path)
    }

    pub(crate) fn open(&self) -> Memory {
        let app = App::with_default_plugins()
            .unwrap()
            .with_cache_dir(self.path("cache"))
            .with_clock(Arc::new(FixedClock::new(NOW)));
        let sources = Sources {
            flags: self.flags.clone(),
            ..Sources::default()
        };
        let loaded = config::load(&sources, app.registry()).unwrap();
        futures::executor::block_on(app.open(&loaded.config, self.dir.path())).unwrap()
    }
}

/// A client of a server in the same process, over a pipe.
pub(crate) struct Session {
    client: RunningService<RoleClient, ()>,
    server: JoinHandle<Result<()>>,
}

impl Session {
    pub(crate) async fn with(memory: Memory, tools: &'static [Tool]) -> Self {
        let (here, there) = tokio::io::duplex(1 << 16);
        let memory = Arc::new(memory);
        let fresh = Fresh::new(Arc::clone(&memory), Arc::new(|_| {}), Patience::default());
        let server = Server::with(memory, fresh, tools);
        let (input, output) = tokio::io::split(there);
        let server = tokio::spawn(serve_on(server, input, output, pending()));
        let client = ().serve(here).await.unwrap();
        Self { client, server }
    }

    pub(crate) async fn call(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> std::result::Result<CallToolResult, ServiceError> {
        let mut request = CallToolRequestParams::new(tool);
        request.arguments = Some(object(arguments));
        self.client.call_tool(request).await
    }

    /// Calls a tool that answers.
    #[track_caller]
    pub(crate) fn answer(
        &self,
        tool: &'static str,
        arguments: Value,
    ) -> impl Future<Output = Value> {
        let place = std::panic::Location::caller();
        async move {
            let result = self.call(tool, arguments).await.unwrap();
            assert_eq!(result.is_error, Some(false), "{place}: {}", text(&result));
            let value = result.structured_content.clone().unwrap();
            // The text is the same, for clients that show only that.
            assert_eq!(serde_json::from_str::<Value>(text(&result)).unwrap(), value);
            value
        }
    }

    /// Calls a tool that refuses, and returns what it says.
    pub(crate) async fn refusal(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await.unwrap();
        assert_eq!(result.is_error, Some(true), "{}", text(&result));
        assert_eq!(result.structured_content, None);
        text(&result).to_owned()
    }

    pub(crate) async fn close(self) {
        self.client.cancel().await.unwrap();
        self.server.await.unwrap().unwrap();
    }
}

pub(crate) fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("no object: {other}"),
    }
}

pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

/// Runs a test against a server with some tools.
pub(crate) fn with_tools(notes: &Notes, tools: &'static [Tool], test: impl AsyncFnOnce(&Session)) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let session = Session::with(notes.open(), tools).await;
        test(&session).await;
        session.close().await;
    });
}

/// Runs a test against a server as it is.
pub(crate) fn with_server(notes: &Notes, test: impl AsyncFnOnce(&Session)) {
    with_tools(notes, ALL, test);
}

impl Session {
    pub(crate) fn client(&self) -> &RunningService<RoleClient, ()> {
        &self.client
    }
}
