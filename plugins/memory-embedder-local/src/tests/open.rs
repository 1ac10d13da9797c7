//! Opening by name and by path, the files' hashes, and the thread behind it.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Waker};
use std::time::Duration;

use futures::channel::oneshot;
use futures::executor::block_on;
use memory_api::{Embedder, Error, ErrorKind, Matrix, OpenContext, Result, Role};
use serde_json::{Value, json};

use super::made::{Format, Made};
use super::tiny::sha256;
use crate::worker::{Job, run};
use crate::{catalogue, embedder, verify};

fn open(config: &Value, cache: &Path) -> Result<Arc<dyn Embedder>> {
    block_on(embedder::open(
        OpenContext::new(config).with_cache_dir(cache),
    ))
}

fn embed(embedder: &dyn Embedder, text: &str, role: Role) -> Vec<f32> {
    let matrix = block_on(embedder.embed(&[text], role)).unwrap();
    matrix.rows().next().unwrap().to_vec()
}

#[test]
fn a_model_that_is_not_here_says_how_to_get_it() {
    let cache = tempfile::tempdir().unwrap();
    let check = |config: Value, hint: &str| {
        let error = open(&config, cache.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(error.hint(), Some(hint));
    };
    check(json!({}), "run `memory model pull` (74 MB)");
    check(
        json!({ "model": "all-minilm-l6-v2" }),
        "run `memory model pull all-minilm-l6-v2` (92 MB)",
    );
    check(
        json!({ "path": "no/such.gguf" }),
        "check `path`, or leave it out and run `memory model pull`",
    );
}

#[test]
fn a_known_model_that_is_another_file_is_refused_when_it_is_used() {
    let cache = tempfile::tempdir().unwrap();
    let models = cache.path().join("models");
    fs::create_dir(&models).unwrap();
    let path = models.join("multilingual-e5-small-q4_0.gguf");
    fs::write(&path, Made::small().gguf(Format::Q4_0).0).unwrap();
    let embedder = open(&json!({}), cache.path()).unwrap();
    for says in ["another length", "another hash"] {
        let error = block_on(embedder.embed(&["a"], Role::Query)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains(says), "{error}");
        // The second time the length is right.
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(73_635_680)
            .unwrap();
    }
}

#[test]
fn a_wrong_config_names_its_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = Made::small().write_gguf(dir.path(), Format::F16);
    let path = path.to_str().unwrap();
    for (config, key) in [
        (json!({ "model": "e6-small" }), "model"),
        (json!({ "model": path }), "model"),
        (json!({ "threads": 0 }), "threads"),
        (json!({ "threads": 65 }), "threads"),
        (json!({ "query_prefix": "q: " }), "query_prefix"),
        (json!({ "document_prefix": "d: " }), "document_prefix"),
        (json!({ "pooling": "cls" }), "pooling"),
        (json!({ "pooling": "max", "path": path }), "pooling"),
        (json!({ "max_tokens": 64 }), "max_tokens"),
        (json!({ "max_tokens": 7, "path": path }), "max_tokens"),
        (json!({ "max_tokens": 65, "path": path }), "max_tokens"),
        (json!({ "thread": 1 }), "thread"),
    ] {
        let error = open(&config, dir.path()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{config}: {error}");
        assert_eq!(error.context("key"), Some(key), "{config}: {error}");
    }
}

#[test]
fn nothing_is_written_beside_a_model_of_ones_own() {
    let (own, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = Made::small().write_gguf(own.path(), Format::F16);
    let config = json!({ "path": path });
    open(&config, cache.path()).unwrap();
    assert_eq!(fs::read_dir(own.path()).unwrap().count(), 1);
    // Its hash is known all the same: what changed unseen by size and time is not read again.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let before = open(&config, cache.path()).unwrap().space().id.clone();
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(time).unwrap();
    assert_eq!(open(&config, cache.path()).unwrap().space().id, before);
}

#[test]
fn what_decides_a_vector_is_in_the_space() {
    let dir = tempfile::tempdir().unwrap();
    let made = Made::small();
    let path = made.write_gguf(dir.path(), Format::F16);
    let other = made.write_gguf(dir.path(), Format::F32);
    let space = |path: &Path, key: &str, value: Value| {
        let mut config = json!({ "path": path.to_str().unwrap() });
        config[key] = value;
        open(&config, dir.path()).unwrap().space().id.clone()
    };
    let mut ids = vec![
        space(&path, "threads", json!(1)),
        space(&other, "threads", json!(1)),
        space(&path, "query_prefix", json!("q")),
        space(&path, "document_prefix", json!("q")),
        space(&path, "pooling", json!("cls")),
        space(&path, "max_tokens", json!(63)),
    ];
    assert_eq!(ids[0], space(&path, "threads", json!(2)));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6, "{ids:#?}");
}

#[test]
fn the_space_of_a_known_model_is_its_catalogue_entry() {
    let cache = tempfile::tempdir().unwrap();
    let check = |model: &str, id: &str| {
        let variant = catalogue::find(model).unwrap();
        for file in variant.files {
            let path = cache.path().join("models").join(file.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let embedder = open(&json!({ "model": model }), cache.path()).unwrap();
        assert_eq!(embedder.space().id, id);
    };
    check(
        "multilingual-e5-small-q4",
        "local/multilingual-e5-small-q4/ca7fe0d0c472de17/mean/q:query: /d:passage: /512",
    );
    // The hash is that of the hashes of its three files, one behind the other.
    check(
        "bge-small-en-v1.5",
        "local/bge-small-en-v1.5/1df7c961e3562f06/cls/q:Represent this sentence for searching relevant passages: /d:/512",
    );
}

#[test]
fn another_file_of_the_same_name_is_another_space() {
    let dir = tempfile::tempdir().unwrap();
    let space = |path: &Path| {
        let config = json!({ "path": path });
        open(&config, dir.path()).unwrap().space().id.clone()
    };
    let mut made = Made::small();
    let path = made.write_gguf(dir.path(), Format::F32);
    let folder = made.write_folder(dir.path(), Format::F16);
    let (first, first_folder) = (space(&path), space(&folder));
    made.tensor("token_types.weight").steps[0] ^= 1;
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    made.write_gguf(dir.path(), Format::F32);
    // Clocks of file systems are coarse.
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(time + Duration::from_secs(1)).unwrap();
    assert_ne!(space(&path), first);
    // Of a folder, the tokenizer counts as well.
    fs::write(folder.join("tokenizer.json"), "{}").unwrap();
    assert_ne!(space(&folder), first_folder);
}

#[test]
fn a_prefix_stands_before_the_text_of_its_role() {
    let dir = tempfile::tempdir().unwrap();
    let path = Made::small().write_gguf(dir.path(), Format::F32);
    let path = path.to_str().unwrap();
    let plain = open(&json!({ "path": path }), dir.path()).unwrap();
    let config = json!({ "path": path, "query_prefix": "query: ", "document_prefix": "passage: " });
    let prefixed = open(&config, dir.path()).unwrap();
    let of = |text: &str| embed(&*plain, text, Role::Query);
    assert_eq!(embed(&*prefixed, "six", Role::Query), of("query: six"));
    assert_eq!(embed(&*prefixed, "six", Role::Document), of("passage: six"));
    assert_ne!(of("query: six"), of("passage: six"));
    assert_eq!(embed(&*plain, "six", Role::Document), of("six"));
}

/// Writes a file and returns its path, its hash and the path of its stamp.
fn stamped(dir: &Path, content: &[u8]) -> (std::path::PathBuf, String, std::path::PathBuf) {
    let path = dir.join("model.bin");
    fs::write(&path, content).unwrap();
    (path, sha256(content), dir.join("model.bin.verified"))
}

#[test]
fn a_hash_is_taken_once_and_again_when_the_file_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (path, sha, stamp) = stamped(dir.path(), b"weights");
    assert_eq!(verify::hash(&path).unwrap(), sha);
    verify::verify(&path, &sha, 7).unwrap();
    // The stamp is what is believed while size and time are the same.
    let text = fs::read_to_string(&stamp).unwrap();
    fs::write(&stamp, text.replace(&sha, "remembered")).unwrap();
    assert_eq!(verify::hash(&path).unwrap(), "remembered");
    // Another time with the same size, another size with the same time.
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let set_time = |time| {
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    };
    fs::write(&path, b"weightz").unwrap();
    set_time(time + Duration::from_nanos(1));
    assert_eq!(verify::hash(&path).unwrap(), sha256(b"weightz"));
    fs::write(&path, b"weights and more").unwrap();
    set_time(time + Duration::from_nanos(1));
    assert_eq!(verify::hash(&path).unwrap(), sha256(b"weights and more"));
    let error = verify::verify(&path, &sha, 16).unwrap_err();
    assert!(error.message().contains("another hash"), "{error}");
    let error = verify::verify(&path, &sha, 7).unwrap_err();
    assert!(error.message().contains("another length"), "{error}");
}

#[test]
fn a_stamp_that_is_damaged_or_cannot_be_written_does_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let (path, sha, stamp) = stamped(dir.path(), b"weights");
    fs::write(&stamp, "{\"size\": 7").unwrap();
    assert_eq!(verify::hash(&path).unwrap(), sha);
    fs::remove_file(&stamp).unwrap();
    // A folder in its place refuses the write, whoever runs the test.
    fs::create_dir(&stamp).unwrap();
    verify::verify(&path, &sha, 7).unwrap();
    verify::verify(&path, &sha, 7).unwrap();
}

#[test]
fn a_panic_in_a_job_is_its_error_and_the_next_job_works() {
    let (sender, jobs) = channel();
    let send = |text: &str| {
        let (answer, answered) = oneshot::channel();
        let texts = vec![text.to_owned()];
        sender.send(Job { texts, answer }).unwrap();
        answered
    };
    let answers = ["good", "bad", "good", "wrong", "good"].map(send);
    drop(send("nobody waits"));
    let last = send("good");
    drop(sender);
    // Counts the jobs since the model was made.
    run(&jobs, |model: &mut Option<f32>, job| {
        let count = model.get_or_insert(0.0);
        *count += 1.0;
        match job.texts[0].as_str() {
            "good" => Matrix::new(1, vec![*count]).map(Some),
            "bad" => panic!("no {}", "luck"),
            "wrong" => Err(Error::new(ErrorKind::Corrupt, "wrong")),
            other => panic!("{other} got here"),
        }
    });
    let mut answers: Vec<_> = answers
        .into_iter()
        .map(|answer| block_on(answer).unwrap())
        .collect();
    answers.push(block_on(last).unwrap());
    let said: Vec<String> = answers
        .iter()
        .map(|answer| match answer {
            Ok(matrix) => format!("{:?}", matrix.rows().next().unwrap()),
            Err(error) => error.message().to_owned(),
        })
        .collect();
    // The panic took the model with it, the error did not.
    let wanted = [
        "[1.0]",
        "the model panicked: no luck",
        "[1.0]",
        "wrong",
        "[3.0]",
        "[4.0]",
    ];
    assert_eq!(said, wanted);
    assert_eq!(answers[1].as_ref().unwrap_err().kind(), ErrorKind::Internal);
}

#[test]
fn a_dropped_call_leaves_the_next_one_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = Made::small().write_gguf(dir.path(), Format::F32);
    let embedder = open(&json!({ "path": path.to_str().unwrap() }), dir.path()).unwrap();
    let wanted = embed(&*embedder, "the ferry", Role::Query);
    for _ in 0..20 {
        let texts = ["the pier"; 40];
        let mut call = embedder.embed(&texts, Role::Document);
        // Polled once, so that the job is on its way.
        let mut context = Context::from_waker(Waker::noop());
        drop(call.as_mut().poll(&mut context));
        drop(call);
        assert_eq!(embed(&*embedder, "the ferry", Role::Query), wanted);
    }
    let call = embedder.embed(&["late"], Role::Query);
    drop(call);
}
