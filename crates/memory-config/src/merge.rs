//! The one module that sees figment.

use std::collections::BTreeMap;

use figment::value::{Dict, Map, Num, Value as Merging};
use figment::{Figment, Metadata, Profile, Provider};
use serde_json::Value;

use crate::Origin;
use crate::key::KeyPath;
use crate::layer::Layer;

/// All layers as one value.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) value: Value,
    layers: Vec<Layer>,
    /// The layer each value comes from, by its path.
    sources: BTreeMap<KeyPath, usize>,
}

impl Merged {
    /// Merges layers in rising order of precedence. Tables are joined; anything else is replaced.
    ///
    /// # Errors
    ///
    /// Figment's message; it has none for plain JSON values.
    pub(crate) fn new(layers: Vec<Layer>) -> Result<Self, String> {
        let mut figment = Figment::new();
        for (index, layer) in layers.iter().enumerate() {
            figment = figment.merge(Source { index, layer });
        }
        // Keys may hold dots, so figment's dotted lookups are of no use: take all, and walk it.
        let whole = figment.find_value("").map_err(|err| err.to_string())?;
        let mut sources = BTreeMap::new();
        let value = take(&figment, whole, &mut KeyPath::default(), &mut sources);
        Ok(Self {
            value,
            layers,
            sources,
        })
    }

    pub(crate) fn contains(&self, path: &KeyPath) -> bool {
        self.sources.contains_key(path)
    }

    /// Returns the layer that set the value at `path`, and its number.
    ///
    /// For what nobody set it is the layer of the nearest table around it. A table may have been set by several: the last file
    /// is the one where a person looks for it.
    pub(crate) fn layer(&self, path: &KeyPath) -> Option<(usize, &Layer)> {
        let mut path = path.clone();
        while !path.is_empty() && !self.sources.contains_key(&path) {
            path.pop();
        }
        let is_table = path.get(&self.value).is_some_and(Value::is_object);
        let last_file = self
            .layers
            .iter()
            .rposition(|layer| layer.positions.contains_key(&path));
        let index = match last_file {
            Some(index) if is_table => index,
            _ => *self.sources.get(&path)?,
        };
        Some((index, self.layers.get(index)?))
    }

    pub(crate) fn origin(&self, path: &KeyPath) -> Origin {
        self.layer(path)
            .map_or(Origin::Default, |(_, layer)| layer.origin_of(path))
    }

    /// Returns whether the name of the origin stands for exactly this key.
    pub(crate) fn origin_is_key(&self, path: &KeyPath) -> bool {
        self.layer(path)
            .is_some_and(|(_, layer)| layer.key.as_ref() == Some(path))
    }
}

/// A layer as figment wants it; the metadata carries its number.
struct Source<'a> {
    index: usize,
    layer: &'a Layer,
}

impl Provider for Source<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.index.to_string())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let values = Merging::serialize(&self.layer.values)?;
        Ok(Profile::Default.collect(values.into_dict().unwrap_or_default()))
    }
}

/// Takes figment's value apart: the plain value, and who set each part of it.
fn take(
    figment: &Figment,
    value: Merging,
    path: &mut KeyPath,
    sources: &mut BTreeMap<KeyPath, usize>,
) -> Value {
    if let Some(metadata) = figment.get_metadata(value.tag())
        && let Ok(index) = metadata.name.parse()
    {
        sources.insert(path.clone(), index);
    }
    match value {
        Merging::String(_, text) => text.into(),
        Merging::Char(_, c) => c.to_string().into(),
        Merging::Bool(_, flag) => flag.into(),
        Merging::Num(_, number) => json_number(number),
        Merging::Empty(..) => Value::Null,
        Merging::Dict(_, dict) => {
            let mut map = serde_json::Map::new();
            for (key, child) in dict {
                path.push_key(&key);
                map.insert(key, take(figment, child, path, sources));
                path.pop();
            }
            map.into()
        }
        Merging::Array(_, items) => {
            let mut array = Vec::with_capacity(items.len());
            for (index, child) in items.into_iter().enumerate() {
                path.push_index(index);
                array.push(take(figment, child, path, sources));
                path.pop();
            }
            array.into()
        }
    }
}

/// JSON values have these three forms of numbers alone.
fn json_number(number: Num) -> Value {
    match number {
        Num::U64(number) => number.into(),
        Num::I64(number) => number.into(),
        other => other.to_f64().into(),
    }
}
