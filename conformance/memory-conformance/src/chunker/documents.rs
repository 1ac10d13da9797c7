//! The documents every chunker has to cut.

use super::transcript;

/// Documents without text.
pub(super) const BLANK: &[&str] = &[
    "",
    "\n",
    "\r\n\r\n",
    " \t \n\n\u{3000}\n\u{a0}\n",
    "\u{feff}",
    "\u{feff}\r\n",
];

/// Ordinary and hostile documents that fit on a page; among them those of the field reports CH-05, CH-06, CH-07 and CH-09.
const SHORT: &[(&str, &str)] = &[
    ("english note", ENGLISH),
    ("chinese note", CHINESE),
    ("mixed scripts", MIXED),
    (
        "front matter",
        "---\ntitle: Pump\ntags: [cellar, water]\ncreated: 2026-05-18\n---\n\n# Pump\n\nIt sits in the cellar.\n",
    ),
    (
        "broken front matter",
        "---\ntitle: KB: pump\npath: \"C:\\temp\\x\"\ntags: [a, b\n---\nPump sits in the cellar.\n",
    ),
    (
        "front matter without end",
        "---\ntitle: never closed\n\nText goes on.\n",
    ),
    ("front matter alone", "---\ntitle: nothing else\n---\n"),
    ("rule on the first line", "---\n\nText after a rule.\n"),
    (
        "fence with a comment",
        "# Greenhouse\n\n```sh\n# install fan driver\nrun fan\n```\n\nAfter the fence: check damper.\n",
    ),
    ("tilde fence", "# A\n~~~\n# not a heading\n~~~\nb\n"),
    (
        "long fence around a short one",
        "# Manual\n````\n```\n# not a title\n```\n````\n## Usage\nturn the crank\n",
    ),
    (
        "fence without end",
        "# A\n\n```rust\nfn main() {}\n\n# still code\n",
    ),
    (
        "table",
        "| part | price |\n|---|---:|\n| valve | 3 |\n| pipe \\| bend | 4 |\n\nafter\n",
    ),
    (
        "list",
        "- one\n  - two\n    still two\n\n  after a blank\n1. three\n2) four\n* [ ] five\n",
    ),
    (
        "quote and html",
        "> quoted\n> # heading in a quote\n\n<div>\n\n<!-- a comment -->\n</div>\n",
    ),
    ("headings alone", "# One\n## Sub\n\n### Deep\n"),
    (
        "headings far apart",
        "# One\n## Sub\n\n\n\n\n\n\n\n\n# Two\ntext about slate\n",
    ),
    ("setext headings", "One\n===\n\ntext\n\nTwo\n---\ntext\n"),
    (
        "odd headings",
        "#\n#no space\n####### seven\n#\ttab #\n   # indented ##\n    # code\n",
    ),
    ("no final line end", "# A\n\nlast line"),
    ("one character", "x"),
    (
        "crlf",
        "# A\r\n\r\nfirst line\r\nsecond line\r\n\r\n- item\r\n\r\n```\r\ncode\r\n```\r\n",
    ),
    (
        "mixed line ends",
        "one\rtwo\r\nthree\n\rfour\u{85}five\u{2028}six\u{2029}seven\u{b}eight\u{c}nine\n",
    ),
    ("byte order mark", "\u{feff}# A\n\ntext\n"),
    ("byte order mark inside", "a\n\n\u{feff}\n\nb\n"),
    ("emoji", "👨‍👩‍👧‍👦 family 🏳️‍🌈 flag 🇩🇪🇫🇷\n\n# 🌸\n\n👍🏽👍🏿\n"),
    (
        "combining marks",
        "e\u{301}e\u{301} Z\u{351}\u{36b}\u{343}a\u{30d}\u{33a}lgo\n\n\u{301}\n",
    ),
    (
        "right to left",
        "# שלום עולם\n\nمرحبا بالعالم، هذا نص.\n\n\u{202e}override\u{202c}\n",
    ),
    (
        "control characters",
        "a\u{0}b\u{1}\u{7}\u{8}\u{1b}[31mred\u{1b}[0m\u{7f}\n\n\u{0}\n\n\u{9f}\n",
    ),
    (
        "invisible characters",
        "zero\u{200b}width\u{200d}join\u{ad}soft\n\n\u{200b}\n\n\u{2060}\n",
    ),
    ("replacement characters", "bad \u{fffd}\u{fffd} bytes\n"),
    ("last code points", "\u{10ffff}\u{fffe}\u{ffff}\u{e000}\n"),
];

const ENGLISH: &str = "\
# Harbour

The ferry leaves at six. Don't be late.

## Tickets

Buy them at the kiosk (cash only), e.g. for 3.50.
They are valid for a day.

## Dock

- north dock: closed until 2026-06-01
- south dock: open
";

const CHINESE: &str = "\
# 港湾

渡轮六点出发。请不要迟到！

## 船票

在售票亭购买（只收现金），有效期为一天。没有空格的长句子也必须能够切分，否则嵌入模型会截断它。
";

const MIXED: &str = "\
# 会议 Meeting 2026-05-18

用 Rust 写的 memory 框架，版本 v0.1。Łódź harbour, Straße 5, Привет, ไทยไม่มีช่องว่าง, 東京タワー。
";

/// Returns every document with its name.
pub(super) fn all() -> impl Iterator<Item = (&'static str, String)> {
    let short = SHORT
        .iter()
        .chain(transcript::SHORT)
        .map(|(name, text)| (*name, (*text).to_owned()));
    let blank = BLANK.iter().map(|text| ("blank", (*text).to_owned()));
    short.chain(blank).chain(long()).chain(transcript::long())
}

/// Documents that a careless chunker cuts in the middle of a character or never gets done with (CH-03, CH-04, CH-10, CU-09).
fn long() -> impl Iterator<Item = (&'static str, String)> {
    const MIB: usize = 1 << 20;
    [
        ("a word of a mebibyte", "x".repeat(MIB)),
        (
            "a mebibyte of blank lines",
            format!("{}end", "\n".repeat(MIB)),
        ),
        (
            "a mebibyte of chinese without a space",
            "记忆".repeat(MIB / 6),
        ),
        (
            "emoji around a cut",
            format!("{}{} orchard", "x".repeat(1599), "🌸".repeat(400)),
        ),
        (
            "box drawings",
            format!(
                "{}{} lantern\n{} lantern\n",
                "a".repeat(99),
                "─".repeat(40),
                "🏮".repeat(300)
            ),
        ),
        ("full-width punctuation", "：".repeat(3000)),
        (
            "a row of equal signs",
            format!("{} flume", "=".repeat(9000)),
        ),
        (
            "a tower of marks on one letter",
            format!("a{}", "\u{301}".repeat(5000)),
        ),
        (
            "many headings",
            (0..2000)
                .map(|n| format!("## Part {n}\n\nquartz{n}\n\n"))
                .collect::<Vec<_>>()
                .concat(),
        ),
        ("deep headings", "###### deep\n".repeat(500)),
        ("deep quotes", format!("{} text\n", ">".repeat(5000))),
        (
            "deep list",
            (0..200)
                .map(|n| format!("{}- item\n", "  ".repeat(n)))
                .collect::<Vec<_>>()
                .concat(),
        ),
        ("many open brackets", "[".repeat(20_000)),
        (
            "a long table",
            format!("| a | b |\n|---|---|\n{}", "| cell | cell |\n".repeat(3000)),
        ),
        (
            "a long fence",
            format!("```\n{}```\n", "let x = 1; // code\n".repeat(3000)),
        ),
        ("a long paragraph", "A sentence that ends. ".repeat(3000)),
        (
            "long front matter",
            format!("---\n{}---\ntext\n", "key: value\n".repeat(3000)),
        ),
    ]
    .into_iter()
}
