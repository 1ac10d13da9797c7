use std::future::ready;

use futures::FutureExt as _;
use memory::{ReadRequest, Window};
use memory_api::Result;

use crate::params::{Arguments, Kind, Param};
use crate::tool::{Answer, Desk, Tool, schema_of};

pub(crate) const TOOL: Tool = Tool {
    name: "memory_get",
    title: "Read memory",
    description: "\
Read lines of a memory file that memory_search found. Takes a result's path, or its citation. \
Returns at most 120 lines or 12,000 characters; `next_from` is the line to go on with, absent at the end of the file.",
    params: &[
        Param::new(
            "path",
            Kind::Text,
            "The file as results name it (memory/2026-05-18.md), or a citation (memory/2026-05-18.md#L3-L7).",
        )
        .required(),
        Param::new(
            "from",
            Kind::Whole {
                min: 1,
                max: i64::MAX,
            },
            "The first line, counted from 1.",
        ),
        Param::new(
            "lines",
            Kind::Whole {
                min: 1,
                max: i64::MAX,
            },
            "How many lines; 120 if left out.",
        ),
    ],
    answers: schema_of::<Window>,
    is_read_only: true,
    is_idempotent: true,
    call: |desk, arguments| ready(get(desk, arguments)).boxed_local(),
};

fn get(desk: &Desk, arguments: &Arguments) -> Result<Answer> {
    let window = desk.memory.get(&ReadRequest {
        path: arguments.text("path").unwrap_or_default().to_owned(),
        from: arguments.whole("from"),
        lines: arguments.whole("lines"),
        max_chars: None,
    })?;
    Answer::of(&window)
}
