use crate::embedding::embedded_text;

fn check(heading_path: &[&str], text: &str, expected: &str) {
    let heading_path: Vec<String> = heading_path
        .iter()
        .map(|&heading| heading.to_owned())
        .collect();
    assert_eq!(embedded_text(&heading_path, text), expected);
}

#[test]
fn a_text_is_embedded_below_the_headings_above_it() {
    check(&[], "milk", "milk");
    check(&["Lists", "Shopping"], "- milk", "Lists > Shopping\n- milk");
    // A section says its own heading already.
    check(
        &["Lists", "Shopping"],
        "## Shopping\nmilk",
        "Lists\n## Shopping\nmilk",
    );
    check(&["Lists"], "# Lists\nmilk", "# Lists\nmilk");
}
