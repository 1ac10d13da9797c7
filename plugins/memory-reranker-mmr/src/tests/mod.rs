mod config;
mod field_reports;
mod mmr;
mod reference_facts;
mod reranker;

use futures::executor::block_on;
use memory_api::{Candidate, EntryId, Reranker};

use crate::{Config, MmrReranker};

/// Returns the places of the texts after reranking.
fn rerank(lambda: f64, candidates: &[(f32, &str)]) -> Vec<usize> {
    let reranker: &dyn Reranker = &MmrReranker::new(Config { lambda });
    let candidates: Vec<Candidate<'_>> = candidates
        .iter()
        .zip(1..)
        .map(|((score, text), id)| Candidate::new(EntryId(id), text, *score))
        .collect();
    let ranked = block_on(reranker.rerank("question", &candidates)).unwrap();
    assert!(ranked.iter().all(|ranked| ranked.score.is_none()));
    ranked.iter().map(|ranked| ranked.index).collect()
}
