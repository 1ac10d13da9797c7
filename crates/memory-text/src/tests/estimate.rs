use crate::estimate_tokens;

#[test]
fn every_character_outside_ascii_counts_ch_03() {
    let text = format!("{} word", "：".repeat(3000));
    assert!(estimate_tokens(&text) >= 3001);
    assert_eq!(estimate_tokens("水泵"), 2);
    assert!(estimate_tokens("🚀🚀") >= 4);
    assert_eq!(estimate_tokens(&"─".repeat(40)), 40);
}

#[test]
fn dense_text_counts_by_character_ch_10() {
    assert_eq!(estimate_tokens(&"=".repeat(9000)), 9000);
    assert!(estimate_tokens("${{ }}") >= 5);
    let hex = "0a1b2c3d4e5f".repeat(100);
    assert_eq!(estimate_tokens(&hex), hex.len());
}

#[test]
fn english_costs_about_a_quarter_of_its_letters() {
    let text =
        "the pump in the harbour was serviced by the crew on monday and runs again ".repeat(50);
    let estimate = estimate_tokens(&text);
    assert!(
        estimate * 3 < text.len() && estimate * 6 > text.len(),
        "{estimate} of {}",
        text.len()
    );
}

#[test]
fn nothing_costs_nothing() {
    assert_eq!(estimate_tokens(""), 0);
}
