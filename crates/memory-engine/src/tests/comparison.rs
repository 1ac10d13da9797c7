use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use futures::executor::block_on;
use memory_api::{ContentHash, StoreId, Timestamp};

use crate::comparison::{Compared, Comparison};
use crate::discovery::Discovery;
use crate::document::Stamp;
use crate::options::{Documents, Options};
use crate::store::{Change, NewDocument, Store};

/// Documents are asked of the store by this many.
const PAGE: usize = 1000;

fn document(path: &str) -> NewDocument {
    NewDocument {
        source: "memory".to_owned(),
        path: path.to_owned(),
        hash: ContentHash([0; 32]),
        cut_by: ContentHash([0; 32]),
        stamp: Stamp {
            size: 1,
            mtime_ns: 2,
            inode: 3,
        },
        created: None,
        time: Timestamp(0),
        position: None,
        kept_lines: 0,
        warnings: Vec::new(),
        entries: Vec::new(),
    }
}

async fn store_of(dir: &Path, paths: &BTreeSet<String>) -> Store {
    fs::create_dir(dir).unwrap();
    let store = Store::create(dir, StoreId(7)).await.unwrap();
    // In no order that a comparison could go by.
    let changes = paths.iter().rev().map(|path| Change::Put(document(path)));
    store
        .apply("default".to_owned(), changes.collect())
        .await
        .unwrap();
    let other = vec![Change::Put(document("memory/of-another.md"))];
    store.apply("other".to_owned(), other).await.unwrap();
    store
}

/// What a comparison says of each path: `+` a new file, `=` one that is known, `-` a document that is gone.
async fn compared(workspace: &Path, extra: &[&str], known: Option<&Store>) -> Vec<(char, String)> {
    let options = Options {
        documents: Documents {
            extra_paths: extra.iter().map(Into::into).collect(),
            ..Documents::default()
        },
        ..Options::new(workspace, workspace.join(".memory"))
    };
    let discovery = Discovery::new(&options).unwrap();
    let mut comparison = Comparison::new(discovery.walk(), known, "default");
    let mut seen = Vec::new();
    while let Some(compared) = comparison.next().await.unwrap() {
        seen.push(match compared {
            Compared::File(found, None) => ('+', found.path),
            Compared::File(found, Some(known)) => {
                assert_eq!(known.stamp.mtime_ns, 2);
                ('=', found.path)
            }
            Compared::Gone(_, known) => ('-', known.doc.to_string()),
        });
    }
    seen
}

/// Compares files with documents, and holds the outcome against sets.
fn check(files: &BTreeSet<String>, known: &BTreeSet<String>) {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("desk");
        fs::create_dir_all(workspace.join("memory")).unwrap();
        for file in files {
            fs::create_dir_all(workspace.join(file).parent().unwrap()).unwrap();
            fs::write(workspace.join(file), "").unwrap();
        }
        let store = store_of(&dir.path().join("store"), known).await;
        let seen = compared(&workspace, &[], Some(&store)).await;
        let paths = |sign: char| -> Vec<&String> {
            let of_sign = seen.iter().filter(|(seen, _)| *seen == sign);
            of_sign.map(|(_, path)| path).collect()
        };
        assert_eq!(paths('+'), files.difference(known).collect::<Vec<_>>());
        assert_eq!(paths('='), files.intersection(known).collect::<Vec<_>>());
        let gone: BTreeSet<_> = paths('-').into_iter().collect();
        assert_eq!(gone.len(), paths('-').len());
        assert_eq!(gone.len(), known.difference(files).count());
        let files_in_order: Vec<_> = seen
            .iter()
            .filter(|(sign, _)| *sign != '-')
            .map(|(_, path)| path)
            .collect();
        assert!(files_in_order.is_sorted());
    });
}

fn numbered(numbers: impl IntoIterator<Item = usize>) -> BTreeSet<String> {
    let path = |n| format!("memory/{n:05}.md");
    numbers.into_iter().map(path).collect()
}

#[test]
fn pages_of_documents_are_compared_without_a_seam() {
    for n_known in [0, 1, PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 2 * PAGE + 1] {
        let known = numbered((0..n_known).map(|n| 2 * n));
        // Nothing is left; some are left around each seam, with new ones between them.
        check(&BTreeSet::new(), &known);
        let seams = [0, PAGE, 2 * PAGE];
        let files = seams
            .into_iter()
            .flat_map(|seam| (2 * seam).saturating_sub(5)..2 * seam + 5);
        check(&numbered(files), &known);
    }
}

#[test]
fn every_document_of_several_pages_is_met_again() {
    let known = numbered(0..2 * PAGE + 500);
    check(&known, &known);
}

#[test]
fn files_and_documents_meet_in_the_order_of_bytes() {
    let set = |paths: &[&str]| -> BTreeSet<String> {
        paths.iter().map(|path| format!("memory/{path}")).collect()
    };
    let all = [
        "a-b.md", "a.md", "a/b.md", "a0.md", "a/b/c.md", "é.md", "Z.md",
    ];
    check(&set(&all), &set(&all));
    check(&set(&all[..4]), &set(&all[3..]));
    check(&set(&all[3..]), &set(&all[..4]));
}

#[test]
fn without_a_store_every_file_is_new() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("memory")).unwrap();
    fs::write(dir.path().join("memory/a.md"), "").unwrap();
    let seen = block_on(compared(dir.path(), &[], None));
    assert_eq!(seen, [('+', "memory/a.md".to_owned())]);
}

#[test]
fn a_document_where_nobody_could_look_is_passed_over() {
    block_on(async {
        let dir = tempfile::tempdir().unwrap();
        let workspace = dir.path().join("desk");
        fs::create_dir_all(workspace.join("memory")).unwrap();
        fs::write(workspace.join("memory/a.md"), "").unwrap();
        let known = ["../away/x.md", "memory/a.md", "memory/gone.md", "zoo/y.md"];
        let known = known.into_iter().map(str::to_owned).collect();
        let store = store_of(&dir.path().join("store"), &known).await;
        let seen = compared(&workspace, &["../away", "zoo"], Some(&store)).await;
        let signs: String = seen.iter().map(|(sign, _)| *sign).collect();
        assert_eq!(signs, "=-", "{seen:?}");
    });
}
