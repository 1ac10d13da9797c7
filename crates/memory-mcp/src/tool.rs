use std::sync::Arc;

use futures::future::LocalBoxFuture;
use memory::Memory;
use memory_api::{Error, Result};
use rmcp::model::{CallToolResult, ContentBlock, Tool as Listed, ToolAnnotations};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::Value;

use crate::fresh::Fresh;
use crate::params::{self, Arguments, Param};

/// A tool: what the model is told of it, and what it does.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// For people.
    pub(crate) title: &'static str,
    /// For the model: what it does and when to call it.
    pub(crate) description: &'static str,
    pub(crate) params: &'static [Param],
    /// The schema of its answers, see [`schema_of`].
    pub(crate) answers: fn() -> Schema,
    /// Whether it changes no memory. An index that it brings up to date on the way is no memory.
    pub(crate) is_read_only: bool,
    /// Whether calling it twice with the same arguments is the same as calling it once.
    pub(crate) is_idempotent: bool,
    pub(crate) call: Call,
}

/// Answers a call. The future runs on a thread of its own, on which it may block.
pub(crate) type Call = for<'a> fn(&'a Desk, &'a Arguments) -> LocalBoxFuture<'a, Result<Answer>>;

/// What tools work with.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) memory: Arc<Memory>,
    pub(crate) fresh: Fresh,
}

/// An answer, as a text and as a value.
#[derive(Debug)]
pub(crate) struct Answer {
    text: String,
    value: Value,
}

impl Tool {
    /// Describes it to a client.
    pub(crate) fn listed(&self) -> Listed {
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(self.is_read_only)
            .destructive(false)
            .idempotent(self.is_idempotent)
            // The memory is a folder of this machine.
            .open_world(false);
        let listed = Listed::new(
            self.name,
            self.description,
            Arc::new(params::schema(self.params)),
        )
        .with_title(self.title)
        .with_annotations(annotations);
        match (self.answers)().to_value() {
            Value::Object(schema) => listed.with_raw_output_schema(Arc::new(schema)),
            _ => listed,
        }
    }
}

impl Answer {
    /// Creates an answer of something that is serialised as `--json` prints it.
    pub(crate) fn of(answer: &impl Serialize) -> Result<Self> {
        let json = |err: serde_json::Error| {
            Error::new(
                memory_api::ErrorKind::Internal,
                format!("cannot write JSON: {err}"),
            )
        };
        Ok(Self {
            // Not of the value, which sorts its keys.
            text: serde_json::to_string(answer).map_err(json)?,
            value: serde_json::to_value(answer).map_err(json)?,
        })
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(self.value);
        result
    }
}

/// Says of an error of the memory what happened and what to do, in the words of the tools.
pub(crate) fn explained(err: &Error) -> String {
    let text = match err.hint() {
        Some(hint) => format!("{}; {hint}", err.located()),
        None => err.located(),
    };
    text.replace("`memory search` prints", "`memory_search` returns")
}

/// Makes the schema of what a type is serialised to.
pub(crate) fn schema_of<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
}
