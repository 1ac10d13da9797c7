use std::sync::Arc;

use memory::Memory;
use memory_watch::Settings;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest,
    CustomResult, ErrorCode, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::fresh::{Fresh, Patience};
use crate::params::Arguments;
use crate::tool::{Desk, Tool, explained};
use crate::tools::{ALL, INSTRUCTIONS};

/// Hears what a person who reads the log should know.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Calls that run at once; others wait. Fewer than the threads that tokio has for them, so that messages are read all the while.
pub(crate) const MAX_CALLS: usize = 32;

/// Answers the requests of one client.
#[derive(Debug, Clone)]
pub struct Server {
    desk: Arc<Desk>,
    tools: &'static [Tool],
    places: Arc<Semaphore>,
}

impl Server {
    /// Creates a server for a memory that is open, whose index is kept fresh.
    ///
    /// # Errors
    ///
    /// `Unavailable` when the system has no thread that keeps the index fresh.
    pub fn new(memory: Memory, settings: Settings, log: Log) -> memory_api::Result<Self> {
        let memory = Arc::new(memory);
        let fresh = Fresh::new(Arc::clone(&memory), log, Patience::default());
        Ok(Self::with(memory, fresh.with_keeper(settings)?, ALL))
    }

    pub(crate) fn with(memory: Arc<Memory>, fresh: Fresh, tools: &'static [Tool]) -> Self {
        Self {
            desk: Arc::new(Desk { memory, fresh }),
            tools,
            places: Arc::new(Semaphore::new(MAX_CALLS)),
        }
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    fn tool(&self, name: &str) -> Result<&'static Tool, ErrorData> {
        self.tools
            .iter()
            .find(|tool| tool.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = self.tools.iter().map(|tool| tool.name).collect();
                let message = format!("there is no tool `{name}`, but: {}", names.join(", "));
                ErrorData::invalid_params(message, None)
            })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let this = Implementation::new("memory", env!("CARGO_PKG_VERSION")).with_title("Memory");
        ServerConfig::new(capabilities)
            .with_server_info(this)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(Tool::listed).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name)?;
        let given = request.arguments.unwrap_or_default();
        let arguments = match Arguments::read(tool.params, &given) {
            Ok(arguments) => arguments,
            Err(wrong) => return Ok(refused(wrong).into()),
        };
        let place = tokio::select! {
            place = Arc::clone(&self.places).acquire_owned() => place,
            () = context.ct.cancelled() => return Ok(refused(CANCELLED).into()),
        };
        let (desk, runtime) = (Arc::clone(&self.desk), Handle::current());
        // On a thread of its own: files are read and scores computed where the future is polled.
        let job = spawn_blocking(move || {
            let _place = place;
            runtime.block_on(async {
                tokio::select! {
                    answer = (tool.call)(&desk, &arguments) => Some(answer),
                    () = context.ct.cancelled() => None,
                }
            })
        });
        Ok(match job.await {
            Ok(Some(Ok(answer))) => answer.into_result(),
            Ok(Some(Err(err))) => refused(explained(&err)),
            // Nobody waits for this one; the client has forgotten its number.
            Ok(None) => refused(CANCELLED),
            Err(err) => refused(format!(
                "`{}` failed: {}; this is a bug, the server goes on",
                tool.name,
                last_words(err)
            )),
        }
        .into())
    }

    /// A call whose arguments are no object comes here, since it is no call to the SDK.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            let message = format!("there is no method `{}`", request.method);
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        }
        let named = request
            .params
            .as_ref()
            .and_then(|params| params.get("name"));
        let name = named.and_then(|name| name.as_str()).ok_or_else(|| {
            ErrorData::invalid_params("`name` is missing: the name of a tool, a text", None)
        })?;
        let tool = self.tool(name)?;
        let required = tool.params.iter().find(|param| param.is_required);
        let example = match required {
            Some(param) => format!("{{\"{}\": \"…\"}}", param.name),
            None => "{}".to_owned(),
        };
        let message = format!("`arguments` has to be an object, such as {example}");
        Err(ErrorData::invalid_params(message, None))
    }
}

const CANCELLED: &str = "cancelled";

/// An answer that says why there is none.
fn refused(why: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

/// What a thread said when it panicked.
fn last_words(err: tokio::task::JoinError) -> String {
    let Ok(panic) = err.try_into_panic() else {
        return "it was stopped".to_owned();
    };
    let text = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "it panicked".to_owned())
}
