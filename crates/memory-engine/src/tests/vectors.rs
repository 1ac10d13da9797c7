use std::collections::HashSet;
use std::fs;

use futures::executor::block_on;
use memory_api::{ContentHash, EmbeddingSpace, ErrorKind, Role, Timestamp};

use crate::vectors::{Known, Vectors, path, set_aside};

const DAY: i64 = 86_400_000;

fn key(n: u8) -> ContentHash {
    ContentHash([n; 32])
}

fn space(id: &str) -> EmbeddingSpace {
    EmbeddingSpace::new(id, 2)
}

#[test]
fn a_vector_belongs_to_its_space_and_its_role() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let row = vec![(key(1), vec![0.6, 0.8])];
        vectors
            .put(&space("a"), Role::Document, row, Timestamp(0))
            .await
            .unwrap();
        vectors.close().await;
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let get = async |id: &str, role| -> Vec<Option<Vec<f32>>> {
            let known = vectors.get(&space(id), role, vec![key(2), key(1)]).await;
            let vector = |known: Option<Known>| known.map(|known| known.vector);
            known.unwrap().into_iter().map(vector).collect()
        };
        assert_eq!(get("a", Role::Document).await, [None, Some(vec![0.6, 0.8])]);
        assert_eq!(get("a", Role::Query).await, [None, None]);
        assert_eq!(get("b", Role::Document).await, [None, None]);
        // The same name with other dimensions is another space.
        let wide = EmbeddingSpace::new("a", 3);
        assert_eq!(
            vectors
                .get(&wide, Role::Document, vec![key(1)])
                .await
                .unwrap(),
            [None]
        );
    });
}

#[test]
fn the_least_recently_used_go_first_and_what_entries_need_stays() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let space = space("a");
        for n in 1..=4 {
            let row = vec![(key(n), vec![1.0, 0.0])];
            let now = Timestamp(i64::from(n) * DAY);
            vectors.put(&space, Role::Document, row, now).await.unwrap();
        }
        // 1 is the oldest but needed, 2 was used since.
        vectors
            .touch(&space, Role::Document, vec![key(2)], Timestamp(9 * DAY))
            .await
            .unwrap();
        let needed = HashSet::from([(Role::Document, key(1))]);
        let evict = async |max| {
            let removed = vectors.evict(&space, needed.clone(), max).await;
            removed.unwrap()
        };
        assert_eq!(evict(4).await, 0);
        assert_eq!(evict(3).await, 1);
        let kept = async || -> Vec<bool> {
            vectors
                .get(&space, Role::Document, (1..=4).map(key).collect())
                .await
                .unwrap()
                .iter()
                .map(Option::is_some)
                .collect()
        };
        assert_eq!(kept().await, [true, true, false, true]);
        assert_eq!(evict(0).await, 2);
        assert_eq!(kept().await, [true, false, false, false]);
    });
}

#[test]
fn what_is_needed_is_needed_in_one_space_and_role() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let places = [
            (space("now"), Role::Document),
            (space("now"), Role::Query),
            (space("before"), Role::Document),
        ];
        for (space, role) in &places {
            let row = vec![(key(1), vec![1.0, 0.0])];
            vectors.put(space, *role, row, Timestamp(0)).await.unwrap();
        }
        let needed = HashSet::from([(Role::Document, key(1))]);
        assert_eq!(vectors.evict(&space("now"), needed, 0).await.unwrap(), 2);
        let mut kept = Vec::new();
        for (space, role) in &places {
            let known = vectors.get(space, *role, vec![key(1)]).await.unwrap();
            kept.push(known[0].is_some());
        }
        assert_eq!(kept, [true, false, false]);
    });
}

#[test]
fn a_row_that_is_no_vector_is_computed_again() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let rows = vec![
            (key(1), vec![f32::NAN, 0.0]),
            (key(2), vec![1.0, f32::INFINITY]),
            (key(3), vec![1.0]),
            (key(4), vec![0.0, 0.0]),
        ];
        vectors
            .put(&space("a"), Role::Document, rows, Timestamp(0))
            .await
            .unwrap();
        let keys = (1..=4).map(key).collect();
        let known = vectors.get(&space("a"), Role::Document, keys).await;
        let is_known: Vec<_> = known.unwrap().iter().map(Option::is_some).collect();
        // A model may say of a text that it means nothing.
        assert_eq!(is_known, [false, false, false, true]);
    });
}

#[test]
fn a_damaged_file_is_told_apart_and_set_aside() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        for n in 1..=2 {
            fs::write(path(dir.path()), "not a database at all, but text").unwrap();
            let err = Vectors::open(dir.path(), false).await.unwrap_err();
            assert_eq!(err.kind(), ErrorKind::Corrupt);
            let said = set_aside(dir.path(), &err).unwrap();
            let name = format!("vectors.db.damaged-{n}");
            assert!(said.contains(&format!("kept as `{name}`")), "{said}");
            assert!(dir.path().join(name).is_file());
            assert!(!path(dir.path()).exists());
        }
        Vectors::open(dir.path(), false).await.unwrap();
    });
}

#[test]
fn a_use_is_written_down_once_a_day() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let vectors = Vectors::open(dir.path(), false).await.unwrap();
        let row = vec![(key(1), vec![1.0, 0.0])];
        vectors
            .put(&space("a"), Role::Query, row, Timestamp(0))
            .await
            .unwrap();
        let known = async || {
            let known = vectors.get(&space("a"), Role::Query, vec![key(1)]).await;
            known.unwrap().pop().flatten().unwrap()
        };
        assert!(!known().await.is_stale(Timestamp(DAY)));
        assert!(known().await.is_stale(Timestamp(DAY + 1)));
        vectors
            .touch(&space("a"), Role::Query, vec![key(1)], Timestamp(DAY + 1))
            .await
            .unwrap();
        assert!(!known().await.is_stale(Timestamp(2 * DAY)));
    });
}
