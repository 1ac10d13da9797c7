use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value as Toml};

use crate::Origin;
use crate::key::KeyPath;

/// One value of the effective configuration, as it may be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The dotted key.
    pub key: String,
    /// The value in TOML; `"***"` for a secret.
    pub value: String,
    /// Where it was set.
    pub origin: Origin,
}

/// Lists every value that is not a table.
pub(crate) fn settings(tree: &Value, origin: &dyn Fn(&KeyPath) -> Origin) -> Vec<Setting> {
    let mut settings = Vec::new();
    collect(tree, &mut KeyPath::default(), origin, &mut settings);
    settings
}

fn collect(
    value: &Value,
    path: &mut KeyPath,
    origin: &dyn Fn(&KeyPath) -> Origin,
    settings: &mut Vec<Setting>,
) {
    if let Value::Object(map) = value {
        for (key, child) in map {
            path.push_key(key);
            collect(child, path, origin, settings);
            path.pop();
        }
    } else if let Some(toml) = toml_value(value) {
        settings.push(Setting {
            key: path.to_string(),
            value: toml.to_string(),
            origin: origin(path),
        });
    }
}

/// Writes a tree as a TOML file.
pub(crate) fn document(tree: &Value) -> String {
    let mut document = DocumentMut::new();
    if let Value::Object(map) = tree {
        *document.as_table_mut() = table(map);
    }
    document.to_string()
}

fn table(map: &Map<String, Value>) -> Table {
    let mut table = Table::new();
    // A header of its own for a table that holds nothing but tables is noise.
    table.set_implicit(!map.is_empty() && map.values().all(Value::is_object));
    for (key, value) in map {
        match value {
            Value::Object(map) => {
                table.insert(key, Item::Table(self::table(map)));
            }
            other => {
                if let Some(value) = toml_value(other) {
                    table.insert(key, Item::Value(value));
                }
            }
        }
    }
    table
}

/// Returns `None` for null, which TOML does not have.
fn toml_value(value: &Value) -> Option<Toml> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.into(),
            None => number.as_f64()?.into(),
        },
        // As a file has to write it: this stands for a variable otherwise.
        Value::String(text) => text.replace("${", "$${").into(),
        Value::Array(items) => items
            .iter()
            .filter_map(toml_value)
            .collect::<Array>()
            .into(),
        Value::Object(map) => map
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), toml_value(value)?)))
            .collect::<InlineTable>()
            .into(),
    })
}

/// Lays `top` over `base`: tables are joined, anything else is replaced.
pub(crate) fn overlay(base: &mut Value, top: Value) {
    match (base, top) {
        (Value::Object(base), Value::Object(top)) => {
            for (key, value) in top {
                overlay(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, top) => *base = top,
    }
}
