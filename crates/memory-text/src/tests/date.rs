use super::{exact, finds, score};
use crate::date::{Date, named};

fn names(text: &str) -> Vec<String> {
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    named(&words).into_iter().flat_map(Date::tokens).collect()
}

#[test]
fn a_date_in_digits_gives_its_month_and_day() {
    assert_eq!(
        exact("2023-05-04"),
        ["2023", "2023-05-04", "2023-05", "05-04", "05", "04"]
    );
    assert_eq!(
        exact("2023/5/4"),
        ["2023", "2023/5/4", "2023-05", "05-04", "5", "4"]
    );
    assert_eq!(
        exact("2023-05-04T13:56").get(2).map(String::as_str),
        Some("2023-05")
    );
    for other in [
        "20.04.1",
        "2023-13-04",
        "2023-05-32",
        "2023-05-04-01",
        "12345-05-04",
    ] {
        assert!(!exact(other).contains(&"05-04".to_owned()), "{other}");
    }
}

#[test]
fn dates_in_words_are_understood() {
    let all = ["2023-05-04", "05-04", "2023-05"];
    for text in [
        "may 4 2023",
        "4 may 2023",
        "4 th of may 2023",
        "may 4 th 2023",
        "2023 年 5 月 4 日 去",
    ] {
        assert_eq!(names(text), all, "{text}");
    }
    assert_eq!(names("on may 4 at"), ["05-04"]);
    assert_eq!(names("5 月 4 号"), ["05-04"]);
    assert_eq!(names("sept 2022"), ["2022-09"]);
    assert_eq!(names("2022 年 9 月"), ["2022-09"]);
    for text in ["you may go", "march on", "5 月 4 个", "may 44", "maybe 4"] {
        assert_eq!(names(text), [""; 0], "{text}");
    }
}

#[test]
fn a_question_for_a_date_finds_the_day() {
    let day = "2023-05-04: walked the dog";
    for query in [
        "what did I do on May 4th, 2023?",
        "on 4 May",
        "在5月4日我做了什么",
        "2023年5月",
    ] {
        assert!(finds(query, day), "{query}");
        assert!(
            score(query, day) > score(query, "2024-06-05: walked the cat"),
            "{query}"
        );
    }
    assert!(!finds("May 5th", day));
}
