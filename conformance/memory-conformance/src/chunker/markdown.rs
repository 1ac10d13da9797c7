//! Random documents that look like Markdown now and then.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;

const PIECES: &[&str] = &[
    "# Heading",
    "## Heading ##",
    "Setext\n---",
    "---\ntitle: a\n---",
    "---",
    "```",
    "~~~~",
    "    indented",
    "- item",
    "  - nested",
    "1. first",
    "| a | b |",
    "|---|---|",
    "> quote",
    "<div>",
    "[link](target)",
    "A sentence. Another one!",
    "没有空格的句子。",
    "🌸👨‍👩‍👧",
    "\u{feff}",
    "\u{301}",
    "\u{0}",
    "{\"role\":\"user\",\"content\":\"hi\"}",
];

const SEPARATORS: &[&str] = &["\n", "\n\n", "\r\n", "\r\n\r\n", "\n\n\n\n", "\r", " ", ""];

pub(super) fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => select(PIECES).prop_map(str::to_owned),
        2 => "[a-zäé字 ]{0,60}",
        1 => "\\PC{0,20}",
        1 => select(&["word ", "字", "🌸", "x"][..]).prop_map(|unit| unit.repeat(700)),
    ];
    let separator = prop_oneof![
        3 => Just("\n\n"),
        2 => select(SEPARATORS),
    ];
    vec((piece, separator), 0..24).prop_map(|pieces| {
        pieces
            .into_iter()
            .flat_map(|(piece, separator)| [piece, separator.to_owned()])
            .collect()
    })
}
