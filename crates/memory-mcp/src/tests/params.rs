use serde_json::{Value, json};

use super::object;
use crate::params::{Arguments, Kind, Param};

const PARAMS: &[Param] = &[
    Param::new("query", Kind::Text, "").required(),
    Param::new("max_results", Kind::Whole { min: 0, max: 1000 }, ""),
    Param::new(
        "from",
        Kind::Whole {
            min: 1,
            max: i64::MAX,
        },
        "",
    ),
    Param::new("min_score", Kind::Share, ""),
    Param::new("tag", Kind::Texts, ""),
    Param::new("since", Kind::Time, ""),
];

fn read(mut given: Value) -> Result<Arguments, String> {
    if given.get("query").is_none() {
        given["query"] = "pump".into();
    }
    Arguments::read(PARAMS, &object(given))
}

#[track_caller]
fn refuses(given: Value, expected: &str) {
    assert_eq!(read(given).unwrap_err(), expected);
}

#[test]
fn numbers_may_be_written_as_text_and_with_a_zero_behind_the_point() {
    // MC-03.
    for five in [
        json!(5),
        json!("5"),
        json!(5.0),
        json!(" 5 "),
        json!("5.0"),
        json!(5e0),
    ] {
        assert_eq!(
            read(json!({"max_results": five}))
                .unwrap()
                .count("max_results"),
            Some(5)
        );
    }
    for score in [json!(0.2), json!("0.2")] {
        assert_eq!(
            read(json!({"min_score": score}))
                .unwrap()
                .share("min_score"),
            Some(0.2)
        );
    }
    assert_eq!(
        read(json!({"min_score": 1})).unwrap().share("min_score"),
        Some(1.0)
    );
}

#[test]
fn what_is_no_number_or_out_of_range_is_refused_with_the_range() {
    // MC-03, MC-04.
    let wrong =
        |shown: &str| format!("`max_results` is `{shown}`; it takes a whole number, 0 to 1000");
    for (given, shown) in [
        (json!("five"), "\"five\""),
        (json!(true), "true"),
        (json!(5.5), "5.5"),
        (json!([5]), "[5]"),
        (json!(-1), "-1"),
        (json!(1001), "1001"),
        (json!(4097), "4097"),
        (json!("10000"), "\"10000\""),
        (json!("0x5"), "\"0x5\""),
        (json!("inf"), "\"inf\""),
    ] {
        refuses(json!({"max_results": given}), &wrong(shown));
    }
    let huge: Value = serde_json::from_str("99999999999999999999").unwrap();
    assert!(
        read(json!({"max_results": huge}))
            .unwrap_err()
            .ends_with("a whole number, 0 to 1000")
    );
    refuses(
        json!({"from": 0}),
        "`from` is `0`; it takes a whole number, 1 or more",
    );
    for score in [
        json!(-0.1),
        json!(1.1),
        json!("NaN"),
        json!(null).to_string().into(),
    ] {
        let message = read(json!({"min_score": score})).unwrap_err();
        assert!(message.ends_with("it takes a number, 0 to 1"), "{message}");
    }
}

#[test]
fn null_and_an_empty_text_leave_an_optional_parameter_out() {
    // MC-03.
    for empty in [json!(null), json!("")] {
        let given = json!({"max_results": empty, "min_score": empty, "tag": empty, "since": empty});
        assert_eq!(read(given).unwrap(), read(json!({})).unwrap());
    }
    let given = read(json!({"tag": []})).unwrap();
    assert_eq!(given.texts("tag"), [""; 0]);
}

#[test]
fn what_is_required_is_named_when_it_is_missing() {
    // MC-11.
    for given in [json!({}), json!({"query": null})] {
        let message = Arguments::read(PARAMS, &object(given)).unwrap_err();
        assert_eq!(
            message,
            "`query` is missing; it takes a text that is not blank"
        );
    }
    refuses(
        json!({"query": " "}),
        "`query` is `\" \"`; it takes a text that is not blank",
    );
    refuses(
        json!({"query": 7}),
        "`query` is `7`; it takes a text that is not blank",
    );
}

#[test]
fn an_unknown_parameter_is_refused_with_the_nearest_known_one() {
    refuses(
        json!({"maxResults": 5}),
        "there is no parameter `maxResults`; did you mean `max_results`?",
    );
    refuses(
        json!({"zzz": 5}),
        "there is no parameter `zzz`; there are `query`, `max_results`, `from`, `min_score`, `tag`, `since`",
    );
    let message = Arguments::read(&[], &object(json!({"verbose": true}))).unwrap_err();
    assert_eq!(
        message,
        "there is no parameter `verbose`; this tool takes none"
    );
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    refuses(
        json!({"max_results": -1, "min_scor": 0.5}),
        "`max_results` is `-1`; it takes a whole number, 0 to 1000\n\
         there is no parameter `min_scor`; did you mean `min_score`?",
    );
}

#[test]
fn one_text_or_a_list_of_them() {
    let tags = |given: Value| read(json!({"tag": given})).unwrap().texts("tag");
    assert_eq!(tags(json!("home")), ["home"]);
    assert_eq!(tags(json!(["home", "pump"])), ["home", "pump"]);
    let words = "it takes a text or a list of texts, none of them blank";
    for wrong in [
        json!(7),
        json!(["home", 7]),
        json!(["home", ""]),
        json!({"a": 1}),
    ] {
        let message = read(json!({"tag": wrong})).unwrap_err();
        assert!(message.ends_with(words), "{message}");
    }
}

#[test]
fn times_are_days_or_have_their_zone() {
    let since = |text: &str| read(json!({"since": text})).map(|read| read.time("since").unwrap().0);
    assert_eq!(since("2026-05-18"), Ok(1_779_062_400_000));
    assert_eq!(since("2026-05-18T09:30:00Z"), Ok(1_779_096_600_000));
    for wrong in [
        "yesterday",
        "2026-05-18T09:30:00",
        "2026-13-01",
        "18.05.2026",
    ] {
        assert!(
            since(wrong).unwrap_err().contains("a day (2026-05-18)"),
            "{wrong}"
        );
    }
    assert!(read(json!({"since": 1_779_062_400})).is_err());
}

#[test]
fn a_long_value_is_shown_shortened() {
    let message = read(json!({"max_results": "x".repeat(5_000)})).unwrap_err();
    assert!(message.chars().count() < 150, "{message}");
}
