//! Asks any text: of the parser, and of an index by words.
#![no_main]

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use futures::executor::block_on;
use libfuzzer_sys::fuzz_target;
use memory_api::{
    Batch, EntryId, Factory, Fields, Hit, LexicalEntry, LexicalIndex, LexicalOp, LexicalQuery,
    OpenContext, Seq, StoreId,
};
use memory_text::{Clause, Form, Query, analyze};
use serde_json::json;
use tempfile::TempDir;

/// The most clauses a query has.
const MAX_CLAUSES: usize = 128;
/// How many words of a text are typed.
const MAX_WORDS: usize = 8;

const ENTRIES: &[&str] = &[
    "The ferry leaves the harbour at six. Don't be late.",
    "user_id = 42; see src/lib.rs, version v0.1.2, host db-01.example.org:5433",
    "渡轮六点出发。请不要迟到！东京塔，京都。",
    "東京タワーへ行く。カメラを忘れない。",
    "Łódź harbour, Straße 5, Привет мир, ไทยไม่มีช่องว่าง, 서울 시청",
    "Meeting on 2026-05-18: May 18th, 5月18日; O'Brien's C++ and C# notes",
    "a b c d e the of and 的 了 是",
    "he said \"stop\" AND NOT near(x) OR * ^ : { } - + 'quote' NULL",
];

struct Index {
    index: Arc<dyn LexicalIndex>,
    ids: Vec<EntryId>,
    _dir: TempDir,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let dir = TempDir::new().expect("a folder");
    let config = json!({});
    let Factory::Lexical(open) = memory_lexical_fts5::PLUGIN.factory else {
        panic!("the plugin is no index by words");
    };
    let context = OpenContext::new(&config).with_dir(dir.path());
    let index = block_on(open(context)).expect("the index opens");
    let ids: Vec<_> = (1..).take(ENTRIES.len()).map(id).collect();
    let put = |(n, (id, text)): (u64, (&EntryId, &&str))| {
        let fields = Fields::new("default", "memory", format!("memory/note-{n}.md"));
        let mut entry = LexicalEntry::new(*id, *text, fields);
        entry.heading_path = vec!["Harbour notes".to_owned()];
        (Seq(n), LexicalOp::Put(Box::new(entry)))
    };
    let ops = (1..).zip(ids.iter().zip(ENTRIES)).map(put).collect();
    block_on(async {
        index
            .apply(&Batch::new(StoreId::from_bytes([1; 16]), ops))
            .await?;
        index.flush().await
    })
    .expect("the index is filled");
    Index {
        index,
        ids,
        _dir: dir,
    }
});

fn id(n: u8) -> EntryId {
    EntryId::from_bytes([n; 16])
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let query = Query::parse(&text);
    check_query(&query);
    check_printed(&query);
    check_words(&text);
    check_index(&text, &query);
});

fn check_query(query: &Query) {
    assert!(query.clauses.len() <= MAX_CLAUSES && query.excluded.len() <= MAX_CLAUSES);
    for clause in query.clauses.iter().chain(&query.excluded) {
        let words: Vec<&str> = match clause {
            Clause::Word(terms) => {
                let sum: f32 = terms.iter().map(|term| term.weight).sum();
                assert!(sum <= 1.0001, "{clause:?} is worth {sum}");
                assert!(terms.iter().all(|term| term.weight > 0.0), "{clause:?}");
                terms.iter().map(|term| term.text.as_str()).collect()
            }
            Clause::Phrase(words) => words.iter().map(String::as_str).collect(),
            Clause::Prefix(start) => vec![start],
        };
        assert!(!words.is_empty(), "a clause without words");
        for word in words {
            assert!(
                !word.is_empty() && !word.contains(['\n', '\r', '\0']),
                "{word:?} is no word"
            );
        }
    }
    for clause in &query.excluded {
        assert!(
            matches!(clause, Clause::Phrase(_)),
            "{clause:?} is excluded"
        );
    }
}

/// The query for what is excluded asks for exactly that.
fn check_printed(query: &Query) {
    let printed = Query::parse(&query.excluded_text);
    assert_eq!(printed.excluded, [], "{:?}", query.excluded_text);
    let mut seen = HashSet::new();
    let mut expected = Vec::new();
    for clause in &query.excluded {
        let Clause::Phrase(words) = clause else {
            continue;
        };
        if seen.insert(words) {
            expected.push(clause.clone());
        }
    }
    // It also names what is beyond the limit.
    let found = printed.clauses.get(..expected.len());
    assert_eq!(found, Some(&expected[..]), "{:?}", query.excluded_text);
}

/// What stands in a text is found by typing it.
fn check_words(text: &str) {
    let mut tokens = HashSet::new();
    let mut words = Vec::new();
    analyze(text, &mut |token| {
        let source = text.get(token.range.clone());
        assert!(source.is_some_and(|source| !source.is_empty()), "{token:?}");
        assert!(!token.text.contains(['\n', '\0']), "{token:?}");
        if token.form == Form::Exact && words.len() < MAX_WORDS {
            words.push(token.text.to_owned());
        }
        tokens.insert((token.form, token.text.to_owned()));
    });
    for word in words {
        let clauses = Query::parse(&word).clauses;
        let found = clauses.iter().any(|clause| match clause {
            Clause::Word(terms) => terms
                .iter()
                .any(|term| tokens.contains(&(term.form, term.text.clone()))),
            Clause::Phrase(_) | Clause::Prefix(_) => true,
        });
        assert!(found, "{word:?} is not found by typing it: {clauses:?}");
    }
}

fn check_index(text: &str, query: &Query) {
    let Index { index, ids, .. } = &*INDEX;
    let asked = LexicalQuery::new(text, ids.len());
    let hits = block_on(index.search(&asked)).expect("no query is an error");
    let scores = block_on(index.score(&asked, ids)).expect("no query is an error");
    let attainable = block_on(index.attainable(&asked)).expect("no query is an error");
    assert!(attainable.is_finite() && attainable >= 0.0, "{attainable}");
    assert!(!query.is_empty() || (hits.is_empty() && attainable == 0.0));
    assert!(
        hits.is_sorted_by(|a, b| Hit::rank(a, b).is_lt()),
        "{hits:?}"
    );
    for (id, score) in ids.iter().zip(&scores) {
        let found = hits.iter().find(|hit| hit.id == *id).map(|hit| hit.score);
        let score = score.expect("the entry is in the index");
        assert_eq!(found.unwrap_or(0.0), score, "search and score differ");
        assert!(
            (0.0..=attainable).contains(&score),
            "{score} of {attainable}"
        );
    }
    if !query.excluded_text.is_empty() {
        let excluded = LexicalQuery::new(&query.excluded_text, ids.len());
        let unwanted = block_on(index.search(&excluded)).expect("no query is an error");
        let both = hits
            .iter()
            .find(|hit| unwanted.iter().any(|unwanted| unwanted.id == hit.id));
        assert!(both.is_none(), "{both:?} holds what is excluded");
    }
}
