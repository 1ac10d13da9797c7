use std::fs;
use std::path::{Path, PathBuf};

use memory_api::{Error, ErrorKind, Result};

use crate::discovery::{Discovery, Remarks, Unreadable};
use crate::options::{Documents, Options};

struct Place {
    dir: tempfile::TempDir,
    documents: Documents,
}

impl Place {
    fn new(files: &[&str]) -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
            documents: Documents::default(),
        };
        fs::create_dir(place.dir.path().join("desk")).unwrap();
        for file in files {
            place.write(file, "text");
        }
        place
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join("desk").join(relative)
    }

    fn write(&self, relative: &str, content: &str) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn include(mut self, glob: &str) -> Self {
        self.documents.include.push(glob.to_owned());
        self
    }

    fn extra(mut self, path: impl Into<PathBuf>) -> Self {
        self.documents.extra_paths.push(path.into());
        self
    }

    fn discovery(&self) -> Result<Discovery> {
        Discovery::new(&Options {
            documents: self.documents.clone(),
            ..Options::new(self.path(""), self.path(".memory"))
        })
    }

    fn found(&self) -> Vec<String> {
        found(&self.discovery().unwrap())
    }

    fn remarks(&self) -> Remarks {
        let discovery = self.discovery().unwrap();
        let mut walk = discovery.walk();
        walk.by_ref().for_each(drop);
        walk.into_remarks()
    }

    fn resolve(&self, path: &str) -> Result<PathBuf> {
        self.discovery().unwrap().resolve(path)
    }

    fn refuses(&self, path: &str) {
        let err = self.resolve(path).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{path:?}: {err}");
        assert!(
            err.message()
                .contains("is not a memory file of this workspace"),
            "{err}"
        );
    }
}

fn found(discovery: &Discovery) -> Vec<String> {
    discovery.walk().map(|found| found.path).collect()
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) {
    std::os::unix::fs::symlink(from, to).unwrap();
}

#[test]
fn the_default_files_are_found_and_nothing_else() {
    let place = Place::new(&[
        "MEMORY.md",
        "USER.md",
        "README.md",
        "notes/a.md",
        "memory/a.md",
        "memory/deep/er/b.md",
        "memory/c.txt",
        "memory/.trash/d.md",
        "memory/._e.md",
        "memory/.#f.md",
        "memory/g.md~",
        "memory/.45-ACP.md",
        ".memory/gen/h.md",
        "memory-old/i.md",
    ]);
    assert_eq!(
        place.found(),
        [
            "MEMORY.md",
            "USER.md",
            "memory/.45-ACP.md",
            "memory/a.md",
            "memory/deep/er/b.md"
        ]
    );
}

#[test]
fn the_case_of_a_suffix_does_not_matter() {
    // PS-08.
    let place = Place::new(&[
        "memory/A.MD",
        "memory/b.Md",
        "memory/c.markdown",
        "memory/d.md",
        "memory/e.txt",
    ]);
    assert_eq!(
        place.found(),
        [
            "memory/A.MD",
            "memory/b.Md",
            "memory/c.markdown",
            "memory/d.md"
        ]
    );
}

#[test]
fn another_spelling_of_a_top_file_counts_only_without_the_exact_one() {
    // PS-05.
    assert_eq!(Place::new(&["memory.md"]).found(), ["memory.md"]);
    let both = Place::new(&["MEMORY.md", "memory.md"]);
    assert_eq!(both.found(), ["MEMORY.md"]);
    both.refuses("memory.md");
}

#[test]
fn include_replaces_the_default_files() {
    let place = Place::new(&[
        "MEMORY.md",
        "notes/a.md",
        "notes/deep/b.md",
        "notes/c.txt",
        ".git/d.md",
    ]);
    let globs = |glob| {
        Place {
            dir: tempfile::tempdir().unwrap(),
            documents: Documents::default(),
        }
        .include(glob)
        .documents
    };
    let with = |glob| Options {
        documents: globs(glob),
        ..Options::new(place.path(""), place.path(".memory"))
    };
    let found = |glob| found(&Discovery::new(&with(glob)).unwrap());
    assert_eq!(
        found("**/*.md"),
        ["MEMORY.md", "notes/a.md", "notes/deep/b.md"]
    );
    assert_eq!(found("notes/*.md"), ["notes/a.md"]);
    assert_eq!(found("**/*.txt"), ["notes/c.txt"]);
    let err = Discovery::new(&with("a[")).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    assert!(err.message().contains("`a[` is not a glob"), "{err}");
}

#[test]
fn the_state_folder_is_never_walked() {
    let place = Place::new(&["a.md"]).include("**/*.md");
    place.write("index/b.md", "text");
    let options = |state_dir| Options {
        documents: place.documents.clone(),
        ..Options::new(place.path(""), state_dir)
    };
    let found = |state_dir| found(&Discovery::new(&options(state_dir)).unwrap()).len();
    assert_eq!(found(place.path("elsewhere")), 2);
    assert_eq!(found(place.path("index")), 1);
    let discovery = Discovery::new(&options(place.path("index"))).unwrap();
    assert_eq!(
        discovery.resolve("index/b.md").unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn an_ignore_file_holds_for_its_folder_and_below() {
    let place = Place::new(&[
        "memory/a.md",
        "memory/draft.md",
        "memory/x/draft.md",
        "memory/x/keep.md",
        "memory/private/b.md",
    ]);
    place.write(".memoryignore", "memory/private/\n");
    place.write("memory/.memoryignore", "draft.md\n# a comment\n");
    place.write("memory/x/.memoryignore", "!draft.md\n");
    assert_eq!(
        place.found(),
        ["memory/a.md", "memory/x/draft.md", "memory/x/keep.md"]
    );
    place.refuses("memory/draft.md");
    place.refuses("memory/private/b.md");
    assert!(place.resolve("memory/x/draft.md").is_ok());
}

#[test]
fn extra_paths_are_files_and_folders_inside_and_outside() {
    let place = Place::new(&[
        "memory/a.md",
        "docs/b.md",
        "docs/sub/c.md",
        "docs/d.txt",
        "one.txt",
    ]);
    fs::create_dir(place.dir.path().join("shared")).unwrap();
    fs::write(place.dir.path().join("shared/e.md"), "text").unwrap();
    let place = place.extra("docs").extra("one.txt").extra("../shared");
    assert_eq!(
        place.found(),
        [
            "../shared/e.md",
            "docs/b.md",
            "docs/sub/c.md",
            "memory/a.md",
            "one.txt"
        ]
    );
    // MC-12: every path that results name can be read.
    for path in place.found() {
        assert!(place.resolve(&path).is_ok(), "{path}");
    }
    place.refuses("../shared/../shared/e.md");
    place.refuses("docs/d.txt");
}

#[test]
fn a_missing_extra_path_is_named_and_stops_nothing() {
    let place = Place::new(&["memory/a.md"])
        .extra("../gone/notes")
        .extra("docs/./x/..");
    assert_eq!(place.found(), ["memory/a.md"]);
    let unreadable = place.remarks().unreadable;
    let paths: Vec<&str> = unreadable.iter().map(|place| place.path.as_str()).collect();
    assert_eq!(paths, ["../gone/notes", "docs"]);
    assert_eq!(unreadable[0].error.kind(), ErrorKind::NotFound);
    assert!(
        unreadable[0]
            .error
            .hint()
            .unwrap()
            .contains("documents.extra_paths")
    );
}

#[test]
fn the_ignore_files_of_the_workspace_hold_for_extra_paths_inside_of_it() {
    let place = Place::new(&["docs/a.md", "docs/private/k.md", "docs/x/draft.md"])
        .extra("docs")
        .extra("docs/x");
    place.write(".memoryignore", "docs/private/\ndraft.md\n");
    assert_eq!(place.found(), ["docs/a.md"]);
    place.refuses("docs/private/k.md");
    place.refuses("docs/x/draft.md");
}

#[test]
fn a_bad_line_of_an_ignore_file_is_named_and_the_others_count() {
    let place = Place::new(&["memory/a.md", "memory/draft.md"]);
    place.write("memory/.memoryignore", "[z-a]\ndraft.md\n");
    assert_eq!(place.found(), ["memory/a.md"]);
    let warnings = place.remarks().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains(".memoryignore") && warnings[0].contains("[z-a]"),
        "{warnings:?}"
    );
}

#[test]
fn an_ignore_file_that_cannot_be_read_hides_its_folder() {
    let place = Place::new(&["memory/a.md", "memory/x/secret.md"]);
    fs::create_dir(place.path("memory/x/.memoryignore")).unwrap();
    assert_eq!(place.found(), ["memory/a.md"]);
    let unreadable = place.remarks().unreadable;
    assert_eq!(unreadable.len(), 1);
    assert_eq!(unreadable[0].path, "memory/x");
    assert!(place.resolve("memory/x/secret.md").is_err());
}

#[test]
fn a_workspace_whose_ignore_file_cannot_be_read_hides_everything() {
    let place = Place::new(&["memory/a.md"]);
    fs::create_dir(place.path(".memoryignore")).unwrap();
    assert_eq!(place.found(), [""; 0]);
    let remarks = place.remarks();
    assert_eq!(remarks.unreadable[0].path, ".");
    assert!(remarks.hide("memory/a.md"));
}

#[test]
fn an_ignore_file_does_not_hold_beside_its_folder() {
    let place = Place::new(&[
        "memory/a/plan.md",
        "memory/b/plan.md",
        "memory/plan.md",
        "memory/z/plan.md",
    ]);
    place.write("memory/b/.memoryignore", "plan.md\n");
    place.write("memory/z/.memoryignore", "*\n");
    assert_eq!(place.found(), ["memory/a/plan.md", "memory/plan.md"]);
    place.write("memory/b/.memoryignore", "other.md\n");
    place.write("memory/a/.memoryignore", "plan.md\n");
    assert_eq!(place.found(), ["memory/b/plan.md", "memory/plan.md"]);
}

#[test]
fn an_ignore_file_in_utf16_is_read() {
    let place = Place::new(&["memory/a.md", "memory/secret.md"]);
    let utf16: Vec<u8> = "\u{feff}secret.md\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(place.path(".memoryignore"), utf16).unwrap();
    assert_eq!(place.found(), ["memory/a.md"]);
}

#[test]
fn a_glob_that_leads_out_or_is_empty_is_refused() {
    for glob in ["", "../*.md", "/etc/*.md", "a/../b/*.md"] {
        let err = Place::new(&[]).include(glob).discovery().unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{glob:?}");
    }
    assert_eq!(
        Place::new(&[]).extra("/").discovery().unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_unicode_is_skipped_and_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new(&["memory/a.md"]);
    fs::write(
        place
            .path("memory")
            .join(std::ffi::OsStr::from_bytes(b"x\xff.md")),
        "text",
    )
    .unwrap();
    assert_eq!(place.found(), ["memory/a.md"]);
    assert!(place.remarks().warnings[0].ends_with("skipped: the name is not Unicode"));
}

#[test]
fn two_ways_to_one_file_give_one_document() {
    let place = Place::new(&["memory/a.md", "docs/b.md"])
        .extra("..")
        .extra("docs/b.md")
        .extra("memory");
    assert_eq!(place.found(), ["../desk/docs/b.md", "memory/a.md"]);
}

#[cfg(unix)]
#[test]
fn a_name_with_control_characters_is_skipped_and_named() {
    let place = Place::new(&["memory/a.md", "memory/b\u{1b}[2J.md", "memory/c\n.md"]);
    assert_eq!(place.found(), ["memory/a.md"]);
    assert_eq!(place.remarks().warnings.len(), 2);
    assert!(
        place
            .remarks()
            .warnings
            .iter()
            .all(|warning| !warning.contains(['\u{1b}', '\n']))
    );
}

#[cfg(unix)]
#[test]
fn links_are_neither_followed_nor_read() {
    // PS-02.
    let place = Place::new(&["memory/a.md"]);
    let secret = place.dir.path().join("secret");
    fs::create_dir(&secret).unwrap();
    fs::write(secret.join("plan.md"), "secret").unwrap();
    link(&secret, &place.path("memory/link"));
    link(&secret.join("plan.md"), &place.path("memory/f.md"));
    link(&secret.join("plan.md"), &place.path("USER.md"));
    assert_eq!(place.found(), ["memory/a.md"]);
    assert_eq!(
        place.remarks().links,
        ["USER.md", "memory/f.md", "memory/link"]
    );
    let absolute = secret.join("plan.md");
    for path in [
        "memory/link/plan.md",
        "memory/f.md",
        "USER.md",
        "../secret/plan.md",
        absolute.to_str().unwrap(),
        "memory/link/../link/plan.md",
        "memory/../../secret/plan.md",
        "memory/a.md\0",
        "",
        "memory",
        "memory/",
        "/",
        "..",
    ] {
        place.refuses(path);
    }
}

#[cfg(unix)]
#[test]
fn links_that_several_ways_lead_to_are_named_once_and_in_order() {
    let place = Place::new(&["memory/a.md", "docs/b.md"])
        .extra("memory")
        .extra("docs");
    link(Path::new("a.md"), &place.path("memory/link.md"));
    link(Path::new("b.md"), &place.path("docs/link.md"));
    // Editors leave links that lead nowhere.
    link(Path::new("me@host.4711"), &place.path("memory/.#a.md"));
    assert_eq!(place.remarks().links, ["docs/link.md", "memory/link.md"]);
}

#[cfg(unix)]
#[test]
fn a_link_inside_an_extra_folder_is_refused_but_the_folder_itself_may_be_one() {
    // PS-04 and the reference's rule for extra folders.
    let place = Place::new(&["memory/a.md"]);
    let real = place.dir.path().join("real");
    fs::create_dir_all(real.join("inner")).unwrap();
    fs::write(real.join("inner/b.md"), "text").unwrap();
    link(&real, &place.dir.path().join("vault"));
    link(&real.join("inner"), &real.join("shortcut"));
    let place = place.extra("../vault");
    assert_eq!(place.found(), ["../real/inner/b.md", "memory/a.md"]);
    assert_eq!(place.remarks().links, ["../real/shortcut"]);
    place.refuses("../real/shortcut/b.md");
}

#[test]
fn a_folder_beside_the_workspace_with_a_longer_name_is_outside() {
    // PS-03.
    let place = Place::new(&["memory/a.md"]);
    fs::create_dir(place.dir.path().join("desktop")).unwrap();
    fs::write(place.dir.path().join("desktop/key.md"), "key").unwrap();
    place.refuses("../desktop/key.md");
    place.refuses(place.dir.path().join("desktop/key.md").to_str().unwrap());
    let place = Place::new(&["notes/a.md", "notes-old/b.md"]).extra("notes");
    assert_eq!(place.found(), ["notes/a.md"]);
    place.refuses("notes-old/b.md");
}

#[test]
fn an_absent_memory_file_is_told_apart_from_a_refused_one() {
    // PS-07.
    let place = Place::new(&["memory/a.md"]);
    assert_eq!(
        place.resolve("memory/2099-01-01.md").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    assert_eq!(
        place
            .resolve("memory/no/such/folder.md")
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
    place.refuses("notes/2099-01-01.md");
    assert_eq!(
        place.resolve("memory/a.md/b.md").unwrap_err().kind(),
        ErrorKind::NotFound
    );
    place.refuses("memory/a.txt");
    assert!(place.resolve("./memory/a.md").is_ok());
}

#[test]
fn the_root_of_a_file_system_and_an_empty_path_are_no_workspace() {
    // PS-10.
    let options = |workspace: &str| Options::new(workspace, "/nowhere");
    for workspace in ["/", "/.", "/tmp/..", ""] {
        let err = Discovery::new(&options(workspace)).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{workspace:?}");
    }
    assert_eq!(
        Discovery::new(&options("/no/such/folder"))
            .unwrap_err()
            .kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn documents_below_a_folder_that_cannot_be_listed_are_known_by_their_components() {
    // PS-06.
    let without = |path: &str| {
        let error = Error::new(ErrorKind::Unavailable, "closed");
        let path = path.to_owned();
        Remarks {
            unreadable: vec![Unreadable { path, error }],
            ..Remarks::default()
        }
    };
    let remarks = without("memory/closed");
    assert!(remarks.hide("memory/closed/a.md") && remarks.hide("memory/closed/b/c.md"));
    assert!(!remarks.hide("memory/closed-not/a.md") && !remarks.hide("memory/a.md"));
    assert!(without(".").hide("memory/a.md"));
}

#[test]
fn paths_come_in_the_order_of_their_bytes_whatever_root_they_are_of() {
    let files = [
        "notes/a-b.md",
        "notes/a.md",
        "notes/a/b.md",
        "notes/a/b/c.md",
        "notes/a/b-c.md",
        "notes/a0.md",
        "notes/A.md",
        "notes/é.md",
        "notes-old/x.md",
        "notes.md",
        "docs/a.md",
        "zoo/b.md",
        "../beside/b.md",
        "../beside/a/c.md",
        "../beside-not/a.md",
    ];
    let place = Place::new(&files)
        .include("notes/**/*.md")
        .include("notes.md")
        .extra("zoo")
        .extra("notes-old")
        // A second way to what the globs find, and to a single file.
        .extra("notes")
        .extra("docs/a.md")
        .extra("../beside")
        .extra("../beside-not");
    let mut expected = files.to_vec();
    expected.sort_unstable();
    assert_eq!(place.found(), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn what_could_not_be_looked_at_is_known_before_the_paths_behind_it() {
    // The comparison with the store relies on it.
    let place = Place::new(&["memory/a.md", "memory/closed/b.md", "memory/d.md"]);
    // An ignore file that is a folder cannot be read, so its folder is closed to everybody.
    fs::create_dir(place.path("memory/closed/.memoryignore")).unwrap();
    let discovery = place.discovery().unwrap();
    let mut walk = discovery.walk();
    assert_eq!(walk.next().unwrap().path, "memory/a.md");
    assert_eq!(walk.next().unwrap().path, "memory/d.md");
    assert!(walk.remarks().hide("memory/closed/b.md"));
    assert!(walk.next().is_none());
}

#[test]
fn names_with_odd_characters_round_trip() {
    // MC-12.
    let place = Place::new(&[
        "memory/a b#1%.md",
        "memory/水泵 计划.md",
        "memory/-x.md",
        "memory/[a].md",
    ]);
    let found = place.found();
    assert_eq!(found.len(), 4);
    for path in found {
        assert!(place.resolve(&path).is_ok(), "{path}");
    }
}
