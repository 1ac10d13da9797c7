//! Reads what is asked for of a JSON row and skips the rest, whatever it is.
//!
//! Nothing here keeps a stack, so that a row may be as deep and as long as it likes: what is not asked for is skipped by bytes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Returns the values of these keys of an object, the last one of a key that comes twice; `None` for what is no object.
pub(crate) fn fields<'a, const N: usize>(
    json: &'a str,
    names: [&str; N],
) -> Option<[Option<&'a str>; N]> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let values = deserializer.deserialize_map(Fields(names)).ok()?;
    deserializer.end().ok()?;
    Some(values)
}

/// Returns the elements of an array; `None` for what is no array.
pub(crate) fn elements(json: &str) -> Option<Vec<&str>> {
    let values: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(values.into_iter().map(RawValue::get).collect())
}

/// Returns a string.
///
/// Escapes that are half a character are left out, since half a character is none; so is an escaped U+FFFD, which only says
/// that another program lost a character.
pub(crate) fn string(json: &str) -> Option<String> {
    if !json.starts_with('"') {
        return None;
    }
    let mut text: String = match serde_json::from_str(json) {
        Ok(text) => text,
        Err(_) => serde_json::from_str(&without_half_characters(json)).ok()?,
    };
    if text.contains(char::REPLACEMENT_CHARACTER) && !json.contains(char::REPLACEMENT_CHARACTER) {
        text.retain(|ch| ch != char::REPLACEMENT_CHARACTER);
    }
    Some(text)
}

/// Returns whether a value is `true`.
pub(crate) fn is_true(json: Option<&str>) -> bool {
    json == Some("true")
}

/// Leaves out escapes of one half of a surrogate pair without the other.
fn without_half_characters(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(idx) = rest.find('\\') {
        let (before, escape) = rest.split_at(idx);
        kept.push_str(before);
        let (len, is_half) = match unit(escape) {
            Some(0xD800..=0xDBFF) => {
                let low = escape.get(6..).and_then(unit);
                if matches!(low, Some(0xDC00..=0xDFFF)) {
                    (12, false)
                } else {
                    (6, true)
                }
            }
            Some(0xDC00..=0xDFFF) => (6, true),
            Some(_) => (6, false),
            // A backslash and what it escapes, so that `\\u` is not taken for an escape.
            None => (1 + escape.chars().nth(1).map_or(0, char::len_utf8), false),
        };
        let (taken, left) = escape.split_at_checked(len).unwrap_or((escape, ""));
        if !is_half {
            kept.push_str(taken);
        }
        rest = left;
    }
    kept + rest
}

/// Returns the number of an escape `\uXXXX` at the beginning of the text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

struct Fields<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Fields<'_, N> {
    type Value = [Option<&'de str>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; N];
        while let Some(idx) = map.next_key_seed(Key(&self.0))? {
            if let Some(value) = idx.and_then(|idx| values.get_mut(idx)) {
                *value = Some(map.next_value::<&RawValue>()?.get());
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(values)
    }
}

/// Reads a key as its place among the names.
struct Key<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}
