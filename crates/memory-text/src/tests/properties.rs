use proptest::prelude::*;

use super::{exact, finds};
use crate::{Query, TokenSet, analyze, estimate_tokens, snippet};

/// Text that looks for trouble: letters of many scripts, marks, joiners, syntax.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z]{1,9}",
        2 => "[0-9]{1,4}",
        3 => "[ \\t\n]",
        3 => r#"[-_./:@'#+&,*"“”()…]"#,
        2 => "[äöüßéèçñøłđıİŞğœÆ]{1,4}",
        2 => "[\u{300}-\u{308}\u{200c}\u{200d}\u{fe0f}\u{ad}]",
        3 => "[\u{4e00}-\u{4e40}的了是什么]{1,6}",
        2 => "[\u{3041}-\u{30ff}\u{ff66}-\u{ff9f}]{1,5}",
        2 => "[\u{ac00}-\u{ac80}]{1,5}",
        2 => "[\u{0e01}-\u{0e5b}]{1,5}",
        1 => "[\u{0400}-\u{0460}]{1,6}",
        1 => "[\u{0370}-\u{03ff}]{1,6}",
        1 => "[\u{0600}-\u{06ff}]{1,6}",
        1 => "[\u{0900}-\u{097f}\u{0b80}-\u{0bff}\u{1000}-\u{109f}\u{1780}-\u{17ff}]{1,6}",
        1 => "\\PC{1,4}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn ranges_are_on_borders_and_positions_leave_no_gap(text in text()) {
        let mut last = (0, 0);
        let mut first = true;
        analyze(&text, &mut |token| {
            assert!(text.get(token.range.clone()).is_some_and(|source| !source.is_empty()), "{token:?}");
            assert!(!token.text.is_empty());
            assert!(token.range.start >= last.1 || token.position == last.0, "{token:?} after {last:?}");
            let next = token.position == last.0 + 1 || token.position == last.0;
            assert!(next && (!first || token.position == 0), "{token:?} after {last:?}");
            first = false;
            last = (token.position, token.range.start);
        });
    }

    #[test]
    fn analysis_is_a_function_of_the_text(text in text()) {
        prop_assert_eq!(super::tokens(&text), super::tokens(&text));
    }

    #[test]
    fn every_exact_token_typed_finds_its_text(text in text()) {
        for token in exact(&text) {
            prop_assert!(finds(&token, &text), "{:?} in {:?}", token, text);
        }
    }

    #[test]
    fn every_part_of_a_run_finds_it(run in "[\u{4e00}-\u{9fff}ぁ-んァ-ヶ가-힣]{1,30}", start in 0..30_usize, len in 1..=6_usize) {
        let part: String = run.chars().skip(start).take(len).collect();
        if !part.is_empty() {
            prop_assert!(finds(&part, &format!("見よ{run}。")), "{} in {}", part, run);
        }
    }

    #[test]
    fn every_phrase_of_a_text_finds_it(text in "[a-z ]{1,20}[\u{4e00}-\u{4e20}]{1,4}[A-Za-z0-9 _.-]{1,20}") {
        if !exact(&text).is_empty() {
            let query = format!("\"{}\"", text.trim());
            prop_assert!(finds(&query, &text), "{}", query);
        }
    }

    #[test]
    fn no_text_breaks_anything(text in text(), query in text(), max_chars in 0..80_usize) {
        let query = Query::parse(&query);
        prop_assert!(query.clauses.len() <= 128);
        prop_assert!(snippet(&text, &query, max_chars).chars().count() <= max_chars);
        prop_assert!(estimate_tokens(&text) >= text.chars().filter(|c| !c.is_ascii()).count());
        let set = TokenSet::of(&text);
        prop_assert!((set.jaccard(&set) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn upper_case_finds_lower_case(word in "[a-zäöüéñøł]{2,12}") {
        prop_assert!(finds(&word.to_uppercase(), &word), "{}", word);
    }
}
