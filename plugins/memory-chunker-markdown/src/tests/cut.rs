use memory_text::estimate_tokens;

use super::{chunk, config, paths, texts};
use crate::{Config, Split};

fn cut(text: &str, max_tokens: usize, overlap_tokens: usize) -> Vec<String> {
    let config = Config {
        split: Split::Section,
        max_tokens,
        overlap_tokens: Some(overlap_tokens),
    };
    chunk(text, config)
        .entries
        .into_iter()
        .map(|entry| entry.text)
        .collect()
}

fn sentence(n: usize) -> String {
    format!("This is the sentence number {n} of a text.")
}

fn paragraph(numbers: std::ops::Range<usize>) -> String {
    numbers.map(sentence).collect::<Vec<_>>().join(" ")
}

#[test]
fn long_section_is_cut_between_blocks() {
    let blocks: Vec<_> = (0..6).map(|n| paragraph(n * 10..n * 10 + 5)).collect();
    let text = blocks.join("\n\n");
    let size = estimate_tokens(&blocks[0]);
    assert_eq!(cut(&text, size + size / 2, 0), blocks);
}

#[test]
fn a_byte_order_mark_between_long_texts_is_no_entry() {
    let fence = format!("```\n{}```", "\n".repeat(60));
    for split in [Split::Section, Split::Block] {
        let text = format!(
            "<!--{}\u{feff}{}x\n\n{fence}\n",
            "\n".repeat(60),
            "\n".repeat(60)
        );
        let chunked = chunk(&text, config(split, 16));
        let blank = |ch: char| ch.is_whitespace() || ch == '\u{feff}';
        assert!(!texts(&chunked).iter().any(|text| text.chars().all(blank)));
    }
}

#[test]
fn a_byte_order_mark_that_would_be_repeated_is_left_out_nowhere() {
    let text = "\0\r\u{feff}\n\u{c}\0\0\0\0\0\u{fffd}\0\0\0\0\0\0\u{fffd}\u{fffd}\u{fffd}\0";
    let chunked = chunk(text, config(Split::Section, 16));
    assert_eq!(texts(&chunked)[0], "\0\r\u{feff}");
    assert_eq!(chunked.excluded, [0..0; 0]);
}

#[test]
fn fence_and_table_stay_whole_while_they_fit() {
    let fence = format!(
        "```\n{}\n\n# no heading\n```",
        "let x = 1;\n".repeat(12).trim()
    );
    let table = format!("| a | b |\n|---|---|\n{}", "| 1 | 2 |\n".repeat(12).trim());
    for block in [fence, table] {
        let max_tokens = estimate_tokens(&block);
        for n_sentences in 0..12 {
            let text = format!(
                "# A\n\n{}\n\n{block}\n\n{}",
                paragraph(0..n_sentences),
                paragraph(0..3)
            );
            let entries = cut(&text, max_tokens, max_tokens / 5);
            assert!(
                entries.iter().any(|entry| entry.contains(&block)),
                "{entries:#?}"
            );
        }
    }
}

#[test]
fn list_and_item_stay_whole_while_they_fit() {
    let item = |n| format!("- {}\n  - nested {n}", sentence(n));
    let list: Vec<_> = (0..4).map(item).collect();
    let joined = list.join("\n");
    let text = format!("{}\n\n{joined}\n\nend", paragraph(0..3));
    let entries = cut(&text, estimate_tokens(&joined), 0);
    assert!(
        entries.iter().any(|entry| entry.contains(&joined)),
        "{entries:#?}"
    );

    let entries = cut(&joined, estimate_tokens(&list[0]) + 2, 0);
    assert_eq!(entries, list);
}

#[test]
fn torn_fence_is_cut_between_lines() {
    let text = format!(
        "```\n{}```",
        "let value = compute(1. + 2.); // A. B. C.\n".repeat(40)
    );
    for entry in cut(&text, 64, 16) {
        assert!(
            entry
                .lines()
                .all(|line| line.starts_with("```") || line.starts_with("let ")),
            "{entry}"
        );
        assert!(entry.ends_with("C.") || entry.ends_with("```"), "{entry}");
    }
}

#[test]
fn turns_of_a_chat_stay_whole_in_a_long_section() {
    let turns: Vec<_> = (0..30)
        .map(|n| format!("**Ann**: {} And more.", sentence(n)))
        .collect();
    let text = turns.join("\n");
    for entry in cut(&text, 80, 0) {
        assert!(
            entry.starts_with("**Ann**: ") && entry.ends_with("And more."),
            "{entry}"
        );
    }
}

#[test]
fn long_line_is_cut_between_sentences() {
    let text = paragraph(0..200);
    for entry in cut(&text, 100, 20) {
        assert!(
            entry.starts_with("This is") && entry.ends_with("of a text."),
            "{entry}"
        );
    }
    let text = "我们决定使用这个方案。你同意吗？好的！".repeat(60);
    for entry in cut(&text, 50, 10) {
        assert!(entry.ends_with(['。', '？', '！']), "{entry}");
        assert!(
            ["我们", "你同", "好的"]
                .iter()
                .any(|start| entry.starts_with(start)),
            "{entry}"
        );
    }
}

#[test]
fn long_sentence_is_cut_between_words() {
    let text = "several words without any stop ".repeat(100);
    for entry in cut(&text, 50, 10) {
        let fine = |word: &str| ["several", "words", "without", "any", "stop"].contains(&word);
        assert!(entry.split(' ').all(fine), "{entry}");
    }
    let text = "先说第一点，再说第二点，".repeat(100);
    for entry in cut(&text, 50, 10) {
        assert!(
            entry.starts_with(['先', '再']) && entry.ends_with('，'),
            "{entry}"
        );
    }
}

#[test]
fn overlap_repeats_whole_sentences_up_to_its_size() {
    let text = paragraph(0..60);
    let entries = cut(&text, 100, 30);
    for pair in entries.windows(2) {
        let repeated = (1..pair[1].len())
            .rev()
            .filter(|len| pair[1].is_char_boundary(*len))
            .map(|len| pair[1][..len].trim_end())
            .find(|start| pair[0].ends_with(start))
            .expect("an overlap");
        assert!(
            repeated.starts_with("This is") && repeated.ends_with("of a text."),
            "{repeated}"
        );
        assert!(estimate_tokens(repeated) <= 30, "{repeated}");
        assert!(estimate_tokens(repeated) >= 10, "{repeated}");
    }
    let without: String = cut(&text, 100, 0).join(" ");
    assert_eq!(without, text);
}

#[test]
fn overlap_crosses_no_heading() {
    let text = format!(
        "# A\n\n{}\n\n# B\n\n{}",
        paragraph(0..20),
        paragraph(20..40)
    );
    let chunked = chunk(&text, config(Split::Section, 100));
    for entry in &chunked.entries {
        let begins_below = entry.text.find("# B").unwrap_or(0) == 0;
        assert!(begins_below, "{}", entry.text);
    }
    let (first, second): (Vec<_>, Vec<_>) =
        paths(&chunked).into_iter().partition(|path| path == "A");
    assert!(first.len() > 2 && second.len() > 2);
    assert_eq!(
        chunked
            .entries
            .iter()
            .filter(|entry| entry.text.starts_with('#'))
            .count(),
        2
    );
}

#[test]
fn heading_is_never_an_entry_alone() {
    let fence = format!("```\n{}```", "line\n".repeat(30));
    let text = format!("# A rather long heading above a fence\n\n{fence}\n\nend");
    let chunked = chunk(&text, config(Split::Section, estimate_tokens(&fence)));
    assert_eq!(texts(&chunked)[0], fence);
    assert!(
        paths(&chunked)
            .iter()
            .all(|path| path == "A rather long heading above a fence")
    );
}

#[test]
fn huge_words_are_cut_between_graphemes() {
    // A family is one grapheme of seven characters.
    for grapheme in ["👨‍👩‍👧‍👦", "🌸", "é", "한", "\u{1F1E9}\u{1F1EA}"] {
        let text = grapheme.repeat(300);
        for max_tokens in [33, 101, 400] {
            let entries = cut(&text, max_tokens, 7);
            assert!(entries.len() > 1 || max_tokens == 400, "{grapheme}");
            assert!(
                entries
                    .iter()
                    .all(|entry| entry.replace(grapheme, "").is_empty()),
                "{grapheme}"
            );
        }
    }
}

#[test]
fn grapheme_that_is_too_long_is_cut_between_characters() {
    let text = format!("a{}", "\u{301}".repeat(5_000));
    assert!(cut(&text, 16, 3).len() > 10);
}

#[test]
fn entries_of_one_word_are_nearly_full() {
    let entries = cut(&"x".repeat(20_000), 400, 80);
    let (_, full) = entries.split_last().unwrap();
    assert!(full.iter().all(|entry| estimate_tokens(entry) > 300));
}

#[test]
fn seas_of_blanks_cost_no_entry() {
    let text = format!("a{}b\n{}c", " ".repeat(50_000), "\n \n".repeat(20_000));
    let entries = cut(&text, 16, 4);
    assert!(entries.len() <= 3, "{}", entries.len());
}
