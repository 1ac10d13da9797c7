//! A tiny file of the form `E5S1`, and small things the tests share.

use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_api::{PullProgress, PullRequest, Result};

use crate::catalogue::Source;
use crate::pull::pull_from;
use crate::stage::Hashed;
use crate::variant::{ModelFile, Pooling, Variant};

/// Widths 32 and 64, one layer, six rows of which five have a piece.
pub(super) fn e5s1() -> Vec<u8> {
    let mut file = Vec::new();
    let i32s = |file: &mut Vec<u8>, values: &[i32]| {
        for value in values {
            file.extend(value.to_le_bytes());
        }
    };
    file.extend(b"E5S1");
    i32s(&mut file, &[1, 32, 1, 2, 64, 6, 4, 2]);
    file.extend(1e-12_f32.to_le_bytes());
    i32s(&mut file, &[32, 5, 0, 2, 1, 3]);
    let pieces = ["<s>", "<pad>", "</s>", "<unk>", "▁a"];
    let blob = pieces.concat();
    file.extend((blob.len() as u64).to_le_bytes());
    let mut at = 0;
    i32s(&mut file, &[at]);
    for piece in pieces {
        at += i32::try_from(piece.len()).unwrap();
        i32s(&mut file, &[at]);
    }
    for score in [0.0_f32, 0.0, 0.0, 0.0, -1.5] {
        file.extend(score.to_le_bytes());
    }
    file.extend(blob.as_bytes());
    // `\t` becomes a space, U+FB01 becomes "fi", U+FEFF vanishes.
    let map: &[(u32, &[u32])] = &[(9, &[32]), (0xFB01, &[0x66, 0x69]), (0xFEFF, &[])];
    let map_len: usize = map.iter().map(|(_, to)| 5 + 4 * to.len()).sum();
    i32s(&mut file, &[3, i32::try_from(map_len).unwrap()]);
    for (from, to) in map {
        file.extend(from.to_le_bytes());
        file.push(u8::try_from(to.len()).unwrap());
        for code in *to {
            file.extend(code.to_le_bytes());
        }
    }
    tensors(&mut file);
    file
}

fn tensors(file: &mut Vec<u8>) {
    let mut list: Vec<(String, u8, u32)> = vec![
        ("emb.word".into(), 1, 6 * 32),
        ("emb.pos".into(), 0, 4 * 32),
        ("emb.type".into(), 0, 2 * 32),
        ("emb.ln.w".into(), 0, 32),
        ("emb.ln.b".into(), 0, 32),
    ];
    for (name, rows, width) in [
        ("q", 32, 32),
        ("k", 32, 32),
        ("v", 32, 32),
        ("ao", 32, 32),
        ("fi", 64, 32),
        ("fo", 32, 64),
    ] {
        list.push((format!("l0.{name}.w"), 1, rows * width));
        list.push((format!("l0.{name}.b"), 0, rows));
    }
    for name in ["aln.w", "aln.b", "oln.w", "oln.b"] {
        list.push((format!("l0.{name}"), 0, 32));
    }
    let bytes =
        |kind: u8, elements: u32| u64::from(elements) / 32 * if kind == 0 { 128 } else { 18 };
    file.extend(u32::try_from(list.len()).unwrap().to_le_bytes());
    let directory: usize = list.iter().map(|(name, ..)| name.len() + 23).sum();
    let mut offset = (file.len() + directory) as u64;
    let start = offset;
    for (name, kind, elements) in &list {
        file.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        file.extend(name.as_bytes());
        file.push(*kind);
        file.extend(elements.to_le_bytes());
        file.extend(offset.to_le_bytes());
        file.extend(bytes(*kind, *elements).to_le_bytes());
        offset += bytes(*kind, *elements);
    }
    // Recognisable bytes, another sequence at each place.
    file.extend((0..offset - start).map(|i| u8::try_from((i * 31 + i / 251) % 256).unwrap()));
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    let mut hashed = Hashed::new(std::io::sink());
    hashed.write_all(bytes).unwrap();
    hashed.finish().1
}

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

pub(super) fn forever(text: impl Into<String>) -> &'static str {
    leak(text.into())
}

/// A variant of these files, the first of which is what is opened.
pub(super) fn variant(files: &[(&str, &[u8])]) -> &'static Variant {
    let files: Vec<_> = files
        .iter()
        .map(|(name, bytes)| ModelFile {
            name: forever(*name),
            sha256: forever(sha256(bytes)),
            bytes: bytes.len() as u64,
        })
        .collect();
    leak(Variant {
        name: "tiny",
        summary: "for tests",
        licence: "MIT",
        path: files[0].name,
        files: leak(files),
        dimensions: 32,
        pooling: Pooling::Mean,
        max_tokens: 4,
        query_prefix: "",
        document_prefix: "",
    })
}

/// A pull with every wish at its plainest.
pub(super) struct Pull<'a> {
    pub(super) variant: &'static Variant,
    pub(super) sources: Vec<Source>,
    pub(super) cache: &'a Path,
    pub(super) file: Option<&'a Path>,
    pub(super) hub: String,
    pub(super) offline: bool,
    pub(super) python: String,
    pub(super) cancel: AtomicBool,
    /// Stops once so many bytes have come.
    pub(super) cancel_after: Option<u64>,
    /// What the pull said.
    pub(super) said: Mutex<Vec<String>>,
}

impl<'a> Pull<'a> {
    pub(super) fn new(variant: &'static Variant, cache: &'a Path) -> Self {
        Self {
            variant,
            sources: Vec::new(),
            cache,
            file: None,
            hub: "http://127.0.0.1:1".to_owned(),
            offline: false,
            python: "no-python-here".to_owned(),
            cancel: AtomicBool::new(false),
            cancel_after: None,
            said: Mutex::default(),
        }
    }

    pub(super) fn run(&self) -> Result<std::path::PathBuf> {
        let progress = |progress: PullProgress<'_>| {
            if let PullProgress::Bytes { done, .. } = progress
                && self.cancel_after.is_some_and(|after| done >= after)
            {
                self.cancel.store(true, Ordering::Relaxed);
            }
            self.said.lock().unwrap().push(format!("{progress:?}"));
        };
        pull_from(
            self.variant,
            &self.sources,
            &PullRequest {
                model: None,
                cache_dir: self.cache,
                file: self.file,
                hub: &self.hub,
                hub_offline: self.offline,
                python: &self.python,
                progress: &progress,
                cancel: &self.cancel,
            },
        )
    }

    pub(super) fn said(&self, text: &str) -> bool {
        self.said
            .lock()
            .unwrap()
            .iter()
            .any(|said| said.contains(text))
    }
}

/// Every file below a folder, sorted, without locks.
pub(super) fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|ext| ext != "lock") {
                let name = path.strip_prefix(dir).unwrap();
                found.push(name.to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}
