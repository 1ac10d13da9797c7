//! The scan that indexes are held against: all vectors in memory, one loop, the best ones in a heap. It uses the instructions the
//! machine has, as whoever writes such a loop for speed would.

use std::collections::BinaryHeap;

use memory_api::{EntryId, Hit};
use pulp::{Arch, Simd, WithSimd};

/// Unit vectors by the number of their entry.
pub(crate) struct PlainScan<'a> {
    pub(crate) dimensions: usize,
    pub(crate) vectors: &'a [f32],
}

/// Sums side by side; wide enough for the registers of every machine.
const LANES: usize = 32;

impl PlainScan<'_> {
    /// Returns the entries whose vectors are closest, best first.
    pub(crate) fn search(&self, query: &[f32], k: usize) -> Vec<Hit> {
        Arch::new().dispatch(Scan {
            matrix: self,
            query,
            k,
        })
    }
}

/// The name of a vector's entry.
pub(crate) fn id(position: usize) -> EntryId {
    EntryId(position as u128 + 1)
}

struct Scan<'a> {
    matrix: &'a PlainScan<'a>,
    query: &'a [f32],
    k: usize,
}

impl WithSimd for Scan<'_> {
    type Output = Vec<Hit>;

    #[expect(
        clippy::inline_always,
        reason = "instructions chosen at run time reach only what is inlined"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<Hit> {
        let mut best = BinaryHeap::with_capacity(self.k + 1);
        let rows = self.matrix.vectors.chunks_exact(self.matrix.dimensions);
        for (position, row) in rows.enumerate() {
            let hit = Ranked(Hit {
                id: id(position),
                score: dot(row, self.query),
            });
            if best.len() < self.k {
                best.push(hit);
            } else if best.peek().is_some_and(|worst| hit < *worst) {
                best.pop();
                best.push(hit);
            }
        }
        best.into_sorted_vec()
            .into_iter()
            .map(|Ranked(hit)| hit)
            .collect()
    }
}

#[expect(
    clippy::inline_always,
    reason = "instructions chosen at run time reach only what is inlined"
)]
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
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

#[cfg(test)]
mod tests {
    use super::{PlainScan, id};

    #[test]
    fn the_closest_come_first_and_ties_by_id() {
        // Longer than one block of sums, so that the rest counts as well.
        let dimensions = 33;
        let row = |first: f32, last: f32| {
            let mut row = vec![0.0; dimensions];
            (row[0], row[dimensions - 1]) = (first, last);
            row
        };
        let vectors = [
            row(0.0, 0.1),
            row(0.6, 0.8),
            row(1.0, 0.0),
            row(0.6, 0.8),
            row(0.0, 1.0),
        ]
        .concat();
        let scan = PlainScan {
            dimensions,
            vectors: &vectors,
        };
        let hits = scan.search(&row(0.0, 1.0), 3);
        let ids: Vec<_> = hits.iter().map(|hit| hit.id).collect();
        assert_eq!(ids, [id(4), id(1), id(3)]);
        assert_eq!(scan.search(&row(0.0, 1.0), 9).len(), 5);
    }
}
