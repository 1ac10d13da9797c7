//! Searches, on one state of the index.
//!
//! A query runs once: one pass over the rows that match gives all scores, which the plan keeps. Filters, further pages and the
//! scores of entries that another index found are look-ups in them. FTS5 could jump to single rows instead, but walks through
//! most of the postings to get there, for every row again.

use std::sync::Arc;

use memory_api::{EntryId, Hit, Result};
use memory_sqlite::fts5::Argument;
use memory_sqlite::rusqlite::Connection;
use memory_sqlite::sqlite_error;

use crate::bm25::Ranker;
use crate::plan::Plan;
use crate::schema::{id_of, row_of};

/// A row that matches and its score.
pub(crate) type Scored = (i64, f32);

/// Returns the best `k` entries, of those allowed.
pub(crate) fn search(
    conn: &Connection,
    plan: &Arc<Plan>,
    heading_weight: f64,
    allowed: Option<&[EntryId]>,
    k: usize,
) -> Result<Vec<Hit>> {
    if k == 0 {
        return Ok(Vec::new());
    }
    let all = scores(conn, plan, heading_weight)?;
    let mut best: Vec<Scored> = match allowed {
        None => all.to_vec(),
        Some(ids) => {
            let mut allowed = Vec::new();
            for id in ids {
                if let Some(row) = row_of(conn, *id)?
                    && let Some(score) = score_of(all, row)
                {
                    allowed.push((row, score));
                }
            }
            allowed
        }
    };
    // Ids are looked up for the best rows alone, and for those that tie with the last of them.
    if k < best.len() {
        let (_, (_, worst), _) =
            best.select_nth_unstable_by(k - 1, |(_, a), (_, b)| b.total_cmp(a));
        let worst = *worst;
        best.retain(|(_, score)| *score >= worst);
    }
    let mut hits = best
        .into_iter()
        .map(|(row, score)| {
            Ok(Hit {
                id: id_of(conn, row)?,
                score,
            })
        })
        .collect::<Result<Vec<_>>>()?;
    hits.sort_unstable_by(Hit::rank);
    // Ids that the caller repeats.
    hits.dedup_by_key(|hit| hit.id);
    hits.truncate(k);
    Ok(hits)
}

/// Returns the score of each entry; `None` for one that is not here.
pub(crate) fn score(
    conn: &Connection,
    plan: &Arc<Plan>,
    heading_weight: f64,
    ids: &[EntryId],
) -> Result<Vec<Option<f32>>> {
    let all = scores(conn, plan, heading_weight)?;
    ids.iter()
        .map(|id| {
            let row = row_of(conn, *id)?;
            Ok(row.map(|row| score_of(all, row).unwrap_or(0.0)))
        })
        .collect()
}

fn score_of(all: &[Scored], row: i64) -> Option<f32> {
    let idx = all.binary_search_by_key(&row, |(row, _)| *row).ok()?;
    all.get(idx).map(|(_, score)| *score)
}

/// Returns all rows that match, by ascending row.
fn scores<'a>(conn: &Connection, plan: &'a Arc<Plan>, heading_weight: f64) -> Result<&'a [Scored]> {
    if let Some(known) = plan.scores.get() {
        return Ok(known);
    }
    let found = scan(conn, plan, heading_weight)?;
    // Another thread may have been faster; it found the same.
    Ok(plan.scores.get_or_init(|| found))
}

fn scan(conn: &Connection, plan: &Arc<Plan>, heading_weight: f64) -> Result<Vec<Scored>> {
    let Some(expression) = &plan.expression else {
        return Ok(Vec::new());
    };
    let argument = Argument::new(Ranker::new(Arc::clone(plan), heading_weight));
    // FTS5 gives rows in this order by itself; saying so costs nothing.
    let mut select = conn
        .prepare_cached(
            "SELECT rowid, memory_score(entries, ?1) FROM entries WHERE entries MATCH ?2 ORDER BY rowid",
        )
        .map_err(sqlite_error)?;
    let rows = select
        .query_map((&argument, expression), |row| {
            Ok((row.get(0)?, to_f32(row.get(1)?)))
        })
        .map_err(sqlite_error)?;
    rows.collect::<Result<_, _>>().map_err(sqlite_error)
}

/// Rounding keeps the order, so a score stays at most the bound rounded likewise.
#[expect(
    clippy::cast_possible_truncation,
    reason = "scores are a few hundred at most; the contract wants f32"
)]
pub(crate) fn to_f32(score: f64) -> f32 {
    score as f32
}
