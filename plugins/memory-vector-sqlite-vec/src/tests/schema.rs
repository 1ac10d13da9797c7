use futures::executor::block_on;
use memory_api::{EmbeddingSpace, ErrorKind};
use memory_sqlite::Database;
use tempfile::tempdir;

use crate::schema::{bind, is_bound, options};

#[test]
fn of_two_that_bind_an_index_the_first_wins() {
    let dir = tempdir().unwrap();
    let open = Database::open(dir.path().join("index.db"), options(false));
    let database = block_on(open).unwrap();
    let bind_to = |space: EmbeddingSpace| block_on(database.write(move |conn| bind(conn, &space)));
    let first = EmbeddingSpace::new("test/model", 8);
    bind_to(first.clone()).unwrap();
    bind_to(first.clone()).unwrap();
    let err = bind_to(EmbeddingSpace::new("other/model", 8)).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    let bound = database.read(move |conn| is_bound(conn, &first));
    assert!(block_on(bound).unwrap());
}
