//! The index through its contract.
#![cfg(test)]

mod oracle;

use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use memory_api::{
    Batch, EntryId, ErrorKind, Factory, Fields, Hit, LexicalEntry, LexicalIndex, LexicalOp,
    LexicalQuery, OpenContext, Seq, StoreId,
};
use memory_lexical_fts5::PLUGIN;
use memory_text::{Query, snippet};
use oracle::Oracle;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

const STORE: StoreId = StoreId(7);

fn open_in(
    dir: &Path,
    config: &Value,
    read_only: bool,
) -> memory_api::Result<Arc<dyn LexicalIndex>> {
    let Factory::Lexical(open) = PLUGIN.factory else {
        panic!("not a lexical plugin")
    };
    block_on(open(
        OpenContext::new(config)
            .with_dir(dir)
            .with_read_only(read_only),
    ))
}

/// An index, what it should answer, and the next sequence number.
struct Case {
    index: Arc<dyn LexicalIndex>,
    oracle: Oracle,
    seq: u64,
    dir: TempDir,
}

fn entry(id: u128, text: &str) -> LexicalEntry {
    LexicalEntry::new(
        EntryId(id),
        text,
        Fields::new("n", "memory", "notes/daily.md"),
    )
}

fn put(id: u128, text: &str) -> LexicalOp {
    LexicalOp::Put(Box::new(entry(id, text)))
}

impl Case {
    fn new() -> Self {
        let dir = tempdir().unwrap();
        let index = open_in(dir.path(), &Value::Null, false).unwrap();
        Self {
            index,
            oracle: Oracle::default(),
            seq: 0,
            dir,
        }
    }

    fn of(texts: &[&str]) -> Self {
        let mut case = Self::new();
        case.apply(
            texts
                .iter()
                .zip(1..)
                .map(|(text, id)| put(id, text))
                .collect(),
        );
        case
    }

    fn apply(&mut self, ops: Vec<LexicalOp>) {
        let ops: Vec<_> = ops
            .into_iter()
            .map(|op| {
                self.seq += 1;
                match &op {
                    LexicalOp::Put(entry) => self.oracle.put(entry),
                    LexicalOp::Delete(id) => self.oracle.delete(*id),
                    _ => {}
                }
                (Seq(self.seq), op)
            })
            .collect();
        block_on(self.index.apply(&Batch::new(STORE, ops))).unwrap();
    }

    fn search(&self, query: &str) -> Vec<Hit> {
        block_on(self.index.search(&LexicalQuery::new(query, 1_000))).unwrap()
    }

    fn found(&self, query: &str) -> Vec<u128> {
        let mut ids: Vec<_> = self.search(query).iter().map(|hit| hit.id.0).collect();
        ids.sort_unstable();
        ids
    }

    /// Search, score and bound agree with each other and with the oracle.
    fn check(&self, query: &str) {
        let hits = self.search(query);
        let expected = self.oracle.search(query);
        assert_eq!(
            hits.len(),
            expected.len(),
            "{query:?}: {hits:?} {expected:?}"
        );
        let attainable = block_on(self.index.attainable(&LexicalQuery::new(query, 1))).unwrap();
        let ids: Vec<_> = expected.iter().map(|hit| hit.id).collect();
        let scores = block_on(self.index.score(&LexicalQuery::new(query, 0), &ids)).unwrap();
        for (expected, score) in expected.iter().zip(scores) {
            let score = score.unwrap();
            assert!(
                (expected.score - score).abs() <= 1e-5 * expected.score,
                "{query:?}: {score} {expected:?}"
            );
            assert!(
                score > 0.0 && score <= attainable,
                "{query:?}: {score} of {attainable}"
            );
            let hit = hits.iter().find(|hit| hit.id == expected.id).unwrap();
            assert_eq!(hit.score.to_bits(), score.to_bits(), "{query:?}");
        }
        assert!(hits.is_sorted_by(|a, b| a.rank(b).is_lt()), "{query:?}");
    }
}

#[test]
fn scores_follow_the_formula_through_puts_replacements_and_deletes() {
    let words = [
        "alpha",
        "beta",
        "gamma",
        "running",
        "runs",
        "harbor-crane-07",
        "数据库迁移",
        "don't",
        "alphabet",
    ];
    let queries = [
        "alpha",
        "run",
        "running beta",
        "\"alpha beta\"",
        "alph*",
        "gamma -beta",
        "alpha -\"beta gamma\"",
        "迁移",
        "harbor crane",
        "harbor-crane-07",
        "don't nothing",
        "notes",
        "daily beta",
        "nowhere",
        "zeta*",
        "\"daily notes\"",
    ];
    let mut case = Case::new();
    let mut random = 88_172_645_463_325_252_u64;
    let mut next = |n: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % n as u64).unwrap()
    };
    for _ in 0..40 {
        let ops = (0..=next(5))
            .map(|_| {
                let id = next(16) as u128;
                if next(4) == 0 {
                    return LexicalOp::Delete(EntryId(id));
                }
                let text: Vec<_> = (0..=next(12)).map(|_| words[next(words.len())]).collect();
                let mut entry = entry(id, &text.join(" "));
                entry.heading_path = (0..next(3))
                    .map(|_| words[next(words.len())].to_owned())
                    .collect();
                if next(3) == 0 {
                    entry.fields.path = "alpha/beta.md".to_owned();
                }
                LexicalOp::Put(Box::new(entry))
            })
            .collect();
        case.apply(ops);
        for query in queries {
            case.check(query);
        }
    }
}

#[test]
fn word_in_most_entries_still_counts() {
    let texts: Vec<_> = (0..30).map(|n| format!("common word number{n}")).collect();
    let case = Case::of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let hits = case.search("common number7");
    assert_eq!(hits.len(), 30);
    assert_eq!(hits[0].id, EntryId(8));
    assert!(hits.iter().all(|hit| hit.score > 0.0));
}

/// SR-10.
#[test]
fn word_in_the_heading_alone_is_found() {
    let mut case = Case::new();
    let with_heading = |id, heading: &str, text: &str| {
        let mut entry = entry(id, text);
        entry.heading_path = vec![heading.to_owned()];
        LexicalOp::Put(Box::new(entry))
    };
    let long = format!("alabaster {}", "filler ".repeat(199));
    case.apply(vec![
        with_heading(
            1,
            "Report",
            "alabaster alabaster alabaster alabaster alabaster",
        ),
        with_heading(2, "Alabaster", "nothing of it here"),
        with_heading(3, "Other", &long),
    ]);
    case.apply((4..14).map(|id| put(id, "a note without it")).collect());
    let order: Vec<_> = case
        .search("alabaster")
        .iter()
        .map(|hit| hit.id.0)
        .collect();
    assert_eq!(order.len(), 3);
    assert_eq!(order[0], 1);
    assert_eq!(order[2], 3);
}

#[test]
fn phrases_prefixes_and_exclusions_do_what_the_query_language_says() {
    let case = Case::of(&["red fox runs", "fox red", "foxes run", "blue sky"]);
    assert_eq!(case.found("\"red fox\""), [1]);
    assert_eq!(case.found("\"red foxes\""), [0; 0]);
    assert_eq!(case.found("fox*"), [1, 2, 3]);
    assert_eq!(case.found("fox -red"), [3]);
    assert_eq!(case.found("-red"), [0; 0]);
}

#[test]
fn no_phrase_crosses_two_headings() {
    let mut case = Case::new();
    let mut both = entry(1, "text");
    both.heading_path = vec!["red".to_owned(), "fox".to_owned()];
    case.apply(vec![LexicalOp::Put(Box::new(both))]);
    assert_eq!(case.found("\"red fox\""), [0; 0]);
    assert_eq!(case.found("red"), [1]);
}

#[test]
fn chinese_is_found_by_any_part() {
    let case = Case::of(&["我们周三决定推迟数据库迁移", "今天天气很好"]);
    for query in ["数据库", "迁移", "\"数据库迁移\"", "推迟*"] {
        assert_eq!(case.found(query), [1], "{query}");
        case.check(query);
    }
}

/// QP-03 to QP-10, QP-12.
#[test]
fn free_text_is_never_an_expression() {
    let case = Case::of(&[
        "status: done. Wiring north panel, retry later OR skip.",
        "TODO: paint the fence. error:timeout seen on gate motor.",
        "Drawings are under plans/roof/east.dxf, link speed 10 GB/s.",
        "Don't open the kiln before 6 o'clock.",
        "Crane unit harbor-crane-07 and ticket ADR-0005 were closed.",
        "The migration of the seed database took two evenings.",
    ]);
    for (query, id) in [
        ("status: done", 1),
        ("wiring \"north", 1),
        ("retry OR", 1),
        ("NOT panel", 1),
        ("NEAR north", 1),
        ("(panel", 1),
        ("TODO: paint", 2),
        ("error:timeout", 2),
        ("plans/roof", 3),
        ("10 GB/s", 3),
        ("don't open", 4),
        ("don\u{2019}t open", 4),
        ("6 o'clock kiln", 4),
        ("harbor-crane-07", 5),
        ("ADR-0005", 5),
        ("harbor crane", 5),
        ("database migration", 6),
    ] {
        assert_eq!(
            case.search(query).first().map(|hit| hit.id.0),
            Some(id),
            "{query}"
        );
        case.check(query);
    }
    for query in [
        "",
        "   ",
        "|",
        "***",
        "()*",
        "\"\"",
        "?!",
        "%",
        "^",
        "+++",
        "\0",
        "\"\0",
        "-",
        "--",
        "-\"",
        "{text}:",
        "\u{fffd}",
        "' OR 1=1 --",
    ] {
        case.check(query);
    }
    let long_word = "x".repeat(10_000);
    let many_words: Vec<_> = (0..2_500).map(|n| format!("w{n}")).collect();
    let many_words = many_words.join(" ");
    let quotes = "\"a\" ".repeat(2_500);
    let exclusions = format!("-{} north", many_words.replace(' ', " -"));
    let mixed = "north\0panel \0 \"wiring\0north\" pan\0*";
    for query in [&long_word, &many_words, &quotes, &exclusions, mixed] {
        case.check(query);
    }
    assert_eq!(case.found(&exclusions), [1]);
}

#[test]
fn allowed_ids_are_honoured_inside_the_search() {
    let texts: Vec<_> = (0..100)
        .map(|n| format!("word {}", "word ".repeat(n % 7)))
        .collect();
    let case = Case::of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let allowed = [EntryId(3), EntryId(50), EntryId(99), EntryId(1_000)];
    let query = LexicalQuery::new("word", 5).with_allowed(&allowed);
    let hits = block_on(case.index.search(&query)).unwrap();
    let expected: Vec<_> = case
        .search("word")
        .into_iter()
        .filter(|hit| allowed.contains(&hit.id))
        .collect();
    assert_eq!(hits, expected);
    assert_eq!(hits.len(), 3);
    let none = LexicalQuery::new("word", 5).with_allowed(&[]);
    assert_eq!(block_on(case.index.search(&none)).unwrap(), []);
}

#[test]
fn smaller_k_is_a_prefix_also_among_ties() {
    let case = Case::of(&["same words"; 20]);
    let all = case.search("same");
    for k in 0..=21 {
        let hits = block_on(case.index.search(&LexicalQuery::new("same", k))).unwrap();
        assert_eq!(hits, all[..k.min(20)]);
    }
    assert_eq!(all[0].id, EntryId(1));
}

#[test]
fn score_tells_no_match_from_not_here() {
    let case = Case::of(&["red fox", "blue sky"]);
    let ids = [EntryId(2), EntryId(9), EntryId(1)];
    let score = |query| block_on(case.index.score(&LexicalQuery::new(query, 0), &ids)).unwrap();
    let scores = score("red");
    assert_eq!(scores[..2], [Some(0.0), None]);
    assert!(scores[2].unwrap() > 0.0);
    assert_eq!(score("sky -blue"), [Some(0.0), None, Some(0.0)]);
    assert_eq!(score(""), [Some(0.0), None, Some(0.0)]);
}

#[test]
fn unknown_word_lowers_the_share_but_an_unknown_form_does_not() {
    let case = Case::of(&["she runs far", "blue sky", "green grass", "grey stone"]);
    let attainable = |query| block_on(case.index.attainable(&LexicalQuery::new(query, 1))).unwrap();
    let share = |query| case.search(query)[0].score / attainable(query);
    assert!(share("sky zebra") < 0.6 * share("sky"));
    assert!(share("running") > 0.15, "{}", share("running"));
    assert!(attainable("").abs() < f32::EPSILON);
    let empty = Case::new();
    let bound = block_on(empty.index.attainable(&LexicalQuery::new("word", 1))).unwrap();
    assert!(bound.is_finite() && bound > 0.0);
}

#[test]
fn replay_changes_nothing_and_the_index_survives_reopening() {
    let mut case = Case::of(&["red fox", "blue sky"]);
    case.apply(vec![LexicalOp::Delete(EntryId(1)), put(2, "green sky")]);
    let before = case.search("sky");
    let old = Batch::new(
        STORE,
        vec![(Seq(1), put(1, "red fox")), (Seq(2), put(2, "blue sky"))],
    );
    block_on(case.index.apply(&old)).unwrap();
    assert_eq!(case.search("sky"), before);
    assert_eq!(case.found("fox blue"), [0; 0]);
    assert_eq!(
        block_on(case.index.watermark()).unwrap().unwrap().seq,
        Seq(4)
    );
    block_on(case.index.flush()).unwrap();
    block_on(case.index.close()).unwrap();
    for read_only in [true, false] {
        case.index = open_in(case.dir.path(), &Value::Null, read_only).unwrap();
        assert_eq!(case.search("sky"), before);
        assert_eq!(block_on(case.index.stats()).unwrap().n_entries, 1);
        block_on(case.index.close()).unwrap();
    }
}

#[test]
fn empty_batch_moves_the_watermark() {
    let case = Case::new();
    assert_eq!(block_on(case.index.watermark()).unwrap(), None);
    let batch = Batch::new(STORE, Vec::new()).with_through(Seq(9));
    block_on(case.index.apply(&batch)).unwrap();
    assert_eq!(
        block_on(case.index.watermark()).unwrap().unwrap().seq,
        Seq(9)
    );
}

#[test]
fn another_store_and_unordered_changes_are_refused_whole() {
    let case = Case::of(&["red fox"]);
    let theirs = Batch::new(StoreId(8), vec![(Seq(5), put(2, "red sky"))]);
    let unordered = Batch::new(
        STORE,
        vec![(Seq(6), put(2, "red sky")), (Seq(5), put(3, "red sea"))],
    );
    for batch in [theirs, unordered] {
        let err = block_on(case.index.apply(&batch)).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput);
        assert_eq!(err.plugin(), Some("fts5"));
    }
    assert_eq!(case.found("red"), [1]);
    assert_eq!(
        block_on(case.index.watermark()).unwrap().unwrap().seq,
        Seq(1)
    );
}

#[test]
fn closed_index_says_so() {
    let case = Case::of(&["red fox"]);
    block_on(case.index.close()).unwrap();
    block_on(case.index.close()).unwrap();
    let query = LexicalQuery::new("", 0);
    let errs = [
        block_on(case.index.search(&query)).unwrap_err(),
        block_on(case.index.score(&query, &[])).unwrap_err(),
        block_on(case.index.attainable(&query)).unwrap_err(),
        block_on(case.index.watermark()).unwrap_err(),
        block_on(case.index.stats()).unwrap_err(),
        block_on(case.index.flush()).unwrap_err(),
        block_on(case.index.apply(&Batch::new(STORE, Vec::new()))).unwrap_err(),
    ];
    assert!(
        errs.iter().all(|err| err.kind() == ErrorKind::Closed),
        "{errs:?}"
    );
}

/// QP-13.
#[test]
fn empty_index_finds_nothing_and_a_missing_one_says_so() {
    assert_eq!(Case::new().search("bridge"), []);
    let dir = tempdir().unwrap();
    let err = open_in(dir.path(), &Value::Null, true).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::NotFound);
    assert!(err.hint().is_some());
}

#[test]
fn damaged_file_is_corrupt() {
    let dir = tempdir().unwrap();
    std::fs::write(dir.path().join("index.db"), "scribble".repeat(1_000)).unwrap();
    let err = open_in(dir.path(), &Value::Null, false).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Corrupt);
}

#[test]
fn weights_are_checked_and_change_no_stored_token() {
    for (config, key) in [
        (json!({ "heading_weight": 0.0 }), "heading_weight"),
        (json!({ "path_weight": 1.5 }), "path_weight"),
        (json!({ "path_weight": "much" }), "path_weight"),
    ] {
        let dir = tempdir().unwrap();
        for err in [
            (PLUGIN.check_config)(&config).unwrap_err(),
            open_in(dir.path(), &config, false).unwrap_err(),
        ] {
            assert_eq!(err.kind(), ErrorKind::Config);
            assert_eq!(err.context("key"), Some(key));
        }
    }
    let case = Case::of(&["red fox"]);
    assert_eq!(case.found("daily"), [1]);
    let config = json!({ "path_weight": 0.0 });
    let other = open_in(case.dir.path(), &config, false).unwrap();
    assert_eq!(other.fingerprint(), case.index.fingerprint());
    assert_eq!(
        block_on(other.search(&LexicalQuery::new("daily", 9))).unwrap(),
        []
    );
}

#[test]
fn snippet_of_a_hit_holds_the_match() {
    let text = format!(
        "{} The crane was closed. {}",
        "filler ".repeat(100),
        "padding ".repeat(100)
    );
    let case = Case::of(&[text.as_str()]);
    assert_eq!(case.found("crane"), [1]);
    assert!(snippet(&text, &Query::parse("crane"), 60).contains("crane"));
}

#[test]
fn same_query_sees_what_was_applied_since() {
    let mut case = Case::of(&["red fox"]);
    case.check("red sky");
    case.apply(vec![put(2, "red sky")]);
    case.check("red sky");
    assert_eq!(case.found("red sky"), [1, 2]);
    case.apply(vec![LexicalOp::Delete(EntryId(1))]);
    case.check("red sky");
    assert_eq!(case.found("red sky"), [2]);
}
