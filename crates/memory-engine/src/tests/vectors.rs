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
        let needed = HashSet::from([key(1)]);
        assert_eq!(vectors.evict(needed.clone(), 4).await.unwrap(), 0);
        assert_eq!(vectors.evict(needed.clone(), 3).await.unwrap(), 1);
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
        assert_eq!(vectors.evict(needed, 0).await.unwrap(), 2);
        assert_eq!(kept().await, [true, false, false, false]);
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
            let name = set_aside(dir.path()).unwrap();
            assert_eq!(name, format!("vectors.db.damaged-{n}"));
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
