use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::Origin;
use crate::key::KeyPath;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// 1-based.
    pub(crate) line: usize,
    /// In characters, 1-based.
    pub(crate) column: usize,
}

/// What one source says.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) origin: Origin,
    pub(crate) values: Map<String, Value>,
    /// Where each key of a file stands.
    pub(crate) positions: BTreeMap<KeyPath, Position>,
    /// The key that the origin's name stands for: that of a variable or a flag.
    pub(crate) key: Option<KeyPath>,
}

impl Layer {
    pub(crate) fn new(origin: Origin, values: Map<String, Value>) -> Self {
        Self {
            origin,
            values,
            positions: BTreeMap::new(),
            key: None,
        }
    }

    /// Creates a layer that sets one key.
    pub(crate) fn single(origin: Origin, key: KeyPath, value: Value) -> Self {
        let whole = key.keys().rev().fold(value, |value, name| {
            Map::from_iter([(name.to_owned(), value)]).into()
        });
        let values = match whole {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        Self {
            key: Some(key),
            ..Self::new(origin, values)
        }
    }

    /// Returns the origin of a value, with the line of it or of the nearest table around it.
    pub(crate) fn origin_of(&self, path: &KeyPath) -> Origin {
        let Origin::File { path: file, .. } = &self.origin else {
            return self.origin.clone();
        };
        let mut path = path.clone();
        let position = loop {
            match self.positions.get(&path) {
                None if !path.is_empty() => path.pop(),
                position => break position,
            }
        };
        Origin::File {
            path: file.clone(),
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
        }
    }
}
