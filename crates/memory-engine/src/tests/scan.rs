use memory_api::{DraftEntry, LineRange};

use crate::sync::scan::Lines;

#[test]
fn lines_are_counted_as_an_editor_does() {
    let text = "one\r\ntwo\n\nfour\n";
    let mut lines = Lines::new(text, 0);
    let mut of = |start: usize, end: usize| lines.of(&DraftEntry::new("x", start..end));
    let range = |start, end| LineRange { start, end };
    assert_eq!(of(0, 3), range(1, 1));
    // A line end that closes the span begins no line of it.
    assert_eq!(of(0, 5), range(1, 1));
    assert_eq!(of(0, 9), range(1, 2));
    assert_eq!(of(5, 14), range(2, 4));
    assert_eq!(of(10, 15), range(4, 4));
}
