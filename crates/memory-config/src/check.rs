use memory_api::{Error, Registry};
use serde::de::Unexpected;
use serde_json::Value;

use crate::key::{KeyPath, nearest};
use crate::merge::Merged;
use crate::redact::Secrets;
use crate::schema::Schema;
use crate::slot::Slot;
use crate::{Origin, Problem};

/// Finds what is wrong with a merged configuration.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    pub(crate) schema: Schema<'a>,
    pub(crate) registry: &'a Registry,
    pub(crate) merged: &'a Merged,
    pub(crate) secrets: &'a Secrets,
    pub(crate) problems: Vec<Problem>,
}

impl Checker<'_> {
    /// Reports a problem with the value at `path`.
    pub(crate) fn report(&mut self, path: &KeyPath, message: &str, hint: Option<&str>) {
        self.report_at(path, path, message, hint);
    }

    /// Reports a problem with `path` where `place` is written.
    pub(crate) fn report_at(
        &mut self,
        place: &KeyPath,
        path: &KeyPath,
        message: &str,
        hint: Option<&str>,
    ) {
        let layer = self.merged.layer(place).map_or(0, |(index, _)| index);
        let message = self.secrets.scrub(message);
        let mut problem = Problem::new(layer, self.merged.origin(place), &message)
            .with_key(path.to_string(), self.merged.origin_is_key(path));
        if let Some(hint) = hint {
            problem = problem.with_hint(hint);
        }
        self.problems.push(problem);
    }

    /// Checks a value against the schema and takes out what is wrong, so that the rest can be looked at further; makes paths
    /// absolute. Returns whether the value itself may stay.
    pub(crate) fn walk(&mut self, value: &mut Value, schema: Schema<'_>, path: &KeyPath) -> bool {
        if schema.is_table() && !value.is_object() && !value.is_null() {
            let message = format!("invalid type: {}, expected a table", found(value));
            self.report(path, &self.secrets.message(path, &message), None);
            return false;
        }
        match value {
            Value::Object(map) => {
                map.retain(|key, child| {
                    let path = path.key(key);
                    match schema.child(key) {
                        Some(schema) => self.walk(child, schema, &path),
                        None if schema.is_open() || !schema.allows("object") => true,
                        None => {
                            let (message, hint) =
                                unknown(&path, child.is_object(), self.schema, self.registry);
                            self.report(&path, &message, hint.as_deref());
                            false
                        }
                    }
                });
                true
            }
            Value::Array(items) => {
                let Some(schema) = schema.items() else {
                    return true;
                };
                let mut stays = true;
                for (index, item) in items.iter_mut().enumerate() {
                    stays &= self.walk(item, schema, &path.index(index));
                }
                stays
            }
            Value::String(text) if schema.is_path() => match self.resolve(text, path) {
                Ok(resolved) => {
                    *text = resolved;
                    true
                }
                Err(message) => {
                    self.report(path, message, Some("write the whole path"));
                    false
                }
            },
            Value::Number(number) => {
                let Some(message) = out_of_range(number, schema) else {
                    return true;
                };
                self.report(path, &self.secrets.message(path, &message), None);
                false
            }
            _ => true,
        }
    }

    /// Makes a path in a file relative to the file's folder.
    fn resolve(&self, text: &str, path: &KeyPath) -> Result<String, &'static str> {
        if text.trim().is_empty() {
            return Err("is blank");
        }
        if text == "~" || text.starts_with("~/") {
            return Err("`~` is not expanded");
        }
        let Origin::File { path: file, .. } = self.merged.origin(path) else {
            return Ok(text.to_owned());
        };
        let folder = file.parent().unwrap_or(&file);
        let resolved = folder.join(text);
        // Both halves are text, except for a folder whose name is not; then the path stays as it was written.
        Ok(resolved.to_str().unwrap_or(text).to_owned())
    }

    /// Parses a table again and again, reporting what is wrong and taking it out each time.
    ///
    /// `path` is the table's; if nobody wrote it, problems are shown at `place`. Returns `None` after any problem.
    pub(crate) fn parse<T>(
        &mut self,
        path: &KeyPath,
        place: &KeyPath,
        mut table: Value,
        parse: impl Fn(&Value) -> Result<T, Error>,
    ) -> Option<T> {
        let mut clean = true;
        loop {
            let err = match parse(&table) {
                Ok(parsed) => return clean.then_some(parsed),
                Err(err) => err,
            };
            clean = false;
            let below = KeyPath::locate(&table, err.context("key").unwrap_or_default());
            let full = path.concat(&below);
            if !self.is_consequence(&full, err.message()) {
                let written = path.is_empty() || self.merged.contains(path);
                let place = if written { &full } else { place };
                let message = self.secrets.message(&full, err.message());
                let hint = self.hint(&err, &below, &table, &full);
                self.report_at(place, &full, &message, hint.as_deref());
            }
            if !below.remove(&mut table) {
                return None;
            }
        }
    }

    /// Returns whether a key is missing only because its value was wrong and has been reported.
    fn is_consequence(&self, table: &KeyPath, message: &str) -> bool {
        message
            .strip_prefix("missing field `")
            .and_then(|rest| rest.strip_suffix('`'))
            .is_some_and(|field| self.merged.contains(&table.key(field)))
    }

    fn hint(&self, err: &Error, below: &KeyPath, table: &Value, full: &KeyPath) -> Option<String> {
        if let Some(hint) = err.hint() {
            return Some(self.secrets.message(full, hint));
        }
        if !err.message().starts_with("unknown variant") {
            return None;
        }
        let word = below.get(table)?.as_str()?;
        let near = nearest(word, self.schema.find(full)?.variants())?;
        Some(format!("did you mean `{near}`?"))
    }
}

/// Returns message and hint for a key that the schema does not have.
pub(crate) fn unknown(
    path: &KeyPath,
    is_table: bool,
    root: Schema<'_>,
    registry: &Registry,
) -> (String, Option<String>) {
    let keys: Vec<_> = path.keys().collect();
    let Some((last, above)) = keys.split_last() else {
        return ("unknown key".to_owned(), None);
    };
    if let [slot] = above
        && is_table
        && let Some(slot) = Slot::named(slot)
        && let Err(err) = registry.get(slot.kind, last)
    {
        return (err.message().to_owned(), err.hint().map(str::to_owned));
    }
    let parent = path.parent();
    let Some(table) = root.find(&parent) else {
        return ("unknown key".to_owned(), None);
    };
    let mut names: Vec<_> = table.names().collect();
    names.sort_unstable();
    // A right key in the wrong table is as common as a wrong letter; in another plugin's table it is another key.
    let elsewhere = || {
        let namesake = |leaf: &KeyPath| leaf.len() == 2 && leaf.keys().next_back() == Some(last);
        root.leaves().into_iter().find(namesake)
    };
    let near = nearest(last, names.iter().copied())
        .map(str::to_owned)
        .or_else(|| elsewhere().map(|leaf| leaf.to_string()));
    let message = match near {
        Some(near) => format!("unknown key, did you mean `{near}`?"),
        None => "unknown key".to_owned(),
    };
    let hint = if names.is_empty() {
        "this table has no keys".to_owned()
    } else {
        format!("known keys here: {}", names.join(", "))
    };
    (message, Some(hint))
}

fn found(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(flag) => Unexpected::Bool(*flag),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => Unexpected::Unsigned(number),
            (_, Some(number), _) => Unexpected::Signed(number),
            (.., number) => Unexpected::Float(number.unwrap_or(f64::NAN)),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

fn out_of_range(number: &serde_json::Number, schema: Schema<'_>) -> Option<String> {
    let value = number.as_f64()?;
    let (low, high) = schema.range();
    if low.is_none_or(|low| value >= low) && high.is_none_or(|high| value <= high) {
        return None;
    }
    let allowed = match (low, high) {
        (Some(low), Some(high)) => format!("{low} to {high}"),
        (Some(low), None) => format!("{low} or more"),
        (None, Some(high)) => format!("{high} or less"),
        (None, None) => return None,
    };
    Some(format!("`{number}` is out of range, allowed: {allowed}"))
}
