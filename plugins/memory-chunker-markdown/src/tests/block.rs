use super::{blocks, chunk, config, paths, texts};
use crate::Split;

#[test]
fn every_block_is_an_entry_under_its_headings() {
    let text = "\
intro

# A

First paragraph
of two lines.

- one
  - nested
- two

  second paragraph of two

1. first
2. second

| a | b |
|---|---|
| 1 | 2 |

```rust
fn main() {}

fn other() {}
```
> quoted
lazily

---

<div>
html
</div>

    indented

    code

## B
last
";
    let chunked = blocks(text);
    assert_eq!(
        texts(&chunked),
        [
            "intro",
            "First paragraph\nof two lines.",
            "- one\n  - nested",
            "- two\n\n  second paragraph of two",
            "1. first",
            "2. second",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "```rust\nfn main() {}\n\nfn other() {}\n```",
            "> quoted\nlazily",
            "<div>\nhtml\n</div>",
            "    indented\n\n    code",
            "last",
        ]
    );
    assert_eq!(paths(&chunked)[1], "A");
    assert_eq!(paths(&chunked)[11], "A / B");
}

#[test]
fn every_turn_of_a_chat_is_an_entry() {
    let text = "\
# 2023-05-03

**用户**: 你好，朋友！
**助手**: 哦，那很正常。
他人的期待。

**用户：** 好的。
**Melanie**： Hey!
**bold** is no speaker
**Note: not closed
";
    let chunked = blocks(text);
    assert_eq!(
        texts(&chunked),
        [
            "**用户**: 你好，朋友！",
            "**助手**: 哦，那很正常。\n他人的期待。",
            "**用户：** 好的。",
            "**Melanie**： Hey!\n**bold** is no speaker\n**Note: not closed",
        ]
    );
    assert!(paths(&chunked).iter().all(|path| path == "2023-05-03"));
}

#[test]
fn comment_belongs_to_the_block_below_it() {
    let text = "<!-- importance: 7 -->\n<!-- project: key -->\nfact\n\n- item\n\n<!-- trigger: a -->\n\n- other\n\n<!-- end -->";
    assert_eq!(
        texts(&blocks(text)),
        [
            "<!-- importance: 7 -->\n<!-- project: key -->\nfact",
            "- item",
            "<!-- trigger: a -->\n\n- other",
            "<!-- end -->",
        ]
    );
}

#[test]
fn blocks_overlap_only_where_one_is_cut() {
    let long = "A sentence of a few words. ".repeat(40);
    let text = format!("first\n\n{}\n\nlast", long.trim());
    let chunked = chunk(&text, config(Split::Block, 60));
    let spans: Vec<_> = chunked
        .entries
        .iter()
        .map(|entry| entry.span.clone())
        .collect();
    assert!(spans.len() > 4);
    assert_eq!(&text[spans[0].clone()], "first");
    assert_eq!(&text[spans[spans.len() - 1].clone()], "last");
    for pair in spans[1..spans.len() - 1].windows(2) {
        assert!(pair[1].start < pair[0].end, "parts of one block overlap");
        assert!(text[pair[1].clone()].starts_with("A sentence"));
    }
}

#[test]
fn table_may_follow_a_paragraph() {
    let text = "above\na | b\n--|--\n1 | 2\n\nbelow";
    assert_eq!(
        texts(&blocks(text)),
        ["above", "a | b\n--|--\n1 | 2", "below"]
    );
    let other_columns = "a | b\n--|--|--\n1 | 2";
    assert_eq!(texts(&blocks(other_columns)), [other_columns]);
}

#[test]
fn heading_inside_a_turn_ends_with_the_turn() {
    let text = "# Day\n\n**user**: a\n\n### Step\n\nb\n\n**user**: c\n\n## Notes\n\nd\n\n# Other\n\n**user**: e\n";
    let chunked = blocks(text);
    assert_eq!(
        texts(&chunked),
        ["**user**: a", "b", "**user**: c", "d", "**user**: e"]
    );
    assert_eq!(
        paths(&chunked),
        ["Day", "Day / Step", "Day", "Day / Notes", "Other"]
    );
}
