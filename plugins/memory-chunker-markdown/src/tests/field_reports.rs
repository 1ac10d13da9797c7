//! Faults of similar systems, by the id of their report.

use memory_text::estimate_tokens;

use super::{chunk, config, paths, sections, texts};
use crate::{Config, Split};

#[test]
fn ch_03_wide_characters_do_not_overrun_the_limit() {
    let text: String = (0..3_000)
        .map(|n| if n % 15 == 0 { "： word " } else { "：" })
        .collect();
    for split in [Split::Section, Split::Block] {
        let chunked = chunk(&text, config(split, 400));
        for entry in &chunked.entries {
            let strict: usize = entry.text.chars().filter(|ch| !ch.is_ascii()).count();
            assert!(strict <= 400, "{strict} characters that are no ASCII");
        }
    }
}

#[test]
fn ch_04_no_character_is_torn_at_any_size() {
    let text = format!("{}{} orchard", "x".repeat(1599), "🌸".repeat(400));
    for max_tokens in [16, 17, 101, 333, 400] {
        let without = Config {
            overlap_tokens: Some(0),
            ..config(Split::Section, max_tokens)
        };
        let chunked = chunk(&text, without);
        assert_eq!(
            texts(&chunked).concat().replace(' ', ""),
            text.replace(' ', ""),
            "{max_tokens}"
        );
        assert!(
            texts(&chunked)
                .iter()
                .all(|text| !text.contains('\u{fffd}'))
        );
        assert!(
            texts(&chunked).last().unwrap().ends_with("orchard"),
            "{max_tokens}"
        );
    }
}

#[test]
fn ch_05_comment_in_a_fence_is_no_heading() {
    for fence in ["```", "~~~"] {
        let text = format!(
            "# Greenhouse\n\n{fence}sh\n# install fan driver\nrun fan\n{fence}\n\nAfter the fence: check damper."
        );
        let chunked = sections(&text);
        assert_eq!(texts(&chunked), [text.as_str()]);
        let small = chunk(&text, config(Split::Section, 30));
        assert!(small.entries.len() > 1);
        assert!(paths(&small).iter().all(|path| path == "Greenhouse"));
        let code = format!("{fence}sh\n# install fan driver\nrun fan\n{fence}");
        assert!(
            texts(&small).iter().any(|text| text.contains(&code)),
            "{small:#?}"
        );
        let blocks = chunk(&text, config(Split::Block, 400));
        assert_eq!(
            texts(&blocks),
            [code.as_str(), "After the fence: check damper."]
        );
    }
}

#[test]
fn ch_06_headings_alone_and_blank_lines_are_no_entries() {
    let text = format!(
        "# One\n## Sub\n\n\n\n{}# Two\ntext about slate.",
        "\n".repeat(300)
    );
    let chunked = sections(&text);
    assert_eq!(texts(&chunked), ["# Two\ntext about slate."]);
    assert_eq!(paths(&chunked), ["Two"]);
}

#[test]
fn ch_07_longer_fence_holds_a_shorter_one() {
    let chunked =
        sections("# Manual\n````\n```\n# not a title\n```\n````\n## Usage\nturn the crank");
    assert_eq!(paths(&chunked), ["Manual", "Manual / Usage"]);
    assert_eq!(texts(&chunked)[1], "## Usage\nturn the crank");
}

#[test]
fn ch_09_bad_front_matter_holds_nothing_back() {
    let bad = "---\ntitle: KB: pump\npath: \"C:\\temp\\x\"\ntags: [a, b\n---\nPump sits in cellar.";
    let chunked = sections(bad);
    assert_eq!(texts(&chunked), [bad]);
    assert_eq!(paths(&chunked), [""]);
    assert_eq!(chunked.warnings.len(), 1);

    let rule = "---\n\nText after a rule: cellar.";
    let chunked = sections(rule);
    assert_eq!(texts(&chunked), ["Text after a rule: cellar."]);
    assert_eq!(chunked.warnings.len(), 1);
    assert_eq!(chunked.warnings[0].line, Some(1));

    let chunked = sections("ok cellar");
    assert_eq!(
        (texts(&chunked), chunked.warnings.len()),
        (vec!["ok cellar"], 0)
    );
}

#[test]
fn ch_10_dense_text_is_cut_into_parts() {
    for dense in ["=", "${{ }}", "0123456789abcdef"] {
        let text = format!("{}flume", dense.repeat(9_000 / dense.len()));
        let chunked = chunk(&text, config(Split::Section, 8192));
        assert!(
            chunked
                .entries
                .iter()
                .all(|entry| estimate_tokens(&entry.text) <= 8192)
        );
        let chunked = sections(&text);
        assert!(chunked.entries.len() > 5, "{dense}");
        assert!(texts(&chunked).last().unwrap().ends_with("flume"));
    }
}

#[test]
fn ea_06_blank_notes_give_nothing_to_embed() {
    for text in ["", "   \n ", "# ", "## \n\n"] {
        assert_eq!(sections(text).entries, [], "{text:?}");
    }
}

#[test]
fn rs_08_forty_thousand_sections_are_forty_thousand_entries() {
    let text: Vec<_> = (0..40_000).map(|n| format!("## s{n}\nt")).collect();
    assert_eq!(sections(&text.join("\n")).entries.len(), 40_000);
}
