use std::collections::BTreeSet;

use futures::executor::block_on;
use memory_api::{ContentHash, EntryId, LexicalOp, LineRange, Seq, StoreId, Timestamp};

use crate::document::Stamp;
use crate::store::{Change, NewDocument, NewEntry, Store, VectorChange};

const NAMESPACE: &str = "default";

/// A document of one entry, whose file has this time.
fn document(number: u8, mtime_ms: i64) -> Change {
    let time = Timestamp(mtime_ms);
    Change::Put(NewDocument {
        source: "memory".to_owned(),
        path: format!("{number}.md"),
        hash: ContentHash([number; 32]),
        cut_by: ContentHash([0; 32]),
        stamp: Stamp {
            size: 1,
            mtime_ns: mtime_ms * 1_000_000,
            inode: 1,
        },
        created: None,
        time,
        position: None,
        kept_lines: 0,
        warnings: Vec::new(),
        entries: vec![NewEntry {
            id: id(number),
            lines: LineRange { start: 1, end: 1 },
            heading_path: Vec::new(),
            kind: "note".to_owned(),
            time: Some(time),
            tags: Vec::new(),
            text: format!("number {number}"),
        }],
    })
}

fn id(number: u8) -> EntryId {
    EntryId::from_bytes([number; 16])
}

/// A store with five documents, the first two of which have another time since.
fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = block_on(async {
        let store = Store::create(dir.path(), StoreId::from_bytes([7; 16]))
            .await
            .unwrap();
        let apply = |changes| store.apply(NAMESPACE.to_owned(), changes);
        apply((1..=5).map(|n| document(n, 1_000)).collect())
            .await
            .unwrap();
        let pending = store
            .pending(NAMESPACE.to_owned(), None, 0, 9)
            .await
            .unwrap();
        let key = ContentHash([1; 32]);
        store
            .assign_vectors(pending.iter().map(|entry| (entry.entry, key)).collect())
            .await
            .unwrap();
        apply(vec![document(1, 2_000), document(2, 2_000)])
            .await
            .unwrap();
        store
    });
    (dir, store)
}

/// Reads all changes in pages; returns the entries that came with their content.
fn put<Op>(
    limit: usize,
    page: impl Fn(Seq) -> Vec<(Seq, Op)>,
    put: impl Fn(&Op) -> Option<EntryId>,
) -> BTreeSet<EntryId> {
    let mut after = Seq(0);
    let mut ids = BTreeSet::new();
    loop {
        let ops = page(after);
        assert!(ops.len() <= limit);
        assert!(ops.iter().all(|(seq, _)| *seq > after));
        ids.extend(ops.iter().filter_map(|(_, op)| put(op)));
        match ops.last() {
            Some((seq, _)) => after = *seq,
            None => return ids,
        }
    }
}

#[test]
fn pages_of_any_size_hold_the_content_of_entries_that_changed_later() {
    let (_dir, store) = store();
    let all: BTreeSet<EntryId> = (1..=5).map(id).collect();
    for limit in 1..=12 {
        let by_words = put(
            limit,
            |after| block_on(store.lexical_ops(after, limit)).unwrap(),
            |op| match op {
                LexicalOp::Put(entry) => Some(entry.id),
                _ => None,
            },
        );
        assert_eq!(by_words, all, "words, {limit} a page");
        let by_meaning = put(
            limit,
            |after| block_on(store.vector_changes(after, limit)).unwrap(),
            |change| match change {
                VectorChange::Put { id, .. } => Some(*id),
                _ => None,
            },
        );
        assert_eq!(by_meaning, all, "meaning, {limit} a page");
    }
}

#[test]
fn an_index_that_is_nearly_up_to_date_hears_of_a_change_alone() {
    let (_dir, store) = store();
    // Five texts, five vectors, then two changes.
    let ops = block_on(store.lexical_ops(Seq(10), 100)).unwrap();
    assert_eq!(ops.len(), 2);
    assert!(
        ops.iter()
            .all(|(_, op)| matches!(op, LexicalOp::SetMeta(..)))
    );
    let changes = block_on(store.vector_changes(Seq(10), 100)).unwrap();
    assert_eq!(changes.len(), 2);
    assert!(
        changes
            .iter()
            .all(|(_, change)| matches!(change, VectorChange::SetMeta(..)))
    );
}
