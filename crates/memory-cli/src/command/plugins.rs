use std::collections::BTreeMap;

use memory::config::Config;
use memory_api::{Capability, Error, ErrorKind, Kind, Need, Plugin, Registry};
use serde::Serialize;

use crate::args::PluginsCommand;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{FAINT, Failure, Output, PLACE};

pub(crate) fn run(
    context: &Context,
    command: &PluginsCommand,
    output: Output,
) -> Result<Exit, Failure> {
    match command {
        PluginsCommand::List => {
            let loaded = context.load(&context.workspace_or_current()?)?;
            let rows = rows(context.registry(), &loaded.config);
            if output.json {
                output.json(&rows)?;
            } else {
                lines(&rows).iter().try_for_each(|line| output.data(line))?;
            }
        }
        PluginsCommand::Schema { plugin } => {
            let plugin = find(context.registry(), plugin)?;
            output.json(&(plugin.schema)().to_value())?;
        }
    }
    Ok(Exit::Ok)
}

/// A plugin as it is listed.
#[derive(Debug, Serialize)]
struct Row {
    kind: &'static str,
    name: &'static str,
    version: &'static str,
    summary: &'static str,
    capabilities: Vec<&'static str>,
    needs: Vec<&'static str>,
    limits: BTreeMap<&'static str, usize>,
    in_use: bool,
}

fn rows(registry: &Registry, config: &Config) -> Vec<Row> {
    let row = |plugin: &'static Plugin| Row {
        kind: plugin.kind().as_str(),
        name: plugin.name,
        version: plugin.version,
        summary: plugin.summary,
        capabilities: plugin.capabilities.iter().map(Capability::as_str).collect(),
        needs: plugin.needs.iter().copied().map(Need::as_str).collect(),
        limits: plugin.limits.iter().collect(),
        in_use: config
            .plugins(plugin.kind())
            .iter()
            .any(|used| used.plugin.name == plugin.name),
    };
    registry.iter().map(row).collect()
}

/// One line per plugin, and below it what there is to say of it.
fn lines(rows: &[Row]) -> Vec<String> {
    let width = |field: fn(&Row) -> &str| rows.iter().map(|row| field(row).len()).max();
    let kind = width(|row| row.kind).unwrap_or_default();
    let name = width(|row| row.name).unwrap_or_default();
    let version = width(|row| row.version).unwrap_or_default();
    let mut lines = Vec::new();
    for row in rows {
        let in_use = if row.in_use { "in use" } else { "" };
        lines.push(format!(
            "{:kind$}  {PLACE}{:name$}{PLACE:#}  {:version$}  {in_use:6}  {}",
            row.kind, row.name, row.version, row.summary
        ));
        let limits = row.limits.iter().map(|(name, n)| format!("{name} {n}"));
        for (title, words) in [
            ("can", row.capabilities.join(", ")),
            ("needs", row.needs.join(", ")),
            ("limits", limits.collect::<Vec<_>>().join(", ")),
        ] {
            if !words.is_empty() {
                lines.push(format!("{:kind$}  {FAINT}{title}: {words}{FAINT:#}", ""));
            }
        }
    }
    lines
}

/// Finds a plugin by its name, or by its kind and its name.
fn find(registry: &Registry, words: &[String]) -> Result<&'static Plugin, Error> {
    let wrong = |message: String| Error::new(ErrorKind::InvalidInput, message);
    let names = |plugins: &mut dyn Iterator<Item = &'static Plugin>| {
        let names: Vec<_> = plugins
            .map(|plugin| format!("{} {}", plugin.kind(), plugin.name))
            .collect();
        names.join(", ")
    };
    let (kind, name) = match words {
        [kind, name] => (Some(kind), name),
        [name] => (None, name),
        _ => return Err(wrong("a plugin has a kind and a name".to_owned())),
    };
    if let Some(kind) = kind {
        let known = Kind::ALL.iter().find(|known| known.as_str() == kind);
        let Some(known) = known else {
            let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
            let err = wrong(format!("unknown kind `{kind}`"));
            return Err(err.with_hint(format!("known: {}", kinds.join(", "))));
        };
        return registry.get(*known, name);
    }
    let namesakes: Vec<_> = registry
        .iter()
        .filter(|plugin| plugin.name == name)
        .collect();
    match namesakes.as_slice() {
        [plugin] => Ok(plugin),
        [] => {
            let hint = format!("linked: {}", names(&mut registry.iter()));
            Err(wrong(format!("unknown plugin `{name}`")).with_hint(hint))
        }
        _ => {
            let hint = format!("name its kind: {}", names(&mut namesakes.iter().copied()));
            let message = format!("{} plugins are named `{name}`", namesakes.len());
            Err(wrong(message).with_hint(hint))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory::config::{Sources, load};
    use memory_api::{
        Capabilities, Capability, Chunker, DecayPolicy, Error, ErrorKind, Factory, Limits, Need,
        OpenContext, Plugin, Registry, Result,
    };

    use super::{find, lines, rows};

    fn refused<T: ?Sized>(_: &OpenContext<'_>) -> Result<Arc<T>> {
        Err(Error::new(ErrorKind::Unsupported, "a double opens nothing"))
    }

    static CHUNKER_DOUBLE: Plugin = Plugin::new::<serde_json::Value>(
        "double",
        "1.10.0",
        "cuts nothing",
        Factory::Chunker(refused::<dyn Chunker>),
    )
    .with_capabilities(Capabilities::of(&[
        Capability::AtomicApply,
        Capability::Deterministic,
    ]))
    .with_limits(Limits::NONE.with_max_ops(7).with_max_k(3))
    .with_needs(&[Need::Disk, Need::ModelFile]);
    static DECAY_DOUBLE: Plugin = Plugin::new::<serde_json::Value>(
        "double",
        "0.1.0",
        "keeps everything",
        Factory::Decay(refused::<dyn DecayPolicy>),
    );

    fn registry() -> Registry {
        let linked = memory::App::with_default_plugins().unwrap();
        linked
            .plugin(&CHUNKER_DOUBLE)
            .and_then(|app| app.plugin(&DECAY_DOUBLE))
            .unwrap()
            .registry()
            .clone()
    }

    #[test]
    fn a_list_says_what_a_plugin_can_needs_and_bears_and_whether_it_is_used() {
        let registry = registry();
        let config = load(&Sources::default(), &registry).unwrap().config;
        let rows: Vec<_> = rows(&registry, &config)
            .into_iter()
            .filter(|row| matches!(row.name, "double" | "markdown"))
            .collect();
        let json = serde_json::to_value(&rows).unwrap();
        assert_eq!(
            json[0],
            serde_json::json!({
                "kind": "chunker", "name": "double", "version": "1.10.0", "summary": "cuts nothing",
                "capabilities": ["atomic_apply", "deterministic"], "needs": ["disk", "model_file"],
                "limits": {"max_ops": 7, "max_k": 3}, "in_use": false,
            })
        );
        assert_eq!(
            (&json[1]["name"], &json[1]["in_use"]),
            (&"markdown".into(), &true.into())
        );
        let text: Vec<_> = lines(&rows)
            .iter()
            .map(|line| anstream::adapter::strip_str(line).to_string())
            .collect();
        assert_eq!(
            text[..4],
            [
                "chunker  double    1.10.0          cuts nothing",
                "         can: atomic_apply, deterministic",
                "         needs: disk, model_file",
                "         limits: max_k 3, max_ops 7",
            ]
        );
        assert!(
            text[4].starts_with("chunker  markdown  0.1.0   in use  "),
            "{}",
            text[4]
        );
        assert_eq!(
            text.last().unwrap(),
            "decay    double    0.1.0           keeps everything"
        );
    }

    #[test]
    fn a_plugin_is_found_by_name_or_by_kind_and_name() {
        let registry = registry();
        let found = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
            find(&registry, &words)
                .map(|plugin| plugin.summary)
                .map_err(|err| (err.to_string(), err.hint().unwrap_or_default().to_owned()))
        };
        assert_eq!(found(&["decay", "double"]), Ok("keeps everything"));
        assert!(found(&["fts5"]).is_ok());
        let (message, hint) = found(&["double"]).unwrap_err();
        assert_eq!(message, "2 plugins are named `double`");
        assert_eq!(hint, "name its kind: chunker double, decay double");
        let (message, hint) = found(&["fts6"]).unwrap_err();
        assert_eq!(message, "unknown plugin `fts6`");
        assert!(hint.contains("lexical fts5"), "{hint}");
        let (message, hint) = found(&["words", "fts5"]).unwrap_err();
        assert_eq!(message, "unknown kind `words`");
        assert!(hint.ends_with("rerank, decay"), "{hint}");
        let (message, _) = found(&["lexical", "fts6"]).unwrap_err();
        assert!(message.starts_with("unknown lexical plugin `fts6`, linked: fts5"));
    }
}
