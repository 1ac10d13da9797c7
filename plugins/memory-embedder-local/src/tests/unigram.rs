//! How a text is cut into pieces.

use std::path::Path;

use crate::unigram::Unigram;

#[test]
fn an_unknown_character_costs_more_than_any_piece_that_holds_it() {
    let pieces = ["<unk>", "▁", "u", "▁qu"].map(str::to_owned).to_vec();
    let scores = vec![0.0, -1.0, -1.0, -9.0];
    let unigram = Unigram::new(Path::new("test"), pieces, scores, 0, &[0]).unwrap();
    assert_eq!(unigram.encode("▁qu"), [3]);
    // Alone it stands for itself, and with its like for all of them.
    assert_eq!(unigram.encode("▁q"), [1, 0]);
    assert_eq!(unigram.encode("▁qqzu"), [1, 0, 2]);
}
