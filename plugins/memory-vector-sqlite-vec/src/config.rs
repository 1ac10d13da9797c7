use schemars::JsonSchema;
use serde::Deserialize;

/// Settings of the vector index `sqlite-vec`: it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {}
