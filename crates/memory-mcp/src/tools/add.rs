use futures::FutureExt as _;
use memory::{Added, Addition, Target};
use memory_api::Result;

use crate::params::{Arguments, Kind, Param};
use crate::tool::{Answer, Desk, Tool, schema_of};

pub(crate) const TOOL: Tool = Tool {
    name: "memory_add",
    title: "Add to memory",
    description: "\
Write something down that should be remembered after this conversation: a decision and its reason, a fact about a person or project, a preference, a to-do. \
One short, self-contained note per call, with names and dates spelled out. It is appended to today's note, or to `target`, and can be found at once. \
What is there already is refused, and so are keys, tokens and passwords: do not try to write those.",
    params: &[
        Param::new("text", Kind::Text, "What to write, in Markdown.").required(),
        Param::new(
            "target",
            Kind::Text,
            "Another memory file than today's note, such as \"MEMORY.md\" or \"memory/projects/garden.md\"; it is made if it is not there.",
        ),
    ],
    answers: schema_of::<Added>,
    is_read_only: false,
    is_idempotent: false,
    call: |desk, arguments| add(desk, arguments).boxed_local(),
};

async fn add(desk: &Desk, arguments: &Arguments) -> Result<Answer> {
    let mut addition = Addition::new(arguments.text("text").unwrap_or_default());
    if let Some(target) = arguments.text("target") {
        addition = addition.with_target(Target::named(target));
    }
    Answer::of(&desk.memory.add(&addition).await?)
}
