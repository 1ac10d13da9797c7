//! A fixed library of vectors, and brute force over it in f64.

use std::sync::Arc;

use memory_api::{
    Capability, EmbeddingSpace, EntryId, Hit, Limits, Seq, StoreId, VectorIndex, VectorOp,
    VectorQuery,
};

use crate::dice::Dice;
use crate::failure::ensure;
use crate::index::{batches, check_ranked, entry_id, fields};
use crate::subject::Home;
use crate::{Failure, Outcome, Subject};

/// Numbers per vector.
pub(super) const DIMENSIONS: usize = 32;
/// How far a score may be from the one that is computed in f64.
pub(super) const TOLERANCE: f64 = 1e-5;
/// The store of every batch here.
pub(super) const STORE: StoreId = StoreId(1);
/// What an index takes from one batch of the engine.
const MAX_OPS: usize = 1000;

pub(super) fn space() -> EmbeddingSpace {
    EmbeddingSpace::new("conformance/library", DIMENSIONS)
}

/// An open index that holds the library.
pub(super) struct Library<'a> {
    pub(super) index: Arc<dyn VectorIndex>,
    /// Keeps the folder for as long as the index.
    _home: Home<'a>,
    limits: Limits,
    is_exact: bool,
    entries: Vec<(EntryId, Vec<f32>)>,
}

impl<'a> Library<'a> {
    /// Opens an index with so many entries at random places, near to some of a few centres.
    pub(super) async fn open(subject: &'a Subject, n_entries: u16) -> Outcome<Self> {
        let mut dice = Dice(1);
        let centres: Vec<_> = (0..20).map(|_| roll_vector(&mut dice)).collect();
        let entries = (0..n_entries)
            .zip(centres.iter().cycle())
            .map(|(n, centre)| (entry_id(n), near(&mut dice, centre)))
            .collect();
        Self::of(subject, &space(), entries).await
    }

    pub(super) async fn of(
        subject: &'a Subject,
        space: &EmbeddingSpace,
        entries: Vec<(EntryId, Vec<f32>)>,
    ) -> Outcome<Self> {
        // Every third entry is put once more at the end, and one in ten was elsewhere before: the scores have to come from what
        // is there, not from what was.
        let former = entries
            .iter()
            .step_by(10)
            .map(|(id, _)| put(*id, axis(space.dimensions, 0)));
        let again = entries.iter().step_by(3);
        let passing = Self::deleted_id();
        let ops = former
            .chain([put(passing, axis(space.dimensions, 1))])
            .chain(
                entries
                    .iter()
                    .chain(again)
                    .map(|(id, vector)| put(*id, vector.clone())),
            )
            .chain([VectorOp::Delete(passing)])
            .collect();
        let home = subject.home()?;
        let index = home.open_vector(space).await?;
        let limits = subject.plugin().limits;
        feed(&*index, limits, ops).await?;
        Ok(Self {
            is_exact: index.capabilities().has(Capability::ExactSearch),
            index,
            _home: home,
            limits,
            entries,
        })
    }

    /// An entry that was there.
    pub(super) fn deleted_id() -> EntryId {
        entry_id(u16::MAX)
    }

    pub(super) fn entries(&self) -> &[(EntryId, Vec<f32>)] {
        &self.entries
    }

    /// Returns every id, in no order.
    pub(super) fn ids(&self) -> Vec<EntryId> {
        self.entries.iter().map(|(id, _)| *id).collect()
    }

    /// Returns these numbers of hits, as far as the index may be asked for so many, and one for all where that is possible.
    pub(super) fn cuts(&self, cuts: &[usize]) -> Vec<usize> {
        let beyond = self.entries.len() + 7;
        let mut cuts: Vec<_> = cuts
            .iter()
            .chain([&beyond])
            .map(|k| k_within(self.limits, *k))
            .collect();
        cuts.dedup();
        cuts
    }

    /// Returns every entry with its similarity, the closest first, ties by ascending id.
    pub(super) fn nearest(&self, vector: &[f32]) -> Vec<(EntryId, f64)> {
        let mut all: Vec<_> = self
            .entries
            .iter()
            .map(|(id, other)| (*id, cosine(vector, other)))
            .collect();
        all.sort_by(|(id, score), (other, than)| than.total_cmp(score).then(id.cmp(other)));
        all
    }

    pub(super) async fn search(&self, vector: &[f32], k: usize) -> Outcome<Vec<Hit>> {
        let hits = self.index.search(&VectorQuery::new(vector, k)).await?;
        check_ranked(&hits, k)?;
        Ok(hits)
    }

    /// Checks the hits of a search that may return these entries, the closest first.
    pub(super) fn check(&self, hits: &[Hit], nearest: &[(EntryId, f64)], k: usize) -> Outcome {
        check_ranked(hits, k)?;
        ensure!(
            hits.len() == nearest.len().min(k),
            "{} hits of {} entries for k = {k}",
            hits.len(),
            nearest.len()
        );
        for (hit, (_, best)) in hits.iter().zip(nearest) {
            let Some((_, score)) = nearest.iter().find(|(id, _)| *id == hit.id) else {
                return Err(Failure::new(format!(
                    "entry {} is found, which is not there or not allowed",
                    hit.id
                )));
            };
            ensure!(
                (f64::from(hit.score) - score).abs() <= TOLERANCE,
                "hit {} has the score {} instead of {score}",
                hit.id,
                hit.score
            );
            ensure!(
                !self.is_exact || (score - best).abs() <= TOLERANCE,
                "hit {} with {score} is found where brute force finds {best}",
                hit.id
            );
        }
        Ok(())
    }
}

/// Puts changes into a new index.
pub(super) async fn feed(index: &dyn VectorIndex, limits: Limits, ops: Vec<VectorOp>) -> Outcome {
    let max_ops = limits.max_ops.map_or(MAX_OPS, |max| max.min(MAX_OPS));
    let ops = (1..).map(Seq).zip(ops).collect();
    for batch in batches(STORE, ops, limits.with_max_ops(max_ops)) {
        index.apply(&batch).await?;
    }
    Ok(index.flush().await?)
}

pub(super) fn put(id: EntryId, vector: Vec<f32>) -> VectorOp {
    VectorOp::Put(id, vector, fields(0))
}

/// Returns as many hits as the index may be asked for, at most `k`.
pub(super) fn k_within(limits: Limits, k: usize) -> usize {
    limits.max_k.map_or(k, |max| k.min(max))
}

/// Returns the unit vector along an axis.
pub(super) fn axis(dimensions: usize, n: usize) -> Vec<f32> {
    (0..dimensions).map(|m| f32::from(m == n)).collect()
}

pub(super) fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |left: &[f32], right: &[f32]| -> f64 {
        left.iter()
            .zip(right)
            .map(|(left, right)| f64::from(*left) * f64::from(*right))
            .sum()
    };
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

pub(super) fn scaled(vector: &[f32], factor: f32) -> Vec<f32> {
    vector.iter().map(|number| number * factor).collect()
}

/// Returns questions, half of them near to entries.
pub(super) fn questions(library: &Library<'_>, n_questions: usize) -> Vec<Vec<f32>> {
    let mut dice = Dice(7);
    let step = (library.entries.len() / n_questions).max(1);
    library
        .entries
        .iter()
        .step_by(step)
        .take(n_questions)
        .enumerate()
        .map(|(n, (_, vector))| {
            if n.is_multiple_of(2) {
                near(&mut dice, vector)
            } else {
                roll_vector(&mut dice)
            }
        })
        .collect()
}

/// Returns a unit vector in a random direction.
pub(super) fn roll_vector(dice: &mut Dice) -> Vec<f32> {
    // A sum of several dice is nearly a bell, so no direction is preferred.
    let numbers: Vec<f32> = (0..DIMENSIONS)
        .map(|_| (0..6).map(|_| roll_number(dice)).sum())
        .collect();
    unit(&numbers)
}

fn near(dice: &mut Dice, centre: &[f32]) -> Vec<f32> {
    let noise = roll_vector(dice);
    let numbers: Vec<_> = centre
        .iter()
        .zip(noise)
        .map(|(centre, noise)| centre + noise)
        .collect();
    unit(&numbers)
}

/// From −1 to 1.
fn roll_number(dice: &mut Dice) -> f32 {
    const SIDES: u64 = 2001;
    dice.roll(SIDES) as f32 / 1000.0 - 1.0
}

fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>();
    scaled(vector, 1.0 / length.sqrt())
}
