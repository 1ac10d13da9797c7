use std::sync::Mutex;

use async_trait::async_trait;
use futures::executor::block_on;
use memory_api::{
    Batch, Capabilities, ContentHash, EntryId, Fingerprint, Identity, IndexStats, LexicalOp,
    Limits, LineRange, Projection, Result, Seq, StoreId, Timestamp, Watermark,
};

use crate::document::Stamp;
use crate::feed::{Standing, Words, catch_up, standing};
use crate::store::{Change, NewDocument, NewEntry, Store};

/// A test double: an index that keeps nothing but what it was told.
#[derive(Debug, Default)]
struct Told {
    watermark: Mutex<Option<Watermark>>,
    /// For each batch the numbers of its changes, and what it goes through to.
    batches: Mutex<Vec<(Vec<u64>, u64)>>,
    n_flushes: Mutex<u32>,
}

impl Identity for Told {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("told".to_owned())
    }
}

#[async_trait]
impl Projection<LexicalOp> for Told {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn apply(&self, batch: &Batch<LexicalOp>) -> Result<()> {
        let numbers = batch.ops.iter().map(|(seq, _)| seq.0).collect();
        self.batches
            .lock()
            .unwrap()
            .push((numbers, batch.through.0));
        *self.watermark.lock().unwrap() = Some(Watermark {
            store: batch.store,
            seq: batch.through,
        });
        Ok(())
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        Ok(*self.watermark.lock().unwrap())
    }

    async fn stats(&self) -> Result<IndexStats> {
        Ok(IndexStats::new(0, None))
    }

    async fn flush(&self) -> Result<()> {
        *self.n_flushes.lock().unwrap() += 1;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

impl Told {
    fn batches(&self) -> Vec<(Vec<u64>, u64)> {
        std::mem::take(&mut *self.batches.lock().unwrap())
    }

    fn stands_at(&self, store: StoreId, seq: u64) {
        let watermark = Watermark {
            store,
            seq: Seq(seq),
        };
        *self.watermark.lock().unwrap() = Some(watermark);
    }
}

/// A document of so many entries.
fn put(path: u8, n_entries: u8) -> Change {
    let entry = |n| NewEntry {
        id: EntryId::from_bytes([path * 16 + n; 16]),
        lines: LineRange { start: 1, end: 1 },
        heading_path: Vec::new(),
        kind: "note".to_owned(),
        time: None,
        tags: Vec::new(),
        text: format!("text {n}"),
    };
    Change::Put(NewDocument {
        source: "memory".to_owned(),
        path: format!("memory/{path}.md"),
        hash: ContentHash([0; 32]),
        cut_by: ContentHash([0; 32]),
        stamp: Stamp {
            size: 1,
            mtime_ns: 2,
            inode: 3,
        },
        created: None,
        time: Timestamp(0),
        position: None,
        kept_lines: 0,
        warnings: Vec::new(),
        entries: (0..n_entries).map(entry).collect(),
    })
}

const STORE: StoreId = StoreId(7);

/// A store with the changes 1 to 8, of which 6 to 8 are deletions: of five entries two are left.
async fn store(dir: &tempfile::TempDir) -> Store {
    let store = Store::create(dir.path(), STORE).await.unwrap();
    for change in [put(1, 5), put(1, 2)] {
        store
            .apply("default".to_owned(), vec![change])
            .await
            .unwrap();
    }
    assert_eq!(store.last_seq().await.unwrap(), Seq(8));
    store
}

fn limits(max_ops: usize) -> Limits {
    let mut limits = Limits::default();
    limits.max_ops = Some(max_ops);
    limits
}

#[test]
fn changes_are_fed_in_batches_up_to_the_last_one() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        let words = Words(&store);
        let index = Told::default();
        let mut heard = Vec::new();
        let go_on = |done| {
            heard.push(done);
            true
        };
        catch_up(&words, &index, limits(2), go_on).await.unwrap();
        assert_eq!(
            index.batches(),
            [(vec![1, 2], 2), (vec![6, 7], 7), (vec![8], 8)]
        );
        assert_eq!(heard, [2, 4, 5]);
        assert_eq!(*index.n_flushes.lock().unwrap(), 1);
        assert_eq!(standing(&words, &index).await.unwrap(), Standing::Behind(0));
        // Nothing is left to apply; what was applied is made durable all the same.
        catch_up(&words, &index, limits(2), |_| true).await.unwrap();
        assert_eq!(index.batches(), []);
        assert_eq!(*index.n_flushes.lock().unwrap(), 2);
    });
}

#[test]
fn a_limit_of_nothing_is_one_change_at_a_time() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        let index = Told::default();
        catch_up(&Words(&store), &index, limits(0), |_| true)
            .await
            .unwrap();
        let applied: Vec<u64> = index
            .batches()
            .into_iter()
            .flat_map(|batch| batch.0)
            .collect();
        assert_eq!(applied, [1, 2, 6, 7, 8]);
    });
}

#[test]
fn numbers_without_a_change_left_raise_the_watermark() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        // An entry that has a vector now: a change that concerns no word.
        store
            .assign_vectors(vec![(1, ContentHash([1; 32]))])
            .await
            .unwrap();
        let index = Told::default();
        index.stands_at(STORE, 8);
        catch_up(&Words(&store), &index, Limits::default(), |_| true)
            .await
            .unwrap();
        assert_eq!(index.batches(), [(vec![], 9)]);
    });
}

#[test]
fn feeding_stops_after_a_batch_and_goes_on_from_there() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        let words = Words(&store);
        let index = Told::default();
        catch_up(&words, &index, limits(2), |_| false)
            .await
            .unwrap();
        assert_eq!(index.batches(), [(vec![1, 2], 2)]);
        assert_eq!(*index.n_flushes.lock().unwrap(), 1);
        assert_eq!(standing(&words, &index).await.unwrap(), Standing::Behind(3));
        catch_up(&words, &index, limits(9), |_| true).await.unwrap();
        assert_eq!(index.batches(), [(vec![6, 7, 8], 8)]);
    });
}

#[test]
fn an_index_is_lost_with_another_store_or_beyond_what_the_store_remembers() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir).await;
        store.prune_tombstones(Seq(7)).await.unwrap();
        let words = Words(&store);
        let index = Told::default();
        let stands = async |id, seq| {
            index.stands_at(id, seq);
            standing(&words, &index).await.unwrap()
        };
        assert_eq!(stands(STORE, 8).await, Standing::Behind(0));
        // Of what it lacks, all is still there.
        assert_eq!(stands(STORE, 7).await, Standing::Behind(1));
        assert_eq!(stands(STORE, 6).await, Standing::Lost);
        assert_eq!(stands(STORE, 9).await, Standing::Lost);
        assert_eq!(stands(StoreId(8), 8).await, Standing::Lost);
        // An index that never had anything lacks nothing but what is there.
        *index.watermark.lock().unwrap() = None;
        assert_eq!(standing(&words, &index).await.unwrap(), Standing::Behind(3));
    });
}
