//! What a model says about itself in the files beside its weights, and what the user says about it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::executor::block_on;
use memory_api::{Embedder, ErrorKind, OpenContext, Result, Role};
use serde_json::{Value, json};

use super::made::{Format, Made};
use crate::embedder;

fn open(path: &Path, mut config: Value) -> Result<Arc<dyn Embedder>> {
    config["path"] = json!(path);
    block_on(embedder::open(OpenContext::new(&config)))
}

/// Returns what the space says behind name and hash, and the tokens per text.
fn described(path: &Path, config: Value) -> (String, usize) {
    let embedder = open(path, config).unwrap();
    let id = &embedder.space().id;
    let end = id.splitn(4, '/').nth(3).unwrap().to_owned();
    (end, embedder.limits().max_tokens)
}

fn vectors(path: &Path, texts: &[&str]) -> Vec<Vec<f32>> {
    let embedder = open(path, json!({})).unwrap();
    let rows = block_on(embedder.embed(texts, Role::Document)).unwrap();
    rows.rows().map(<[f32]>::to_vec).collect()
}

/// Changes keys of a folder's `config.json`.
fn set(folder: &Path, keys: &[(&str, Value)]) {
    let path = folder.join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (key, value) in keys {
        config[*key] = value.clone();
    }
    fs::write(&path, config.to_string()).unwrap();
}

#[test]
fn a_folder_says_its_pooling_and_its_length_and_the_config_has_the_last_word() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Made::small().write_folder(dir.path(), Format::F32);
    let check = |config: Value, end: &str, max_tokens| {
        assert_eq!(described(&folder, config), (end.to_owned(), max_tokens));
    };
    check(json!({}), "mean/q:/d:/64", 64);
    let limit = folder.join("sentence_bert_config.json");
    fs::write(&limit, json!({ "max_seq_length": 9 }).to_string()).unwrap();
    fs::create_dir(folder.join("1_Pooling")).unwrap();
    let pooling = json!({ "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false });
    fs::write(folder.join("1_Pooling/config.json"), pooling.to_string()).unwrap();
    check(json!({}), "cls/q:/d:/9", 9);
    check(
        json!({ "pooling": "mean", "max_tokens": 64 }),
        "mean/q:/d:/64",
        64,
    );
    // More than there are positions for.
    fs::write(&limit, json!({ "max_seq_length": 512 }).to_string()).unwrap();
    check(json!({}), "cls/q:/d:/64", 64);
}

#[test]
fn a_gguf_file_says_its_pooling() {
    let dir = tempfile::tempdir().unwrap();
    let path = Made::small().write_gguf(dir.path(), Format::F32);
    let mut file = fs::read(&path).unwrap();
    // The number stands behind the key and the kind of its value.
    let key = b"bert.pooling_type";
    let at = file.windows(key.len()).position(|bytes| bytes == key);
    let at = at.unwrap() + key.len() + 4;
    for (number, pooling) in [(0, "mean"), (1, "mean"), (2, "cls")] {
        file[at] = number;
        fs::write(&path, &file).unwrap();
        let (end, _) = described(&path, json!({}));
        assert_eq!(end, format!("{pooling}/q:/d:/64"));
    }
    file[at] = 3;
    fs::write(&path, &file).unwrap();
    let error = open(&path, json!({})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn positions_of_the_other_family_begin_behind_the_padding() {
    // The same model twice: once with two rows before the first position's, as that family counts them.
    let dir = tempfile::tempdir().unwrap();
    let longer = Made::small();
    let folder = longer.write_folder(dir.path(), Format::F32);
    let kind = ("model_type", json!("xlm-roberta"));
    set(&folder, &[kind, ("pad_token_id", json!(1))]);
    let mut shorter = longer;
    shorter.positions = 62;
    let hidden = shorter.hidden;
    let positions = shorter.tensor("position_embd.weight");
    positions.shape = vec![62, hidden];
    positions.steps.drain(..2 * hidden);
    let plain = shorter.write_gguf(dir.path(), Format::F32);
    let texts = ["the ferry leaves at six", "pier"];
    assert!(vectors(&folder, &texts) == vectors(&plain, &texts));
    assert_eq!(described(&folder, json!({})).1, 62);
}

#[test]
fn a_model_of_other_parts_is_not_taken() {
    for (key, value) in [
        ("model_type", "gpt2"),
        ("hidden_act", "gelu_new"),
        ("position_embedding_type", "relative_key"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let folder = Made::small().write_folder(dir.path(), Format::F32);
        set(&folder, &[(key, json!(value))]);
        let error = open(&folder, json!({})).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.message().contains(value), "{error}");
    }
}

#[test]
fn a_tokenizer_that_pads_and_cuts_for_another_use_does_neither() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Made::small().write_folder(dir.path(), Format::F32);
    let texts = ["the ferry leaves at six", "pier"];
    let wanted = vectors(&folder, &texts);
    let path = folder.join("tokenizer.json");
    let mut tokenizer = Made::small().tokenizer();
    tokenizer["padding"] = json!({
        "strategy": { "Fixed": 20 }, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 1, "pad_type_id": 0, "pad_token": "<pad>",
    });
    tokenizer["truncation"] = json!({
        "direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0,
    });
    fs::write(&path, tokenizer.to_string()).unwrap();
    assert!(vectors(&folder, &texts) == wanted);
}
