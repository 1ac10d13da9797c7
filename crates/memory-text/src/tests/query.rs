use std::fmt::Write as _;

use super::{finds, score};
use crate::{Clause, Form, Query};

/// A query in short: words by their first term.
fn show(text: &str) -> String {
    let query = Query::parse(text);
    let mut out = String::new();
    let clauses = query
        .clauses
        .iter()
        .map(|clause| ("", clause))
        .chain(query.excluded.iter().map(|clause| ("-", clause)));
    for (sign, clause) in clauses {
        let text = match clause {
            Clause::Word(terms) => terms[0].text.clone(),
            Clause::Phrase(words) => format!("{words:?}"),
            Clause::Prefix(start) => format!("{start}*"),
        };
        write!(out, "{sign}{text} ").unwrap();
    }
    out.trim_end().to_owned()
}

fn check(query: &str, expected: &str) {
    assert_eq!(show(query), expected, "{query}");
}

#[test]
fn words_are_joined_by_or() {
    check("Seed  database\tmigration", "seed database migration");
    assert!(finds(
        "database migration",
        "The migration of the seed database took two evenings."
    )); // QP-12
}

#[test]
fn quotes_make_a_phrase() {
    check("the \"big dog\" barks", r#"["big", "dog"] barks"#);
    check("“big dog”", r#"["big", "dog"]"#);
    check("\"点検した\"", r#"["点検", "検し", "した"]"#);
    check("\"附录B\"", r#"["附录", "录", "b"]"#);
    check("\"use C++ here\"", r#"["use", "c++", "here"]"#);
    check("\"harbor-crane-07\"", r#"["harbor", "crane", "07"]"#);
    assert!(finds("\"big dog\"", "a big dog"));
    assert!(!finds("\"big dog\"", "a dog, big"));
    assert!(!finds("\"big dogs\"", "a big dog"));
    assert!(finds("\"附录B\"", "见附录B。"));
    assert!(finds("\"harbor crane\"", "unit harbor-crane-07"));
}

#[test]
fn an_unbalanced_quote_is_an_ordinary_character() {
    check("wiring \"north", "wiring north");
    check("a 5\" pipe and 6\" pipe", "5 pipe 6");
    check("“open “open", "open");
}

#[test]
fn a_star_after_a_word_is_a_prefix() {
    check("cran* pump", "cran* pump");
    check("pump_run*", "pump_run*");
    check("cran * x", "cran x");
    check("**bold**", "bold");
    assert!(finds("harb*", "harbor-crane-07"));
    assert!(finds("harbor-cr*", "harbor-crane-07"));
}

#[test]
fn a_leading_hyphen_excludes() {
    check("pump -valve", r#"pump -["valve"]"#);
    check("-\"big dog\" cat", r#"cat -["big", "dog"]"#);
    check("pump -harbor-crane", r#"pump -["harbor", "crane"]"#);
    check("水泵 -阀门", r#"水泵 -["阀门"]"#);
    check("pump - valve", "pump valve");
    check("pump --valve", "pump valve");
    assert!(!finds("pump -valve", "pump and valve"));
    assert!(finds("pump -valve", "pump and valves"));
}

#[test]
fn a_hyphen_inside_a_word_excludes_nothing_qp_08() {
    let query = Query::parse("long-lived rain-water tank of 10-20 litres, state-of-the-art");
    assert!(query.excluded.is_empty());
    assert!(finds("long-lived rain-water tank", "a tank"));
}

#[test]
fn operators_are_words_qp_03() {
    let text = "status: done. Wiring north panel, retry later OR skip.";
    for query in [
        "status: done",
        "wiring \"north",
        "retry OR",
        "NOT panel",
        "NEAR north",
        "(panel",
        "AND panel NOT (x",
    ] {
        assert!(finds(query, text), "{query}");
    }
}

#[test]
fn colons_and_slashes_are_no_syntax_qp_04_qp_05() {
    let text = "TODO: paint the fence. error:timeout seen on gate motor.";
    assert!(finds("TODO: paint", text));
    assert!(finds("error:timeout", text));
    let text = "Drawings are under plans/roof/east.dxf, link speed 10 GB/s.";
    assert!(finds("plans/roof", text));
    assert!(finds("10 GB/s", text));
}

#[test]
fn compounds_are_found_whole_in_parts_and_spaced_qp_07() {
    let text = "Crane unit harbor-crane-07 and ticket ADR-0005 were closed.";
    for query in [
        "harbor-crane-07",
        "ADR-0005",
        "harbor crane",
        "adr 0005",
        "crane-07",
        "07",
    ] {
        assert!(finds(query, text), "{query}");
    }
    assert!(score("harbor-crane-07", text) > score("harbor-crane-07", "harbor crane 08"));
    assert!(finds("camelCase", "a camelcase name") && finds("camelcase", "a camelCase name"));
    assert!(finds("pump run time", "pump_run_time") && finds("pump_run_time", "pump run time"));
}

#[test]
fn no_word_is_an_empty_query_qp_09_qp_10() {
    for query in [
        "", "   ", "|", "***", "()*", "\"\"", "?!", "%", "^", "+++", "-", "--", "\" \"", "\u{301}",
        "\u{200D}",
    ] {
        assert!(Query::parse(query).is_empty(), "{query}");
    }
    let query = Query::parse("-pump");
    assert!(query.is_empty() && query.excluded.len() == 1);
}

#[test]
fn the_query_for_what_is_excluded_asks_for_it_in_any_quotes() {
    for query in [
        "-pump",
        "-\"oil “pump\"",
        "-“oil \"pump”",
        "-a”b -“\"x” -\"y”\"",
    ] {
        let query = Query::parse(query);
        let asked = Query::parse(&query.excluded_text);
        assert_eq!(asked.clauses, query.excluded, "{}", query.excluded_text);
        assert!(asked.excluded.is_empty());
    }
}

#[test]
fn stop_words_are_dropped_beside_others_only() {
    check("what is the pump", "pump");
    check("to be or not to be", "to be or not");
    check("Don't the pump's", "pump");
    check("wer war der Kaiser", "kaiser");
    check("что такое насос", "такое насос");
    check("水泵是什么", "水 水泵 泵 泵是");
    check("什么", "什么");
    check("\"the who\" band", r#"["the", "who"] band"#);
}

#[test]
fn repeated_words_count_once() {
    check("pump Pump PUMP pumps", "pump pumps");
}

#[test]
fn the_weights_of_a_word_sum_to_one() {
    for text in ["pumps", "2024", "水泵", "Straße", "wer war der Kaiser"] {
        for clause in Query::parse(text).clauses {
            let Clause::Word(terms) = clause else {
                panic!("{clause:?}")
            };
            let sum: f32 = terms.iter().map(|term| term.weight).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{terms:?}");
        }
    }
}

#[test]
fn a_short_run_is_a_word_and_a_long_one_a_sentence() {
    check("水泵房", "水泵 泵房");
    assert!(!finds("水泵", "水和泵"));
    let weight = |query: &str, wanted: &str| {
        let clauses = Query::parse(query).clauses;
        let mut terms = clauses.into_iter().filter_map(|clause| match clause {
            Clause::Word(terms) => terms
                .into_iter()
                .find(|term| term.text == wanted && term.form == Form::Exact),
            Clause::Phrase(_) | Clause::Prefix(_) => None,
        });
        terms.next_back().map_or(0.0, |term| term.weight)
    };
    assert!(weight("水泵的维护", "泵的") < weight("水泵的维护", "水泵"));
    assert!(weight("点検しました", "した") < weight("点検しました", "点検"));
    assert!(weight("国連の正式名称", "国") < weight("国連の正式名称", "国連"));
}

#[test]
fn a_long_query_is_cut() {
    let mut page = String::new();
    for number in 0..5000 {
        write!(page, "word{number} \"open “ -x{number} ").unwrap();
    }
    let query = Query::parse(&page);
    assert_eq!(query.clauses.len(), 128);
    assert!(query.excluded.len() <= 128);
    assert!(Query::parse(&"水泵阀门".repeat(100_000)).clauses.len() <= 128);
}
