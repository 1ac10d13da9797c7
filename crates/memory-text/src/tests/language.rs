use super::{finds, tokens};

#[test]
fn german_meets_in_german_stems() {
    let text = "Die Wartung der Häuser ist für den Herbst geplant, und wir haben mit dem Dachdecker gesprochen.";
    assert!(finds(
        "Wer macht die Wartung von einem Haus und wann?",
        text
    ));
    assert!(
        tokens(text).contains(&"3:~haus".to_owned()),
        "{:?}",
        tokens(text)
    );
}

#[test]
fn english_stems_are_always_there() {
    let text = "Die Pumps der Firma sind für den Herbst bestellt, und wir haben mit dem Händler gesprochen.";
    assert!(finds("pump", text));
}

#[test]
fn english_text_has_english_stems_only() {
    let found = tokens(
        "The pumps in the harbour were serviced by a man who was die-hard and had the tools",
    );
    assert_eq!(
        found.iter().filter(|token| token.starts_with("1:")).count(),
        2,
        "{found:?}"
    );
}

#[test]
fn a_script_tells_the_stems() {
    assert!(finds("насоса", "мы проверили насосы"));
    assert!(finds("σπιτιού", "το σπίτι"));
    assert!(finds("المدارس", "المدارس الكبيرة"));
}

#[test]
fn accents_reach_the_stemmer_and_leave_the_stem() {
    let text = "Les génératrices sont dans la cave et nous avons réparé les moteurs pour vous.";
    let found = tokens(text);
    assert!(
        found
            .iter()
            .filter(|token| token.contains('~'))
            .all(|token| token.is_ascii()),
        "{found:?}"
    );
    assert!(finds("generatrices", text));
}
