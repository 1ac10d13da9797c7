//! How a text is fitted into a file, and how a file is replaced.

use std::fs;
use std::path::Path;

use crate::add::testing::{Append, Passage};
use crate::options::Options;

fn passage(text: &str, heading: &str) -> Passage {
    Passage::new(text, heading, 10_000).unwrap()
}

/// The whole new file, and the lines of what was added.
fn added(content: &str, heading: &str, text: &str) -> (String, (u32, u32)) {
    let tail = passage(text, heading)
        .tail("memory/a.md", content.as_bytes())
        .unwrap();
    let whole = format!("{content}{}", String::from_utf8(tail.bytes).unwrap());
    let first = whole.lines().nth(tail.lines.start as usize - 1);
    let above = if heading.is_empty() {
        text.lines().find(|line| !line.trim().is_empty())
    } else {
        Some(heading)
    };
    if !text.contains('#') {
        assert_eq!(first, above, "{whole}");
    }
    assert_eq!(whole.lines().count(), tail.lines.end as usize, "{whole}");
    (whole, (tail.lines.start, tail.lines.end))
}

#[test]
fn text_comes_below_a_blank_line_and_a_heading() {
    let check = |content: &str, expected: &str, lines: (u32, u32)| {
        let (whole, found) = added(content, "## 09:30", "one\ntwo");
        assert_eq!(whole, expected);
        assert_eq!(found, lines, "{whole}");
    };
    check("", "## 09:30\n\none\ntwo\n", (1, 4));
    check("a\n", "a\n\n## 09:30\n\none\ntwo\n", (3, 6));
    check("a", "a\n\n## 09:30\n\none\ntwo\n", (3, 6));
    check("a\n\n", "a\n\n## 09:30\n\none\ntwo\n", (3, 6));
    check("a\n  ", "a\n  \n## 09:30\n\none\ntwo\n", (3, 6));
    check("\n", "\n## 09:30\n\none\ntwo\n", (2, 5));
    // The form of a file stays: line ends, byte order mark, front matter.
    check(
        "a\r\nb\r\n",
        "a\r\nb\r\n\r\n## 09:30\r\n\r\none\r\ntwo\r\n",
        (4, 7),
    );
    check(
        "a\r\nb",
        "a\r\nb\r\n\r\n## 09:30\r\n\r\none\r\ntwo\r\n",
        (4, 7),
    );
    check("\u{feff}a\n", "\u{feff}a\n\n## 09:30\n\none\ntwo\n", (3, 6));
    check(
        "---\ntags: [a]\n---\n",
        "---\ntags: [a]\n---\n\n## 09:30\n\none\ntwo\n",
        (5, 8),
    );
}

#[test]
fn a_byte_order_mark_alone_is_an_empty_file() {
    let tail = passage("one", "## 1").tail("a.md", "\u{feff}".as_bytes());
    assert_eq!(tail.unwrap().bytes, b"## 1\n\none\n");
}

#[test]
fn text_without_a_heading_stands_alone() {
    assert_eq!(added("a\n", "", "one").0, "a\n\none\n");
    assert_eq!(added("", "", "one").0, "one\n");
    // A rule in the first line would begin front matter.
    let tail = passage("---\ntags: [x]\n---\nrest", "").tail("a.md", b"");
    let tail = String::from_utf8(tail.unwrap().bytes).unwrap();
    assert_eq!(tail, "\n---\ntags: [x]\n---\nrest\n");
}

#[test]
fn text_is_kept_as_it_is() {
    for text in [
        "    code\n  more",
        "- a\n  - b\n\n\n- c",
        "a\tb  \nc",
        "> quoted\n> # not a heading of ours",
        "```sh\n# a comment\n```\nafter",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "- item\n---\nafter",
        "漢字とかな",
    ] {
        let (whole, _) = added("", "", text);
        assert_eq!(whole, format!("{text}\n"));
    }
    // Blank lines around it, and line ends, are those of the file.
    assert_eq!(added("", "", "\n \na\r\nb\r\n\r\n").0, "a\nb\n");
}

#[test]
fn headings_of_the_text_go_below_the_one_above_it() {
    let check = |text: &str, expected: &str| {
        let (whole, _) = added("", "## 09:30", text);
        assert_eq!(whole, format!("## 09:30\n\n{expected}\n"), "{text}");
    };
    check(
        "# Decision #\nport 5433\n\n## Why\nbecause",
        "### Decision #\nport 5433\n\n#### Why\nbecause",
    );
    check("### Deep enough\na", "### Deep enough\na");
    check("a\n\n ## b\nc", "a\n\n ### b\nc");
    check("###### six\n# one", "###### six\n### one");
    check("#hashtag\n#1 in the list", "#hashtag\n#1 in the list");
    check("Title\n=====\na", "### Title\na");
    check("a\n\nTitle\n---\nb", "a\n\n### Title\nb");
    check("two lines\nof it\n---\nb", "two lines\nof it\n\n---\nb");
    check("a\n\n---\n\nb", "a\n\n---\n\nb");
    check("```\n# in code\n```\n# out", "```\n# in code\n```\n### out");
    check("    # code", "    # code");
    // Where nothing but text stands above, they mean what they say.
    assert_eq!(
        added("", "**09:30**", "# Top\na").0,
        "**09:30**\n\n# Top\na\n"
    );
}

#[test]
fn what_a_text_leaves_open_is_closed() {
    let check = |text: &str, end: &str| {
        let expected = if end.is_empty() {
            format!("{text}\n")
        } else {
            format!("{text}\n{end}\n")
        };
        assert_eq!(added("", "", text).0, expected);
    };
    check("```sh\nls", "```");
    check("~~~~\nls\n~~~", "~~~~");
    check("```\nls\n```", "");
    check("a `code` span\n```not a fence```", "");
    check("<!-- a note\nto self", "-->");
    check("<!-- a note -->\nmore", "");
    check("<pre>\nart", "</pre>");
    check("<PRE>art</PRE>", "");
    check("<?php", "?>");
    check("a < b and <b>bold</b>", "");
}

#[test]
fn what_is_no_text_is_refused() {
    let refused = |text: &str, message: &str| {
        let err = Passage::new(text, "## 1", 20).unwrap_err();
        assert!(err.message().contains(message), "{err}");
        assert!(err.hint().is_some());
    };
    refused("", "blank");
    refused(" \n\t\r\n", "blank");
    refused("\u{feff}", "blank");
    refused("a\0b", "control character, `\\u{0}`");
    refused("\u{1b}[31mred", "control character, `\\u{1b}`");
    refused(&"ä".repeat(21), "21 characters, more than 20");
    assert!(Passage::new(&"ä".repeat(20), "## 1", 20).is_ok());
}

#[test]
fn files_that_are_no_utf_8_are_refused() {
    for content in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0b\0"] {
        let err = passage("one", "").tail("a.md", content).unwrap_err();
        assert!(
            err.hint().is_some_and(|hint| hint.contains("UTF-8")),
            "{err}"
        );
    }
    // A byte that is none is somebody else's mistake, and stays.
    assert!(passage("one", "").tail("a.md", b"caf\xe9\n").is_ok());
}

#[test]
fn the_same_text_is_found() {
    let there = |content: &str, text: &str| {
        let found = passage(text, "## 10:00").find_in(content);
        found.map(|lines| (lines.start, lines.end))
    };
    let day = "# 2026-05-18\n\n## 09:30\n\nthe port is 5433\n\n### Why\nbecause of the proxy\n\n- buy milk\n- call Ann\n";
    assert_eq!(there(day, "the port is 5433"), Some((5, 5)));
    assert_eq!(there(day, "  the port is 5433 \r\n"), Some((5, 5)));
    assert_eq!(
        there(&day.replace('\n', "\r\n"), "the port is 5433"),
        Some((5, 5))
    );
    // A section with its own headings, whatever their depth was.
    let section = "the port is 5433\n\n# Why\nbecause of the proxy";
    assert_eq!(there(day, section), Some((5, 8)));
    assert_eq!(there(day, "- call Ann"), Some((11, 11)));
    assert_eq!(there(day, "- buy milk\n- call Ann"), Some((10, 11)));
    // Part of a sentence, or of a paragraph, is another text.
    assert_eq!(there(day, "the port"), None);
    assert_eq!(there("a\nb\nc", "b"), None);
    assert_eq!(there("a\n- b\n- c", "call Ann"), None);
    assert_eq!(there("\u{feff}one", "one"), Some((1, 1)));
    assert_eq!(there("", "one"), None);
}

/// A folder and what adds to a file in it.
fn append(dir: &Path, path: &str, text: &str) -> Append {
    Append {
        path: path.to_owned(),
        absolute: dir.join(path),
        passage: passage(text, ""),
        max_bytes: 1_000,
        lock_dir: None,
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn files_and_folders_are_made_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let (lines, new) = append(dir.path(), "a/b/c.md", "one").run().unwrap();
    assert_eq!((lines.start, lines.end, new), (1, 1, true));
    let (lines, new) = append(dir.path(), "a/b/c.md", "two").run().unwrap();
    assert_eq!((lines.start, lines.end, new), (3, 3, false));
    assert_eq!(names(&dir.path().join("a/b")), ["c.md"]);
    assert_eq!(
        fs::read_to_string(dir.path().join("a/b/c.md")).unwrap(),
        "one\n\ntwo\n"
    );
}

#[test]
fn what_is_refused_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let err = append(dir.path(), "a/b.md", &"x".repeat(1_000))
        .run()
        .unwrap_err();
    assert!(err.message().contains("not be indexed any more"), "{err}");
    assert_eq!(names(dir.path()), [""; 0]);
    append(dir.path(), "b.md", "one").run().unwrap();
    let err = append(dir.path(), "b.md", "one").run().unwrap_err();
    assert_eq!(err.context("refused"), Some("duplicate"));
    assert_eq!(err.context("citation"), Some("b.md#L1"));
    assert_eq!(names(dir.path()), ["b.md"]);
}

#[test]
fn what_another_program_changes_meanwhile_is_noticed_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.md");
    let adding = append(dir.path(), "a.md", "ours");
    // Where there was no file.
    fs::write(&file, "theirs\n").unwrap();
    assert!(adding.is_overtaken(None));
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs\n");
    // Where it grew, was replaced, or is gone.
    let old = adding.read().unwrap();
    fs::write(&file, "theirs\nmore\n").unwrap();
    assert!(adding.is_overtaken(old.as_ref()));
    let old = adding.read().unwrap();
    fs::write(dir.path().join("new"), "theirs\nmore\n").unwrap();
    fs::rename(dir.path().join("new"), &file).unwrap();
    assert!(adding.is_overtaken(old.as_ref()));
    let old = adding.read().unwrap();
    fs::remove_file(&file).unwrap();
    assert!(adding.is_overtaken(old.as_ref()));
    assert_eq!(names(dir.path()), [""; 0]);
    // The next look takes it in.
    fs::write(&file, "theirs\nmore\n").unwrap();
    adding.run().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "theirs\nmore\n\nours\n");
    assert_eq!(names(dir.path()), ["a.md"]);
}

/// What died half-way would be seen by a reader half-way as well, so no moment has to be hit for it.
#[cfg(unix)]
#[test]
fn who_has_a_note_open_meanwhile_reads_the_old_one_whole() {
    use std::io::Read as _;
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.md"), "old\n").unwrap();
    let mut reader = fs::File::open(dir.path().join("a.md")).unwrap();
    append(dir.path(), "a.md", "new").run().unwrap();
    let mut seen = String::new();
    reader.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, "old\n");
    let now = fs::read_to_string(dir.path().join("a.md")).unwrap();
    assert_eq!(now, "old\n\nnew\n");
}

#[test]
fn what_died_beside_a_note_is_swept() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(".#memory-add-1-0"), "half").unwrap();
    fs::write(dir.path().join(".#b.md"), "an editor's").unwrap();
    append(dir.path(), "b.md", "one").run().unwrap();
    #[cfg(unix)]
    assert_eq!(names(dir.path()), [".#b.md", "b.md"]);
}

#[cfg(unix)]
#[test]
fn the_rights_of_a_file_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.md");
    fs::write(&file, "a\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
    append(dir.path(), "a.md", "one").run().unwrap();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o604);
}

#[cfg(unix)]
#[test]
fn a_link_that_came_meanwhile_is_not_written_through() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join("a.md")).unwrap();
    assert!(append(dir.path(), "a.md", "one").run().is_err());
    assert_eq!(fs::read_to_string(dir.path().join("secret")).unwrap(), "s");
    assert_eq!(names(dir.path()), ["a.md", "secret"]);
}

#[test]
fn places_are_those_of_memory_files() {
    use crate::discovery::Discovery;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("desk");
    fs::create_dir_all(root.join("memory/.hidden")).unwrap();
    fs::create_dir_all(dir.path().join("shared")).unwrap();
    fs::write(root.join("memory/folder.md.d"), "").unwrap();
    fs::create_dir(root.join("memory/folder.md")).unwrap();
    fs::write(root.join(".memoryignore"), "private/\n").unwrap();
    let mut options = Options::new(&root, root.join(".memory"));
    options.documents.extra_paths.push("../shared".into());
    let check = |options: &Options, path: &str, is_place: bool| {
        let place = Discovery::new(options).unwrap().place(path);
        assert_eq!(place.is_ok(), is_place, "{path}: {place:?}");
    };
    for path in [
        "MEMORY.md",
        "USER.md",
        "memory/2026-05-18.md",
        "./memory/a.md",
        "memory/new/folder/a.markdown",
        "../shared/todo.md",
        "../shared/new/todo.md",
    ] {
        check(&options, path, true);
    }
    for path in [
        "",
        "notes.md",
        "memory/a.txt",
        "memory/a.jsonl",
        "memory/../MEMORY.md",
        "../MEMORY.md",
        "../shared/../x.md",
        "/etc/motd.md",
        "memory//a.md",
        "memory/a.md/",
        "memory/.hidden/a.md",
        "memory/.new/a.md",
        "memory/a\n.md",
        "memory/a\0.md",
        "memory/.#a.md",
        "memory/private/a.md",
        "memory/folder.md",
        ".memory/a.md",
        "memory",
        "daily",
    ] {
        check(&options, path, false);
    }
    // A file in place of a folder.
    fs::write(root.join("memory/file"), "").unwrap();
    check(&options, "memory/file/a.md", false);
    options.documents.include = vec!["**/*".to_owned()];
    check(&options, "notes/a.txt", true);
    check(&options, "chats/a.jsonl", false);
    check(&options, "chats/a.jsonl.reset.2026", false);
    check(&options, ".hidden/a.md", false);
}

#[cfg(unix)]
#[test]
fn no_place_is_behind_a_link() {
    use crate::discovery::Discovery;
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("desk");
    fs::create_dir_all(root.join("memory")).unwrap();
    fs::create_dir_all(dir.path().join("out")).unwrap();
    symlink(dir.path().join("out"), root.join("memory/link")).unwrap();
    symlink(dir.path().join("out/a.md"), root.join("memory/a.md")).unwrap();
    let discovery = Discovery::new(&Options::new(&root, root.join(".memory"))).unwrap();
    for path in ["memory/link/a.md", "memory/a.md"] {
        assert!(discovery.place(path).is_err(), "{path}");
    }
}
