use memory_api::{DocumentMeta, Timestamp};

use crate::document::{
    NameDate, content_hash, decode, document_created, document_time, entry_id, name_date,
};

const DAY: i64 = 86_400_000;

#[test]
fn a_date_in_a_name_is_midnight_utc() {
    let day = NameDate::Day(Timestamp(20_591 * DAY));
    for path in [
        "memory/2026-05-18.md",
        "memory/log/2026-05-18-standup.md",
        "2026-05-18.markdown",
        // DD-06: the separator of another system.
        "memory\\log\\2026-05-18.md",
    ] {
        assert_eq!(name_date(path), day, "{path}");
    }
}

#[test]
fn a_name_that_only_looks_like_a_date_is_no_day() {
    // DD-03.
    for path in [
        "2026-02-30.md",
        "2026-13-01.md",
        "0000-00-00.md",
        "2026-00-10-x.md",
    ] {
        assert_eq!(name_date(path), NameDate::Impossible, "{path}");
    }
    for path in [
        "20260101.md",
        "2026-05-18x.md",
        "x-2026-05-18.md",
        "2026-5-18.md",
        "２０２６-05-18.md",
        "",
        "水泵.md",
        "memory/2026-05-18/a.md",
    ] {
        assert_eq!(name_date(path), NameDate::None, "{path}");
    }
    assert!(matches!(name_date("9999-12-31.md"), NameDate::Day(_)));
}

#[test]
fn the_name_dates_a_document_before_its_front_matter_and_its_file() {
    let mut meta = DocumentMeta::default();
    let mtime = Timestamp(7);
    let time = |path, meta: &DocumentMeta| document_time(path, meta, mtime);
    assert_eq!(time("memory/a.md", &meta), mtime);
    meta.created = Some(Timestamp(1));
    assert_eq!(time("memory/a.md", &meta), Timestamp(1));
    meta.updated = Some(Timestamp(2));
    assert_eq!(time("memory/a.md", &meta), Timestamp(2));
    assert_eq!(time("memory/1970-01-03.md", &meta), Timestamp(2 * DAY));
    assert_eq!(time("memory/1970-02-31.md", &meta), mtime);
    assert_eq!(
        document_created("memory/1970-01-03.md", &meta),
        Some(Timestamp(1))
    );
    assert_eq!(
        document_created("memory/1970-01-03.md", &DocumentMeta::default()),
        Some(Timestamp(2 * DAY))
    );
    assert_eq!(
        document_created("memory/a.md", &DocumentMeta::default()),
        None
    );
}

#[test]
fn bytes_that_are_not_utf8_are_kept_apart_and_named() {
    assert_eq!(decode("水泵".into()), ("水泵".to_owned(), None));
    let (text, warning) = decode(b"one\ntwo \xff end".to_vec());
    assert_eq!(text, "one\ntwo \u{fffd} end");
    assert!(warning.unwrap().starts_with("line 2 is not UTF-8"));
}

#[test]
fn utf16_with_a_byte_order_mark_is_read() {
    let little: Vec<u8> = "\u{feff}水泵\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let big: Vec<u8> = "\u{feff}水泵\n"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(decode(little).0, "\u{feff}水泵\n");
    assert_eq!(decode(big).0, "\u{feff}水泵\n");
}

#[test]
fn an_id_depends_on_each_of_its_parts() {
    let strings = |parts: &[&str]| {
        parts
            .iter()
            .map(|part| (*part).to_owned())
            .collect::<Vec<_>>()
    };
    let text = content_hash(b"text");
    let headings = strings(&["a", "b"]);
    let ids = [
        entry_id("n", "s", "p", &headings, text, 0),
        entry_id("m", "s", "p", &headings, text, 0),
        entry_id("n", "t", "p", &headings, text, 0),
        entry_id("n", "s", "q", &headings, text, 0),
        entry_id("n", "s", "p", &strings(&["ab"]), text, 0),
        entry_id("n", "s", "p", &strings(&["a"]), text, 0),
        entry_id("n", "s", "p", &headings, content_hash(b"other"), 0),
        entry_id("n", "s", "p", &headings, text, 1),
        entry_id("ns", "", "p", &headings, text, 0),
    ];
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    assert_eq!(ids[0], entry_id("n", "s", "p", &headings, text, 0));
    let shown = ids[0].to_string();
    assert_eq!(&shown[14..15], "8", "{shown}");
    assert!(matches!(&shown[19..20], "8" | "9" | "a" | "b"), "{shown}");
}
