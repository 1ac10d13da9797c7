//! What time has left of a result.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use memory_api::{Error, ErrorKind, Facts, Result, Timestamp};

use crate::contract::ContractDecay;
use crate::document::{NameDate, name_date};
use crate::options::Evergreen;
use crate::store::Entry;

/// Lets results fade, if a policy says so.
#[derive(Debug)]
pub(crate) struct Freshness {
    policy: Option<ContractDecay>,
    patterns: GlobSet,
    undated: bool,
}

impl Freshness {
    pub(crate) fn new(policy: Option<ContractDecay>, evergreen: &Evergreen) -> Result<Self> {
        let invalid = |err: &globset::Error| {
            Error::new(ErrorKind::Config, err.to_string())
                .with_context("key", "decay.evergreen")
                .with_hint("write globs as `MEMORY.md` or `people/**`")
        };
        let mut patterns = GlobSetBuilder::new();
        for pattern in &evergreen.patterns {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(true)
                .build()
                .map_err(|err| invalid(&err))?;
            patterns.add(glob);
        }
        Ok(Self {
            policy,
            patterns: patterns.build().map_err(|err| invalid(&err))?,
            undated: evergreen.undated,
        })
    }

    /// Returns what time has left of each entry, 0 to 1; all of it where no policy is in use.
    pub(crate) fn retention<'e>(
        &self,
        entries: impl ExactSizeIterator<Item = &'e Entry>,
        now: Timestamp,
    ) -> Result<Vec<f32>> {
        let Some(policy) = &self.policy else {
            return Ok(vec![1.0; entries.len()]);
        };
        let facts: Vec<Facts<'_>> = entries
            .map(|entry| {
                let mut facts = Facts::default();
                facts.time = entry.time;
                facts.evergreen = self.is_evergreen(&entry.path);
                facts.kind = Some(&entry.kind);
                facts
            })
            .collect();
        policy.retention(&facts, now)
    }

    /// Returns whether a document never fades: it matches a pattern, or lies below `memory/` and its name has not the form of a
    /// date.
    pub(crate) fn is_evergreen(&self, path: &str) -> bool {
        let path = path.replace('\\', "/");
        let path = path.strip_prefix("./").unwrap_or(&path);
        self.patterns.is_match(path)
            || (self.undated && path.starts_with("memory/") && name_date(path) == NameDate::None)
    }
}
