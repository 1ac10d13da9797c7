//! Faults of similar systems, by the id of their report.

use memory_text::TokenSet;

use super::rerank;
use crate::reranker::similarity;

/// Pairs of different notes that share one word, by language.
const PAIRS: &[(&str, [&str; 2])] = &[
    (
        "水泵",
        [
            "水泵在地下室,每周检查一次阀门。",
            "新的水泵从上海订购,六月到货。",
        ],
    ),
    (
        "насос",
        [
            "Насос стоит в подвале, клапан проверяют каждую неделю.",
            "Новый насос заказан в Казани и приедет в июне.",
        ],
    ),
    (
        "펌프",
        [
            "펌프는 지하실에 있고 밸브는 매주 점검한다.",
            "새 펌프는 부산에서 주문했고 유월에 도착한다.",
        ],
    ),
];

#[test]
fn sr_06_different_notes_in_any_script_stay_and_a_near_copy_moves_down() {
    for (word, [one, other]) in PAIRS {
        let near_copy = format!("{one} {word}!");
        // By score the near-copy stands between the two.
        let candidates = [
            (0.9, *one),
            (0.88, near_copy.as_str()),
            (0.86, *other),
            (0.5, "…"),
        ];
        assert_eq!(rerank(0.7, &candidates)[..3], [0, 2, 1], "{word}");
    }
}

#[test]
fn sr_06_one_shared_word_moves_no_note() {
    // All three pairs in one list, as a search over a mixed memory gives them: none is like another.
    let candidates: Vec<(f32, &str)> = PAIRS
        .iter()
        .flat_map(|(_, notes)| notes)
        .zip([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
        .map(|(note, score)| (score, *note))
        .collect();
    assert_eq!(rerank(0.7, &candidates), [0, 1, 2, 3, 4, 5]);
    for (word, notes) in PAIRS {
        let [one, other] = notes.map(TokenSet::of);
        let alike = similarity(&one, &other);
        assert!(alike > 0.0 && alike < 0.25, "{word}: {alike}");
    }
}

#[test]
fn sr_06_texts_without_words_are_not_alike() {
    for (one, other) in [("", ""), ("!!!", "…"), ("", "word"), ("word", "")] {
        let alike = similarity(&TokenSet::of(one), &TokenSet::of(other));
        assert!(alike <= 0.0, "{one:?} {other:?}: {alike}");
    }
    // As sets they are equal, and that stays the word of memory-text.
    assert!(TokenSet::of("!!!").jaccard(&TokenSet::of("")) >= 1.0);
    assert_eq!(
        rerank(0.5, &[(0.9, "!"), (0.8, "?"), (0.1, "word")]),
        [0, 1, 2]
    );
}
