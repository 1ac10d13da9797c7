use memory_api::Timestamp;

use super::{messages, sections, texts};

fn created(value: &str) -> Option<Timestamp> {
    let chunked = sections(&format!("---\ncreated: {value}\n---\nbody"));
    assert_eq!(texts(&chunked), ["body"]);
    assert_eq!(
        chunked.meta.created.is_none(),
        chunked.warnings.len() == 1,
        "{value}"
    );
    chunked.meta.created
}

#[test]
fn dates_are_read_with_and_without_time_and_zone() {
    const MIDNIGHT: i64 = 1_777_593_600_000;
    const HOUR: i64 = 3_600_000;
    for (value, expected) in [
        ("2026-05-01", MIDNIGHT),
        ("\"2026-05-01\"", MIDNIGHT),
        ("20260501", MIDNIGHT),
        ("2026-05-01T10:00:00Z", MIDNIGHT + 10 * HOUR),
        ("2026-05-01 10:00", MIDNIGHT + 10 * HOUR),
        ("2026-05-01T10:00:00.250+08:00", MIDNIGHT + 2 * HOUR + 250),
        ("2026-05-01 10:00:00 -05:00", MIDNIGHT + 15 * HOUR),
        (
            "2026-05-01T10:00:00+08:00[Asia/Shanghai]",
            MIDNIGHT + 2 * HOUR,
        ),
    ] {
        assert_eq!(created(value), Some(Timestamp(expected)), "{value}");
    }
    for value in [
        "soon",
        "2026-13-01",
        "[2026]",
        "{a: 1}",
        "true",
        "2026-05-01T10:00[Asia/Shanghai]",
    ] {
        assert_eq!(created(value), None, "{value}");
    }
}

#[test]
fn other_names_of_the_dates_serve_where_the_first_ones_are_missing() {
    let chunked = sections("---\ndate: 1970-01-02\nmodified: 1970-01-03\n---\nx");
    assert_eq!(chunked.meta.created, Some(Timestamp(86_400_000)));
    assert_eq!(chunked.meta.updated, Some(Timestamp(2 * 86_400_000)));
    let chunked = sections("---\ndate: 1970-01-02\ncreated: 1970-01-04\n---\nx");
    assert_eq!(chunked.meta.created, Some(Timestamp(3 * 86_400_000)));
}

#[test]
fn tags_are_a_list_or_words_with_commas() {
    for value in [
        "[a, b c, a, 2024]",
        "\n  - a\n  - b c\n  - a\n  - 2024",
        "a, b c, a,, 2024",
        "'a，b c, 2024'",
    ] {
        let chunked = sections(&format!("---\ntags: {value}\n---\nx"));
        assert_eq!(chunked.meta.tags, ["a", "b c", "2024"], "{value}");
        assert_eq!(chunked.warnings, []);
    }
}

#[test]
fn wrong_values_are_named_and_the_rest_is_used() {
    let text = "---\ntitle: 2024\nunknown: {deep: [1, 2]}\ntags: 5\ncreated: soon\ntype: [a]\nupdated: 1970-01-02\n---\nx";
    let chunked = sections(text);
    assert_eq!(chunked.meta.title.as_deref(), Some("2024"));
    assert_eq!(chunked.meta.updated, Some(Timestamp(86_400_000)));
    assert_eq!((chunked.meta.kind, chunked.meta.created), (None, None));
    assert_eq!(
        messages(&sections(text)),
        [
            "4: front matter key `tags` is left out: it is no list and no text with commas",
            "5: front matter key `created` is left out: it is no date such as `2026-05-01`",
            "6: front matter key `type` is left out: it is no text",
        ]
    );
    let mixed = sections("---\ntags: [a, [b]]\n---\nx");
    assert_eq!(mixed.meta.tags, ["a"]);
    assert_eq!(mixed.warnings.len(), 1);
}

#[test]
fn empty_values_and_empty_front_matter_are_no_fault() {
    for text in [
        "---\n---\nx",
        "---\ntitle:\ntags:\ncreated: ~\n...\nx",
        "---\n# only a comment\n---\nx",
        "---  \ntags: []\n--- \nx",
    ] {
        let chunked = sections(text);
        assert_eq!(texts(&chunked), ["x"], "{text}");
        assert_eq!(chunked.meta, memory_api::DocumentMeta::default(), "{text}");
        assert_eq!(chunked.warnings, [], "{text}");
    }
}

#[test]
fn broken_front_matter_is_text_and_named() {
    for (front_matter, line) in [
        ("---\ntitle: KB: pump\ntags: [a, b\n---", 2),
        ("---\n- a\n- b\n---", 2),
        ("---\njust words\n---", 2),
        ("---\ntype: x\ntitle: [a\n---", 3),
        ("---\n? [a, b]\n: c: d\n  e\n---", 0),
        ("---\na: *nobody\n---", 2),
    ] {
        let text = format!("{front_matter}\n\n# A\nbody");
        let chunked = sections(&text);
        assert_eq!(texts(&chunked), [front_matter, "# A\nbody"]);
        assert_eq!(chunked.warnings.len(), 1, "{text}");
        let warning = &chunked.warnings[0];
        assert!(
            warning
                .message
                .starts_with("front matter is taken for text: "),
            "{warning:?}"
        );
        assert!(!warning.message.contains('\n'), "{warning:?}");
        if line > 0 {
            assert_eq!(warning.line, Some(line), "{front_matter}: {warning:?}");
        }
    }
}

/// YAML ends a line at a lone `\r`, an editor does not.
#[test]
fn lines_of_warnings_are_those_of_an_editor() {
    for (front_matter, line) in [
        ("---\na: 1\r\r\rb: [\n---", 2),
        ("---\rtags: 5\r---\r", 1),
        ("---\ntype: x\r\rtags: 5\n---", 2),
        ("---\r\ntype: x\r\ntags: 5\r\n---", 3),
    ] {
        let chunked = sections(&format!("{front_matter}\nbody"));
        assert_eq!(chunked.warnings.len(), 1, "{front_matter}");
        let warning = &chunked.warnings[0];
        assert_eq!(warning.line, Some(line), "{front_matter}: {warning:?}");
    }
}

#[test]
fn front_matter_that_does_not_end_is_text() {
    let text = "---\ntitle: a\n\nbody";
    let chunked = sections(text);
    assert_eq!(texts(&chunked), ["title: a\n\nbody"]);
    assert_eq!(
        messages(&chunked),
        ["1: front matter is taken for text: no line `---` or `...` closes it"]
    );

    let text = "---\n\nkey: looks like a mapping\n\n---\nbody";
    let chunked = sections(text);
    assert_eq!(texts(&chunked), ["key: looks like a mapping\n\n---\nbody"]);
    assert_eq!(
        messages(&chunked),
        ["1: front matter is taken for text: a blank line follows `---`, which makes it a rule"]
    );
}

#[test]
fn front_matter_stands_at_the_very_beginning() {
    for text in [
        "\n---\ntitle: a\n---\nx",
        "x\n\n---\ntitle: a\n\n---\n",
        " ---\ntitle: a\n---\nx",
        "----\ntitle: a\n---\nx",
        "+++\ntitle = 'a'\n+++\nx",
    ] {
        let chunked = sections(text);
        assert_eq!(chunked.meta.title, None, "{text}");
        assert_eq!(chunked.warnings, [], "{text}");
        assert!(texts(&chunked).concat().contains("title"), "{text}");
    }
}

#[test]
fn huge_front_matter_is_text() {
    let text = format!("---\n{}---\nbody", "key: value\n".repeat(7_000));
    let chunked = sections(&text);
    assert_eq!(
        messages(&chunked),
        ["1: front matter is taken for text: it is longer than 64 KiB"]
    );
}

#[test]
fn yaml_bombs_do_not_go_off() {
    let laughs: Vec<_> = (1..12)
        .map(|level| {
            let refs = vec![format!("*a{}", level - 1); 8].join(", ");
            format!("a{level}: &a{level} [{refs}]")
        })
        .collect();
    let laughs = format!(
        "---\na0: &a0 [x, x]\n{}\ntags: *a11\n---\nbody",
        laughs.join("\n")
    );
    let nested = format!(
        "---\ntags: {}{}\n---\nbody",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let open = format!("---\ntags: {}\n---\nbody", "[".repeat(60_000));
    let keys = format!("---\n{}\n---\nbody", "? ".repeat(20_000));
    for text in [laughs, nested, open, keys] {
        let chunked = sections(&text);
        assert_eq!(chunked.warnings.len(), 1);
        assert!(texts(&chunked).last().unwrap().ends_with("body"));
    }
}
