use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, Capability, EmbeddingSpace, EntryId, Error, ErrorKind, Factory, Fields,
    Fingerprint, Hit, Identity, IndexStats, Limits, OpenContext, Opening, Projection, Result, Seq,
    StoreId, VectorIndex, VectorOp, VectorQuery, Watermark, parse_config,
};
use memory_conformance::oracle;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    /// What it does wrong.
    fault: String,
}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn VectorIndex> {
    open_as(context, super::FULL.capabilities)
}

pub(super) fn open_plain(context: OpenContext<'_>) -> Opening<'_, dyn VectorIndex> {
    open_as(context, Capabilities::NONE)
}

fn open_as(context: OpenContext<'_>, declared: Capabilities) -> Opening<'_, dyn VectorIndex> {
    let Factory::Vector(open_oracle) = oracle::VECTOR.factory else {
        unreachable!("the oracle is a vector index")
    };
    Box::pin(async move {
        let config: Config = parse_config(context.config)?;
        let dir = context.require_dir()?;
        let file = dir.join("oracle.json");
        if !declared.has(Capability::Persistent) || config.fault == "forgets_at_close" {
            // What a process holds in memory alone.
            drop(fs::remove_file(&file));
        }
        let mut space = context.require_space()?.clone();
        let own = bound_space(&dir.join("space"), &space);
        let refused = own != space;
        match config.fault.as_str() {
            "takes_any_space" => space = own,
            "compares_dimensions" if own.dimensions == space.dimensions => space = own,
            "empties_at_another_space" if refused => drop(fs::remove_file(&file)),
            _ => {}
        }
        let null = serde_json::Value::Null;
        let context = OpenContext::new(&null).with_dir(dir).with_space(&space);
        let inner = open_oracle(context).await?;
        if refused && config.fault == "empties_at_another_space" {
            return Err(Error::new(ErrorKind::InvalidInput, "another space"));
        }
        Ok(Arc::new(Broken {
            space: if config.fault == "makes_up_a_space" {
                EmbeddingSpace::new("mine", space.dimensions)
            } else {
                space
            },
            inner,
            declared,
            fault: config.fault,
            ahead: dir.join("ahead"),
            notes: Mutex::default(),
        }) as Arc<dyn VectorIndex>)
    })
}

/// Returns the space a folder was opened with first.
fn bound_space(path: &std::path::Path, space: &EmbeddingSpace) -> EmbeddingSpace {
    if let Ok(bytes) = fs::read(path) {
        return serde_json::from_slice(&bytes).unwrap();
    }
    fs::write(path, serde_json::to_vec(space).unwrap()).unwrap();
    space.clone()
}

/// The oracle behind a layer that does one thing wrong.
#[derive(Debug)]
struct Broken {
    inner: Arc<dyn VectorIndex>,
    space: EmbeddingSpace,
    declared: Capabilities,
    fault: String,
    /// A watermark that is written before the content.
    ahead: PathBuf,
    notes: Mutex<Notes>,
}

/// What the layer has seen.
#[derive(Debug, Default)]
struct Notes {
    store: Option<StoreId>,
    through: Seq,
    flushed: Option<Watermark>,
    vectors: BTreeMap<EntryId, Vec<f32>>,
    replayed: BTreeSet<EntryId>,
    n_puts: u64,
    waiting: Vec<Batch<VectorOp>>,
}

fn is_malformed(vector: &[f32], dimensions: usize) -> bool {
    vector.len() != dimensions
        || vector.iter().any(|number| !number.is_finite())
        || vector.iter().all(|number| *number == 0.0)
}

fn length(vector: &[f32]) -> f32 {
    vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt()
}

impl Broken {
    fn is(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap()
    }

    fn check_limits(&self, n: usize, max: impl Fn(Limits) -> Option<usize>) -> Result<()> {
        if self.is("refuses_beyond_limits") && max(super::NARROW.limits).is_some_and(|max| n > max)
        {
            return Err(Error::new(ErrorKind::Unavailable, "beyond the limits"));
        }
        Ok(())
    }

    fn rewrite(&self, seq: Seq, op: &VectorOp) -> Option<VectorOp> {
        let mut notes = self.notes();
        Some(match (op, self.fault.as_str()) {
            (VectorOp::Put(id, vector, fields), fault) => {
                let mut vector = vector.clone();
                notes.n_puts += 1;
                let before = notes.vectors.get(id).cloned();
                match (fault, before) {
                    ("put_adds", Some(before)) => {
                        for (number, before) in vector.iter_mut().zip(before) {
                            *number += before;
                        }
                    }
                    ("put_keeps_the_first", Some(before)) => vector = before,
                    ("replay_duplicates", _) if seq <= notes.through => {
                        notes.replayed.insert(*id);
                    }
                    ("skips_malformed", _) if is_malformed(&vector, self.space.dimensions) => {
                        return None;
                    }
                    _ => {}
                }
                notes.vectors.insert(*id, vector.clone());
                VectorOp::Put(*id, vector, fields.clone())
            }
            (VectorOp::SetMeta(id, _), "set_meta_removes") => VectorOp::Delete(*id),
            (VectorOp::SetMeta(id, fields), "set_meta_puts") => {
                VectorOp::Put(*id, vec![1.0; self.space.dimensions], fields.clone())
            }
            (VectorOp::Delete(id), "forgets_deletes") => VectorOp::SetMeta(*id, Fields::default()),
            (VectorOp::Delete(id), _) => {
                notes.vectors.remove(id);
                VectorOp::Delete(*id)
            }
            (other, _) => other.clone(),
        })
    }

    /// The batch as the inner index gets it.
    async fn forward(&self, batch: &Batch<VectorOp>) -> Result<()> {
        let mut batch = batch.clone();
        if self.is("sorts_batches") {
            batch.ops.sort_by_key(|(seq, _)| *seq);
        }
        if self.is("takes_old_ops") {
            // The positions the inner index sees only grow, whatever the batch says.
            let seen = self.inner.watermark().await?;
            let seen = seen.map_or(0, |watermark| watermark.seq.0);
            for (n, (seq, _)) in (seen + 1..).zip(&mut batch.ops) {
                *seq = Seq(n);
            }
            batch.through = Seq(seen + batch.ops.len() as u64);
        }
        if self.is("stands_at_its_last_op") {
            batch.through = batch.ops.last().map(|(seq, _)| *seq).unwrap_or_default();
        }
        if self.is("takes_any_store") {
            batch.store = *self.notes().store.get_or_insert(batch.store);
        }
        let ops = std::mem::take(&mut batch.ops);
        batch.ops = ops
            .into_iter()
            .filter_map(|(seq, op)| Some((seq, self.rewrite(seq, &op)?)))
            .collect();
        if self.is("applies_half") {
            for (seq, op) in batch.ops {
                let one = Batch::new(batch.store, vec![(seq, op)]);
                self.inner.apply(&one).await?;
            }
            let rest = Batch::new(batch.store, Vec::new()).with_through(batch.through);
            return self.inner.apply(&rest).await;
        }
        self.inner.apply(&batch).await
    }

    async fn forward_waiting(&self) -> Result<()> {
        let waiting = std::mem::take(&mut self.notes().waiting);
        for batch in waiting {
            self.forward(&batch).await?;
        }
        Ok(())
    }

    /// Refuses at once what a buffer would refuse too late.
    async fn check_batch(&self, batch: &Batch<VectorOp>) -> Result<()> {
        let known = self.inner.watermark().await?;
        let known = known.map(|watermark| watermark.store).or(self
            .notes()
            .waiting
            .first()
            .map(|batch| batch.store));
        let is_sorted = batch.ops.is_sorted_by(|(left, _), (right, _)| left < right);
        let malformed = batch.ops.iter().any(|(_, op)| match op {
            VectorOp::Put(_, vector, _) => is_malformed(vector, self.space.dimensions),
            _ => false,
        });
        if known.is_some_and(|store| store != batch.store) || !is_sorted || malformed {
            return Err(Error::new(ErrorKind::InvalidInput, "refused"));
        }
        Ok(())
    }

    fn rescore(&self, vector: &[f32], hit: Hit) -> f32 {
        match self.fault.as_str() {
            "gives_distances" => hit.score - 1.0,
            "scores_in_bytes" => (hit.score * 127.0).round() / 127.0,
            _ => hit.score * length(vector) * length(&self.notes().vectors[&hit.id]),
        }
    }

    async fn search_right(&self, query: &VectorQuery<'_>, k: usize) -> Result<Vec<Hit>> {
        let mut asked = *query;
        asked.k = k;
        self.inner.search(&asked).await
    }

    /// Leaves out each hit in whose turn it is and fills up with the next ones, as long as there are any.
    async fn search_missing(&self, query: &VectorQuery<'_>, every: usize) -> Result<Vec<Hit>> {
        let all = self.search_right(query, usize::MAX).await?;
        let n_all = all.len();
        let mut missed = Vec::new();
        let mut hits = Vec::new();
        for (place, hit) in all.into_iter().enumerate() {
            if place % every == every - 1 {
                missed.push(hit);
            } else {
                hits.push(hit);
            }
        }
        if query.k >= n_all {
            hits.extend(missed);
            hits.sort_by(Hit::rank);
        } else if hits.len() < query.k {
            let n_more = query.k - hits.len();
            hits.extend(missed.into_iter().take(n_more));
            hits.sort_by(Hit::rank);
        }
        hits.truncate(query.k);
        Ok(hits)
    }
}

impl Identity for Broken {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!("broken {}", self.fault))
    }
}

#[async_trait]
impl Projection<VectorOp> for Broken {
    fn capabilities(&self) -> Capabilities {
        if self.is("claims_more") {
            return Capabilities::of(&[Capability::NativeFilter]);
        }
        self.declared
    }

    async fn apply(&self, batch: &Batch<VectorOp>) -> Result<()> {
        self.check_limits(batch.ops.len(), |limits| limits.max_ops)?;
        match self.fault.as_str() {
            "buffers" => {
                self.check_batch(batch).await?;
                self.notes().waiting.push(batch.clone());
                return Ok(());
            }
            "flushes_later" => {
                self.forward_waiting().await?;
                self.notes().waiting.push(batch.clone());
                return Ok(());
            }
            "watermark_runs_ahead" => {
                let through = batch.through.max(self.notes().through);
                fs::write(&self.ahead, through.to_string()).unwrap();
            }
            _ => {}
        }
        self.forward(batch).await?;
        let mut notes = self.notes();
        notes.store.get_or_insert(batch.store);
        notes.through = notes.through.max(batch.through);
        Ok(())
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        let inner = self.inner.watermark().await?;
        Ok(match self.fault.as_str() {
            "takes_old_ops" => {
                let seq = self.notes().through;
                inner.map(|watermark| Watermark { seq, ..watermark })
            }
            "watermark_waits" => self.notes().flushed,
            "watermark_runs_ahead" => match fs::read_to_string(&self.ahead) {
                Ok(text) => Some(Watermark {
                    store: inner.map_or(StoreId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef), |w| {
                        w.store
                    }),
                    seq: Seq(text.parse().unwrap()),
                }),
                Err(_) => inner,
            },
            _ => inner,
        })
    }

    async fn stats(&self) -> Result<IndexStats> {
        let stats = self.inner.stats().await?;
        if self.is("counts_the_deleted") {
            return Ok(IndexStats::new(self.notes().n_puts, None));
        }
        Ok(stats)
    }

    async fn flush(&self) -> Result<()> {
        if self.is("buffers") {
            self.forward_waiting().await?;
        }
        self.inner.flush().await?;
        let watermark = self.inner.watermark().await?;
        self.notes().flushed = watermark;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        if self.is("answers_after_close") {
            return self.inner.flush().await;
        }
        if self.is("buffers") {
            self.forward_waiting().await?;
        }
        self.inner.close().await
    }
}

#[async_trait]
impl VectorIndex for Broken {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>> {
        self.check_limits(query.k, |limits| limits.max_k)?;
        let malformed = is_malformed(query.vector, self.space.dimensions);
        let allowed = query.allowed;
        let right = || self.search_right(query, query.k);
        let all = || self.search_right(query, usize::MAX);
        Ok(match self.fault.as_str() {
            "replay_duplicates" => {
                let hits = right().await?;
                let notes = self.notes();
                let copies = |hit: &Hit| 1 + usize::from(notes.replayed.contains(&hit.id));
                hits.into_iter()
                    .flat_map(|hit| vec![hit; copies(&hit)])
                    .collect()
            }
            "ties_descend" => {
                let mut hits = all().await?;
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
                hits.truncate(query.k);
                hits
            }
            "one_hit_more" => self.search_right(query, query.k + 1).await?,
            "drops_the_far" => {
                let mut hits = right().await?;
                hits.retain(|hit| hit.score > 0.1);
                hits
            }
            "gives_distances" | "scores_in_bytes" | "trusts_the_length" => {
                let mut hits = all().await?;
                for hit in &mut hits {
                    hit.score = self.rescore(query.vector, *hit);
                }
                hits.sort_by(Hit::rank);
                hits.truncate(query.k);
                hits
            }
            "misses_the_first" => {
                let mut hits = all().await?;
                hits.drain(..1.min(hits.len()));
                hits.truncate(query.k);
                hits
            }
            "misses_the_third" => self.search_missing(query, 3).await?,
            "misses_one_in_four" => self.search_missing(query, 4).await?,
            "misses_one_in_twenty" => self.search_missing(query, 20).await?,
            "cuts_before_sorting" => {
                let mut hits = all().await?;
                hits.sort_by_key(|hit| hit.id);
                hits.truncate(query.k);
                hits.sort_by(Hit::rank);
                hits
            }
            "cuts_ties_at_random" => {
                let mut hits = all().await?;
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
                hits.truncate(query.k);
                hits.sort_by(Hit::rank);
                hits
            }
            "filters_after_the_cut" => {
                let mut unfiltered = *query;
                unfiltered.allowed = None;
                let mut hits = self.inner.search(&unfiltered).await?;
                hits.retain(|hit| allowed.is_none_or(|allowed| allowed.contains(&hit.id)));
                hits
            }
            "ignores_allowed" => {
                let mut unfiltered = *query;
                unfiltered.allowed = None;
                self.inner.search(&unfiltered).await?
            }
            "refuses_strangers" => {
                let known = |id: &EntryId| self.notes().vectors.contains_key(id);
                if allowed.is_some_and(|allowed| !allowed.iter().all(known)) {
                    return Err(Error::new(ErrorKind::NotFound, "no such entry"));
                }
                right().await?
            }
            "takes_few_allowed" if allowed.is_some_and(|allowed| allowed.len() > 32_766) => {
                return Err(Error::new(ErrorKind::Internal, "too many variables"));
            }
            "finds_nothing_malformed" if malformed => Vec::new(),
            "checks_after_the_filter" if allowed.is_some_and(<[_]>::is_empty) => Vec::new(),
            "panics_at_dimensions" => {
                assert_eq!(query.vector.len(), self.space.dimensions);
                right().await?
            }
            _ => right().await?,
        })
    }

    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let scores = self.inner.score(query, ids).await?;
        let known = |id: &EntryId| query.allowed.is_none_or(|allowed| allowed.contains(id));
        Ok(match self.fault.as_str() {
            "gives_distances" => scores
                .into_iter()
                .map(|score| score.map(|score| score - 1.0))
                .collect(),
            "scores_zero_for_strangers" => scores
                .into_iter()
                .map(|score| Some(score.unwrap_or(0.0)))
                .collect(),
            "scores_sorted" => {
                let mut sorted: Vec<_> = ids.iter().zip(scores).collect();
                sorted.sort_by_key(|(id, _)| **id);
                sorted.into_iter().map(|(_, score)| score).collect()
            }
            "scores_the_allowed" => ids
                .iter()
                .zip(scores)
                .map(|(id, score)| score.filter(|_| known(id)))
                .collect(),
            _ => scores,
        })
    }
}
