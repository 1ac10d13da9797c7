//! A real folder, the system's own events, and an index that has to follow.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{App, Growth, Memory, Query};
use serde_json::json;
use tempfile::TempDir;

use crate::eyes::Seen;
use crate::{Keeper, Settings, Told};

/// Far longer than anything here takes.
const LIMIT: Duration = Duration::from_mins(1);

/// A folder of notes whose index is kept.
struct Kept {
    dir: TempDir,
    memory: Arc<Memory>,
    told: Receiver<Told>,
    keeper: Keeper,
}

impl Kept {
    fn of(files: &[(&str, &str)], extra: &[&str]) -> Self {
        let kept = Self::new(files, extra, Path::to_path_buf, true);
        kept.until_fresh();
        kept
    }

    /// Opens the folder by the path that `reached` makes of it; with `by_itself` files are watched and synced at the start.
    fn new(
        files: &[(&str, &str)],
        extra: &[&str],
        reached: impl FnOnce(&Path) -> PathBuf,
        by_itself: bool,
    ) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        fs::create_dir(&root).unwrap();
        for (path, text) in files {
            write(&root.join(path), text);
        }
        let flag = |key: &str, value: serde_json::Value| Flag::new("test", key, value);
        let app = App::with_default_plugins().unwrap();
        let sources = Sources {
            flags: vec![
                flag("embedder.use", json!("none")),
                flag("documents.extra_paths", json!(extra)),
            ],
            ..Sources::default()
        };
        let loaded = config::load(&sources, app.registry()).unwrap();
        let memory = Arc::new(block_on(app.open(&loaded.config, &reached(&root))).unwrap());
        let settings = Settings {
            at_start: by_itself,
            on_search: true,
            watch: by_itself,
            debounce: Duration::from_millis(20),
            growth: Growth::default(),
            interval: None,
        };
        let (sender, told) = mpsc::channel();
        let keeper = Keeper::start(Arc::clone(&memory), settings, move |told| {
            drop(sender.send(told));
        })
        .unwrap();
        Self {
            dir,
            memory,
            told,
            keeper,
        }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join("root").join(path)
    }

    /// Waits until a sync ends after which the index says what the files say.
    fn until_fresh(&self) {
        loop {
            match self.told.recv_timeout(LIMIT).expect("no sync came") {
                Told::Synced(_) if self.is_fresh() => return,
                Told::Failed(err) => panic!("{err}"),
                Told::Blind(reason) => panic!("{reason}"),
                _ => {}
            }
        }
    }

    /// Asserts that syncs come to an end. What was seen of the last change may come late.
    fn is_quiet(&self) {
        let quiet = Duration::from_millis(500);
        let n_more = std::iter::from_fn(|| self.told.recv_timeout(quiet).ok())
            .filter(|told| matches!(told, Told::Synced(_)))
            .take(10)
            .count();
        assert!(n_more <= 1, "{n_more} more syncs");
    }

    fn is_fresh(&self) -> bool {
        let status = block_on(self.memory.status()).unwrap();
        let drift = status.drift;
        (drift.new, drift.changed, drift.removed) == (0, 0, 0)
    }

    fn found(&self, word: &str) -> Vec<String> {
        let answer = block_on(self.memory.search(&Query::new(word))).unwrap();
        answer.results.into_iter().map(|hit| hit.path).collect()
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// SW-06.
#[test]
fn folders_below_folders_are_watched() {
    let kept = Kept::of(&[("memory/deep/er/x.md", "basalt")], &[]);
    write(&kept.path("memory/deep/er/x.md"), "basalt marigold");
    kept.until_fresh();
    assert_eq!(kept.found("marigold"), ["memory/deep/er/x.md"]);
}

/// SW-07.
#[test]
fn a_new_folder_is_watched_with_all_that_came_in_it() {
    let kept = Kept::of(&[("memory/a.md", "basalt")], &[]);
    write(&kept.path("memory/n1/n2/f.md"), "saffron");
    kept.until_fresh();
    assert_eq!(kept.found("saffron"), ["memory/n1/n2/f.md"]);
    write(&kept.path("elsewhere/made/g.md"), "thyme");
    fs::rename(kept.path("elsewhere/made"), kept.path("memory/n1/made")).unwrap();
    kept.until_fresh();
    assert_eq!(kept.found("thyme"), ["memory/n1/made/g.md"]);
    write(&kept.path("memory/n1/made/g.md"), "thyme rosemary");
    kept.until_fresh();
    assert_eq!(kept.found("rosemary"), ["memory/n1/made/g.md"]);
}

/// SW-08, SW-09.
#[test]
fn a_file_that_is_replaced_by_a_rename_is_seen_each_time() {
    let kept = Kept::of(
        &[("MEMORY.md", "basalt"), ("other/one.md", "gypsum")],
        &["other/one.md"],
    );
    for (path, words) in [
        ("MEMORY.md", ["violet", "indigo"]),
        ("other/one.md", ["ochre", "umber"]),
    ] {
        for word in words {
            let beside = kept.path(&format!("{path}.tmp"));
            fs::write(&beside, word).unwrap();
            fs::rename(&beside, kept.path(path)).unwrap();
            kept.until_fresh();
            assert_eq!(kept.found(word), [path]);
        }
        assert_eq!(kept.found(words[0]), Vec::<String>::new());
    }
    // With a backup, as some editors save.
    fs::rename(kept.path("MEMORY.md"), kept.path("MEMORY.md~")).unwrap();
    fs::write(kept.path("MEMORY.md"), "sepia").unwrap();
    fs::remove_file(kept.path("MEMORY.md~")).unwrap();
    kept.until_fresh();
    assert_eq!(kept.found("sepia"), ["MEMORY.md"]);
    assert_eq!(kept.found("indigo"), Vec::<String>::new());
}

#[test]
fn a_folder_of_notes_that_comes_later_is_seen_and_so_is_its_successor() {
    let kept = Kept::of(&[("MEMORY.md", "basalt")], &[]);
    write(&kept.path("memory/a.md"), "first gypsum");
    kept.until_fresh();
    assert_eq!(kept.found("gypsum"), ["memory/a.md"]);
    fs::remove_dir_all(kept.path("memory")).unwrap();
    kept.until_fresh();
    assert_eq!(kept.found("gypsum"), Vec::<String>::new());
    write(&kept.path("memory/b.md"), "second granite");
    kept.until_fresh();
    assert_eq!(kept.found("granite"), ["memory/b.md"]);
    write(&kept.path("memory/b.md"), "third marble");
    kept.until_fresh();
    assert_eq!(kept.found("marble"), ["memory/b.md"]);
}

#[test]
fn what_a_sync_writes_makes_no_further_sync() {
    let kept = Kept::of(&[("memory/a.md", "basalt")], &["."]);
    write(&kept.path("memory/b.md"), "gypsum");
    kept.until_fresh();
    kept.is_quiet();
}

/// What the system tells has the links on the way resolved.
#[cfg(unix)]
#[test]
fn nor_does_it_where_the_workspace_is_reached_by_a_link() {
    let kept = Kept::new(
        &[("memory/a.md", "basalt")],
        &["."],
        |root| {
            let link = root.with_file_name("link");
            std::os::unix::fs::symlink(root, &link).unwrap();
            link
        },
        true,
    );
    kept.until_fresh();
    write(&kept.path("memory/b.md"), "gypsum");
    kept.until_fresh();
    kept.is_quiet();
}

/// SW-11: a watch that dies is told and set again.
#[test]
fn what_was_missed_in_a_time_of_trouble_is_found() {
    let kept = Kept::of(&[("memory/a.md", "basalt")], &[]);
    kept.keeper
        .see(Seen::Trouble("the queue is gone".to_owned()));
    let mut told = std::iter::from_fn(|| kept.told.recv_timeout(LIMIT).ok());
    assert!(told.any(|told| matches!(told, Told::Blind(reason) if reason == "the queue is gone")));
    assert!(told.any(|told| matches!(told, Told::Watching(2))));
    assert!(told.any(|told| matches!(told, Told::Synced(_))));
    write(&kept.path("memory/b.md"), "gypsum");
    kept.until_fresh();
    assert_eq!(kept.found("gypsum"), ["memory/b.md"]);
}

/// A generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

/// SW-05.
#[test]
fn after_five_hundred_changes_the_index_is_what_the_files_are() {
    let kept = Kept::of(&[("memory/0.md", "word0")], &[]);
    let mut numbers = Numbers(7);
    // Path below `memory/` and the one word that only this file has.
    let mut files = BTreeMap::from([("0.md".to_owned(), "word0".to_owned())]);
    let mut gone = Vec::new();
    for burst in 0..20 {
        for step in 0..25 {
            let n = burst * 25 + step + 1;
            let nth = numbers.below(files.len().max(1));
            let chosen = files.keys().nth(nth).cloned();
            let word = format!("word{n}");
            match (numbers.below(8), chosen) {
                (0..=2, _) | (_, None) => {
                    let folder = ["", "a/", "a/b/", "c/d/e/", "中文/"][numbers.below(5)];
                    let name = format!("{folder}{n}.md");
                    write(&kept.path(&format!("memory/{name}")), &word);
                    files.insert(name, word);
                }
                (3, Some(name)) => {
                    write(&kept.path(&format!("memory/{name}")), &word);
                    gone.extend(files.insert(name, word));
                }
                (4, Some(name)) => {
                    let beside = kept.path(&format!("memory/{name}.tmp"));
                    fs::write(&beside, &word).unwrap();
                    fs::rename(&beside, kept.path(&format!("memory/{name}"))).unwrap();
                    gone.extend(files.insert(name, word));
                }
                (5, Some(name)) => {
                    let to = format!("moved/{n}.md");
                    fs::create_dir_all(kept.path("memory/moved")).unwrap();
                    fs::rename(
                        kept.path(&format!("memory/{name}")),
                        kept.path(&format!("memory/{to}")),
                    )
                    .unwrap();
                    let word = files.remove(&name).unwrap();
                    files.insert(to, word);
                }
                (6, Some(name)) => {
                    fs::remove_file(kept.path(&format!("memory/{name}"))).unwrap();
                    gone.extend(files.remove(&name));
                }
                (_, Some(_)) => {
                    // A whole folder goes to another place.
                    let from = kept.path("memory/a");
                    if from.exists() {
                        let to = format!("folder{n}");
                        fs::rename(from, kept.path(&format!("memory/{to}"))).unwrap();
                        let inside: Vec<String> = files
                            .keys()
                            .filter(|name| name.starts_with("a/"))
                            .cloned()
                            .collect();
                        for name in inside {
                            let word = files.remove(&name).unwrap();
                            files.insert(name.replacen('a', &to, 1), word);
                        }
                    }
                }
            }
        }
        kept.until_fresh();
        for (name, word) in files.iter().step_by(7) {
            assert_eq!(
                kept.found(word),
                [format!("memory/{name}")],
                "burst {burst}"
            );
        }
        for word in gone.iter().rev().take(5) {
            assert_eq!(kept.found(word), Vec::<String>::new(), "burst {burst}");
        }
    }
    for (name, word) in &files {
        assert_eq!(kept.found(word), [format!("memory/{name}")]);
    }
}

#[test]
fn a_search_that_asks_has_the_next_one_find_more() {
    let kept = Kept::new(&[("memory/a.md", "basalt")], &[], Path::to_path_buf, false);
    block_on(kept.keeper.synced());
    assert_eq!(kept.found("basalt"), ["memory/a.md"]);
    write(&kept.path("memory/b.md"), "gypsum");
    // Nobody watches; the question itself has the note indexed, for the next one.
    kept.keeper.ask();
    kept.until_fresh();
    assert_eq!(kept.found("gypsum"), ["memory/b.md"]);
}
