use futures::FutureExt as _;
use memory::{Filter, Query, SearchResponse};
use memory_api::Result;

use crate::params::{Arguments, Kind, Param};
use crate::tool::{Answer, Desk, Tool, schema_of};

pub(crate) const TOOL: Tool = Tool {
    name: "memory_search",
    title: "Search memory",
    description: "\
Recall from long-term memory. Use it before answering about earlier work, decisions, dates, people, preferences or to-dos, or when the user refers to something from before. \
Ask in the user's own words, whole question or keywords; \"a phrase\", prefix* and -without work. \
Returns cited snippets, best first; read more around one with memory_get (its path, from line_start). \
`omitted` counts results that had no room, `degraded` says what the answer did without and the cure.",
    params: &[
        Param::new("query", Kind::Text, "What to look for.").required(),
        Param::new(
            "max_results",
            Kind::Whole { min: 0, max: 1000 },
            "How many results at most; 6 unless configured otherwise.",
        ),
        Param::new(
            "min_score",
            Kind::Share,
            "Only results of at least this relevance, even if that leaves none. Leave it out unless there is too much noise.",
        ),
        Param::new(
            "source",
            Kind::Texts,
            "Only from these sources, such as \"memory\". All, if left out.",
        ),
        Param::new(
            "kind",
            Kind::Texts,
            "Only of these kinds, such as \"episodic\" (what happened on a day) or \"semantic\" (what holds).",
        ),
        Param::new("tag", Kind::Texts, "Only with all of these tags."),
        Param::new(
            "path",
            Kind::Texts,
            "Only these files, or below these folders, such as \"memory/projects\".",
        ),
        Param::new(
            "since",
            Kind::Time,
            "Not before this day (2026-05-18) or time (2026-05-18T09:30:00Z), UTC.",
        ),
        Param::new("until", Kind::Time, "Before this day or time, UTC."),
        Param::new(
            "context",
            Kind::Whole { min: 0, max: 100 },
            "Lines of the file to add before and after each result.",
        ),
    ],
    answers: schema_of::<SearchResponse>,
    is_read_only: true,
    is_idempotent: true,
    call: |desk, arguments| search(desk, arguments).boxed_local(),
};

async fn search(desk: &Desk, arguments: &Arguments) -> Result<Answer> {
    let news = desk.fresh.before_search().await;
    let mut response = desk.memory.search(&query(arguments)).await?;
    response.degraded.extend(news.degraded);
    response.warnings.extend(news.warnings);
    Answer::of(&response)
}

fn query(arguments: &Arguments) -> Query {
    let filter = Filter {
        sources: arguments.texts("source"),
        kinds: arguments.texts("kind"),
        tags: arguments.texts("tag"),
        paths: arguments.texts("path"),
        since: arguments.time("since"),
        until: arguments.time("until"),
    };
    let text = arguments.text("query").unwrap_or_default();
    let mut query = Query::new(text).with_filter(filter);
    if let Some(max_results) = arguments.count("max_results") {
        query = query.with_max_results(max_results);
    }
    if let Some(min_score) = arguments.share("min_score") {
        query = query.with_min_score(min_score);
    }
    if let Some(n_lines) = arguments.count("context") {
        query = query.with_context(n_lines);
    }
    query
}
