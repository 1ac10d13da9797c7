//! Dot products and the best of them.

use std::collections::BinaryHeap;

use memory_api::{EntryId, Hit};
use pulp::{Arch, Simd, WithSimd};

/// Writes the dot product of each row with the query. A row's product depends on nothing else, bit by bit.
pub(crate) fn dots(rows: &[f32], query: &[f32], out: &mut [f32]) {
    Arch::new().dispatch(Dots { rows, query, out });
}

/// Returns one dot product, the same bits as [`dots`] gives.
pub(crate) fn dot(row: &[f32], query: &[f32]) -> f32 {
    let mut out = [0.0];
    dots(row, query, &mut out);
    let [product] = out;
    product
}

/// Returns the cosine of two unit vectors from their dot product, which rounding can take beyond the ends.
pub(crate) fn to_score(dot: f32) -> f32 {
    // A zero has a sign, and the order of floats would see it.
    dot.clamp(-1.0, 1.0) + 0.0
}

struct Dots<'a> {
    rows: &'a [f32],
    query: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Dots<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "instructions chosen at run time reach only what is inlined"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (row, out) in self
            .rows
            .chunks_exact(self.query.len())
            .zip(self.out.iter_mut())
        {
            *out = simd_dot(simd, row, self.query);
        }
    }
}

/// Four sums side by side hide the time that one addition takes, and keep the error small.
#[expect(
    clippy::inline_always,
    reason = "instructions chosen at run time reach only what is inlined"
)]
#[inline(always)]
fn simd_dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = S::as_simd_f32s(a);
    let (b, b_rest) = S::as_simd_f32s(b);
    let (a_fours, a_ones) = a.as_chunks::<4>();
    let (b_fours, b_ones) = b.as_chunks::<4>();
    let zero = simd.splat_f32s(0.0);
    let [mut s0, mut s1, mut s2, mut s3] = [zero; 4];
    for ([a0, a1, a2, a3], [b0, b1, b2, b3]) in a_fours.iter().zip(b_fours) {
        s0 = simd.mul_add_f32s(*a0, *b0, s0);
        s1 = simd.mul_add_f32s(*a1, *b1, s1);
        s2 = simd.mul_add_f32s(*a2, *b2, s2);
        s3 = simd.mul_add_f32s(*a3, *b3, s3);
    }
    for (a, b) in a_ones.iter().zip(b_ones) {
        s0 = simd.mul_add_f32s(*a, *b, s0);
    }
    let sum = simd.add_f32s(simd.add_f32s(s0, s1), simd.add_f32s(s2, s3));
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    simd.reduce_sum_f32s(sum) + rest
}

/// The best `k` hits of those offered.
pub(crate) struct Best {
    k: usize,
    heap: BinaryHeap<Ranked>,
}

impl Best {
    /// Keeps `k` of `n_offers` hits.
    pub(crate) fn new(k: usize, n_offers: usize) -> Self {
        Self {
            k,
            heap: BinaryHeap::with_capacity(k.min(n_offers)),
        }
    }

    /// Takes a hit that is among the best so far and allowed. Whether it is allowed is asked last, of few.
    pub(crate) fn offer(&mut self, id: EntryId, dot: f32, is_allowed: impl Fn(EntryId) -> bool) {
        let hit = Ranked(Hit {
            id,
            score: to_score(dot),
        });
        if self.heap.len() < self.k {
            if is_allowed(id) {
                self.heap.push(hit);
            }
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit < *worst
            && is_allowed(id)
        {
            *worst = hit;
        }
    }

    /// Returns them, the best first.
    pub(crate) fn into_hits(self) -> Vec<Hit> {
        let ranked = self.heap.into_sorted_vec();
        ranked.into_iter().map(|Ranked(hit)| hit).collect()
    }
}

/// A hit in the order of results, so that the greatest is the worst.
struct Ranked(Hit);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.rank(&other.0)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
