use super::{chunk, config, line_ranges, paths, sections, texts};
use crate::Split;

const PREFERENCES: &str = "\
---
type: user_preference
created: 2026-05-01
updated: 2026-05-18
tags: [偏好, 语言, 工具]
---
# 用户偏好
## 编程语言
- 喜欢 TypeScript
- 不喜欢 any 类型逃逸

## 代码风格
- 使用 Prettier
- 喜欢小函数、低嵌套

## 沟通方式
- 先给结论，再解释
- 不喜欢废话
";

#[test]
fn every_section_with_text_of_its_own_is_an_entry() {
    let chunked = sections(PREFERENCES);
    assert_eq!(
        line_ranges(PREFERENCES, &chunked),
        [(8, 10), (12, 14), (16, 18)]
    );
    assert_eq!(
        paths(&chunked),
        [
            "用户偏好 / 编程语言",
            "用户偏好 / 代码风格",
            "用户偏好 / 沟通方式"
        ]
    );
    assert_eq!(
        texts(&chunked)[0],
        "## 编程语言\n- 喜欢 TypeScript\n- 不喜欢 any 类型逃逸"
    );
    assert_eq!(chunked.meta.kind.as_deref(), Some("user_preference"));
    assert_eq!(chunked.meta.tags, ["偏好", "语言", "工具"]);
    assert_eq!(chunked.meta.created.unwrap().0, 1_777_593_600_000);
    assert_eq!(chunked.meta.updated.unwrap().0, 1_779_062_400_000);
    for entry in &chunked.entries {
        assert!(!entry.text.contains("user_preference") && !entry.text.contains("---"));
        assert!(entry.kind.is_none() && entry.tags.is_empty() && entry.time.is_none());
    }
    // The front matter and the title, which has no text of its own.
    assert_eq!(chunked.excluded.len(), 2);
    assert_eq!(&PREFERENCES[chunked.excluded[1].clone()], "# 用户偏好");
    assert_eq!(chunked.warnings, []);
}

#[test]
fn line_ends_of_windows_change_no_line_number() {
    let text = PREFERENCES.replace('\n', "\r\n");
    let chunked = sections(&text);
    assert_eq!(line_ranges(&text, &chunked), [(8, 10), (12, 14), (16, 18)]);
    assert_eq!(chunked.meta.tags, ["偏好", "语言", "工具"]);
    assert_eq!(
        texts(&chunked)[2],
        "## 沟通方式\r\n- 先给结论，再解释\r\n- 不喜欢废话"
    );
}

#[test]
fn lone_carriage_returns_end_lines() {
    let chunked = sections("# A\rone\r\r# B\rtwo");
    assert_eq!(texts(&chunked), ["# A\rone", "# B\rtwo"]);
}

#[test]
fn byte_order_mark_is_in_no_entry() {
    let text = format!("\u{feff}{PREFERENCES}");
    let chunked = sections(&text);
    assert_eq!(line_ranges(&text, &chunked), [(8, 10), (12, 14), (16, 18)]);
    assert_eq!(chunked.excluded[0], 0..3);
    assert!(
        chunked
            .entries
            .iter()
            .all(|entry| !entry.text.contains('\u{feff}'))
    );
    assert_eq!(texts(&sections("\u{feff}# A\ntext")), ["# A\ntext"]);
}

#[test]
fn text_before_the_first_heading_has_no_heading_path() {
    let chunked = sections("\n\nintro\n\nmore\n\n# A\n\ntext\n");
    assert_eq!(texts(&chunked), ["intro\n\nmore", "# A\n\ntext"]);
    assert_eq!(paths(&chunked), ["", "A"]);
}

#[test]
fn heading_path_follows_the_levels() {
    let text = "# A\na\n### A3\nb\n## A2\nc\n# B\nd\n## B2 ##\ne\n#### \nf\n";
    let chunked = sections(text);
    assert_eq!(
        paths(&chunked),
        ["A", "A / A3", "A / A2", "B", "B / B2", "B / B2"]
    );
}

#[test]
fn underlined_headings_are_headings() {
    let text =
        "Title\n=====\n\nintro\n\nTwo lines\nof heading\n---\ntext\n\n- item\n---\nafter a rule\n";
    let chunked = sections(text);
    assert_eq!(paths(&chunked), ["Title", "Title / Two lines of heading"]);
    assert_eq!(
        texts(&chunked)[1],
        "Two lines\nof heading\n---\ntext\n\n- item\n---\nafter a rule"
    );
}

#[test]
fn underlined_page_of_text_is_no_heading() {
    let text = format!("{}\n---\nafter", "a long paragraph. ".repeat(60).trim());
    let chunked = sections(&text);
    assert_eq!(paths(&chunked), [""]);
}

#[test]
fn marks_that_only_look_like_headings_are_text() {
    for text in [
        "#no space",
        "####### seven",
        "    # indented code",
        "\\# escaped",
        "> # quoted",
        "- # in a list",
        "a\n    # lazy",
    ] {
        let chunked = sections(text);
        assert_eq!(paths(&chunked), [""], "{text}");
        assert!(chunked.excluded.is_empty(), "{text}");
    }
}

#[test]
fn fences_in_lists_quotes_and_comments_hide_headings() {
    for text in [
        "- item\n  ```\n  # no\n  ```",
        "> ```\n> # no\n> ```",
        "<!--\n# no\n\n# no\n-->\ntext",
        "<pre>\n# no\n\n# no\n</pre>",
        "   ~~~ info\n# no\n   ~~~",
        "```\n# never closed\n\n# no",
        "~~~ `info`\n# no\n```\n# no\n~~~~\ntext",
    ] {
        let chunked = sections(text);
        assert_eq!(texts(&chunked), [text], "{text}");
        assert_eq!(paths(&chunked), [""], "{text}");
    }
}

#[test]
fn fence_ends_where_its_list_item_ends() {
    let chunked = sections("- item\n  ```\n  code\n\n# A\ntext");
    assert_eq!(paths(&chunked), ["", "A"]);
}

#[test]
fn sections_without_text_are_excluded() {
    let text = "---\n\n# Only\n\n## A heading\n\n***\n\n# B\ntext";
    let chunked = sections(text);
    assert_eq!(texts(&chunked), ["# B\ntext"]);
    let excluded: Vec<_> = chunked
        .excluded
        .iter()
        .map(|span| &text[span.clone()])
        .collect();
    assert_eq!(excluded, ["---", "# Only", "## A heading", "***"]);
}

#[test]
fn rule_below_a_section_is_left_out() {
    let chunked = sections("## A\ntext\n\n---\n\n## B\ntext");
    assert_eq!(texts(&chunked), ["## A\ntext", "## B\ntext"]);
}

#[test]
fn nothing_readable_is_nothing_stored() {
    for text in [
        "",
        "\n",
        " \t\r\n\u{3000}\n",
        "\u{feff}",
        "\u{feff}\n\n",
        "\0\0",
        "\u{200b}\n# \n",
        "# \u{200b}\n\n\0",
    ] {
        for split in [Split::Section, Split::Block] {
            assert_eq!(chunk(text, config(split, 400)).entries, [], "{text:?}");
        }
    }
}

#[test]
fn note_of_headings_alone_is_an_entry() {
    for split in [Split::Section, Split::Block] {
        let chunked = chunk("# Call the plumber\n", config(split, 400));
        assert_eq!(texts(&chunked), ["# Call the plumber"]);
        assert_eq!(paths(&chunked), [""]);
        let text = "---\ntags: [a]\n---\n# One\n\n---\n\n## 水泵\n";
        let chunked = chunk(text, config(split, 400));
        assert_eq!(texts(&chunked), ["# One\n\n---\n\n## 水泵"]);
        assert_eq!(line_ranges(text, &chunked), [(4, 8)]);
    }
    let long = "# A heading of some words\n\n".repeat(60);
    assert!(chunk(&long, config(Split::Section, 33)).entries.len() > 10);
    // CH-06: beside text, a heading without text of its own is none.
    assert_eq!(
        texts(&sections("# One\n## Sub\n\n# Two\ntext")),
        ["# Two\ntext"]
    );
}

#[test]
fn replacement_characters_and_nul_inside_text_are_kept() {
    assert_eq!(
        texts(&sections("a\0b \u{fffd}\u{fffd} c")),
        ["a\0b \u{fffd}\u{fffd} c"]
    );
}

#[test]
fn comments_are_text() {
    let text = "## Deploy\n<!-- trigger: release, ship -->\nRun the script.";
    assert_eq!(texts(&sections(text)), [text]);
}

const CHAT: &str = "\
# Day

**user**:
How do I plan a week?

**assistant**:
In steps.

### Step 1
Write it down.

### Step 2
Sort it.

**user**:
Thanks, and on Friday?

**assistant**:
Rest.

# Other day

## Notes
no chat here
";

#[test]
fn heading_inside_a_turn_is_part_of_the_turn() {
    let chunked = sections(CHAT);
    assert_eq!(paths(&chunked), ["Day", "Other day / Notes"]);
    assert_eq!(line_ranges(CHAT, &chunked), [(1, 19), (23, 24)]);
}

#[test]
fn heading_inside_a_turn_stays_with_its_text_when_the_turn_is_cut() {
    let chunked = chunk(CHAT, config(Split::Section, 24));
    assert!(chunked.entries.len() > 3, "{chunked:#?}");
    for (step, text) in [("### Step 1", "Write it down."), ("### Step 2", "Sort it.")] {
        let of_step: Vec<&str> = texts(&chunked)
            .into_iter()
            .filter(|entry| entry.contains(step))
            .collect();
        assert!(!of_step.is_empty(), "{step}");
        assert!(
            of_step.iter().all(|entry| entry.contains(text)),
            "{of_step:?}"
        );
    }
    assert!(paths(&chunked).iter().all(|path| !path.contains("Step")));
}
