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
    let plain = ReadRequest {
        path: args.path.clone(),
        from: args.from,
        lines: args.lines,
        max_chars: None,
    };
    let window = match (memory.get(&plain), cited(args)) {
        // A file may be called like a citation, so the plain path comes first.
        (Err(_), Some(cited)) => memory.get(&cited)?,
        (window, _) => window?,
    };
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

/// Reads `path#L3` and `path#L3-L7`; what the flags say goes first.
fn cited(args: &GetArgs) -> Option<ReadRequest> {
    let (path, lines) = args.path.rsplit_once("#L")?;
    let (first, last) = lines.split_once("-L").unwrap_or((lines, lines));
    let first: i64 = first.parse().ok()?;
    let last: i64 = last.parse().ok()?;
    let n_lines = last.checked_sub(first)?.checked_add(1)?;
    if first < 1 || n_lines < 1 {
        return None;
    }
    Some(ReadRequest {
        path: path.to_owned(),
        from: args.from.or(Some(first)),
        lines: args.lines.or(Some(n_lines)),
        max_chars: None,
    })
}
