use std::io::{IsTerminal as _, Read as _};

use memory::{Addition, Target};
use memory_api::{Error, ErrorKind};

use crate::args::AddArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output, PLACE, printable};

/// More than any limit of the configuration lets through.
const MAX_BYTES: u64 = 8 << 20;

pub(crate) async fn run(
    context: &Context,
    args: &AddArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let text = match args.text.as_deref() {
        Some(text) if text != "-" => text.to_owned(),
        None if std::io::stdin().is_terminal() => {
            return Err(
                Error::new(ErrorKind::InvalidInput, "there is nothing to add")
                    .with_hint("write it in quotes: `memory add \"…\"`, or pipe it in")
                    .into(),
            );
        }
        _ => piped()?,
    };
    let addition = Addition::new(text).with_target(Target::named(&args.to));
    let added = memory.add(&addition).await?;
    memory.close().await?;
    if output.json {
        output.json(&added)?;
    } else {
        output.data(format_args!(
            "{PLACE}{}{PLACE:#}",
            printable(&added.citation)
        ))?;
        for warning in &added.warnings {
            output.warning(warning);
        }
    }
    Ok(Exit::Ok)
}

fn piped() -> Result<String, Error> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes);
    read.map_err(|err| {
        Error::new(
            ErrorKind::Unavailable,
            format!("cannot read from stdin: {err}"),
        )
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("stdin has more than {} MiB", MAX_BYTES >> 20);
        return Err(Error::new(ErrorKind::InvalidInput, message).with_hint("add it in parts"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorKind::InvalidInput, "stdin is not UTF-8 text")
            .with_hint("convert it first, for example with `iconv`")
    })
}
