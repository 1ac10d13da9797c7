use std::path::PathBuf;

use memory_api::{Kind, Registry, parse_config};
use serde_json::{Map, Value};

use crate::check::Checker;
use crate::config::General;
use crate::gather::Gathered;
use crate::key::KeyPath;
use crate::merge::Merged;
use crate::schema::Schema;
use crate::show::{self, Setting};
use crate::slot::{PluginConfig, SLOTS, Slot, Slots, USE};
use crate::writing;
use crate::{
    Config, EmbedderConfig, Origin, Problem, Problems, SearchConfig, Sources, config_schema,
};

/// A configuration and where it came from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Loaded {
    /// The effective configuration.
    pub config: Config,
    /// The files that were read, in rising order of precedence.
    pub files: Vec<PathBuf>,
    settings: Vec<Setting>,
    document: String,
}

impl Loaded {
    /// Returns every value of the effective configuration, by key, with secrets masked. The tables of the plugins in use, and of
    /// others that are configured, are in it with the defaults their schemas name.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings.iter()
    }

    /// Returns the same values as a config file.
    pub fn render(&self) -> &str {
        &self.document
    }
}

/// Reads, merges and checks a configuration; opens nothing but the given files.
///
/// A check of the configuration alone is this very call: it finds every problem, or says which files are fine.
///
/// # Errors
///
/// All problems, ordered by source and line. Values that another source overrides are not looked at. A file that is not TOML
/// hides what would be wrong with its values.
pub fn load(sources: &Sources, registry: &Registry) -> Result<Loaded, Problems> {
    let schema = config_schema(registry);
    let schema = Schema::new(&schema);
    let Gathered {
        layers,
        files,
        secrets,
        problems,
        broken,
    } = Gathered::new(sources, registry, schema);
    if broken {
        return Err(Problems::from_vec(problems)
            .unwrap_or_else(|| internal("a file is broken and nothing is wrong")));
    }
    let merged = Merged::new(layers).map_err(|message| internal(&message))?;
    let mut checker = Checker {
        schema,
        registry,
        merged: &merged,
        secrets: &secrets,
        problems,
    };

    let mut value = merged.value.clone();
    checker.walk(&mut value, schema, &KeyPath::default());
    let mut slot_tables = Map::new();
    let mut general = value.clone();
    if let Value::Object(map) = &mut general {
        for slot in SLOTS {
            let name = slot.kind.as_str();
            let table = map.remove(name).unwrap_or_default();
            let own = slot.own(&table);
            if !own.is_empty() {
                map.insert(name.to_owned(), own.into());
            }
            slot_tables.insert(name.to_owned(), table);
        }
    }
    refuse_provider_as_fallback(&mut checker, &mut general);
    let root = KeyPath::default();
    let general = checker.parse(&root, &root, general, parse_config::<General>);
    if let Some(general) = &general {
        check_values(&mut checker, general);
    }
    let is_auto = |slot: &Slot| {
        let table = slot_tables.get(slot.kind.as_str());
        table
            .and_then(|table| table.get(USE))
            .is_some_and(|using| slot.is_auto(using))
    };
    let embedder_is_auto = SLOTS
        .iter()
        .any(|slot| slot.kind == Kind::Embedder && is_auto(slot));
    let mut slots = Slots::new();
    let mut effective = Value::Object(Map::new());
    for slot in SLOTS {
        let table = slot_tables.remove(slot.kind.as_str()).unwrap_or_default();
        let (used, defaults) = read_slot(&mut checker, slot, &table);
        slots.insert(slot.kind, used);
        show::overlay(&mut effective, defaults);
    }

    let problems = Problems::from_vec(checker.problems);
    let general = match (general, problems) {
        (Some(general), None) => general,
        (_, Some(problems)) => return Err(problems),
        (None, None) => return Err(internal("nothing was read and nothing is wrong")),
    };
    show::overlay(&mut effective, value);
    let effective = secrets.mask(&effective, false);
    let origin = |path: &KeyPath| {
        if merged.contains(path) {
            merged.origin(path)
        } else {
            Origin::Default
        }
    };
    Ok(Loaded {
        config: Config {
            preset: general.preset,
            namespace: general.namespace,
            state_dir: general.state_dir,
            documents: general.documents,
            search: general.search,
            sync: general.sync,
            cache: general.cache,
            write: general.write,
            flush: general.flush,
            embedder: EmbedderConfig {
                is_auto: embedder_is_auto,
                ..general.embedder
            },
            decay: general.decay,
            slots,
        },
        files,
        settings: show::settings(&effective, &origin),
        document: show::document(&effective),
    })
}

/// Says of an embedder that is linked why it is no fallback, and takes it out; any other word is simply unknown.
fn refuse_provider_as_fallback(checker: &mut Checker<'_>, general: &mut Value) {
    let path = KeyPath::new([Kind::Embedder.as_str(), "fallback"]);
    let Some(Value::String(name)) = path.get(general) else {
        return;
    };
    if checker.registry.get(Kind::Embedder, name).is_err() {
        return;
    }
    let message = format!("`{name}` is an embedder, and those are not supported as a fallback yet");
    checker.report(&path, &message, Some("possible: words"));
    path.remove(general);
}

/// Checks what no schema says.
fn check_values(checker: &mut Checker<'_>, general: &General) {
    check_weights(checker, &general.search);
    check_globs(checker, "documents", "include", &general.documents.include);
    check_globs(checker, "decay", "evergreen", &general.decay.evergreen);
    writing::check(checker, &general.write);
}

/// Each weight may be 0, but not both.
fn check_weights(checker: &mut Checker<'_>, search: &SearchConfig) {
    if search.vector_weight + search.text_weight > 0.0 {
        return;
    }
    let [vector, text] = ["vector_weight", "text_weight"].map(|key| KeyPath::new(["search", key]));
    let layer = |path: &KeyPath| checker.merged.layer(path).map(|(index, _)| index);
    // Who came last made the mistake.
    let place = if layer(&text) > layer(&vector) {
        text
    } else {
        vector
    };
    checker.report(
        &place,
        "`search.vector_weight` and `search.text_weight` are both 0",
        Some("give at least one of them more than 0; the defaults are 0.7 and 0.3"),
    );
}

fn check_globs(checker: &mut Checker<'_>, table: &str, key: &str, patterns: &[String]) {
    let list = KeyPath::new([table, key]);
    for (index, pattern) in patterns.iter().enumerate() {
        let Err(err) = globset::Glob::new(pattern) else {
            continue;
        };
        let item = list.index(index);
        let place = if checker.merged.contains(&item) {
            &item
        } else {
            &list
        };
        let message = format!("`{pattern}` is not a glob: {}", err.kind());
        checker.report(place, &message, Some("an example: `notes/**/*.md`"));
    }
}

/// Reads the table of a slot: the plugins in use, and the defaults of every plugin that is used or configured.
fn read_slot(checker: &mut Checker<'_>, slot: &Slot, table: &Value) -> (Vec<PluginConfig>, Value) {
    let slot_path = KeyPath::new([slot.kind.as_str()]);
    let use_path = slot_path.key(USE);
    let registry = checker.registry;

    // There is no `use` when the table or the key was wrong, which has been reported.
    let mut names = Vec::new();
    if let Some(using) = table.get(USE) {
        match slot.names(using, registry) {
            Ok(found) => names = found,
            Err(message) => {
                let known = linked(registry, slot);
                let hint = format!("linked: {known}");
                checker.report(&use_path, &message, Some(&hint));
            }
        }
    }
    let mut plugins = Vec::new();
    for (index, name) in names.iter().enumerate() {
        match registry.get(slot.kind, name) {
            Ok(plugin) => plugins.push(plugin),
            Err(err) => {
                let place = use_path.index(index);
                let place = if checker.merged.contains(&place) {
                    place
                } else {
                    use_path.clone()
                };
                checker.report(&place, err.message(), err.hint());
            }
        }
    }
    let tables = table.as_object().into_iter().flatten();
    let idle = tables
        .filter(|(name, _)| *name != USE && !slot.keys.contains(&name.as_str()))
        .filter(|(name, _)| !names.contains(&name.as_str()))
        .filter_map(|(name, _)| registry.get(slot.kind, name).ok());

    let mut defaults = Map::new();
    let mut used = Vec::new();
    let n_used = plugins.len();
    for (idx, plugin) in plugins.into_iter().chain(idle).enumerate() {
        let path = slot_path.key(plugin.name);
        let config = table.get(plugin.name).cloned();
        let config = config.unwrap_or_else(|| Map::new().into());
        checker.parse(&path, &use_path, config.clone(), plugin.check_config);
        let schema = checker.schema.find(&path);
        let values = schema
            .and_then(Schema::defaults)
            .unwrap_or_else(|| Map::new().into());
        defaults.insert(plugin.name.to_owned(), values);
        if idx < n_used {
            used.push(PluginConfig { plugin, config });
        }
    }
    let slot_defaults = Map::from_iter([(slot.kind.as_str().to_owned(), defaults.into())]);
    (used, slot_defaults.into())
}

fn linked(registry: &Registry, slot: &Slot) -> String {
    let names: Vec<_> = registry
        .iter()
        .filter(|plugin| plugin.kind() == slot.kind)
        .map(|plugin| plugin.name)
        .collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn internal(message: &str) -> Problems {
    Problems::one(Problem::new(0, Origin::Default, message))
}
