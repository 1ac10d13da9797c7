//! The layer, the disk and the choice of its states.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;

use memory_sqlite::rusqlite::Connection;

use crate::replay::choice::{self, Variant};
use crate::replay::disk::{self, Disk, Kept, Part, Tree};
use crate::replay::history::Op;
use crate::replay::layer;
use crate::script::Random;

fn open(handle: u32, path: &str) -> Op {
    Op::Open {
        handle,
        path: path.to_owned(),
        created: true,
        truncated: false,
    }
}

fn write(handle: u32, at: u64, bytes: &[u8]) -> Op {
    let bytes = bytes.to_vec();
    Op::Write { handle, at, bytes }
}

fn folder(handle: u32, path: &str) -> Op {
    Op::Open {
        handle,
        path: path.to_owned(),
        created: false,
        truncated: false,
    }
}

fn rename(from: &str, to: &str) -> Op {
    let (from, to) = (from.to_owned(), to.to_owned());
    Op::Rename { from, to }
}

fn sync(handle: u32) -> Op {
    Op::Sync { handle }
}

fn after(ops: &[Op]) -> Disk {
    let mut disk = Disk::new();
    for op in ops {
        disk.apply(op).unwrap();
    }
    disk
}

fn tree(disk: &Disk, variant: Variant) -> Tree {
    disk.tree(&|id, part| variant.keep(id, part))
}

fn files(expected: &[(&str, &[u8])]) -> Tree {
    let file = |(path, bytes): &(&str, &[u8])| ((*path).to_owned(), Some(bytes.to_vec()));
    expected.iter().map(file).collect()
}

#[test]
fn records_are_read_as_they_were_written() {
    let ops = [
        Op::Begin,
        Op::Mark("round 0".to_owned()),
        open(1, "a"),
        write(1, 7, b"bytes"),
        Op::SetLen { handle: 1, len: 3 },
        sync(1),
        rename("a", "ä"),
        Op::Link {
            from: "ä".to_owned(),
            to: "c".to_owned(),
        },
        Op::Unlink("c".to_owned()),
        Op::MakeFolder("d".to_owned()),
        Op::RemoveFolder("d".to_owned()),
        Op::Map { handle: 1 },
    ];
    let mut bytes = Vec::new();
    for op in &ops {
        op.encode(&mut bytes);
    }
    assert_eq!(Op::decode_all(&bytes).unwrap(), ops);
    bytes.pop();
    assert!(Op::decode_all(&bytes).is_err());
}

#[test]
fn what_is_written_is_there_for_sure_once_its_file_and_the_name_are_synced() {
    let mut ops = vec![open(1, "a"), write(1, 0, b"old")];
    assert_eq!(tree(&after(&ops), Variant::Nothing), Tree::new());
    assert_eq!(
        tree(&after(&ops), Variant::Everything),
        files(&[("a", b"old")])
    );
    // A file is nothing without its name.
    ops.push(sync(1));
    assert_eq!(tree(&after(&ops), Variant::Nothing), Tree::new());
    assert_eq!(tree(&after(&ops), Variant::Names), files(&[("a", b"old")]));
    ops.extend([folder(2, ""), sync(2)]);
    assert_eq!(
        tree(&after(&ops), Variant::Nothing),
        files(&[("a", b"old")])
    );
    ops.push(write(1, 1, b"NEW"));
    assert_eq!(
        tree(&after(&ops), Variant::Nothing),
        files(&[("a", b"old")])
    );
    assert_eq!(
        tree(&after(&ops), Variant::Contents),
        files(&[("a", b"oNEW")])
    );
}

#[test]
fn a_rename_may_be_there_before_what_was_written() {
    let mut ops = vec![
        open(1, "m"),
        write(1, 0, b"1"),
        sync(1),
        folder(2, ""),
        sync(2),
        open(3, "m.new"),
        write(3, 0, b"2"),
        rename("m.new", "m"),
    ];
    let disk = after(&ops);
    assert_eq!(tree(&disk, Variant::Nothing), files(&[("m", b"1")]));
    assert_eq!(tree(&disk, Variant::Names), files(&[("m", b"")]));
    // The file that is synced before its name is whole under both.
    ops.insert(7, sync(3));
    let disk = after(&ops);
    let all: BTreeSet<Tree> = (0..200)
        .map(|seed| tree(&disk, Variant::Prefixes(seed)))
        .collect();
    let half_way = files(&[("m", b"1"), ("m.new", b"2")]);
    let expected = [files(&[("m", b"1")]), half_way, files(&[("m", b"2")])];
    assert_eq!(all, BTreeSet::from(expected));
}

#[test]
fn writes_are_there_in_order_and_the_last_one_to_a_sector() {
    let disk = after(&[
        open(1, "a"),
        folder(2, ""),
        sync(2),
        write(1, 0, &[1; 1_000]),
        write(1, 1_000, &[2; 1_000]),
    ]);
    let lengths: BTreeSet<usize> = (0..400)
        .map(|seed| match tree(&disk, Variant::Prefixes(seed)).get("a") {
            Some(Some(bytes)) => bytes.len(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        lengths,
        BTreeSet::from([0, 512, 1_000, 1_024, 1_536, 2_000])
    );
    // Or the second without the first.
    let gap = disk.tree(&|_, _| Kept::Marked(vec![false, true]));
    let bytes = [[0; 1_000], [2; 1_000]].concat();
    assert_eq!(gap, files(&[("a", &bytes)]));
}

#[test]
fn a_folder_comes_with_its_name_alone() {
    let disk = after(&[
        Op::MakeFolder("gen".to_owned()),
        open(1, "gen/a"),
        write(1, 0, b"x"),
        sync(1),
        folder(2, "gen"),
        sync(2),
    ]);
    assert_eq!(tree(&disk, Variant::Nothing), Tree::new());
    let mut expected = files(&[("gen/a", b"x")]);
    expected.insert("gen".to_owned(), None);
    assert_eq!(tree(&disk, Variant::Names), expected);
}

#[test]
fn every_state_is_chosen_once_and_a_sample_is_of_all_steps() {
    let mut ops = vec![folder(9, "")];
    for n in 0..4 {
        ops.push(Op::Mark(format!("step {n}")));
        ops.extend([open(n, &format!("{n}")), write(n, 0, b"x"), sync(n)]);
    }
    let all = choice::all(&ops, 1).unwrap();
    let mut seen = BTreeSet::new();
    for choice in all.values().flatten() {
        let disk = after(&ops[..choice.n_ops]);
        let sync = disk.signature(&|id, part| choice.variant.keep(id, part));
        assert!(seen.insert(sync), "{choice:?}");
    }
    assert_eq!(all.len(), 4);
    let sample = choice::sample(all.clone(), 8, 1);
    for n in 0..4 {
        let step = format!("step {n}");
        assert_eq!(
            sample.iter().filter(|choice| choice.step == step).count(),
            2
        );
    }
    assert_eq!(sample, choice::sample(all, 8, 1));
    // Of the time of the last process.
    ops.push(Op::Begin);
    let names = choice::all(&ops, 1).unwrap();
    assert!(
        names.is_empty()
            || names
                .values()
                .flatten()
                .all(|choice| choice.n_ops == ops.len())
    );
}

#[test]
fn a_death_before_a_sync_is_as_likely_for_each_file() {
    let mut ops = vec![
        Op::Mark("round 1".to_owned()),
        open(1, "gen/12-store/wal"),
        sync(1),
        Op::Mark("round 2".to_owned()),
    ];
    ops.extend(vec![sync(1); 50]);
    ops.extend([open(2, "manifest"), sync(2)]);
    let syncs = choice::syncs(&ops).unwrap();
    assert_eq!(syncs.iter().map(Vec::len).collect::<Vec<_>>(), [1, 51]);
    assert_eq!((syncs[1][0].n_ops, syncs[1][0].round), (2, 1));
    assert_eq!((syncs[1][1].n_ops, syncs[1][1].round), (4, 2));
    let mut random = Random::new(1);
    let n_manifest = (0..100)
        .filter(|_| choice::sync(&syncs, &mut random).unwrap().file == "manifest")
        .count();
    assert!((30..70).contains(&n_manifest), "{n_manifest}");
    assert_eq!(choice::sync(&[], &mut random), None);
}

/// The one test that records: there is one recorder in a process.
#[test]
fn the_layer_sees_what_rust_and_sqlite_do() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("root");
    let log = dir.path().join("log");
    layer::record(&root, &log, None).unwrap();
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    fs::write(dir.path().join("elsewhere"), "not recorded").unwrap();
    fs::write(root.join("a"), "first").unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .open(root.join("a"))
        .unwrap();
    file.write_all(b" second").unwrap();
    let mut file = File::options().write(true).open(root.join("a")).unwrap();
    file.seek(SeekFrom::Start(3)).unwrap();
    file.write_all(b"ST").unwrap();
    file.write_all_at(b"FI", 0).unwrap();
    file.set_len(9).unwrap();
    file.sync_all().unwrap();
    fs::write(root.join("b"), "gone").unwrap();
    fs::hard_link(root.join("a"), root.join("c")).unwrap();
    fs::rename(root.join("b"), root.join("d")).unwrap();
    fs::remove_file(root.join("d")).unwrap();
    fs::write(root.join("sub/deep/e"), "gone").unwrap();
    fs::remove_dir_all(root.join("sub")).unwrap();
    File::open(&root).unwrap().sync_all().unwrap();
    let conn = Connection::open(root.join("db")).unwrap();
    conn.execute_batch(
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(20000));",
    )
    .unwrap();
    let there = disk::read(&root).unwrap();
    drop(conn);
    let closed = disk::read(&root).unwrap();
    layer::stop();

    let ops = Op::decode_all(&fs::read(&log).unwrap()).unwrap();
    assert_eq!(tree(&after(&ops), Variant::Everything), closed);
    assert_eq!(closed["a"], Some(b"FIrST sec".to_vec()));
    assert_eq!(closed["c"], closed["a"]);
    assert!(there.contains_key("db-wal") && !closed.contains_key("db-wal"));
    let moments: Vec<Tree> = (0..=ops.len())
        .map(|n| tree(&after(&ops[..n]), Variant::Everything))
        .collect();
    assert!(moments.contains(&there));
    let synced = ops
        .iter()
        .filter(|op| matches!(op, Op::Sync { .. }))
        .count();
    assert!(synced >= 4, "{synced}");
}

#[test]
fn what_is_mapped_for_writing_is_refused_but_for_the_memory_sqlite_shares() {
    let map = |path| {
        let mut disk = after(&[open(1, path)]);
        disk.apply(&Op::Map { handle: 1 })
    };
    map("a-shm").unwrap();
    let err = map("a").unwrap_err().to_string();
    assert!(err.contains("mapped"), "{err}");
    let disk = after(&[open(1, "a-shm"), write(1, 0, b"x")]);
    assert_eq!(tree(&disk, Variant::Everything), Tree::new());
    assert!(
        disk.unsynced()
            .iter()
            .all(|(_, part)| matches!(part, Part::Folder(_)))
    );
}
