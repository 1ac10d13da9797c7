mod bar;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::Style;
use indicatif::HumanBytes;
use memory::config::env;
use memory_api::{
    Error, ErrorKind, Kind, Model, Models, Plugin, PullProgress, PullRequest, Registry,
};
use serde::Serialize;

use crate::args::{ModelCommand, ModelPullArgs};
use crate::context::Context;
use crate::exit::Exit;
use crate::interrupt;
use crate::output::{FAINT, Failure, Output, PLACE, printable};
use bar::PullBar;

pub(crate) fn run(
    context: &Context,
    command: &ModelCommand,
    output: Output,
) -> Result<Exit, Failure> {
    let cache_dir = context.cache_dir()?;
    match command {
        ModelCommand::List { plugin } => {
            let sources = sources(context.registry(), plugin.as_deref())?;
            list(&rows(&sources, &cache_dir), output)?;
            Ok(Exit::Ok)
        }
        ModelCommand::Pull(args) => {
            let sources = sources(context.registry(), args.plugin.as_deref())?;
            let surroundings = Surroundings {
                cache_dir,
                file: args.file.as_deref().map(|file| context.absolute(file)),
                hub: env::hub(context.env()),
                hub_offline: env::hub_offline(context.env()),
                python: env::python(context.env()),
            };
            let cancel = interrupt::flag()?;
            let bar = PullBar::new(output);
            let show = |progress: PullProgress<'_>| bar.show(progress);
            let pulled = pull(&sources, args, &surroundings, &show, &cancel);
            bar.finish();
            if pulled.is_err() && cancel.load(Ordering::Relaxed) {
                output.note("interrupted; the next `memory model pull` goes on from here");
                return Ok(Exit::Interrupted);
            }
            told(&pulled?, output)?;
            Ok(Exit::Ok)
        }
    }
}

/// An embedder that uses model files.
#[derive(Debug, Clone, Copy)]
struct Source {
    plugin: &'static Plugin,
    models: Models,
}

/// Returns the embedders that use model files, or the one that was named.
fn sources(registry: &Registry, named: Option<&str>) -> Result<Vec<Source>, Error> {
    let source = |plugin: &'static Plugin| {
        let models = plugin.models?;
        Some(Source { plugin, models })
    };
    let Some(name) = named else {
        let embedders = registry
            .iter()
            .filter(|plugin| plugin.kind() == Kind::Embedder);
        return Ok(embedders.filter_map(source).collect());
    };
    let plugin = registry.get(Kind::Embedder, name)?;
    let source = source(plugin).ok_or_else(|| {
        Error::new(
            ErrorKind::InvalidInput,
            format!("the embedder `{name}` uses no model files"),
        )
    })?;
    Ok(vec![source])
}

/// A model as it is listed.
#[derive(Debug, Serialize)]
struct Row {
    plugin: &'static str,
    name: String,
    /// The one that is taken when none is named.
    default: bool,
    summary: String,
    licence: String,
    dimensions: usize,
    bytes: u64,
    sources: Vec<String>,
    path: Option<PathBuf>,
}

fn rows(sources: &[Source], cache_dir: &Path) -> Vec<Row> {
    let of = |source: &Source| {
        let plugin = source.plugin.name;
        let models = (source.models.list)(cache_dir).into_iter().enumerate();
        models.map(move |(idx, model)| row(plugin, idx == 0, model))
    };
    sources.iter().flat_map(of).collect()
}

fn row(plugin: &'static str, default: bool, model: Model) -> Row {
    Row {
        plugin,
        name: model.name,
        default,
        summary: model.summary,
        licence: model.licence,
        dimensions: model.dimensions,
        bytes: model.bytes,
        sources: model.sources,
        path: model.path,
    }
}

fn list(rows: &[Row], output: Output) -> Result<(), Failure> {
    if output.json {
        return output.json(&rows);
    }
    if rows.is_empty() {
        output.note("no embedder that is linked uses model files");
    }
    lines(rows).iter().try_for_each(|line| output.data(line))
}

/// One line per model, and one below it that tells what it is and where it lies.
fn lines(rows: &[Row]) -> Vec<String> {
    let cells: Vec<_> = rows
        .iter()
        .map(|row| {
            [
                row.plugin.to_owned(),
                printable(&row.name),
                if row.path.is_some() {
                    "here"
                } else {
                    "not here"
                }
                .to_owned(),
                HumanBytes(row.bytes).to_string(),
                format!("{} dimensions", row.dimensions),
                printable(&row.licence),
            ]
        })
        .collect();
    let width = |column: usize| {
        let lengths = cells.iter().filter_map(|cells| cells.get(column));
        lengths.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let mut lines = Vec::new();
    for (row, cells) in rows.iter().zip(&cells) {
        let mut line: Vec<_> = cells
            .iter()
            .enumerate()
            .map(|(column, cell)| {
                let width = width(column);
                // The name is what a person looks for.
                let style = if column == 1 { PLACE } else { Style::new() };
                format!("{style}{cell:width$}{style:#}")
            })
            .collect();
        if row.default {
            line.push("default".to_owned());
        }
        lines.push(line.join("  ").trim_end().to_owned());
        lines.push(format!("  {FAINT}{}{FAINT:#}", printable(&row.summary)));
        if let Some(path) = &row.path {
            lines.push(format!("  {}", printable(&path.display().to_string())));
        }
    }
    lines
}

/// What the machine and the person give to a pull.
#[derive(Debug)]
struct Surroundings<'a> {
    cache_dir: PathBuf,
    file: Option<PathBuf>,
    hub: &'a str,
    hub_offline: bool,
    python: &'a str,
}

/// A model that is here now.
#[derive(Debug, Serialize, PartialEq, Eq)]
struct Pulled {
    plugin: &'static str,
    model: String,
    path: PathBuf,
}

fn told(pulled: &Pulled, output: Output) -> Result<(), Failure> {
    if output.json {
        output.json(pulled)
    } else {
        // As it is, since a script goes on with it.
        output.verbatim(&pulled.path.display().to_string())
    }
}

fn pull(
    sources: &[Source],
    args: &ModelPullArgs,
    surroundings: &Surroundings<'_>,
    progress: &dyn Fn(PullProgress<'_>),
    cancel: &AtomicBool,
) -> Result<Pulled, Error> {
    let (source, model) = choose(sources, args.name.as_deref(), &surroundings.cache_dir)?;
    let path = (source.models.pull)(&PullRequest {
        model: Some(&model),
        cache_dir: &surroundings.cache_dir,
        file: surroundings.file.as_deref(),
        hub: surroundings.hub,
        hub_offline: surroundings.hub_offline,
        python: surroundings.python,
        progress,
        cancel,
    })
    .map_err(|err| err.with_plugin(source.plugin.name))?;
    Ok(Pulled {
        plugin: source.plugin.name,
        model,
        path,
    })
}

/// Returns the model of this name and whose it is; without a name, the default of the one embedder there is.
fn choose(
    sources: &[Source],
    name: Option<&str>,
    cache_dir: &Path,
) -> Result<(Source, String), Error> {
    let wrong = |message: String| Error::new(ErrorKind::InvalidInput, message);
    let rows = rows(sources, cache_dir);
    let wanted: Vec<_> = rows
        .iter()
        .filter(|row| name.map_or(row.default, |name| row.name == name))
        .collect();
    let source_of = |row: &Row| {
        let of = |source: &&Source| source.plugin.name == row.plugin;
        sources.iter().copied().find(|source| of(&source))
    };
    let by = |rows: &mut dyn Iterator<Item = &Row>, field: fn(&Row) -> &str| {
        rows.map(field).collect::<Vec<_>>().join(", ")
    };
    match (wanted.as_slice(), name) {
        ([row], _) => source_of(row)
            .map(|source| (source, row.name.clone()))
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a model belongs to no embedder")),
        ([], Some(name)) if !rows.is_empty() => Err(wrong(format!("unknown model `{name}`"))
            .with_hint(format!("known: {}", by(&mut rows.iter(), |row| &row.name)))),
        ([], _) => Err(
            wrong("no embedder that is linked uses model files".to_owned())
                .with_hint("`memory plugins list` tells what is linked"),
        ),
        (several, _) => {
            let plugins = by(&mut several.iter().copied(), |row| row.plugin);
            let message = match name {
                Some(name) => format!("several embedders have a model `{name}`: {plugins}"),
                None => format!("several embedders use model files: {plugins}"),
            };
            Err(wrong(message).with_hint("name one of them with `--plugin`"))
        }
    }
}

#[cfg(test)]
mod tests;
