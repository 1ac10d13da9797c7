use std::collections::BTreeMap;
use std::fmt;

use memory_api::{Kind, Plugin, Registry};
use serde_json::{Map, Value, json};

/// The key that names the plugins of a slot.
pub(crate) const USE: &str = "use";

/// What stands for no plugin in a slot that may be empty.
const NONE: &str = "none";

/// What stands for the first plugin that can be used, in a slot that has such a list.
const AUTO: &str = "auto";

/// The plugins in use, by slot.
pub(crate) type Slots = BTreeMap<Kind, Vec<PluginConfig>>;

/// A plugin in use and its table of the config.
#[derive(Clone)]
#[non_exhaustive]
pub struct PluginConfig {
    /// The plugin.
    pub plugin: &'static Plugin,
    /// Its table: what the user set, defaults left out. The plugin has accepted it.
    pub config: Value,
}

impl fmt::Debug for PluginConfig {
    /// Leaves out the table, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PluginConfig")
            .field("plugin", &self.plugin.name)
            .finish_non_exhaustive()
    }
}

/// How many plugins a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    /// `use = "fts5"`
    One,
    /// `use = ["markdown"]`; a single name may stand without brackets.
    Many,
}

/// A slot of the config file.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    about: &'static str,
    arity: Arity,
    /// The memory works without it.
    optional: bool,
    /// The plugins used unless the user says otherwise, as far as they are linked.
    preferred: &'static [&'static str],
    /// Where `use` may be `auto`, which is its default then: what that takes the first linked of.
    auto: &'static [&'static str],
    /// Keys of the slot itself beside `use`; the field of the same name in [`General`](crate::config::General) holds them.
    pub(crate) keys: &'static [&'static str],
}

/// The slots the engine fills; a new one is a line here.
pub(crate) const SLOTS: &[Slot] = &[
    Slot {
        kind: Kind::Chunker,
        about: "Cuts documents into entries; the first that accepts a document gets it.",
        arity: Arity::Many,
        optional: false,
        preferred: &["markdown", "transcript"],
        auto: &[],
        keys: &[],
    },
    Slot {
        kind: Kind::Lexical,
        about: "Finds entries by words.",
        arity: Arity::One,
        optional: false,
        preferred: &["fts5"],
        auto: &[],
        keys: &[],
    },
    Slot {
        kind: Kind::Vector,
        about: "Finds entries by meaning, with the vectors of the embedder; `none` leaves it to words.",
        arity: Arity::One,
        optional: true,
        preferred: &["flat", "sqlite-vec"],
        auto: &[],
        keys: &[],
    },
    Slot {
        kind: Kind::Embedder,
        about: "Turns texts into vectors. `auto` takes `local` where it is linked; `none` leaves search to words.",
        arity: Arity::One,
        optional: true,
        preferred: &[],
        // A provider elsewhere joins the list when the config can tell that it is set up: no text leaves the machine by default.
        auto: &["local"],
        keys: &["fallback"],
    },
    Slot {
        kind: Kind::Rerank,
        about: "Reorders the results, one reranker after the other.",
        arity: Arity::Many,
        optional: true,
        // A choice of the user's: it costs relevance for variety.
        preferred: &[],
        auto: &[],
        keys: &[],
    },
    Slot {
        kind: Kind::Decay,
        about: "Lets memories fade, so that of two that fit alike the later one comes first.",
        arity: Arity::One,
        optional: true,
        // A choice of the user's: it costs the answers to questions about long ago.
        preferred: &[],
        auto: &[],
        keys: &["evergreen", "evergreen_undated"],
    },
];

impl Slot {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SLOTS.iter().find(|slot| slot.kind.as_str() == name)
    }

    /// Returns the built-in value of `use`.
    ///
    /// Where nothing preferred is linked it names all the same what is missing, unless the slot may be empty.
    pub(crate) fn default_use(&self, registry: &Registry) -> Value {
        let linked = |name: &&&str| registry.get(self.kind, name).is_ok();
        let mut names: Vec<_> = self.preferred.iter().filter(linked).collect();
        if names.is_empty() && !self.optional {
            names.extend(self.preferred);
        }
        match self.arity {
            Arity::Many => json!(names),
            Arity::One if !self.auto.is_empty() => json!(AUTO),
            Arity::One => json!(names.first().map_or(NONE, |name| name)),
        }
    }

    /// Returns whether a value of `use` leaves the choice to us.
    pub(crate) fn is_auto(&self, using: &Value) -> bool {
        !self.auto.is_empty() && using == AUTO
    }

    /// Returns the keys of the slot itself that its table sets.
    pub(crate) fn own(&self, table: &Value) -> Map<String, Value> {
        let table = table.as_object().into_iter().flatten();
        table
            .filter(|(key, _)| self.keys.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    /// Returns the JSON Schema of the table, given those of its plugins and of its own keys.
    pub(crate) fn schema(
        &self,
        registry: &Registry,
        plugins: Map<String, Value>,
        own: Map<String, Value>,
    ) -> Value {
        let mut names: Vec<_> = plugins.keys().map(String::as_str).collect();
        if !self.auto.is_empty() {
            names.push(AUTO);
        }
        if self.optional {
            names.push(NONE);
        }
        let name = json!({"type": "string", "enum": names});
        let mut using = match self.arity {
            Arity::One => name,
            Arity::Many => {
                json!({"anyOf": [{"type": "array", "items": name, "uniqueItems": true}, name]})
            }
        };
        let fields = json!({
            "description": format!("The {} in use.", self.kind),
            "default": self.default_use(registry),
        });
        if let (Value::Object(using), Value::Object(fields)) = (&mut using, fields) {
            using.extend(fields);
        }
        let mut properties = plugins;
        properties.extend(own);
        properties.insert(USE.to_owned(), using);
        json!({
            "type": "object",
            "description": self.about,
            "properties": properties,
            "additionalProperties": false,
        })
    }

    /// Reads `use`; what `auto` takes depends on what is linked.
    ///
    /// # Errors
    ///
    /// A message when it is not the right kind of value or names too few or too many.
    pub(crate) fn names<'v>(
        &self,
        using: &'v Value,
        registry: &Registry,
    ) -> Result<Vec<&'v str>, String> {
        let none = |name: &str| self.optional && (name == NONE || name.is_empty());
        let names = match (self.arity, using) {
            _ if self.is_auto(using) => {
                let linked = |name: &&&str| registry.get(self.kind, name).is_ok();
                self.auto.iter().find(linked).copied().into_iter().collect()
            }
            (_, Value::String(name)) if none(name) => vec![],
            (_, Value::String(name)) => vec![name.as_str()],
            // What a variable makes of the word.
            (Arity::Many, Value::Array(items)) if matches!(items.as_slice(), [Value::String(name)] if none(name)) =>
            {
                vec![]
            }
            (Arity::Many, Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().ok_or("has to be a list of plugin names"))
                .collect::<Result<Vec<_>, _>>()?,
            (Arity::Many, _) => return Err("has to be a list of plugin names".to_owned()),
            (Arity::One, _) => return Err("has to be one plugin name".to_owned()),
        };
        if names.iter().any(|name| name.is_empty()) || (names.is_empty() && !self.optional) {
            return Err(format!("names no {} plugin", self.kind));
        }
        for (idx, name) in names.iter().enumerate() {
            if names.iter().take(idx).any(|earlier| earlier == name) {
                return Err(format!("names `{name}` twice"));
            }
        }
        Ok(names)
    }
}
