//! Searches, on one state of the index.
//!
//! sqlite-vec answers in two ways. Its nearest-neighbour search walks through all vectors, blob by blob, for a `k` up to 4,096,
//! and cuts ties as they come. Its distance function takes one vector at a time, each a look-up, for any number of them. A cut
//! is made here, by score and id, among all that tie with the last.
//!
//! The file has no checksums, so what is returned is checked: a vector that came in had length 1, and both ways have to agree
//! on it.

use std::rc::Rc;

use memory_api::{EntryId, Hit, Result};
use memory_sqlite::projection::damaged;
use memory_sqlite::rusqlite::types::{ToSql, Value};
use memory_sqlite::rusqlite::{Connection, Row, params};
use memory_sqlite::sqlite_error;

use crate::schema::{State, id_of, row_of, vec0_error};

/// The largest `k` of sqlite-vec's nearest-neighbour search.
const MAX_K: usize = 4_096;

/// How many vectors a walk passes in the time of one look-up.
const LOOK_UP_COST: usize = 64;

/// More than scores that are equal can differ as distances, which are rounded more finely.
const ROUNDING: f64 = 1e-6;

/// How far a stored vector's length may be from 1. Rounding moves it by about 1e-7.
const TOLERANCE: f64 = 1e-3;

/// A row of the table of vectors and its distance.
type Measured = (i64, f64);

/// Returns the best `k` entries, of those allowed.
pub(crate) fn search(
    conn: &Connection,
    vector: &[u8],
    k: usize,
    allowed: Option<&[EntryId]>,
) -> Result<Vec<Hit>> {
    if k == 0 {
        return Ok(Vec::new());
    }
    let n_entries = State::read(conn)?.count()?;
    let rows = allowed.map(|allowed| rows_of(conn, allowed)).transpose()?;
    let found = match &rows {
        Some(rows) if rows.len().saturating_mul(LOOK_UP_COST) < n_entries => None,
        rows => nearest(conn, vector, k, rows.as_deref())?,
    };
    let Some(found) = found else {
        let rows = rows.map_or_else(|| all_rows(conn), Ok)?;
        let hits = best(conn, look_up(conn, vector, &rows)?, k)?;
        return Ok(ranked(hits, k));
    };
    let n_there = rows.map_or(n_entries, |rows| rows.len());
    if found.len() < k.min(n_there) || found.len() > n_there {
        let n_found = found.len();
        return Err(damaged(format!(
            "a search found {n_found} vectors where the index has {n_there}"
        )));
    }
    let mut hits = best(conn, found, k)?;
    // The walk looks at no vector's length, and takes their order for their rows.
    hits.sort_unstable_by_key(|(row, _)| *row);
    for (row, hit) in &hits {
        if to_score(distance(conn, vector, *row)?).to_bits() != hit.score.to_bits() {
            return Err(damaged("a vector of the index is not where it belongs"));
        }
    }
    Ok(ranked(hits, k))
}

/// Returns the score of each entry; `None` for one that is not here.
pub(crate) fn score(conn: &Connection, vector: &[u8], ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
    ids.iter()
        .map(|id| {
            let row = row_of(conn, *id)?;
            row.map(|row| distance(conn, vector, row).map(to_score))
                .transpose()
        })
        .collect()
}

/// Returns the rows of those entries that are here, as they lie in the file: neighbours are looked up ten times as fast.
fn rows_of(conn: &Connection, ids: &[EntryId]) -> Result<Vec<i64>> {
    let mut rows = Vec::new();
    for id in ids {
        rows.extend(row_of(conn, *id)?);
    }
    rows.sort_unstable();
    // Ids that the caller repeats.
    rows.dedup();
    Ok(rows)
}

/// Returns the `k` nearest rows and all that tie with the last of them; `None` when sqlite-vec cannot tell.
fn nearest(
    conn: &Connection,
    vector: &[u8],
    k: usize,
    rows: Option<&[i64]>,
) -> Result<Option<Vec<Measured>>> {
    if k >= MAX_K {
        return Ok(None);
    }
    // One more than wanted shows whether the last one ties.
    let found = neighbours(conn, vector, k + 1, None, rows)?;
    let mut farthest = found.iter().rev().map(|(_, distance)| *distance);
    let (Some(next), Some(last), true) = (farthest.next(), farthest.next(), found.len() > k) else {
        return Ok(Some(found));
    };
    if to_score(last) > to_score(next) {
        return Ok(Some(found));
    }
    let found = neighbours(conn, vector, MAX_K, Some(last + ROUNDING), rows)?;
    Ok((found.len() < MAX_K).then_some(found))
}

/// Returns the nearest rows by sqlite-vec's own search, the nearest first.
fn neighbours(
    conn: &Connection,
    vector: &[u8],
    k: usize,
    max_distance: Option<f64>,
    rows: Option<&[i64]>,
) -> Result<Vec<Measured>> {
    let k = i64::try_from(k).unwrap_or(i64::MAX);
    let mut sql = "SELECT rowid, distance FROM vectors WHERE vector MATCH ? AND k = ?".to_owned();
    let mut values: Vec<&dyn ToSql> = vec![&vector, &k];
    // A limit would leave out a vector without a distance, which is damage and has to be seen.
    if let Some(max_distance) = &max_distance {
        sql += " AND distance <= ?";
        values.push(max_distance);
    }
    let rows: Option<Rc<Vec<Value>>> =
        rows.map(|rows| Rc::new(rows.iter().copied().map(Value::from).collect()));
    if let Some(rows) = &rows {
        sql += " AND rowid IN (SELECT value FROM rarray(?))";
        values.push(rows);
    }
    conn.prepare_cached(&sql)
        .and_then(|mut select| select.query_map(values.as_slice(), measured)?.collect())
        .map_err(vec0_error)
}

fn measured(row: &Row<'_>) -> memory_sqlite::rusqlite::Result<Measured> {
    Ok((row.get(0)?, row.get(1)?))
}

fn all_rows(conn: &Connection) -> Result<Vec<i64>> {
    conn.prepare_cached("SELECT row FROM entries ORDER BY row")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .map_err(sqlite_error)
}

fn look_up(conn: &Connection, vector: &[u8], rows: &[i64]) -> Result<Vec<Measured>> {
    rows.iter()
        .map(|row| Ok((*row, distance(conn, vector, *row)?)))
        .collect()
}

/// Returns the distance of a row, whose vector has to be as it was written. Both numbers are taken of one copy of it, which the
/// limit makes SQLite hold.
fn distance(conn: &Connection, vector: &[u8], row: i64) -> Result<f64> {
    let origin = vec![0_u8; vector.len()];
    let (distance, length): (f64, f64) = conn
        .prepare_cached(
            "SELECT vec_distance_cosine(vector, ?1), vec_distance_l2(vector, ?2)
             FROM (SELECT vector FROM vectors WHERE rowid = ?3 LIMIT 1)",
        )
        .and_then(|mut select| {
            select.query_row(params![vector, origin, row], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
        })
        .map_err(vec0_error)?;
    if (length - 1.0).abs() > TOLERANCE {
        return Err(damaged("a vector of the index is damaged"));
    }
    Ok(distance)
}

/// Returns the best `k` of these rows with their hits, and those that tie with the last of them.
fn best(conn: &Connection, found: Vec<Measured>, k: usize) -> Result<Vec<(i64, Hit)>> {
    let mut scored: Vec<(i64, f32)> = found
        .into_iter()
        .map(|(row, distance)| (row, to_score(distance)))
        .collect();
    if k < scored.len() {
        let (_, (_, worst), _) =
            scored.select_nth_unstable_by(k - 1, |(_, a), (_, b)| b.total_cmp(a));
        let worst = *worst;
        scored.retain(|(_, score)| *score >= worst);
    }
    scored
        .into_iter()
        .map(|(row, score)| {
            let id = id_of(conn, row)?;
            Ok((row, Hit { id, score }))
        })
        .collect()
}

fn ranked(hits: Vec<(i64, Hit)>, k: usize) -> Vec<Hit> {
    let mut hits: Vec<_> = hits.into_iter().map(|(_, hit)| hit).collect();
    hits.sort_unstable_by(Hit::rank);
    hits.truncate(k);
    hits
}

/// Returns the cosine of a distance, which rounding can take beyond the ends.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the contract wants f32, and rounding keeps the order"
)]
fn to_score(distance: f64) -> f32 {
    (1.0 - distance).clamp(-1.0, 1.0) as f32
}
