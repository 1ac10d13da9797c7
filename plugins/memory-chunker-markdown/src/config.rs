use std::ops::RangeInclusive;

use memory_api::{Error, ErrorKind, Result, parse_config};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MAX_TOKENS: RangeInclusive<usize> = 16..=8192;

/// How Markdown and text files are cut into entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What becomes an entry. `section`: the text below one heading; good for notes. `block`: every paragraph, list item,
    /// table, code fence and chat line; good for chat logs and lists of facts. Default: `section`.
    pub split: Split,

    /// The size of the largest entry in tokens, by a safe estimate; longer text is cut. Stay below what the embedder reads.
    /// 16 to 8192; default: 400.
    #[schemars(range(min = 16, max = 8192))]
    pub max_tokens: usize,

    /// How much of an entry's end is repeated at the beginning of the next one, in tokens, where a long text had to be cut;
    /// 0 repeats nothing. Below `max_tokens`; default: a fifth of `max_tokens`, that is 80.
    pub overlap_tokens: Option<usize>,
}

/// What becomes an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// The text below one heading.
    #[default]
    Section,
    /// Every paragraph, list item, table, code fence and chat line.
    Block,
}

impl Split {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Section => "section",
            Self::Block => "block",
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            split: Split::default(),
            max_tokens: 400,
            overlap_tokens: None,
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

    /// Returns the overlap in tokens, chosen or derived.
    pub fn overlap_tokens(&self) -> usize {
        self.overlap_tokens.unwrap_or(self.max_tokens / 5)
    }

    pub(crate) fn validate(&self) -> Result<()> {
        let (least, most) = (MAX_TOKENS.start(), MAX_TOKENS.end());
        if !MAX_TOKENS.contains(&self.max_tokens) {
            let message = format!("`{}` is not within {least} and {most}", self.max_tokens);
            return Err(Error::new(ErrorKind::Config, message)
                .with_context("key", "max_tokens")
                .with_hint("400 suits most embedding models"));
        }
        if self.overlap_tokens() >= self.max_tokens {
            let message = format!(
                "`{}` is not below `max_tokens`, which is `{}`",
                self.overlap_tokens(),
                self.max_tokens
            );
            return Err(Error::new(ErrorKind::Config, message)
                .with_context("key", "overlap_tokens")
                .with_hint("leave it out to repeat a fifth of `max_tokens`"));
        }
        Ok(())
    }
}
