use std::ops::RangeInclusive;

use memory_api::{Error, ErrorKind, Result, parse_config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MAX_TOKENS: RangeInclusive<usize> = 16..=8192;

/// How chat transcripts are cut into entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The size of the largest entry in tokens, by a safe estimate. A question and its answer are one entry up to this size; a
    /// longer exchange is cut. Stay below what the embedder reads. 16 to 8192; default: 400.
    #[schemars(range(min = 16, max = 8192))]
    pub max_tokens: usize,

    /// Whether keys, tokens and passwords are replaced by `[redacted: …]` before anything is indexed or embedded. The
    /// transcripts themselves are never changed. Default: true.
    pub redact: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_tokens: 400,
            redact: true,
        }
    }
}

impl Config {
    /// Reads and validates the plugin's config table.
    ///
    /// # Errors
    ///
    /// `Config` with the wrong key in the context pair `key`.
    pub fn read(value: &serde_json::Value) -> Result<Self> {
        let config: Self = parse_config(value)?;
        config.validate()?;
        Ok(config)
    }

    pub(crate) fn validate(&self) -> Result<()> {
        if MAX_TOKENS.contains(&self.max_tokens) {
            return Ok(());
        }
        let (least, most) = (MAX_TOKENS.start(), MAX_TOKENS.end());
        let message = format!("`{}` is not within {least} and {most}", self.max_tokens);
        Err(Error::new(ErrorKind::Config, message)
            .with_context("key", "max_tokens")
            .with_hint("400 suits most embedding models"))
    }
}
