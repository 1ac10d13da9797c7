use crate::{Query, snippet};

fn show(text: &str, query: &str, max_chars: usize) -> String {
    let found = snippet(text, &Query::parse(query), max_chars);
    assert!(found.chars().count() <= max_chars, "{found}");
    found
}

#[test]
fn a_short_text_is_shown_whole() {
    assert_eq!(show(" one two \n", "two", 20), "one two");
}

#[test]
fn the_best_part_is_shown() {
    let text = format!(
        "{} the lantern is on the tower {}",
        "aaa bbb ".repeat(40),
        "ccc ddd ".repeat(40)
    );
    let found = show(&text, "tower lantern", 60);
    assert!(found.contains("lantern is on the tower"), "{found}");
    assert!(found.starts_with('…') && found.ends_with('…'), "{found}");
    assert!(
        !found.contains("…aa ") && !found.contains(" cc…"),
        "{found}"
    );
}

#[test]
fn more_words_of_the_query_win() {
    let text = format!(
        "pump pump pump pump {} pump valve {}",
        "x ".repeat(100),
        "y ".repeat(100)
    );
    assert!(show(&text, "pump valve", 40).contains("valve"));
}

#[test]
fn stems_phrases_and_prefixes_lead_to_a_place() {
    let text = format!(
        "{} the lanterns burn {}",
        "aaa ".repeat(60),
        "ccc ".repeat(60)
    );
    for query in ["lantern", "\"lanterns burn\"", "lanter*"] {
        assert!(show(&text, query, 40).contains("lanterns"), "{query}");
    }
}

#[test]
fn lines_are_kept_whole_where_possible() {
    let text = "first line of the note\nsecond line has the lantern\nthird line of the note that is rather long";
    assert_eq!(show(text, "lantern", 45), "second line has the lantern");
}

#[test]
fn without_a_match_the_beginning_is_shown() {
    assert_eq!(
        show("alpha beta gamma delta epsilon", "zeta", 14),
        "alpha beta…"
    );
    assert_eq!(
        show("alpha beta gamma delta epsilon", "", 14),
        "alpha beta…"
    );
}

#[test]
fn no_length_breaks_a_character_cu_09() {
    let lines = format!(
        "{}{}lantern\n{} lantern",
        "a".repeat(99),
        "─".repeat(40),
        "👩‍👩‍👧‍👦".repeat(300)
    );
    for max_chars in 0..200 {
        for query in ["lantern", "zeta"] {
            let found = show(&lines, query, max_chars);
            let family = found.matches('👦').count();
            assert_eq!(found.matches('👧').count(), family, "{max_chars}: {found}");
        }
    }
}

#[test]
fn a_run_without_spaces_is_cut_around_the_match() {
    let text = format!("{}水泵{}", "检".repeat(200), "查".repeat(200));
    let found = show(&text, "水泵", 30);
    assert!(found.contains("水泵"), "{found}");
}
