use memory::{Context as Around, Filter, Query, SearchResponse, SearchResult, SyncRequest};

use crate::args::SearchArgs;
use crate::command::index;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{FAINT, Failure, Output, PLACE, printable};

pub(crate) async fn run(
    context: &Context,
    args: &SearchArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let memory = context.open().await?;
    let mut said = Vec::new();
    let mut exit = Exit::Ok;
    if !memory.is_indexed().await? {
        output.note("no index yet; building it first");
        match index::sync(&memory, SyncRequest::default(), output).await {
            Ok(report) => said = report.warnings,
            // The answer says that there is no index; this says why.
            Err(failure) => {
                output.failure(&failure);
                exit = failure.exit();
            }
        }
    }
    let response = memory.search(&query(args)).await?;
    print(&response, &said, output)?;
    memory.close().await?;
    Ok(exit)
}

fn query(args: &SearchArgs) -> Query {
    let filter = Filter {
        sources: args.source.clone(),
        kinds: args.kind.clone(),
        tags: args.tag.clone(),
        paths: args.path.clone(),
        since: args.since,
        until: args.until,
    };
    let mut query = Query::new(args.query.join(" ")).with_filter(filter);
    if let Some(mode) = args.mode {
        query = query.with_mode(mode.into());
    }
    if let Some(max_results) = args.max_results {
        query = query.with_max_results(usize::from(max_results));
    }
    if let Some(min_score) = args.min_score {
        query = query.with_min_score(min_score);
    }
    if let Some(n_lines) = args.context {
        query = query.with_context(usize::from(n_lines));
    }
    query
}

/// Prints an answer; what was `said` already is not said again.
fn print(response: &SearchResponse, said: &[String], output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json(response);
    }
    let news = response.degraded.iter().chain(&response.warnings);
    for warning in news.filter(|warning| !said.contains(warning)) {
        output.warning(warning);
    }
    for (idx, result) in response.results.iter().enumerate() {
        if idx > 0 {
            output.data("")?;
        }
        print_result(result, output)?;
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

fn print_result(result: &SearchResult, output: Output) -> Result<(), Failure> {
    let place = printable(result.citation.as_deref().unwrap_or(&result.path));
    output.data(format_args!(
        "{PLACE}{place}{PLACE:#}  {FAINT}{:.2}{FAINT:#}",
        result.score
    ))?;
    if !result.heading_path.is_empty() {
        let headings = printable(&result.heading_path.join(" › "));
        output.data(format_args!("  {FAINT}{headings}{FAINT:#}"))?;
    }
    let around = |text: fn(&Around) -> &String| -> Result<(), Failure> {
        let text = result.context.as_ref().map_or("", |context| text(context));
        let mut lines = text.split('\n').skip(usize::from(text.is_empty()));
        lines
            .try_for_each(|line| output.data(format_args!("  {FAINT}{}{FAINT:#}", printable(line))))
    };
    around(|context| &context.before)?;
    for line in result.snippet.lines() {
        output.data(format_args!("  {}", printable(line)))?;
    }
    around(|context| &context.after)
}
