use memory::{ReadRequest, Window};

use crate::args::GetArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output, printable};

pub(crate) async fn run(
    context: &Context,
    args: &GetArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let request = ReadRequest {
        path: args.path.clone(),
        from: args.from,
        lines: args.lines,
        max_chars: None,
    };
    let window = memory.get(&request)?;
    if output.json {
        output.json(&window)?;
    } else {
        print(&window, output)?;
    }
    memory.close().await?;
    Ok(Exit::Ok)
}

fn print(window: &Window, output: Output) -> Result<(), Failure> {
    if !window.text.is_empty() {
        output.verbatim(&window.text)?;
    }
    if let Some(notice) = &window.notice {
        output.note(notice.replace("from=", "--from "));
    } else if window.total_lines == 0 {
        output.note(format_args!("`{}` is empty", printable(&window.path)));
    }
    Ok(())
}
