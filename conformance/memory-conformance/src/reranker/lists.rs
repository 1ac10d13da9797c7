//! The candidates every reranker has to sort.

use std::collections::BTreeSet;

use memory_api::{Candidate, EntryId};
use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;

/// An ordinary query.
pub(super) const QUERY: &str = "when is the pump checked";

const NOTES: &[&str] = &[
    "The pump sits in the cellar and is checked every Monday.",
    "The pump sits in the cellar, and it is checked every Monday!",
    "A valve of the greenhouse was replaced in May.",
    "水泵在地下室,每周检查一次。",
    "Насос стоит в подвале.",
    "펌프는 지하실에 있다.",
    "المضخة في القبو",
];

/// Texts and scores. Ids are in no order of their place.
#[derive(Debug, Clone)]
pub(super) struct List(Vec<(String, f32)>);

impl List {
    fn new<'a>(rows: impl IntoIterator<Item = (&'a str, f32)>) -> Self {
        Self(
            rows.into_iter()
                .map(|(text, score)| (text.to_owned(), score))
                .collect(),
        )
    }

    pub(super) fn candidates(&self) -> Vec<Candidate<'_>> {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        self.0
            .iter()
            .zip(1_u128..)
            .map(|((text, score), n)| Candidate::new(EntryId(n.wrapping_mul(ODD)), text, *score))
            .collect()
    }

    pub(super) fn has_distinct_scores(&self) -> bool {
        let scores: BTreeSet<_> = self.0.iter().map(|(_, score)| score.to_bits()).collect();
        scores.len() == self.0.len()
    }
}

/// Returns scores from 1 down, all different.
fn falling(n: usize) -> impl Iterator<Item = f32> {
    (0..n).map(move |place| 1.0 - share(place, n))
}

fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole as f32
}

/// Lists that a search may give.
pub(super) fn ordinary() -> Vec<(&'static str, List)> {
    let notes = || NOTES.iter().copied();
    let n_notes = NOTES.len();
    let same = NOTES.iter().take(1).copied().cycle();
    let many = notes()
        .cycle()
        .take(200)
        .zip(falling(200))
        .map(|(note, score)| {
            // Some repeat each other, some share a few words, some are short of all words but their own.
            (format!("{note} {}", score.to_bits() % 60), score)
        });
    vec![
        ("notes by score", List::new(notes().zip(falling(n_notes)))),
        (
            "notes from the worst to the best",
            List::new(
                notes()
                    .rev()
                    .zip((0..n_notes).map(|place| share(place, n_notes))),
            ),
        ),
        ("equal texts", List::new(same.clone().zip(falling(5)))),
        ("equal scores", List::new(notes().map(|note| (note, 0.5)))),
        (
            "equal texts and scores",
            List::new(same.take(5).map(|note| (note, 0.5))),
        ),
        ("scores of 0", List::new(notes().map(|note| (note, 0.0)))),
        ("scores near to each other", {
            let near = [
                1.0,
                f32::from_bits(1_f32.to_bits() - 1),
                f32::MIN_POSITIVE,
                0.0,
            ];
            List::new(notes().zip(near))
        }),
        ("many candidates", List(many.collect())),
    ]
}

/// Lists with texts that nobody should have written.
pub(super) fn hostile() -> Vec<(&'static str, List)> {
    let texts = [
        "",
        " \t\r\n\u{3000}",
        "!?…",
        "🌸👩‍👩‍👧‍👦🇺🇳",
        "\u{202e}שלום עולם\u{202c} مرحبا",
        "nul\0nul\0",
        "\u{feff}\u{200d}\u{0301}\u{1b}[31m",
        "\"AND\" OR (NOT *:* NEAR( -- ; DROP",
        "\u{fffd}\u{10ffff}",
    ];
    let one_word = "a".repeat(100_000);
    let many_words = "水 pump ".repeat(20_000);
    let huge = [one_word.as_str(), &many_words, QUERY, &one_word];
    vec![
        (
            "hostile texts",
            List::new(texts.into_iter().zip(falling(texts.len()))),
        ),
        (
            "hostile texts with equal scores",
            List::new(texts.map(|text| (text, 0.5))),
        ),
        (
            "texts without words",
            List::new([("", 0.9), ("!", 0.8), ("", 0.7), ("…", 0.7)]),
        ),
        (
            "huge texts",
            List::new(huge.into_iter().zip(falling(huge.len()))),
        ),
    ]
}

/// Queries that nobody should have typed.
pub(super) fn hostile_queries() -> Vec<String> {
    let mut queries: Vec<String> = [
        "",
        " ",
        "\0",
        "🌸",
        "\u{202e}שלום",
        "\"",
        "NEAR(",
        "-",
        "\u{feff}",
    ]
    .map(str::to_owned)
    .into();
    queries.push("pump ".repeat(2_000));
    queries
}

fn text() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &["pump", "valve", "水泵", "Насос", "the", "!", ""];
    vec(select(WORDS), 0..5).prop_map(|words| words.join(" "))
}

/// Short texts that repeat each other, with scores of which some are equal.
pub(super) fn random() -> impl Strategy<Value = List> {
    let score = (0..=8_u8).prop_map(|eighths| f32::from(eighths) / 8.0);
    vec((text(), score), 2..10).prop_map(List)
}

/// The same with scores that all differ.
pub(super) fn random_distinct() -> impl Strategy<Value = List> {
    vec((text(), 0..=u16::MAX), 2..10).prop_map(|rows| {
        let mut seen = BTreeSet::new();
        let rows = rows.into_iter().filter(|(_, score)| seen.insert(*score));
        List(
            rows.map(|(text, score)| (text, f32::from(score) / f32::from(u16::MAX)))
                .collect(),
        )
    })
}
