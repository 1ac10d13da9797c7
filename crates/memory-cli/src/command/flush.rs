use memory::FlushCheck;

use crate::args::FlushCheckArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

pub(crate) async fn check(
    context: &Context,
    args: &FlushCheckArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let check = FlushCheck {
        tokens: args.tokens,
        window: args.window,
        cycle: args.cycle.clone(),
        transcript_bytes: args.transcript_bytes,
        failed: args.failed,
    };
    let answer = memory.check_flush(&check).await?;
    memory.close().await?;
    if output.json {
        output.json(&answer)?;
    } else {
        for warning in &answer.warnings {
            output.warning(warning);
        }
        let due = if answer.due { "due" } else { "not due" };
        output.data(format_args!("{due}: {}", answer.message))?;
        if answer.due {
            output.hint("`--json` prints what to tell the agent");
        }
    }
    Ok(if answer.due { Exit::Due } else { Exit::Ok })
}
