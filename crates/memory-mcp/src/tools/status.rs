use futures::FutureExt as _;
use memory::Status;
use memory_api::Result;

use crate::tool::{Answer, Desk, Tool, schema_of};

pub(crate) const TOOL: Tool = Tool {
    name: "memory_status",
    title: "Memory status",
    description: "\
Tell what is in memory and what is missing: files and entries, when they were last indexed, what changed since, and under `degraded` what does not work and the cure. \
Use it when searches find nothing or say that something is degraded.",
    params: &[],
    answers: schema_of::<Status>,
    is_read_only: true,
    is_idempotent: true,
    call: |desk, _| status(desk).boxed_local(),
};

async fn status(desk: &Desk) -> Result<Answer> {
    Answer::of(&desk.memory.status().await?)
}
