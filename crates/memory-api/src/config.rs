use serde::de::DeserializeOwned;

use crate::{Error, ErrorKind, Result};

/// Reads a plugin's own configuration struct from the value the engine hands over.
///
/// Every factory calls this, so that a wrong value is reported the same way everywhere. The struct should be
/// `#[serde(default, deny_unknown_fields)]`.
///
/// # Errors
///
/// [`ErrorKind::Config`] with the dotted path below the plugin's own table in the context pair `key` (empty for the table
/// itself).
pub fn parse_config<T: DeserializeOwned>(value: &serde_json::Value) -> Result<T> {
    let value = if value.is_null() {
        &serde_json::Value::Object(serde_json::Map::new())
    } else {
        value
    };
    serde_path_to_error::deserialize(value).map_err(|err| {
        let path = err.path().to_string();
        let key = if path == "." { String::new() } else { path };
        Error::new(ErrorKind::Config, err.inner().to_string()).with_context("key", key)
    })
}
