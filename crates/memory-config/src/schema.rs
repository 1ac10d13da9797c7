use memory_api::Registry;
use serde_json::{Map, Value};

use crate::config::General;
use crate::key::{KeyPath, Step};
use crate::slot::{SLOTS, Slot};

/// Returns the JSON Schema of a whole config file, for the plugins of this registry.
///
/// The schema of each plugin stands as it is under `$defs`, by `<slot>.<plugin>`.
pub fn config_schema(registry: &Registry) -> Value {
    let mut root = schemars::SchemaGenerator::default()
        .into_root_schema_for::<General>()
        .to_value();
    let mut defs = Map::new();
    for slot in SLOTS {
        let mut plugins = Map::new();
        for plugin in registry.iter().filter(|p| p.kind() == slot.kind) {
            let id = format!("{}.{}", slot.kind, plugin.name);
            let base = format!("#/$defs/{id}");
            let mut schema = (plugin.schema)().to_value();
            rebase(&mut schema, &base);
            if let Some(map) = schema.as_object_mut() {
                map.remove("$schema");
                map.entry("description").or_insert(plugin.summary.into());
            }
            plugins.insert(plugin.name.to_owned(), serde_json::json!({"$ref": base}));
            defs.insert(id, schema);
        }
        let own = own_keys(&mut root, slot);
        insert(
            &mut root,
            "properties",
            slot.kind.as_str().to_owned(),
            slot.schema(registry, plugins, own),
        );
    }
    for (id, schema) in defs {
        insert(&mut root, "$defs", id, schema);
    }
    root
}

fn insert(root: &mut Value, table: &str, key: String, value: Value) {
    if let Some(Value::Object(table)) = root
        .as_object_mut()
        .map(|root| root.entry(table).or_insert_with(|| Map::new().into()))
    {
        table.insert(key, value);
    }
}

/// Takes the struct of a slot's own keys out of the schema: they stand in one table with those of the plugins.
fn own_keys(root: &mut Value, slot: &Slot) -> Map<String, Value> {
    let take = |root: &mut Value, table: &str, key: &str| {
        let table = root.get_mut(table).and_then(Value::as_object_mut);
        table.and_then(|table| table.remove(key))
    };
    let field = take(root, "properties", slot.kind.as_str());
    let target = field.as_ref().and_then(|field| field.get("$ref")?.as_str());
    let name = target.and_then(|target| target.strip_prefix("#/$defs/"));
    let keys = name.and_then(|name| take(root, "$defs", name));
    match keys {
        Some(Value::Object(mut keys)) => match keys.remove("properties") {
            Some(Value::Object(properties)) => properties,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

/// Makes references within a schema absolute, as it moves below `base`.
fn rebase(schema: &mut Value, base: &str) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(target) if key == "$ref" && target.starts_with('#') => {
                        target.replace_range(..1, base);
                    }
                    _ => rebase(value, base),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, base)),
        _ => {}
    }
}

/// A place in a JSON Schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema<'a> {
    root: &'a Value,
    node: &'a Value,
}

impl<'a> Schema<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, node: root }
    }

    fn at(self, node: &'a Value) -> Self {
        Self {
            root: self.root,
            node,
        }
    }

    /// Returns the schema and everything it refers to or chooses from, each once.
    fn parts(self) -> Vec<&'a Value> {
        let mut parts = vec![self.node];
        let mut next = 0;
        while let Some(part) = parts.get(next).copied() {
            next += 1;
            let target = part.get("$ref").and_then(Value::as_str);
            let target = target.and_then(|t| self.root.pointer(t.strip_prefix('#')?));
            let choices = ["allOf", "anyOf", "oneOf"]
                .into_iter()
                .filter_map(|choice| part.get(choice)?.as_array())
                .flatten();
            for further in target.into_iter().chain(choices) {
                // A schema may refer to itself.
                if !parts.iter().any(|known| std::ptr::eq(*known, further)) {
                    parts.push(further);
                }
            }
        }
        parts
    }

    pub(crate) fn child(self, name: &str) -> Option<Self> {
        self.parts()
            .into_iter()
            .find_map(|part| part.get("properties")?.get(name))
            .or_else(|| {
                self.parts()
                    .into_iter()
                    .find_map(|part| part.get("additionalProperties").filter(|p| p.is_object()))
            })
            .map(|node| self.at(node))
    }

    /// Returns the schema at a path, where it says anything about it.
    pub(crate) fn find(self, path: &KeyPath) -> Option<Self> {
        path.steps()
            .iter()
            .try_fold(self, |schema, step| match step {
                Step::Key(key) => schema.child(key),
                Step::Index(_) => schema.items(),
            })
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'a str> {
        self.parts()
            .into_iter()
            .filter_map(|part| part.get("properties")?.as_object())
            .flat_map(Map::keys)
            .map(String::as_str)
    }

    /// Returns whether any key is fine here.
    ///
    /// A table that lists its keys is closed even if the plugin forgot to refuse others: a key that does nothing is a trap.
    pub(crate) fn is_open(self) -> bool {
        self.parts().into_iter().any(|part| {
            is_anything(part)
                || part
                    .get("additionalProperties")
                    .is_some_and(|more| *more != Value::Bool(false))
        })
    }

    pub(crate) fn items(self) -> Option<Self> {
        self.parts()
            .into_iter()
            .find_map(|part| part.get("items"))
            .map(|node| self.at(node))
    }

    /// Returns whether a value of this JSON type may stand here.
    pub(crate) fn allows(self, wanted: &str) -> bool {
        self.parts()
            .into_iter()
            .any(|part| is_anything(part) || types(part).any(|known| known == wanted))
    }

    /// Returns whether a table and nothing else may stand here.
    pub(crate) fn is_table(self) -> bool {
        self.allows("object")
            && self.parts().into_iter().all(|part| {
                !is_anything(part) && types(part).all(|known| matches!(known, "object" | "null"))
            })
    }

    pub(crate) fn is_path(self) -> bool {
        self.parts()
            .into_iter()
            .any(|part| part.get("format").and_then(Value::as_str) == Some("path"))
    }

    /// Returns the smallest and the largest number, where the schema gives one range.
    pub(crate) fn range(self) -> (Option<f64>, Option<f64>) {
        let numeric = |part: &&Value| types(part).any(|t| matches!(t, "integer" | "number"));
        let parts: Vec<_> = self.parts().into_iter().filter(numeric).collect();
        match parts.as_slice() {
            [part] => {
                let bound = |name| part.get(name).and_then(Value::as_f64);
                (bound("minimum"), bound("maximum"))
            }
            _ => (None, None),
        }
    }

    /// Returns the words a value is chosen from.
    pub(crate) fn variants(self) -> impl Iterator<Item = &'a str> {
        self.parts().into_iter().flat_map(|part| {
            let listed = part.get("enum").and_then(Value::as_array);
            listed
                .into_iter()
                .flatten()
                .chain(part.get("const"))
                .filter_map(Value::as_str)
        })
    }

    /// Returns the values that hold when nothing is set, as far as the schema says.
    pub(crate) fn defaults(self) -> Option<Value> {
        self.defaults_to(MAX_TABLES)
    }

    fn defaults_to(self, depth: usize) -> Option<Value> {
        if let Some(default) = self
            .parts()
            .into_iter()
            .find_map(|part| part.get("default"))
        {
            return Some(default.clone());
        }
        let depth = depth.checked_sub(1)?;
        let table: Map<_, _> = self
            .names()
            .filter_map(|name| Some((name.to_owned(), self.child(name)?.defaults_to(depth)?)))
            .collect();
        (!table.is_empty()).then(|| table.into())
    }

    /// Returns the path of every value that is not a table.
    pub(crate) fn leaves(self) -> Vec<KeyPath> {
        let mut leaves = Vec::new();
        self.collect_leaves(&mut KeyPath::default(), &mut leaves);
        leaves
    }

    fn collect_leaves(self, path: &mut KeyPath, leaves: &mut Vec<KeyPath>) {
        for name in self.names() {
            path.push_key(name);
            match self.child(name) {
                Some(child) if child.is_table() && path.len() < MAX_TABLES => {
                    child.collect_leaves(path, leaves);
                }
                _ => leaves.push(path.clone()),
            }
            path.pop();
        }
    }
}

/// How many tables within tables are listed; a schema may refer to itself.
const MAX_TABLES: usize = 6;

fn types(part: &Value) -> impl Iterator<Item = &str> {
    let listed = match part.get("type") {
        Some(Value::Array(types)) => types.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    listed.iter().filter_map(Value::as_str)
}

/// Returns whether the part restricts nothing.
fn is_anything(part: &Value) -> bool {
    const RESTRICTS: &[&str] = &[
        "type",
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "enum",
        "const",
        "properties",
        "not",
    ];
    match part {
        Value::Bool(any) => *any,
        Value::Object(map) => !RESTRICTS.iter().any(|word| map.contains_key(*word)),
        _ => false,
    }
}
