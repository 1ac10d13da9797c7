//! The indexes by meaning, held against a plain scan in memory.

use std::sync::Arc;

use futures::executor::block_on;
use memory_api::{
    Batch, EmbeddingSpace, Fields, Hit, Seq, StoreId, VectorIndex, VectorOp, VectorQuery,
};
use tempfile::TempDir;

use crate::plain::{PlainScan, id};
use crate::report::{Aim, Report, millis};
use crate::sample::{median, paired_ratio};
use crate::watch::seconds;
use crate::{Result, open};

const DIMENSIONS: usize = 384;
/// The hits a search for six results wants of an index.
const K: usize = 24;
/// As a sync feeds an index.
const BATCH: usize = 1_000;
/// Openings of each index.
const N_OPENINGS: usize = 3;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// One in a thousand may be lost, where two scores are equal but for rounding.
const MISSES: Aim = Aim::AtMost(0.001);

/// How many vectors, as they are named, how often they are searched, and what is wanted of each index.
struct Size {
    n: usize,
    name: &'static str,
    n_queries: usize,
    aims: [(&'static str, Aim); 2],
}

const SIZES: &[Size] = &[
    Size {
        n: 10_000,
        name: "10,000",
        n_queries: 51,
        aims: [("flat", Aim::AtMost(1.3)), ("sqlite-vec", Aim::AtMost(7.0))],
    },
    Size {
        n: 100_000,
        name: "100,000",
        n_queries: 21,
        aims: [("flat", Aim::AtMost(1.3)), ("sqlite-vec", Aim::AtMost(5.0))],
    },
];

/// An index that was filled, and what was measured of it.
struct Filled {
    name: &'static str,
    aim: Aim,
    dir: TempDir,
    index: Arc<dyn VectorIndex>,
    warm: Vec<f64>,
    cold: Vec<f64>,
    n_missed: usize,
}

pub(crate) fn run() -> Result<Report> {
    let mut report = Report::default();
    for size in SIZES {
        measure(size, &mut report)?;
    }
    Ok(report)
}

fn measure(size: &Size, report: &mut Report) -> Result<()> {
    let mut random = Random(SEED);
    let vectors: Vec<f32> = (0..size.n).flat_map(|_| random.unit()).collect();
    let queries: Vec<Vec<f32>> = (0..size.n_queries).map(|_| random.unit()).collect();
    let space = EmbeddingSpace::new("seeded unit vectors", DIMENSIONS);
    let scan = PlainScan {
        dimensions: DIMENSIONS,
        vectors: &vectors,
    };
    let mut indexes = Vec::new();
    for (name, aim) in size.aims {
        let (index, took) = fill(name, aim, &vectors, &space)?;
        report.figure(
            format!("{}: fill {name}", size.name),
            format!("{took:.1} s"),
        );
        indexes.push(index);
    }
    // Once each before it counts: what is read into memory at the first search is there then.
    let first = queries.first().ok_or("no query")?;
    scan.search(first, K);
    for filled in &indexes {
        search(&*filled.index, first)?;
    }
    let mut plain = Vec::new();
    for query in &queries {
        let mut nearest = Vec::new();
        plain.push(seconds(|| {
            nearest = scan.search(query, K);
            Ok(())
        })?);
        for filled in &mut indexes {
            let mut hits = Vec::new();
            filled.warm.push(seconds(|| {
                hits = search(&*filled.index, query)?;
                Ok(())
            })?);
            filled.n_missed += n_missed(&nearest, &hits);
        }
    }
    for query in queries.iter().take(N_OPENINGS) {
        for filled in &mut indexes {
            block_on(filled.index.close())?;
            let dir = filled.dir.path();
            let took = seconds(|| {
                filled.index = open::vector_index(filled.name, dir, &space, false)?;
                search(&*filled.index, query)
            })?;
            filled.cold.push(took);
        }
    }
    report.times(format!("{}: plain scan", size.name), &plain);
    for filled in &indexes {
        let Filled {
            name, warm, cold, ..
        } = filled;
        report.times(format!("{}: {name}, warm", size.name), warm);
        report.figure(
            format!("{}: {name}, opening and first search", size.name),
            millis(median(cold)),
        );
    }
    for filled in &indexes {
        let name = filled.name;
        report.ratio(
            format!("index: {name} / plain scan, {}", size.name),
            paired_ratio(&filled.warm, &plain),
            filled.aim,
        );
        report.ratio(
            format!("index: {name}, nearest ids it misses / all, {}", size.name),
            filled.n_missed as f64 / (K * queries.len()) as f64,
            MISSES,
        );
        block_on(filled.index.close())?;
    }
    Ok(())
}

/// Fills an index in a temporary folder, and says in how many seconds.
fn fill(
    name: &'static str,
    aim: Aim,
    vectors: &[f32],
    space: &EmbeddingSpace,
) -> Result<(Filled, f64)> {
    let dir = tempfile::tempdir()?;
    let index = open::vector_index(name, dir.path(), space, false)?;
    let fields = Fields::new("bench", "memory", "memory/seeded.md");
    let took = seconds(|| {
        let rows: Vec<&[f32]> = vectors.chunks_exact(DIMENSIONS).collect();
        for (batch, rows) in rows.chunks(BATCH).enumerate() {
            let ops = rows.iter().enumerate().map(|(row, vector)| {
                let position = batch * BATCH + row;
                let put = VectorOp::Put(id(position), vector.to_vec(), fields.clone());
                (Seq(position as u64 + 1), put)
            });
            block_on(index.apply(&Batch::new(StoreId(1), ops.collect())))?;
        }
        Ok(block_on(index.flush())?)
    })?;
    let filled = Filled {
        name,
        aim,
        dir,
        index,
        warm: Vec::new(),
        cold: Vec::new(),
        n_missed: 0,
    };
    Ok((filled, took))
}

fn search(index: &dyn VectorIndex, query: &[f32]) -> Result<Vec<Hit>> {
    Ok(block_on(index.search(&VectorQuery::new(query, K)))?)
}

/// Counts the hits of the first list that are not in the second.
fn n_missed(nearest: &[Hit], hits: &[Hit]) -> usize {
    nearest
        .iter()
        .filter(|near| !hits.iter().any(|hit| hit.id == near.id))
        .count()
}

/// The same vectors every time (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 48;
        f32::from(u16::try_from(bits).unwrap_or(0)) / 32_768.0 - 1.0
    }

    fn unit(&mut self) -> Vec<f32> {
        let numbers: Vec<f32> = (0..DIMENSIONS).map(|_| self.next()).collect();
        let length = numbers
            .iter()
            .map(|number| number * number)
            .sum::<f32>()
            .sqrt();
        numbers.iter().map(|number| number / length).collect()
    }
}

#[cfg(test)]
mod tests {
    use memory_api::Hit;

    use super::{Random, n_missed};
    use crate::plain::id;

    #[test]
    fn seeded_vectors_have_length_1_and_differ() {
        let mut random = Random(7);
        let (a, b) = (random.unit(), random.unit());
        let dot = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        assert!((dot(&a, &a) - 1.0).abs() < 1e-5);
        assert!(dot(&a, &b).abs() < 0.3);
        assert_eq!(Random(7).unit(), a);
    }

    #[test]
    fn what_an_index_misses_is_counted_whatever_the_order() {
        let hits = |positions: &[usize]| -> Vec<Hit> {
            let hit = |position: &usize| Hit {
                id: id(*position),
                score: 0.0,
            };
            positions.iter().map(hit).collect()
        };
        assert_eq!(n_missed(&hits(&[1, 2, 3]), &hits(&[3, 1, 2])), 0);
        assert_eq!(n_missed(&hits(&[1, 2, 3]), &hits(&[3, 4, 5])), 2);
        assert_eq!(n_missed(&hits(&[1]), &[]), 1);
    }
}
