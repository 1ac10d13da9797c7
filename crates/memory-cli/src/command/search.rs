use memory::{Filter, LockWait, Query, SearchHit, SearchResponse};
use memory_api::Timestamp;

use crate::args::SearchArgs;
use crate::command::index;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{FAINT, Failure, Output, PLACE};

pub(crate) async fn run(
    context: &Context,
    args: &SearchArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    if !memory.is_indexed()? {
        output.note("no index yet; building it first");
        index::sync(&memory, false, LockWait::Wait, output).await?;
    }
    let response = memory.search(&query(args)).await?;
    memory.close().await?;
    print(&response, output)?;
    Ok(Exit::Ok)
}

fn query(args: &SearchArgs) -> Query {
    let time = |time: Option<jiff::Timestamp>| time.map(|time| Timestamp(time.as_millisecond()));
    let filter = Filter {
        sources: args.source.clone(),
        kinds: args.kind.clone(),
        tags: args.tag.clone(),
        paths: args.path.clone(),
        since: time(args.since),
        until: time(args.until),
    };
    let mut query = Query::new(args.query.join(" ")).with_filter(filter);
    if let Some(max_results) = args.max_results {
        query = query.with_max_results(usize::from(max_results));
    }
    if let Some(min_score) = args.min_score {
        query = query.with_min_score(min_score);
    }
    query
}

fn print(response: &SearchResponse, output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json(response);
    }
    for degraded in &response.degraded {
        output.warning(degraded);
    }
    for warning in &response.warnings {
        output.warning(warning);
    }
    for (idx, hit) in response.results.iter().enumerate() {
        if idx > 0 {
            output.data("")?;
        }
        print_hit(hit, output)?;
    }
    if response.results.is_empty() {
        output.note("nothing found");
    }
    if response.omitted > 0 {
        output.note(format_args!(
            "{} more left out: the answer is limited by `search.max_chars`",
            response.omitted
        ));
    }
    Ok(())
}

fn print_hit(hit: &SearchHit, output: Output) -> Result<(), Failure> {
    let place = hit.citation.as_deref().unwrap_or(&hit.path);
    output.data(format_args!(
        "{PLACE}{place}{PLACE:#}  {FAINT}{:.2}{FAINT:#}",
        hit.score
    ))?;
    if !hit.heading_path.is_empty() {
        output.data(format_args!(
            "  {FAINT}{}{FAINT:#}",
            hit.heading_path.join(" › ")
        ))?;
    }
    for line in hit.snippet.lines() {
        output.data(format_args!("  {}", without_controls(line)))?;
    }
    Ok(())
}

/// A note must not move the cursor or change the colours of the terminal it is shown on.
fn without_controls(line: &str) -> String {
    line.chars()
        .map(|c| {
            if c.is_control() && c != '\t' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect::<String>()
        .trim_end_matches('\u{fffd}')
        .to_owned()
}
