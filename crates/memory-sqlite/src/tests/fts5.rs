use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use memory_api::{Error, ErrorKind};
use rusqlite::Connection;

use crate::fts5::{Argument, Match, Purpose, TokenSink, create_function, create_tokenizer};

/// Splits at spaces, keeps case in queries, and adds the first letter of every word at the word's place.
fn words(purpose: Purpose, text: &str, sink: &mut TokenSink<'_>) {
    let mut start = 0;
    for word in text.split(' ') {
        let range = start..start + word.len();
        start = range.end + 1;
        if word.is_empty() {
            continue;
        }
        assert_ne!(word, "panic", "boom");
        sink.push(word.as_bytes(), range.clone(), false);
        if purpose == Purpose::Document {
            let first: String = word.chars().take(1).collect();
            sink.push(first.as_bytes(), range, true);
        }
    }
}

fn connect() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    create_tokenizer(&conn, "words", words).unwrap();
    conn
}

fn with_rows(rows: &[(&str, &str)]) -> Connection {
    let conn = connect();
    conn.execute_batch("CREATE VIRTUAL TABLE entries USING fts5(a, b, tokenize = 'words')")
        .unwrap();
    for row in rows {
        conn.execute("INSERT INTO entries VALUES (?1, ?2)", *row)
            .unwrap();
    }
    conn
}

fn matches(conn: &Connection, query: &str) -> Vec<i64> {
    let mut select = conn
        .prepare("SELECT rowid FROM entries(?1) ORDER BY rowid")
        .unwrap();
    let rows = select.query_map([query], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn tokens_are_found_and_colocated_ones_share_a_place() {
    let conn = with_rows(&[("red fox runs", ""), ("red runs fox", "")]);
    assert_eq!(matches(&conn, "fox"), [1, 2]);
    assert_eq!(matches(&conn, "f"), [1, 2]);
    assert_eq!(matches(&conn, "red + fox"), [1]);
    assert_eq!(matches(&conn, "r + f"), [1, 2]);
    assert_eq!(matches(&conn, "f + r"), [1]);
    assert_eq!(matches(&conn, "ru*"), [1, 2]);
    assert_eq!(matches(&conn, "o"), [0; 0]);
}

#[test]
fn token_ranges_are_bytes_of_the_text() {
    let conn = with_rows(&[("größe zählt", "")]);
    let marked: String = conn
        .query_row(
            "SELECT highlight(entries, 0, '[', ']') FROM entries('zählt')",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(marked, "größe [zählt]");
}

#[test]
fn text_that_is_not_utf8_is_tokenized_lossily() {
    let conn = with_rows(&[]);
    conn.execute(
        "INSERT INTO entries VALUES (CAST(x'66ff20666f78' AS TEXT), '')",
        [],
    )
    .unwrap();
    assert_eq!(matches(&conn, "fox"), [1]);
    assert_eq!(matches(&conn, "\"f\u{fffd}\""), [1]);
}

#[test]
fn text_with_nul_is_tokenized_whole() {
    let conn = with_rows(&[("red\0 fox", "")]);
    assert_eq!(matches(&conn, "fox"), [1]);
}

#[test]
fn panic_in_a_tokenizer_fails_the_statement_alone() {
    let conn = with_rows(&[("red fox", "")]);
    conn.execute("INSERT INTO entries VALUES ('panic', '')", [])
        .unwrap_err();
    assert_eq!(matches(&conn, "fox"), [1]);
}

#[test]
fn tokenizer_lives_as_long_as_its_connection() {
    struct Tell(std::sync::mpsc::Sender<()>);
    impl Drop for Tell {
        fn drop(&mut self) {
            self.0.send(()).unwrap();
        }
    }
    let (dropped, is_dropped) = std::sync::mpsc::channel();
    let conn = Connection::open_in_memory().unwrap();
    let tell = Tell(dropped);
    create_tokenizer(&conn, "telling", move |_, text, sink| {
        let _: &Tell = &tell;
        sink.push(text.as_bytes(), 0..text.len(), false);
    })
    .unwrap();
    conn.execute_batch(
        "CREATE VIRTUAL TABLE t USING fts5(a, tokenize = 'telling'); INSERT INTO t VALUES ('x'); DROP TABLE t",
    )
    .unwrap();
    assert!(is_dropped.try_recv().is_err());
    drop(conn);
    is_dropped.try_recv().unwrap();
    assert!(is_dropped.try_recv().is_err());
}

#[derive(Clone, Default)]
struct Seen(Rc<RefCell<Vec<String>>>);

fn describe(row: &Match<'_>, seen: &Seen) -> memory_api::Result<Option<f64>> {
    let mut words = format!("{}:", row.rowid());
    for phrase in 0..row.phrase_count() {
        row.occurrences(phrase, |column, position| {
            write!(words, " {phrase}@{column}.{position}").unwrap();
        })?;
    }
    let sizes = (row.column_size(0)?, row.column_size(1)?);
    write!(words, " sizes {} {}", sizes.0, sizes.1).unwrap();
    seen.0.borrow_mut().push(words);
    Ok(Some(0.5))
}

#[test]
fn auxiliary_function_sees_phrases_occurrences_and_sizes() {
    let conn = with_rows(&[
        ("red fox", "fox fox red"),
        ("blue", "sky"),
        ("", "red dog"),
        ("fox", ""),
    ]);
    create_function(&conn, "describe", describe).unwrap();
    // Rows that were removed are not seen.
    conn.execute("DELETE FROM entries WHERE rowid = 4", [])
        .unwrap();
    let seen = Seen::default();
    let argument = Argument::new(seen.clone());
    let mut select = conn
        .prepare("SELECT describe(entries, ?2) FROM entries(?1)")
        .unwrap();
    let values: Vec<f64> = select
        .query_map(("fox + fox OR red OR fox", argument), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(values, [0.5, 0.5]);
    assert_eq!(
        *seen.0.borrow(),
        [
            "1: 0@1.0 1@0.0 1@1.2 2@0.1 2@1.0 2@1.1 sizes 2 3",
            "3: 1@1.0 sizes 0 2"
        ]
    );
}

#[test]
fn auxiliary_function_fails_with_its_own_words() {
    let conn = with_rows(&[("red fox", "")]);
    create_function(&conn, "fails", |_: &Match<'_>, words: &String| {
        Err(Error::new(ErrorKind::Internal, words.clone()))
    })
    .unwrap();
    create_function(&conn, "panics", |_: &Match<'_>, (): &()| panic!("boom")).unwrap();
    create_function(&conn, "empty", |_: &Match<'_>, (): &()| Ok(None)).unwrap();
    let select = |function: &str, argument: &dyn rusqlite::ToSql| {
        conn.query_row(
            &format!("SELECT {function}(entries, ?1) FROM entries('fox')"),
            [argument],
            |row| row.get::<_, Option<f64>>(0),
        )
    };
    let err = select("fails", &Argument::new("no luck".to_owned())).unwrap_err();
    assert_eq!(err.to_string(), "no luck");
    let err = select("panics", &Argument::new(())).unwrap_err();
    assert_eq!(err.to_string(), "the function panicked");
    assert_eq!(select("empty", &Argument::new(())).unwrap(), None);
    // Of another type, or no argument of ours at all.
    for wrong in [&Argument::new(1_u8) as &dyn rusqlite::ToSql, &7, &"text"] {
        let err = select("empty", wrong).unwrap_err();
        assert!(err.to_string().contains("one bound argument"), "{err}");
    }
}

#[test]
fn occurrences_of_an_unknown_phrase_are_an_error_and_of_an_unknown_column_too() {
    let conn = with_rows(&[("red fox", "")]);
    create_function(&conn, "outside", |row: &Match<'_>, (): &()| {
        assert!(row.occurrences(1, |_, _| ()).is_err());
        assert!(row.column_size(2).is_err());
        Ok(Some(1.0))
    })
    .unwrap();
    let value: f64 = conn
        .query_row(
            "SELECT outside(entries, ?1) FROM entries('fox')",
            [Argument::new(())],
            |row| row.get(0),
        )
        .unwrap();
    assert!((value - 1.0).abs() < f64::EPSILON);
}
