//! The index through its contract.
#![cfg(test)]

mod case;
mod file;

use std::fs;

use case::{Case, DIMENSIONS, Random, STORE, check, delete, open_in, put, space};
use futures::executor::block_on;
use memory_api::{
    Batch, EmbeddingSpace, EntryId, ErrorKind, Fields, Seq, StoreId, VectorOp, VectorQuery,
};
use memory_vector_sqlite_vec::PLUGIN;
use tempfile::tempdir;

fn ids(ids: impl IntoIterator<Item = u128>) -> Vec<EntryId> {
    ids.into_iter().map(EntryId).collect()
}

fn found(case: &Case, query: &[f32], k: usize) -> Vec<u128> {
    let hits = block_on(case.index.search(&VectorQuery::new(query, k))).unwrap();
    hits.iter().map(|hit| hit.id.0).collect()
}

#[test]
fn a_search_finds_what_a_comparison_with_every_vector_finds() {
    let mut random = Random(1);
    for dimensions in [32, 33] {
        let mut case = Case::new(&PLUGIN, dimensions);
        case.fill(2_000, &mut random);
        for k in [1, 10, 24, 1_999, 2_000, 5_000] {
            case.check(&random.vector(dimensions), k, None);
        }
    }
}

#[test]
fn a_search_among_allowed_entries_finds_them_all() {
    let mut random = Random(2);
    let mut case = Case::new(&PLUGIN, 32);
    case.fill(2_000, &mut random);
    for step in [1, 2, 10, 300] {
        let allowed = ids((1..=3_000).step_by(step));
        case.check(&random.vector(32), 24, Some(&allowed));
        case.check(&random.vector(32), 3_000, Some(&allowed));
    }
    case.check(&random.vector(32), 24, Some(&[]));
    case.check(&random.vector(32), 24, Some(&ids([1_000_000])));
    let repeated = ids([5, 5, 5, 6]);
    case.check(&random.vector(32), 3, Some(&repeated));
    case.check(&random.vector(32), 0, None);
}

#[test]
fn a_vector_of_any_length_is_a_direction() {
    let mut case = Case::new(&PLUGIN, 3);
    case.apply(vec![
        put(1, &[3e38, 3e38, 0.0]),
        put(2, &[1e-44, 0.0, 0.0]),
        put(3, &[0.0, -5.0, 0.0]),
    ]);
    for query in [[1e-40, 1e-40, 0.0], [2e38, 0.0, 0.0], [0.0, 1.0, 0.0]] {
        case.check(&query, 3, None);
    }
}

#[test]
fn ties_at_the_cut_go_to_the_smaller_ids() {
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    let (near, far) = (Random(3).vector(DIMENSIONS), Random(4).vector(DIMENSIONS));
    let ops = (1..=100)
        .rev()
        .map(|id| put(id, if id == 60 { &far } else { &near }))
        .collect();
    case.apply(ops);
    assert_eq!(found(&case, &near, 5), [1, 2, 3, 4, 5]);
    assert_eq!(found(&case, &far, 3), [60, 1, 2]);
}

#[test]
fn more_ties_than_a_search_of_sqlite_vec_returns_go_to_the_smaller_ids() {
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    let (near, far) = (Random(3).vector(DIMENSIONS), Random(4).vector(DIMENSIONS));
    let n = 4_200;
    // The smallest ids come last into the table, where sqlite-vec cuts.
    let ops: Vec<_> = (1..=n).rev().map(|id| put(id, &near)).collect();
    for ops in ops.chunks(50) {
        case.apply(ops.to_vec());
    }
    case.apply(vec![put(n + 1, &far)]);
    assert_eq!(found(&case, &near, 3), [1, 2, 3]);
    assert_eq!(found(&case, &far, 3), [n + 1, 1, 2]);
    let allowed: Vec<_> = ids((1..=n).skip(2));
    let query = VectorQuery::new(&near, 2).with_allowed(&allowed);
    let hits = block_on(case.index.search(&query)).unwrap();
    assert_eq!(hits[0].id, EntryId(3));
    assert_eq!(hits[1].id, EntryId(4));
    for k in [4_095, 4_096, 4_097, 10_000] {
        case.check(&far, k, None);
    }
}

#[test]
fn what_another_handle_writes_is_found_by_the_next_search() {
    let mut random = Random(5);
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(50, &mut random);
    let reader = case.open(true);
    let look = |case: &Case, random: &mut Random| {
        for k in [3, 100] {
            check(&*reader, &case.model, &random.vector(DIMENSIONS), k, None);
        }
        case.check(&random.vector(DIMENSIONS), 100, None);
    };
    look(&case, &mut random);
    // New, replaced, gone, gone and back, and all of them at once.
    case.apply(vec![put(99, &random.vector(DIMENSIONS))]);
    look(&case, &mut random);
    case.apply(vec![put(3, &random.vector(DIMENSIONS))]);
    look(&case, &mut random);
    case.apply(vec![delete(50), delete(1), delete(99), delete(1_000)]);
    look(&case, &mut random);
    case.apply(vec![
        put(1, &random.vector(DIMENSIONS)),
        delete(1),
        put(1, &random.vector(DIMENSIONS)),
        delete(2),
        put(200, &random.vector(DIMENSIONS)),
        put(4, &random.vector(DIMENSIONS)),
    ]);
    look(&case, &mut random);
    let all = case.model.keys().copied().collect::<Vec<_>>();
    case.apply(all.iter().map(|id| VectorOp::Delete(*id)).collect());
    look(&case, &mut random);
    case.fill(20, &mut random);
    look(&case, &mut random);
}

#[test]
fn a_batch_is_applied_once_and_survives_without_close() {
    let mut random = Random(6);
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(20, &mut random);
    let batch = case.apply(vec![
        put(3, &random.vector(DIMENSIONS)),
        delete(4),
        VectorOp::SetMeta(EntryId(5), Fields::new("n", "m", "p")),
        VectorOp::SetMeta(EntryId(500), Fields::new("n", "m", "p")),
    ]);
    let query = random.vector(DIMENSIONS);
    case.check(&query, 30, None);
    block_on(case.index.apply(&batch)).unwrap();
    case.check(&query, 30, None);
    block_on(case.index.flush()).unwrap();

    let again = case.open(false);
    check(&*again, &case.model, &query, 30, None);
    assert_eq!(block_on(again.stats()).unwrap().n_entries, 19);
    let watermark = block_on(again.watermark()).unwrap().unwrap();
    assert_eq!((watermark.store, watermark.seq), (STORE, Seq(case.seq)));
}

#[test]
fn a_vector_that_has_no_direction_is_refused() {
    let mut random = Random(7);
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(5, &mut random);
    let mut bad = vec![vec![], vec![1.0; 7], vec![1.0; 9], vec![0.0; 8]];
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        bad.push(vec![1.0, 2.0, number, 4.0, 5.0, 6.0, 7.0, 8.0]);
    }
    bad.push(vec![-0.0; 8]);
    for vector in bad {
        for k in [0, 3] {
            let query = VectorQuery::new(&vector, k);
            let err = block_on(case.index.search(&query)).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidInput);
            let err = block_on(case.index.score(&query, &ids([1]))).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidInput);
        }
        // The first change is good, and the bad one does not last: still nothing changes.
        let ops = [put(70, &[1.0; 8]), put(71, &vector), delete(71)];
        let ops = (case.seq + 1..).map(Seq).zip(ops).collect();
        let err = block_on(case.index.apply(&Batch::new(STORE, ops))).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput);
        assert!(err.context("entry").is_some_and(|id| id.ends_with("47")));
        let watermark = block_on(case.index.watermark()).unwrap().unwrap();
        assert_eq!(watermark.seq, Seq(case.seq));
        case.check(&random.vector(DIMENSIONS), 10, None);
    }
}

#[test]
fn another_store_and_changes_out_of_order_are_refused() {
    let mut random = Random(8);
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(5, &mut random);
    let op = || put(9, &[1.0; DIMENSIONS]);
    for batch in [
        Batch::new(StoreId(8), vec![(Seq(50), op())]),
        Batch::new(STORE, vec![(Seq(51), op()), (Seq(50), op())]),
    ] {
        let err = block_on(case.index.apply(&batch)).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput);
        case.check(&random.vector(DIMENSIONS), 10, None);
    }
}

#[test]
fn an_index_of_another_space_is_refused() {
    let case = Case::new(&PLUGIN, 8);
    let other = EmbeddingSpace::new("other/model", 8);
    for (space, stored, configured) in [
        (
            space(16),
            "stored `test/model` with 8",
            "configured `test/model` with 16",
        ),
        (
            other,
            "stored `test/model` with 8",
            "configured `other/model` with 8",
        ),
    ] {
        for read_only in [true, false] {
            let err = open_in(&PLUGIN, case.dir.path(), &space, read_only).unwrap_err();
            assert_eq!(err.kind(), ErrorKind::InvalidInput);
            assert!(err.message().contains(stored), "{err}");
            assert!(err.message().contains(configured), "{err}");
        }
    }
    assert_eq!(case.open(true).space(), &space(8));
    let dir = tempdir().unwrap();
    let err = open_in(&PLUGIN, dir.path(), &space(0), false).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
}

#[test]
fn as_many_dimensions_as_sqlite_vec_takes_are_taken_and_no_more() {
    let most = PLUGIN.limits.max_dimensions.unwrap();
    let mut case = Case::new(&PLUGIN, most);
    case.fill(3, &mut Random(13));
    case.check(&Random(14).vector(most), 3, None);

    let dir = tempdir().unwrap();
    let err = open_in(&PLUGIN, dir.path(), &space(most + 1), false).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert!(err.hint().is_some());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn no_score_is_beyond_the_ends_of_a_cosine() {
    for dimensions in [3, 33, 384] {
        let mut random = Random(15);
        let mut case = Case::new(&PLUGIN, dimensions);
        case.fill(200, &mut random);
        for (id, vector) in &case.model {
            // Another length makes other roundings.
            for factor in [3.3, -7.7] {
                let query: Vec<f32> = vector.iter().map(|number| number * factor).collect();
                let query = VectorQuery::new(&query, 0);
                let scores = block_on(case.index.score(&query, &[*id])).unwrap();
                let score = scores[0].unwrap();
                assert!((-1.0..=1.0).contains(&score), "{score:?}");
                assert!(score.abs() > 0.999, "{score:?}");
            }
        }
    }
}

#[test]
fn an_unknown_entry_has_no_score() {
    let mut random = Random(9);
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(5, &mut random);
    let query = random.vector(DIMENSIONS);
    let scores = block_on(
        case.index
            .score(&VectorQuery::new(&query, 0), &ids([77, 2, 2, 78])),
    )
    .unwrap();
    assert_eq!(scores.len(), 4);
    assert!(scores[0].is_none() && scores[3].is_none());
    assert!(scores[1].is_some() && scores[1] == scores[2]);
}

#[test]
fn reading_alone_writes_nothing() {
    let dir = tempdir().unwrap();
    let err = open_in(&PLUGIN, dir.path(), &space(8), true).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

    let mut random = Random(10);
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(5, &mut random);
    block_on(case.index.close()).unwrap();
    let file = case.dir.path().join("index.db");
    let before = fs::read(&file).unwrap();
    let reader = case.open(true);
    check(&*reader, &case.model, &random.vector(DIMENSIONS), 10, None);
    let batch = Batch::new(STORE, vec![(Seq(90), delete(1))]);
    let err = block_on(reader.apply(&batch)).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unavailable);
    block_on(reader.close()).unwrap();
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_closed_index_says_so() {
    let mut case = Case::new(&PLUGIN, DIMENSIONS);
    case.fill(5, &mut Random(11));
    block_on(case.index.close()).unwrap();
    block_on(case.index.close()).unwrap();
    let query = VectorQuery::new(&[1.0; DIMENSIONS], 0);
    let kinds = [
        block_on(case.index.search(&query)).map(drop),
        block_on(case.index.score(&query, &[])).map(drop),
        block_on(case.index.apply(&Batch::new(STORE, Vec::new()))),
        block_on(case.index.watermark()).map(drop),
        block_on(case.index.stats()).map(drop),
        block_on(case.index.flush()),
    ]
    .map(|answer| answer.unwrap_err().kind());
    assert_eq!(kinds, [ErrorKind::Closed; 6]);
}

#[test]
fn a_damaged_file_is_never_an_empty_answer() {
    let mut random = Random(12);
    let mut case = Case::new(&PLUGIN, 64);
    case.fill(400, &mut random);
    block_on(case.index.close()).unwrap();
    let file = case.dir.path().join("index.db");
    let whole = fs::read(&file).unwrap();
    let mut garbage = whole.clone();
    garbage[..100].fill(0xa5);
    let mut zeroed = whole.clone();
    // Blobs of vectors, from the middle of one to the middle of the next.
    zeroed[whole.len() / 4..whole.len() / 4 * 3].fill(0);
    let cuts = [512, 4_096, whole.len() / 3, whole.len() - 4_096];
    let damaged = cuts
        .iter()
        .map(|cut| whole[..*cut].to_vec())
        .chain([garbage, zeroed]);
    let query = random.vector(64);
    for bytes in damaged {
        fs::write(&file, &bytes).unwrap();
        for read_only in [true, false] {
            let answer = open_in(&PLUGIN, case.dir.path(), &space(64), read_only)
                .and_then(|index| block_on(index.search(&VectorQuery::new(&query, 3))));
            let err = answer.unwrap_err();
            assert_eq!(err.kind(), ErrorKind::Corrupt, "{err:?}");
        }
    }
}
