mod connect;
mod database;
mod error;
mod fts5;
mod projection;

use std::path::Path;

use futures::executor::block_on;

use crate::{Database, Options};

const APPLICATION_ID: i32 = 0x6d65_6d31;
const SCHEMA: &str = "CREATE TABLE numbers (n INTEGER NOT NULL)";
const OPTIONS: Options = Options::new(APPLICATION_ID, &[SCHEMA]);

fn open(path: &Path) -> Database {
    block_on(Database::open(path, OPTIONS)).unwrap()
}

fn insert(database: &Database, n: i64) {
    let insert = database.write(move |conn| {
        conn.execute("INSERT INTO numbers VALUES (?1)", [n])
            .map_err(crate::sqlite_error)
    });
    assert_eq!(block_on(insert).unwrap(), 1);
}

fn numbers(database: &Database) -> Vec<i64> {
    block_on(database.read(|conn| {
        let mut select = conn
            .prepare("SELECT n FROM numbers ORDER BY rowid")
            .map_err(crate::sqlite_error)?;
        let rows = select
            .query_map([], |row| row.get(0))
            .map_err(crate::sqlite_error)?;
        rows.collect::<Result<_, _>>().map_err(crate::sqlite_error)
    }))
    .unwrap()
}
