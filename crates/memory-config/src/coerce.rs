use serde_json::Value;

use crate::file::plain_value;
use crate::schema::Schema;

/// Reads the text of an environment variable as the type its key wants; a text that is not of that type stays text, so that the
/// key's owner says what is wrong with it.
///
/// # Errors
///
/// A message when a list or a table is not written as TOML.
pub(crate) fn coerce(text: &str, schema: Option<Schema<'_>>) -> Result<Value, String> {
    let allows = |wanted| schema.is_none_or(|schema| schema.allows(wanted));
    let trimmed = text.trim();
    if allows("array") {
        if trimmed.starts_with('[') {
            return plain_value(trimmed).map_err(|err| format!("is not a TOML array: {err}"));
        }
        // Where anything goes, a comma alone makes no list.
        if !allows("string") || schema.is_some_and(|schema| schema.items().is_some()) {
            let items = trimmed
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            return items
                .map(|item| coerce(item, schema.and_then(Schema::items)))
                .collect();
        }
    }
    if allows("object") && trimmed.starts_with('{') {
        return plain_value(trimmed).map_err(|err| format!("is not a TOML inline table: {err}"));
    }
    if allows("boolean")
        && let Ok(flag) = trimmed.parse::<bool>()
    {
        return Ok(flag.into());
    }
    if allows("integer") || allows("number") {
        if let Ok(number) = trimmed.parse::<i64>() {
            return Ok(number.into());
        }
        if let Ok(number) = trimmed.parse::<u64>() {
            return Ok(number.into());
        }
    }
    if allows("number")
        && let Ok(number) = trimmed.parse::<f64>()
        && number.is_finite()
    {
        return Ok(number.into());
    }
    Ok(text.into())
}
