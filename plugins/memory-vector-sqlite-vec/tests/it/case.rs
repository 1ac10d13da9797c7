//! An index beside what it should answer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use memory_api::{
    Batch, EmbeddingSpace, EntryId, Factory, Fields, Hit, OpenContext, Plugin, Result, Seq,
    StoreId, VectorIndex, VectorOp, VectorQuery,
};
use serde_json::Value;
use tempfile::{TempDir, tempdir};

pub(crate) const STORE: StoreId = StoreId(7);
pub(crate) const DIMENSIONS: usize = 8;

pub(crate) fn space(dimensions: usize) -> EmbeddingSpace {
    EmbeddingSpace::new("test/model", dimensions)
}

pub(crate) fn open_in(
    plugin: &Plugin,
    dir: &Path,
    space: &EmbeddingSpace,
    read_only: bool,
) -> Result<Arc<dyn VectorIndex>> {
    let Factory::Vector(open) = plugin.factory else {
        panic!("not a vector plugin")
    };
    let context = OpenContext::new(&Value::Null)
        .with_dir(dir)
        .with_space(space)
        .with_read_only(read_only);
    block_on(open(context))
}

pub(crate) fn put(id: u128, vector: &[f32]) -> VectorOp {
    let fields = Fields::new("n", "memory", "notes/daily.md");
    VectorOp::Put(EntryId(id), vector.to_vec(), fields)
}

pub(crate) fn delete(id: u128) -> VectorOp {
    VectorOp::Delete(EntryId(id))
}

/// Vectors of numbers between -1 and 1, the same ones for a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn number(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        f32::from(u16::try_from(self.0 >> 48).unwrap()) / 32_768.0 - 1.0
    }

    pub(crate) fn vector(&mut self, dimensions: usize) -> Vec<f32> {
        (0..dimensions).map(|_| self.number()).collect()
    }
}

/// The cosine, by its definition.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    dot(a, b) / (dot(a, a).sqrt() * dot(b, b).sqrt())
}

pub(crate) struct Case {
    pub(crate) index: Arc<dyn VectorIndex>,
    pub(crate) model: BTreeMap<EntryId, Vec<f32>>,
    pub(crate) seq: u64,
    pub(crate) dir: TempDir,
    plugin: &'static Plugin,
    dimensions: usize,
}

impl Case {
    pub(crate) fn new(plugin: &'static Plugin, dimensions: usize) -> Self {
        let dir = tempdir().unwrap();
        Self {
            index: open_in(plugin, dir.path(), &space(dimensions), false).unwrap(),
            model: BTreeMap::new(),
            seq: 0,
            dir,
            plugin,
            dimensions,
        }
    }

    pub(crate) fn open(&self, read_only: bool) -> Arc<dyn VectorIndex> {
        let space = space(self.dimensions);
        open_in(self.plugin, self.dir.path(), &space, read_only).unwrap()
    }

    pub(crate) fn apply(&mut self, ops: Vec<VectorOp>) -> Batch<VectorOp> {
        let ops: Vec<_> = ops
            .into_iter()
            .map(|op| {
                self.seq += 1;
                match &op {
                    VectorOp::Put(id, vector, _) => {
                        self.model.insert(*id, vector.clone());
                    }
                    VectorOp::Delete(id) => {
                        self.model.remove(id);
                    }
                    _ => {}
                }
                (Seq(self.seq), op)
            })
            .collect();
        let batch = Batch::new(STORE, ops);
        block_on(self.index.apply(&batch)).unwrap();
        batch
    }

    /// Fills the index with `n` vectors under ids from 1 on, in an order that is not theirs.
    pub(crate) fn fill(&mut self, n: u128, random: &mut Random) {
        let dimensions = self.dimensions;
        let ops = (0..n)
            .map(|idx| put(1 + idx * 7 % n, &random.vector(dimensions)))
            .collect();
        self.apply(ops);
        assert_eq!(self.model.len(), usize::try_from(n).unwrap());
    }

    /// Compares a search with the model: the same scores, and where they differ by more than rounding, the same order.
    pub(crate) fn check(&self, query: &[f32], k: usize, allowed: Option<&[EntryId]>) {
        check(&*self.index, &self.model, query, k, allowed);
    }
}

/// Compares a search and the scores of an index with a model.
pub(crate) fn check(
    index: &dyn VectorIndex,
    model: &BTreeMap<EntryId, Vec<f32>>,
    query: &[f32],
    k: usize,
    allowed: Option<&[EntryId]>,
) {
    const NEAR: f64 = 1e-5;
    let mut expected: Vec<(EntryId, f64)> = model
        .iter()
        .filter(|(id, _)| allowed.is_none_or(|allowed| allowed.contains(id)))
        .map(|(id, vector)| (*id, cosine(query, vector)))
        .collect();
    expected.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
    expected.truncate(k);

    let mut question = VectorQuery::new(query, k);
    if let Some(allowed) = allowed {
        question = question.with_allowed(allowed);
    }
    let hits = block_on(index.search(&question)).unwrap();
    assert_eq!(hits.len(), expected.len());
    assert!(hits.is_sorted_by(|a, b| a.rank(b).is_lt()), "{hits:?}");
    for (Hit { id, score }, (_, expected)) in hits.iter().zip(&expected) {
        assert!((f64::from(*score) - expected).abs() < NEAR);
        assert!((cosine(query, &model[id]) - expected).abs() < NEAR);
        assert!(allowed.is_none_or(|allowed| allowed.contains(id)));
        assert!((-1.0..=1.0).contains(score));
    }
    let ids: Vec<_> = hits.iter().map(|hit| hit.id).collect();
    let scores: Vec<_> = hits.iter().map(|hit| Some(hit.score)).collect();
    assert_eq!(block_on(index.score(&question, &ids)).unwrap(), scores);
}
