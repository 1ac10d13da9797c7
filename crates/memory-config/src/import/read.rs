//! JSON5 as a tree of values, however it nests.

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Number, Value};

/// The parser has no limit of its own, and each level takes some of the stack.
const MAX_DEPTH: usize = 64;

/// What is wrong with a text, and in which line and column of it, from 1.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
}

pub(super) fn read(text: &str) -> Result<Value, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read: Result<Whole, json5::Error> = json5::from_str(text);
    read.map(|whole| whole.0).map_err(|err| {
        let position = err.position();
        let message = match err.code() {
            Some(code) => format!("is no JSON5: {code}"),
            None => format!("nests deeper than {MAX_DEPTH} levels"),
        };
        Fault {
            message,
            line: position.map(|position| position.line + 1),
            column: position.map(|position| position.column + 1),
        }
    })
}

struct Whole(Value);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Tree { left: MAX_DEPTH }.deserialize(deserializer).map(Self)
    }
}

/// A value that may hold others, so many levels deep.
#[derive(Clone, Copy)]
struct Tree {
    left: usize,
}

impl Tree {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        let left = self.left.checked_sub(1);
        let left = left.ok_or_else(|| E::custom("nests too deep"))?;
        Ok(Self { left })
    }
}

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(flag.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        // `NaN` and `Infinity` are numbers there, and none that a setting could have.
        Ok(Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below::<A::Error>()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let below = self.below::<A::Error>()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(below)?;
            map.insert(key, value);
        }
        Ok(map.into())
    }
}
