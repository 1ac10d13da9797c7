//! The query language.

use std::collections::BTreeSet;
use std::sync::Arc;

use memory_api::{
    Capability, EntryId, ErrorKind, LexicalEntry, LexicalIndex, LexicalOp, LexicalQuery,
};

use super::library::stocked;
use super::probe::{check_ranked, put};
use crate::failure::ensure;
use crate::index::{entry_id, fields};
use crate::subject::Home;
use crate::{Failure, Outcome, Subject};

/// Opens an index with one entry per text.
async fn shelf<'a>(
    subject: &'a Subject,
    texts: &[&str],
) -> Outcome<(Home<'a>, Arc<dyn LexicalIndex>)> {
    let ops = (0..)
        .map(entry_id)
        .zip(texts)
        .map(|(id, text)| put(id, *text));
    stocked(subject, ops.collect()).await
}

async fn found(index: &dyn LexicalIndex, text: &str) -> Outcome<BTreeSet<EntryId>> {
    let hits = index.search(&LexicalQuery::new(text, 1000)).await?;
    check_ranked(&hits, 1000).map_err(|failure| failure.within(text))?;
    Ok(hits.iter().map(|hit| hit.id).collect())
}

/// Checks which of the texts, by their place, a query finds.
async fn check(index: &dyn LexicalIndex, text: &str, expected: &[u16]) -> Outcome {
    let found = found(index, text).await?;
    let expected: BTreeSet<_> = expected.iter().copied().map(entry_id).collect();
    ensure!(
        found == expected,
        "`{text}` finds {found:?} instead of {expected:?}"
    );
    Ok(())
}

pub(super) fn heading_words_are_found(subject: &Subject) -> Outcome {
    let mut titled = LexicalEntry::new(entry_id(0), "amber birch", fields(0));
    titled.heading_path = vec!["cedar".to_owned(), "dune falcon".to_owned()];
    let plain = put(entry_id(1), "cedar amber");
    let ops = vec![LexicalOp::Put(Box::new(titled)), plain];
    subject.run(async {
        let (_home, index) = stocked(subject, ops).await?;
        // A word in a heading, in a text, in both (SR-10).
        check(&*index, "dune", &[0]).await?;
        check(&*index, "birch", &[0]).await?;
        check(&*index, "amber", &[0, 1]).await?;
        check(&*index, "cedar", &[0, 1]).await
    })
}

/// Texts with words that stand in them: as they are written, and as they may be typed (CU-08, CU-10).
const SCRIPTS: &[(&str, &[&str])] = &[
    ("港湾工事は来月。猫が鳴いた。", &["港湾", "猫", "工事"]),
    ("渡轮六点出发，请不要迟到！", &["渡轮", "迟到", "出发"]),
    ("서울에서 부산까지 기차로", &["기차로", "서울에서"]),
    (
        "Łódź harbour, Straße 5, Jørn dock, caffè",
        &["Łódź", "Straße", "Jørn", "caffè", "HARBOUR"],
    ),
    ("Привет мир, это ПРОВЕРКА", &["мир", "проверка"]),
    ("مرحبا بالعالم هذا نص", &["مرحبا", "بالعالم"]),
    ("שלום עולם", &["שלום"]),
    ("यह एक परीक्षण है", &["परीक्षण"]),
];

pub(super) fn words_of_every_script_are_found(subject: &Subject) -> Outcome {
    let texts: Vec<_> = SCRIPTS.iter().map(|(text, _)| *text).collect();
    subject.run(async {
        let (_home, index) = shelf(subject, &texts).await?;
        for (id, (text, words)) in (0..).map(entry_id).zip(SCRIPTS) {
            for word in *words {
                let found = found(&*index, word).await?;
                ensure!(found.contains(&id), "`{word}` does not find `{text}`");
            }
        }
        Ok(())
    })
}

pub(super) fn long_words_are_found(subject: &Subject) -> Outcome {
    // What a limit on the length of a word drops without a sound (PB-06).
    let words = [
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
        "rindfleischetikettierungsüberwachungsaufgaben".to_owned(),
        "wharf".repeat(60),
    ];
    let texts: Vec<_> = words
        .iter()
        .map(|word| format!("before {word} after"))
        .collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    subject.run(async {
        let (_home, index) = shelf(subject, &texts).await?;
        for (id, word) in (0..).map(entry_id).zip(&words) {
            let found = found(&*index, word).await?;
            ensure!(
                found.contains(&id),
                "a word of {} characters is not found",
                word.chars().count()
            );
        }
        Ok(())
    })
}

/// Queries that hold the word `wharf`, and much that other languages take for syntax (QP-03 to QP-06).
const WITH_A_WORD: &[&str] = &[
    "wharf",
    "status: wharf",
    "text:wharf",
    "wharf OR",
    "OR wharf",
    "AND wharf AND",
    "NOT wharf",
    "NEAR wharf",
    "NEAR(wharf, 2)",
    "(wharf",
    "wharf)",
    "{wharf} : x",
    "[wharf TO",
    "wharf^2",
    "^wharf",
    "wharf~1",
    "+wharf",
    "wharf/pier",
    "don't wharf",
    "wharf'",
    "'; DROP TABLE wharf;",
    "C:\\wharf\\x",
    "%wharf%",
    "wharf?",
    "wharf\u{0}",
    "wharf\u{feff}",
    "wharf\n\tAND\n",
    "\\wharf",
    "wharf && pier || !dock",
];

/// Queries with the marks of the query language in odd places; what they find is not said.
const WITH_SYNTAX: &[&str] = &[
    "\"",
    "\"\"",
    "\"\"\"",
    "\"wharf",
    "wharf\"",
    "wharf \"north",
    "\"wharf\" \"",
    "\"*\"",
    "\"wharf*\"",
    "-\"wharf pier\"",
    "*",
    "***",
    "()*",
    "* wharf",
    "wh*rf",
    "*wharf",
    "-",
    "--",
    "-wharf",
    "- wharf",
    "-*",
    "wharf -",
    "-\"",
    "-wharf -pier",
    "'; DROP TABLE wharf; --",
];

pub(super) fn hostile_query_is_no_error(subject: &Subject) -> Outcome {
    let syntax = [
        Capability::PhraseQuery,
        Capability::PrefixQuery,
        Capability::ExcludeQuery,
    ];
    let declared = subject.plugin().capabilities;
    let has_all = syntax.iter().all(|capability| declared.has(*capability));
    subject.run(async {
        let (_home, index) = shelf(subject, &["the north wharf is closed", "a pier"]).await?;
        for text in WITH_A_WORD {
            let found = found(&*index, text)
                .await
                .map_err(|failure| failure.within(format!("`{text}`")))?;
            ensure!(
                found.contains(&entry_id(0)),
                "`{text}` does not find the entry with the word `wharf`"
            );
        }
        let long = [
            "wharf ".repeat(2000),
            "x".repeat(10_000),
            "( ".repeat(5000),
            (0..5000)
                .map(|n| format!("word{n} "))
                .collect::<Vec<_>>()
                .concat(),
            "港".repeat(10_000),
        ];
        let all = WITH_SYNTAX
            .iter()
            .copied()
            .chain(long.iter().map(String::as_str));
        for text in all {
            for err in calls(&*index, text).await.into_iter().flatten() {
                // An index without the whole language may take an odd mark for something it does not do.
                let may_refuse = !has_all && text.contains(['"', '*', '-']);
                ensure!(
                    may_refuse && err.kind() == ErrorKind::Unsupported,
                    "`{}` is an error: {err:?}",
                    text.chars().take(40).collect::<String>()
                );
            }
        }
        Ok(())
    })
}

/// The errors of search, score and attainable.
async fn calls(index: &dyn LexicalIndex, text: &str) -> [Option<memory_api::Error>; 3] {
    let query = LexicalQuery::new(text, 10);
    [
        index.search(&query).await.err(),
        index.score(&query, &[entry_id(0)]).await.err(),
        index.attainable(&query).await.err(),
    ]
}

pub(super) fn query_without_words_finds_nothing(subject: &Subject) -> Outcome {
    subject.run(async {
        let (_home, index) = shelf(subject, &["wharf", "?! … 100%"]).await?;
        // QP-10.
        for text in [
            "", " ", "\n\t", "\u{3000}", "?!", "%", "^", "+++", "…", "()", "\u{0}",
        ] {
            check(&*index, text, &[]).await?;
            let scores = index
                .score(&LexicalQuery::new(text, 1), &[entry_id(0), entry_id(9)])
                .await?;
            ensure!(
                scores == [Some(0.0), None],
                "the query `{text}` has no word, but gives the scores {scores:?}"
            );
        }
        Ok(())
    })
}

pub(super) fn phrase_words_stand_together(subject: &Subject) -> Outcome {
    let texts = [
        "amber birch cedar",
        "birch amber cedar",
        "amber ivory birch",
        "gravel amber birch",
        "falcon",
    ];
    subject.run(async {
        let (_home, index) = shelf(subject, &texts).await?;
        check(&*index, "\"amber birch\"", &[0, 3]).await?;
        check(&*index, "\"amber birch cedar\"", &[0]).await?;
        check(&*index, "\"cedar birch\"", &[]).await?;
        // A phrase beside a word, and a phrase of one word.
        check(&*index, "\"amber birch\" falcon", &[0, 3, 4]).await?;
        check(&*index, "\"ivory\"", &[2]).await
    })
}

pub(super) fn prefix_finds_word_beginnings(subject: &Subject) -> Outcome {
    let texts = ["lantern", "lantana meadow", "meadow", "xlantern"];
    subject.run(async {
        let (_home, index) = shelf(subject, &texts).await?;
        check(&*index, "lant*", &[0, 1]).await?;
        check(&*index, "mead*", &[1, 2]).await?;
        check(&*index, "lanter*", &[0]).await?;
        check(&*index, "quar*", &[]).await?;
        check(&*index, "quar* meadow", &[1, 2]).await
    })
}

pub(super) fn excluded_word_removes_entries(subject: &Subject) -> Outcome {
    let texts = ["amber birch", "amber", "birch", "amber cedar"];
    subject.run(async {
        let (_home, index) = shelf(subject, &texts).await?;
        check(&*index, "amber -birch", &[1, 3]).await?;
        check(&*index, "-birch amber -cedar", &[1]).await?;
        check(&*index, "amber -amber", &[]).await?;
        // An exclusion alone asks for nothing.
        check(&*index, "-amber", &[]).await?;
        let query = LexicalQuery::new("amber -birch", 10);
        let scores = index.score(&query, &[entry_id(0)]).await?;
        ensure!(
            scores == [Some(0.0)],
            "the excluded entry has the scores {scores:?}"
        );
        Ok(())
    })
}

fn check_unsupported(subject: &Subject, text: &str) -> Outcome {
    subject.run(async {
        let (_home, index) = shelf(subject, &["amber birch", "birch"]).await?;
        for err in calls(&*index, text).await {
            let kind = err.as_ref().map(memory_api::Error::kind);
            if kind != Some(ErrorKind::Unsupported) {
                let answer = err.map_or_else(|| "an answer".to_owned(), |err| format!("{err:?}"));
                return Err(Failure::new(format!(
                    "`{text}` gives {answer} instead of kind `unsupported`; declare the capability if it works"
                )));
            }
        }
        Ok(())
    })
}

pub(super) fn undeclared_phrase_is_unsupported(subject: &Subject) -> Outcome {
    check_unsupported(subject, "\"amber birch\"")
}

pub(super) fn undeclared_prefix_is_unsupported(subject: &Subject) -> Outcome {
    check_unsupported(subject, "amb*")
}

pub(super) fn undeclared_exclusion_is_unsupported(subject: &Subject) -> Outcome {
    check_unsupported(subject, "birch -amber")
}
