use std::path::{Path, PathBuf};

use memory_api::Registry;
use serde_json::{Map, Value};

use crate::check::unknown;
use crate::coerce::coerce;
use crate::config::General;
use crate::env::{self, Meaning};
use crate::file::{self, Reading};
use crate::key::{KeyPath, nearest};
use crate::layer::Layer;
use crate::redact::{Secrets, is_secret};
use crate::schema::Schema;
use crate::slot::{SLOTS, USE};
use crate::{Origin, Preset, Problem, Sources};

/// How many keys a variable's name may join; the TOML parser has a limit like it.
const MAX_LEVELS: usize = 64;

/// The layers, before they are merged.
#[derive(Debug)]
pub(crate) struct Gathered {
    pub(crate) layers: Vec<Layer>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) secrets: Secrets,
    pub(crate) problems: Vec<Problem>,
    /// A file could not be read, so the values are not what the user meant.
    pub(crate) broken: bool,
}

impl Gathered {
    pub(crate) fn new(sources: &Sources, registry: &Registry, schema: Schema<'_>) -> Self {
        let mut gathered = Self {
            layers: vec![
                Layer::new(Origin::Default, defaults(registry)),
                // The place of the preset, which any of the others may name.
                Layer::new(Origin::Preset(Preset::Default), Map::new()),
            ],
            files: Vec::new(),
            secrets: Secrets::default(),
            problems: Vec::new(),
            broken: false,
        };
        if let Some(path) = &sources.user_file {
            gathered.file(path, false, &sources.env);
        }
        match (&sources.explicit_file, &sources.workspace_file) {
            (Some(path), _) => gathered.file(path, true, &sources.env),
            (None, Some(path)) => gathered.file(path, false, &sources.env),
            (None, None) => {}
        }
        let mut env: Vec<_> = sources.env.iter().collect();
        env.sort();
        for (name, text) in env {
            gathered.variable(name, text, schema, registry);
        }
        for flag in sources.flags.iter().filter(|flag| !flag.value.is_null()) {
            let key = KeyPath::new(flag.key.split('.'));
            let origin = Origin::Flag(flag.name.clone());
            gathered
                .layers
                .push(Layer::single(origin, key, flag.value.clone()));
        }
        let preset = gathered.preset();
        if let Some(layer) = gathered.layers.get_mut(1) {
            *layer = Layer::new(Origin::Preset(preset), preset.values(registry));
        }
        for layer in &gathered.layers {
            for (key, value) in &layer.values {
                gathered.secrets.collect(value, is_secret(key));
            }
        }
        gathered
    }

    /// Returns the preset that the last layer names; a name that is none is reported by whoever reads the whole.
    fn preset(&self) -> Preset {
        let named = |layer: &Layer| layer.values.get("preset").cloned();
        let named = self.layers.iter().rev().find_map(named);
        let preset = named.and_then(|name| serde_json::from_value(name).ok());
        preset.unwrap_or_default()
    }

    fn file(&mut self, path: &Path, required: bool, env: &[(String, String)]) {
        let index = self.layers.len();
        let origin = Origin::File {
            path: path.to_owned(),
            line: None,
            column: None,
        };
        let problem = match file::read(path, index, env, &mut self.secrets) {
            Reading::Missing if required => Problem::new(index, origin.clone(), "no such file"),
            Reading::Missing => return,
            Reading::Broken(problem) => problem,
            Reading::Read(layer, problems) => {
                self.problems.extend(problems);
                self.layers.push(layer);
                self.files.push(path.to_owned());
                return;
            }
        };
        self.problems.push(problem);
        // It keeps its place in the order.
        self.layers.push(Layer::new(origin, Map::new()));
        self.broken = true;
    }

    fn variable(&mut self, name: &str, text: &str, schema: Schema<'_>, registry: &Registry) {
        let parts = match env::meaning(name) {
            Meaning::None => return,
            Meaning::Key(parts) => parts,
            Meaning::Unknown => {
                let near = nearest_variable(name, schema);
                let message = match near {
                    Some(near) => format!("unknown variable, did you mean `{near}`?"),
                    None => "unknown variable".to_owned(),
                };
                let problem = self.variable_problem(name, &message).with_hint(format!(
                    "known: {}, {}…; config keys have `__` between levels",
                    env::NAMES.join(", "),
                    env::TEST_PREFIX
                ));
                self.problems.push(problem);
                return;
            }
        };
        if parts.len() > MAX_LEVELS {
            let problem = self.variable_problem(name, "has too many levels");
            self.problems.push(problem);
            return;
        }
        let (path, found) = match resolve(&parts, schema) {
            Ok(found) => found,
            Err(path) => {
                let (message, hint) = unknown(&path, path.len() < parts.len(), schema, registry);
                let message = if message.starts_with("unknown key") {
                    let near = nearest_variable(name, schema);
                    let near =
                        near.map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
                    format!("unknown key `{path}`{near}")
                } else {
                    message
                };
                let problem = self.variable_problem(name, &message);
                self.problems.push(match hint {
                    Some(hint) => problem.with_hint(hint),
                    None => problem,
                });
                return;
            }
        };
        match coerce(text, found) {
            Ok(value) => {
                let origin = Origin::Env(name.to_owned());
                self.layers.push(Layer::single(origin, path, value));
            }
            Err(message) => {
                let problem = self.variable_problem(name, &message);
                self.problems.push(problem);
            }
        }
    }

    fn variable_problem(&self, name: &str, message: &str) -> Problem {
        Problem::new(self.layers.len(), Origin::Env(name.to_owned()), message)
    }
}

/// Returns the values that hold before anybody says anything.
fn defaults(registry: &Registry) -> Map<String, Value> {
    let mut values = match serde_json::to_value(General::default()) {
        Ok(Value::Object(values)) => values,
        _ => Map::new(),
    };
    for slot in SLOTS {
        let table = values
            .entry(slot.kind.as_str())
            .or_insert_with(|| Map::new().into());
        if let Value::Object(table) = table {
            table.insert(USE.to_owned(), slot.default_use(registry));
        }
    }
    values
}

/// Finds the key that the parts of a variable's name mean.
///
/// # Errors
///
/// The path up to the first part that means none.
fn resolve<'a>(parts: &[&str], root: Schema<'a>) -> Result<(KeyPath, Option<Schema<'a>>), KeyPath> {
    let mut path = KeyPath::default();
    let mut schema = Some(root);
    for part in parts {
        let known = schema.and_then(|s| s.names().find(|key| env::names_key(part, key)));
        if let Some(key) = known {
            path.push_key(key);
        } else {
            path.push_key(&part.to_lowercase());
            if schema.is_some_and(|schema| !schema.is_open()) {
                return Err(path);
            }
        }
        schema = root.find(&path);
    }
    Ok((path, schema))
}

fn nearest_variable(name: &str, schema: Schema<'_>) -> Option<String> {
    // Nothing is near a name that stops short of its key; the shortest key would seem to be.
    if name.ends_with(env::SEPARATOR) {
        return None;
    }
    // What all names have in common would make any two look alike.
    let bare = |name: &str| name.strip_prefix(env::PREFIX).unwrap_or(name).to_owned();
    let keys = schema.leaves();
    let keys = keys.iter().filter_map(env::name_of);
    let known: Vec<_> = keys
        .chain(env::NAMES.iter().map(|name| (*name).to_owned()))
        .map(|name| bare(&name))
        .collect();
    let name = bare(name);
    // The table is what people leave out.
    let tail = format!("{}{name}", env::SEPARATOR);
    let namesake = known.iter().find(|known| known.ends_with(&tail));
    namesake
        .map(String::as_str)
        .or_else(|| nearest(&name, known.iter().map(String::as_str)))
        .map(|near| format!("{}{near}", env::PREFIX))
}
