//! Looks at each part of a memory closely: not only whether it opens, but whether it holds what the store says, page by page.

use memory_api::{
    EntryId, Error, ErrorKind, LexicalIndex, LexicalQuery, Result, VectorIndex, VectorQuery,
};
use serde::Serialize;

use crate::discovery::Discovery;
use crate::embedding::{Model, other_space};
use crate::generation::{self, Live, Slot};
use crate::manifest::Manifest;
use crate::options::Options;
use crate::store::Store;
use crate::{aside, state_dir, vectors};

/// Entries looked at together.
const PAGE: usize = 1_000;
/// What is asked of an index that should name the entries it has; the word does not matter.
const PROBE: &str = "memory";
/// What heals an index.
const SYNC: &str = "run `memory index`";
/// What heals an index that cannot tell that it is ill.
pub(crate) const FORCE: &str = "run `memory index --force`; nothing is embedded twice";

/// How a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Health {
    /// As it should be.
    Green,
    /// It works, and something is missing or left over.
    Yellow,
    /// It does not work, or answers wrongly.
    Red,
}

/// What was found about a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The part: `files`, `folder`, `store`, `words`, `vectors`, `meaning`, `model`.
    pub part: &'static str,
    /// How it is.
    pub health: Health,
    /// What was seen.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Finding {
    fn green(part: &'static str, message: impl Into<String>) -> Self {
        Self {
            part,
            health: Health::Green,
            message: message.into(),
            hint: None,
        }
    }

    fn ill(part: &'static str, health: Health, message: impl Into<String>, hint: &str) -> Self {
        Self {
            part,
            health,
            message: message.into(),
            hint: Some(hint.to_owned()),
        }
    }

    pub(crate) fn of_error(part: &'static str, err: &Error, hint: &str) -> Self {
        // Damage is told by its reader, the way out by us.
        let hint = match err.kind() {
            ErrorKind::Corrupt => hint,
            _ => err.hint().unwrap_or(hint),
        };
        Self::ill(part, Health::Red, err.located(), hint)
    }
}

/// Says that nothing was ever indexed.
pub(crate) fn no_index() -> Finding {
    Finding::ill("store", Health::Yellow, "no index yet", SYNC)
}

/// Looks at what needs no index.
pub(crate) fn files(discovery: &Discovery) -> Finding {
    let mut walk = discovery.walk();
    let n = walk.by_ref().count();
    let unreadable = walk.into_remarks().unreadable;
    match unreadable.as_slice() {
        [] => Finding::green("files", format!("{n} can be read")),
        [first, ..] => Finding::ill(
            "files",
            Health::Yellow,
            format!(
                "{n} can be looked at, {} places cannot, such as `{}`: {}",
                unreadable.len(),
                first.path,
                first.error
            ),
            first.error.hint().unwrap_or("check its permissions"),
        ),
    }
}

/// What is configured.
#[derive(Debug)]
pub(crate) struct Doctor<'a> {
    pub(crate) options: &'a Options,
    pub(crate) model: Option<&'a Model>,
}

impl Doctor<'_> {
    /// Looks at the folder itself: can it be written, and is something left over in it.
    pub(crate) fn folder(&self, manifest: Option<&Manifest>) -> Finding {
        let dir = &self.options.state_dir;
        if state_dir::is_read_only(dir) {
            let message = format!("`{}` cannot be written; searches work", dir.display());
            let hint = "check its permissions, or name another folder by `--state DIR`";
            return Finding::ill("folder", Health::Yellow, message, hint);
        }
        let others = generation::others(self.options, manifest).unwrap_or_default();
        let aside = aside::names(dir);
        match (others.len(), aside.as_slice()) {
            (0, []) => Finding::green("folder", dir.display().to_string()),
            (0, names) => Finding::ill(
                "folder",
                Health::Yellow,
                format!("set aside as damaged: `{}`", names.join("`, `")),
                "remove what nobody needs of them from the state folder",
            ),
            (n, _) => Finding::ill(
                "folder",
                Health::Yellow,
                format!(
                    "{n} folders of earlier generations are left, such as `{}`",
                    others.join("`, `")
                ),
                "run `memory index`, once nobody reads them",
            ),
        }
    }

    /// Looks at everything that the manifest names.
    pub(crate) async fn index(&self, live: &Live, findings: &mut Vec<Finding>) {
        let store = &live.store;
        match self.store(store).await {
            Ok(finding) => findings.push(finding),
            Err(err) => {
                // Whoever cannot read the store cannot hold anything against it.
                findings.push(Finding::of_error("store", &err, FORCE));
                return;
            }
        }
        findings.push(match &live.lexical {
            Slot::Open(index) => words(store, &**index)
                .await
                .unwrap_or_else(|err| Finding::of_error("words", &err, FORCE)),
            Slot::Closed(err) => Finding::of_error("words", err, SYNC),
        });
        let Some(model) = self.model else {
            return;
        };
        findings.push(self.vectors(live).await);
        findings.push(match &live.vector {
            Some(Slot::Open(index)) => self
                .meaning(live, &**index)
                .await
                .unwrap_or_else(|err| Finding::of_error("meaning", &err, FORCE)),
            Some(Slot::Closed(err)) => Finding::of_error("meaning", err, SYNC),
            None => Finding::ill("meaning", Health::Yellow, "nothing is embedded yet", SYNC),
        });
        findings.push(match model.embedder(self.options).await {
            Err(err) => {
                let hint = err
                    .hint()
                    .unwrap_or("check `embedder` in the configuration");
                Finding::ill("model", Health::Yellow, err.to_string(), hint)
            }
            Ok(embedder) => match &live.background {
                Some(background) if background.space != *embedder.space() => Finding::ill(
                    "model",
                    Health::Yellow,
                    other_space(&background.space, embedder.space()),
                    SYNC,
                ),
                _ => Finding::green("model", embedder.space().id.clone()),
            },
        });
    }

    async fn store(&self, store: &Store) -> Result<Finding> {
        if let Some(damage) = store.damage().await? {
            return Ok(Finding::ill("store", Health::Red, damage, FORCE));
        }
        let counts = store.counts(self.options.namespace.clone()).await?;
        let message = format!(
            "{} documents, {} entries",
            counts.n_documents, counts.n_entries
        );
        Ok(Finding::green("store", message))
    }

    async fn vectors(&self, live: &Live) -> Finding {
        let Some(cache) = &live.vectors else {
            return if vectors::path(&self.options.state_dir).exists() {
                let message = "`vectors.db` cannot be opened";
                Finding::ill("vectors", Health::Yellow, message, SYNC)
            } else {
                let message = "there is no `vectors.db`; what is lost is embedded again";
                Finding::ill("vectors", Health::Yellow, message, SYNC)
            };
        };
        match cache.damage().await {
            Ok(None) => Finding::green("vectors", "`vectors.db` can be read"),
            Ok(Some(damage)) => Finding::ill("vectors", Health::Red, damage, FORCE),
            Err(err) => Finding::of_error("vectors", &err, FORCE),
        }
    }

    async fn meaning(&self, live: &Live, index: &dyn VectorIndex) -> Result<Finding> {
        let mut probe = vec![0.0; index.space().dimensions];
        if let Some(first) = probe.first_mut() {
            *first = 1.0;
        }
        let mut tally = Tally::default();
        let mut missing = Vec::new();
        while let Some(ids) = tally.next(&live.store, true).await? {
            let query = VectorQuery::new(&probe, ids.len());
            let scores = index.score(&query, &ids).await?;
            let lacks = ids.into_iter().zip(scores);
            missing.extend(lacks.filter_map(|(id, score)| score.is_none().then_some(id)));
        }
        if !missing.is_empty()
            && let Some((_, changes)) = live.by_meaning()
        {
            let without_direction = changes.without_direction().await?;
            let n_lacked = missing.len();
            missing.retain(|id| !without_direction.contains(id));
            tally.total -= n_lacked - missing.len();
        }
        tally.missing = missing.len();
        let pending = live.store.n_pending(self.options.namespace.clone()).await?;
        let n_indexed = index.stats().await?.n_entries;
        if tally.missing > 0 || n_indexed > tally.total as u64 {
            let message = format!(
                "{} entries have a vector, the index holds {n_indexed} and lacks {}",
                tally.total, tally.missing
            );
            return Ok(Finding::ill("meaning", Health::Red, message, FORCE));
        }
        if pending > 0 {
            let message =
                format!("{n_indexed} entries, {pending} pending; `memory status` says why");
            return Ok(Finding::ill("meaning", Health::Yellow, message, SYNC));
        }
        Ok(Finding::green("meaning", format!("{n_indexed} entries")))
    }
}

async fn words(store: &Store, index: &dyn LexicalIndex) -> Result<Finding> {
    let mut tally = Tally::default();
    while let Some(ids) = tally.next(store, false).await? {
        let query = LexicalQuery::new(PROBE, ids.len());
        let scores = index.score(&query, &ids).await?;
        tally.missing += scores.iter().filter(|score| score.is_none()).count();
    }
    let n_indexed = index.stats().await?.n_entries;
    if tally.missing > 0 || n_indexed != tally.total as u64 {
        let message = format!(
            "{} entries are in the store, the index holds {n_indexed} and lacks {}",
            tally.total, tally.missing
        );
        return Ok(Finding::ill("words", Health::Red, message, FORCE));
    }
    Ok(Finding::green("words", format!("{n_indexed} entries")))
}

/// Goes through the entries of every namespace.
#[derive(Debug, Default)]
struct Tally {
    after: Option<EntryId>,
    total: usize,
    missing: usize,
}

impl Tally {
    /// Returns the next entries, ascending; with `with_vector` those that have one.
    async fn next(&mut self, store: &Store, with_vector: bool) -> Result<Option<Vec<EntryId>>> {
        let ids = store.entry_ids(self.after, with_vector, PAGE).await?;
        self.after = ids.last().copied().or(self.after);
        self.total += ids.len();
        Ok((!ids.is_empty()).then_some(ids))
    }
}
