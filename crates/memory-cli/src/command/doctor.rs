use memory::{Finding, Health, SyncRequest};

use crate::args::DoctorArgs;
use crate::command::index;
use crate::context::Context;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{Failure, Output, printable};

pub(crate) async fn run(
    context: &Context,
    args: &DoctorArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let mut findings = memory.examine().await?;
    if args.fix && worst(&findings) > Health::Green {
        output.note("mending; your files are only read");
        let request = SyncRequest {
            // An index that is wrong may not know it: then all of it is built anew, of which nothing is embedded twice.
            force: worst(&findings) == Health::Red,
            cancel: interrupt::flag()?,
            ..SyncRequest::default()
        };
        index::sync(&memory, request, output).await?;
        findings = memory.examine().await?;
    }
    if output.json {
        output.json(&findings)?;
    } else {
        for finding in &findings {
            print(finding, output)?;
        }
    }
    memory.close().await?;
    Ok(match worst(&findings) {
        Health::Red => Exit::Failure,
        _ => Exit::Ok,
    })
}

fn worst(findings: &[Finding]) -> Health {
    let healths = findings.iter().map(|finding| finding.health);
    healths.max().unwrap_or(Health::Green)
}

/// `green   words    120 entries`
fn print(finding: &Finding, output: Output) -> Result<(), Failure> {
    let health = match finding.health {
        Health::Green => "green",
        Health::Yellow => "yellow",
        _ => "red",
    };
    let message = printable(&finding.message);
    output.data(format_args!("{health:<7} {:<8} {message}", finding.part))?;
    if let Some(hint) = &finding.hint {
        output.hint(hint);
    }
    Ok(())
}
