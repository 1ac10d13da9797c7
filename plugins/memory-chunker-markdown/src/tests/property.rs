use memory_api::{Chunker, Document};
use proptest::prelude::*;

use super::check_contract;
use crate::{Config, MarkdownChunker, Split};

/// Pieces that Markdown means something by, and pieces that have broken programs before.
fn fragment() -> impl Strategy<Value = String> {
    let syntax = prop::sample::select(vec![
        "# ",
        "## 标题 ##",
        "###### ",
        "####### ",
        "---",
        "===",
        "***",
        "- ",
        "* ",
        "+ a",
        "1. ",
        "2) b",
        "> ",
        ">> ",
        "```",
        "````rs",
        "~~~",
        "|",
        "| a | b |",
        "|---|:-:|",
        "a | b",
        "--|--",
        "<!--",
        "-->",
        "<!-- trigger: a -->",
        "<div>",
        "</div>",
        "<pre>",
        "</pre>",
        "<?",
        "?>",
        "**Ann**: hi",
        "**用户：** 好",
        "    ",
        "\t",
        "  ",
        "[a]: b",
        "\\",
        "`",
        "...",
        "+++",
        "title: x",
        "tags: [a",
    ])
    .prop_map(str::to_owned);
    let odd = prop::sample::select(vec![
        "\u{feff}",
        "\0",
        "\u{fffd}",
        "\u{200b}",
        "\u{3000}",
        "👨‍👩‍👧‍👦",
        "e\u{301}\u{301}",
        "שלום",
        "\u{202e}x",
        "\u{85}",
        "\u{2028}",
        "。",
        "！",
        "；",
        "…",
    ])
    .prop_map(str::to_owned);
    let ends = prop::sample::select(vec![
        "\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n \n", "\r\n\r\n",
    ])
    .prop_map(str::to_owned);
    let words =
        prop::collection::vec("[a-z]{1,9}|[一-龥]{1,9}", 1..30).prop_map(|words| words.join(" "));
    let prose = prop::collection::vec("[A-Z][a-z ]{3,30}[.!?] |[一-龥]{2,20}。", 1..12)
        .prop_map(|parts| parts.concat());
    let run = ("[a-z=#>\\[`|-]|🌸|字|\u{301}", 1..600_usize).prop_map(|(mark, n)| mark.repeat(n));
    prop_oneof![6 => ends, 6 => syntax, 2 => words, 2 => prose, 1 => odd, 1 => run]
}

fn settings() -> impl Strategy<Value = Config> {
    let size = prop_oneof![Just(16), Just(17), Just(101), 16..600_usize];
    (prop::bool::ANY, size, prop::option::of(0.0..1.0_f64)).prop_map(
        |(block, max_tokens, share)| Config {
            split: if block { Split::Block } else { Split::Section },
            max_tokens,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a small size"
            )]
            overlap_tokens: share.map(|share| (max_tokens as f64 * share) as usize),
        },
    )
}

proptest! {
    #[test]
    fn contract_holds_for_any_markdown(fragments in prop::collection::vec(fragment(), 0..60), config in settings()) {
        let text = fragments.concat();
        let markdown = MarkdownChunker::new(config).unwrap();
        let document = Document::new("memory", "a.md", &text);
        let chunked = markdown.chunk(&document).unwrap();
        prop_assert_eq!(&chunked, &markdown.chunk(&document).unwrap());
        let checked = check_contract(&text, &chunked, config.max_tokens);
        prop_assert!(checked.is_ok(), "{checked:?}: {chunked:#?}");
    }

    #[test]
    fn contract_holds_for_any_text(text in any::<String>(), config in settings()) {
        let markdown = MarkdownChunker::new(config).unwrap();
        let chunked = markdown.chunk(&Document::new("memory", "a.md", &text)).unwrap();
        let checked = check_contract(&text, &chunked, config.max_tokens);
        prop_assert!(checked.is_ok(), "{checked:?}: {chunked:#?}");
    }

    #[test]
    fn line_ends_do_not_change_the_cut_of_short_sections(fragments in prop::collection::vec(fragment(), 0..40)) {
        let text = fragments.concat().replace('\r', "");
        let markdown = MarkdownChunker::new(Config { max_tokens: 8192, ..Config::default() }).unwrap();
        let windows = text.replace('\n', "\r\n");
        let chunked = markdown.chunk(&Document::new("memory", "a.md", &text)).unwrap();
        let on_windows = markdown.chunk(&Document::new("memory", "a.md", &windows)).unwrap();
        let texts: Vec<_> = chunked.entries.iter().map(|entry| (entry.text.clone(), entry.heading_path.clone())).collect();
        let unified: Vec<_> = on_windows.entries.iter().map(|entry| (entry.text.replace("\r\n", "\n"), entry.heading_path.clone())).collect();
        prop_assert_eq!(texts, unified);
    }
}

/// Texts that make careless programs take quadratic time or all of the stack; together they take a moment here.
#[test]
fn hostile_text_takes_linear_time() {
    const SIZE: usize = 1 << 18;
    let many = |piece: &str| piece.repeat(SIZE / piece.len());
    let texts = [
        many("["),
        many(">"),
        many("> "),
        many("- "),
        many("`"),
        many("*"),
        many("#"),
        many("a"),
        many("# a\n"),
        many("- a\n"),
        many("|-|\n"),
        many("a | b\n-|-\n"),
        many("a\n-\n"),
        many("<!--\n"),
        many("</"),
        many("**"),
        many("**a**:\n"),
        many(". "),
        many("\u{301}"),
        many("👨‍👩‍👧‍👦"),
        many("---\n"),
        many("\t"),
        many("\r"),
        many("\0"),
        format!("{}a\n{}", many("> "), many("b\n")),
        format!("{}a\n{}", many("- "), many("\n")),
        (0..700)
            .flat_map(|depth| [" ".repeat(depth), "- a\n".to_owned()])
            .collect(),
    ];
    for text in &texts {
        for split in [Split::Section, Split::Block] {
            let markdown = MarkdownChunker::new(Config {
                split,
                ..Config::default()
            })
            .unwrap();
            let chunked = markdown
                .chunk(&Document::new("memory", "a.md", text))
                .unwrap();
            let checked = check_contract(text, &chunked, 400);
            assert!(
                checked.is_ok(),
                "{checked:?}: {:?}…",
                text.chars().take(20).collect::<String>()
            );
        }
    }
}
