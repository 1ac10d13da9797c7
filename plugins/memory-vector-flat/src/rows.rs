//! The vectors in memory.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memory_api::{EntryId, Error, ErrorKind, Hit, Result, Seq};
use memory_sqlite::projection::damaged;
use memory_sqlite::rusqlite::Connection;
use memory_sqlite::sqlite_error;

use crate::scan::{Best, dot, dots, to_score};
use crate::schema::State;
use crate::vector::from_bytes;

/// How far a stored vector's squared length may be from 1. Rounding moves it by about 1e-7.
const TOLERANCE: f32 = 1e-3;

/// How many rows are multiplied at a time.
const BLOCK: usize = 512;

/// The vectors of an index, shared by its readers.
#[derive(Debug)]
pub(crate) struct SharedRows(RwLock<Rows>);

impl SharedRows {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self(RwLock::new(Rows::new(dimensions)))
    }

    /// Returns rows that are not older than the database as `conn` sees it.
    pub(crate) fn current(&self, conn: &Connection) -> Result<RwLockReadGuard<'_, Rows>> {
        let state = State::read(conn)?;
        let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if rows.seq >= Some(state.seq()) {
            return Ok(rows);
        }
        drop(rows);
        let mut rows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another reader may have been faster, and may see more than this one.
        if rows.seq < Some(state.seq())
            && let Err(err) = rows.catch_up(conn, &state)
        {
            *rows = Rows::new(rows.dimensions);
            return Err(err);
        }
        Ok(RwLockWriteGuard::downgrade(rows))
    }

    /// Gives the memory back.
    pub(crate) fn clear(&self) {
        let mut rows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *rows = Rows::new(rows.dimensions);
    }
}

/// One matrix, the entry of each of its rows, and how far they follow the database. New rows begin empty, at the beginning of
/// every store.
#[derive(Debug)]
pub(crate) struct Rows {
    dimensions: usize,
    /// Every change up to this one is in here; `None` before the first look at the database.
    seq: Option<Seq>,
    /// Every row of the database up to this one that still exists is in here.
    last_row: i64,
    ids: Vec<EntryId>,
    places: HashMap<EntryId, usize>,
    matrix: Vec<f32>,
}

impl Rows {
    fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            seq: None,
            last_row: 0,
            ids: Vec::new(),
            places: HashMap::new(),
            matrix: Vec::new(),
        }
    }

    /// Returns the best `k` of all entries.
    pub(crate) fn search(&self, query: &[f32], k: usize) -> Vec<Hit> {
        self.scan(query, k, |_| true)
    }

    /// Returns the best `k` of these entries, which ascend.
    pub(crate) fn search_among(&self, query: &[f32], k: usize, allowed: &[EntryId]) -> Vec<Hit> {
        if allowed.len() > self.ids.len() / 2 {
            return self.scan(query, k, |id| allowed.binary_search(&id).is_ok());
        }
        let mut best = Best::new(k, allowed.len());
        let mut previous = None;
        for id in allowed {
            // An id that the caller repeats is one entry.
            if previous.replace(id) != Some(id)
                && let Some(row) = self.row(*id)
            {
                best.offer(*id, dot(row, query), |_| true);
            }
        }
        best.into_hits()
    }

    /// Goes through all rows in the order of memory, which takes about half the time of looking them all up.
    fn scan(&self, query: &[f32], k: usize, is_allowed: impl Fn(EntryId) -> bool) -> Vec<Hit> {
        let mut best = Best::new(k, self.ids.len());
        let mut products = [0.0; BLOCK];
        let blocks = self.matrix.chunks(BLOCK * self.dimensions);
        for (ids, rows) in self.ids.chunks(BLOCK).zip(blocks) {
            dots(rows, query, &mut products);
            for (id, product) in ids.iter().zip(&products) {
                best.offer(*id, *product, &is_allowed);
            }
        }
        best.into_hits()
    }

    /// Returns the score of an entry; `None` for one that is not here.
    pub(crate) fn score(&self, query: &[f32], id: EntryId) -> Option<f32> {
        Some(to_score(dot(self.row(id)?, query)))
    }

    fn row(&self, id: EntryId) -> Option<&[f32]> {
        let start = self.places.get(&id)? * self.dimensions;
        self.matrix.get(start..start + self.dimensions)
    }

    /// Reads what is new in the database, then drops what is gone from it.
    fn catch_up(&mut self, conn: &Connection, state: &State) -> Result<()> {
        let n_entries = usize::try_from(state.n_entries)
            .map_err(|_| damaged("the index has lost the number of its entries"))?;
        self.reserve(n_entries.saturating_sub(self.ids.len()))?;
        let mut select = conn
            .prepare_cached("SELECT row, id, vector FROM vectors WHERE row > ?1 ORDER BY row")
            .map_err(sqlite_error)?;
        let mut rows = select.query([self.last_row]).map_err(sqlite_error)?;
        while let Some(row) = rows.next().map_err(sqlite_error)? {
            let id = row.get(1).map_err(sqlite_error)?;
            let vector = row
                .get_ref(2)
                .and_then(|value| value.as_blob().map_err(Into::into))
                .map_err(sqlite_error)?;
            self.put(EntryId::from_bytes(id), vector)?;
            self.last_row = row.get(0).map_err(sqlite_error)?;
        }
        // All that exists is in here by now, so a difference is made of deleted entries.
        if self.ids.len() != n_entries {
            self.drop_deleted(conn)?;
        }
        if self.ids.len() != n_entries {
            let message = format!(
                "the index has {} vectors where it counted {n_entries}",
                self.ids.len()
            );
            return Err(damaged(message));
        }
        self.seq = Some(state.seq());
        Ok(())
    }

    /// Makes room for so many rows and no more: what a vector takes for its growth would be a second matrix.
    fn reserve(&mut self, n_rows: usize) -> Result<()> {
        let n_numbers = n_rows.saturating_mul(self.dimensions);
        self.matrix.try_reserve_exact(n_numbers).map_err(|err| {
            Error::new(ErrorKind::Unavailable, "there is no memory for the vectors")
                .with_hint("use a vector index that searches on disk")
                .with_source(err)
        })
    }

    fn put(&mut self, id: EntryId, vector: &[u8]) -> Result<()> {
        if vector.len() != self.dimensions * size_of::<f32>() {
            return Err(damaged(format!("the vector of entry {id} is cut")));
        }
        self.remove(id);
        let start = self.matrix.len();
        if self.matrix.capacity() - start < self.dimensions {
            self.reserve(1 + self.ids.len() / 8)?;
        }
        self.matrix.extend(from_bytes(vector));
        let row = self.matrix.get(start..).unwrap_or_default();
        let off = (dot(row, row) - 1.0).abs();
        if off.is_nan() || off > TOLERANCE {
            return Err(damaged(format!("the vector of entry {id} is damaged")));
        }
        self.places.insert(id, self.ids.len());
        self.ids.push(id);
        Ok(())
    }

    /// Moves the last row to the place of the removed one.
    fn remove(&mut self, id: EntryId) {
        let Some(place) = self.places.remove(&id) else {
            return;
        };
        self.ids.swap_remove(place);
        let last = self.ids.len() * self.dimensions;
        self.matrix.copy_within(last.., place * self.dimensions);
        self.matrix.truncate(last);
        if let Some(moved) = self.ids.get(place) {
            self.places.insert(*moved, place);
        }
    }

    fn drop_deleted(&mut self, conn: &Connection) -> Result<()> {
        let mut select = conn
            .prepare_cached("SELECT id FROM vectors ORDER BY id")
            .map_err(sqlite_error)?;
        let live = select
            .query_map([], |row| row.get(0).map(EntryId::from_bytes))
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(sqlite_error)?;
        let deleted: Vec<_> = self
            .ids
            .iter()
            .filter(|id| live.binary_search(id).is_err())
            .copied()
            .collect();
        for id in deleted {
            self.remove(id);
        }
        Ok(())
    }
}
