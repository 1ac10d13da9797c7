use std::collections::BTreeSet;

use memory_api::{
    Batch, Capabilities, EntryId, Error, ErrorKind, Hit, Limits, Plugin, Result, Seq,
};

use super::broken;

/// What is checked of an index of any kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexContract {
    name: &'static str,
    declared: Capabilities,
    limits: Limits,
}

impl IndexContract {
    pub(super) fn new(plugin: &Plugin) -> Self {
        Self {
            name: plugin.name,
            declared: plugin.capabilities,
            limits: plugin.limits,
        }
    }

    pub(super) fn named<T>(&self, operation: &str, result: Result<T>) -> Result<T> {
        result.map_err(|err| err.with_plugin(self.name).with_operation(operation))
    }

    pub(super) fn broken<T>(&self, operation: &str, what: impl Into<String>) -> Result<T> {
        Err(broken(self.name, operation, what))
    }

    /// Checks that the index can do no more than its plugin declared.
    pub(super) fn check_declaration(&self, effective: Capabilities) -> Result<()> {
        if effective.is_subset_of(self.declared) {
            Ok(())
        } else {
            self.broken(
                "open",
                "the index claims capabilities that its plugin did not declare",
            )
        }
    }

    pub(super) fn check_batch<Op>(&self, batch: &Batch<Op>) -> Result<()> {
        let is_ordered = batch.ops.is_sorted_by(|a, b| a.0 < b.0);
        let last = batch.ops.last().map_or(Seq(0), |(seq, _)| *seq);
        if !is_ordered || last > batch.through {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the batch is out of order",
            ));
        }
        self.within("changes", batch.ops.len(), self.limits.max_ops)
    }

    pub(super) fn check_query(&self, k: usize, allowed: Option<&[EntryId]>) -> Result<()> {
        if allowed.is_some_and(|ids| !ids.is_sorted_by(|a, b| a < b)) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the allowed ids are not ascending",
            ));
        }
        self.within("hits", k, self.limits.max_k)
    }

    /// Checks hits whose scores are of this scale.
    pub(super) fn check_hits(
        &self,
        hits: &[Hit],
        k: usize,
        allowed: Option<&[EntryId]>,
        scale: Scale,
    ) -> Result<()> {
        if hits.len() > k {
            return self.broken(
                "search",
                format!("{} hits for a search for {k}", hits.len()),
            );
        }
        if !hits.iter().all(|hit| scale.holds(hit.score)) {
            return self.broken("search", scale.complaint());
        }
        if !hits.is_sorted_by(|a, b| a.rank(b).is_lt()) {
            return self.broken(
                "search",
                "the hits are not ordered by score and id, or one is there twice",
            );
        }
        if let Some(allowed) = allowed
            && !hits
                .iter()
                .all(|hit| allowed.binary_search(&hit.id).is_ok())
        {
            return self.broken("search", "a hit is not among the allowed ids");
        }
        let n_distinct = hits.iter().map(|hit| hit.id).collect::<BTreeSet<_>>().len();
        if n_distinct < hits.len() {
            self.broken("search", "one entry is there twice")
        } else {
            Ok(())
        }
    }

    pub(super) fn check_scores(
        &self,
        scores: &[Option<f32>],
        n_ids: usize,
        scale: Scale,
    ) -> Result<()> {
        if scores.len() != n_ids {
            return self.broken("score", format!("{} scores for {n_ids} ids", scores.len()));
        }
        if scores.iter().flatten().all(|score| scale.holds(*score)) {
            Ok(())
        } else {
            self.broken("score", scale.complaint())
        }
    }

    /// Refuses what the plugin cannot carry in one call.
    fn within(&self, what: &str, n: usize, limit: Option<usize>) -> Result<()> {
        match limit {
            Some(limit) if n > limit => {
                let message = format!("{n} {what} are more than the {limit} of one call");
                Err(Error::new(ErrorKind::Unsupported, message).with_plugin(self.name))
            }
            _ => Ok(()),
        }
    }
}

/// What a score may be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    /// 0 or above.
    Bm25,
    /// From −1 to 1, with room for rounding.
    Cosine,
}

impl Scale {
    fn holds(self, score: f32) -> bool {
        match self {
            Self::Bm25 => score.is_finite() && score >= 0.0,
            Self::Cosine => (-1.001..=1.001).contains(&score),
        }
    }

    fn complaint(self) -> &'static str {
        match self {
            Self::Bm25 => "a score is not finite or below 0",
            Self::Cosine => "a similarity is not finite or not between -1 and 1",
        }
    }
}
