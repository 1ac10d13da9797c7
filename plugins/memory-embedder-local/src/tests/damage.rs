//! Files that are damaged or odd: an error that says so, or vectors; never a panic, and no memory beyond what the file holds.

use std::fs;
use std::path::Path;

use memory_api::{ErrorKind, Result};

use super::made::{Dice, Format, Made};
use super::vectors::plan;
use crate::model::Model;
use crate::source;

/// Describes a model, loads it, and embeds with it.
fn try_out(path: &Path) -> Result<()> {
    source::describe(path)?;
    let model = Model::load(&plan(path))?;
    let texts = ["the ferry", "", "猫 zz"].map(str::to_owned);
    model.embed(&texts, &|| true).map(drop)
}

fn check_kind(path: &Path, what: &str) -> bool {
    match try_out(path) {
        Ok(()) => false,
        Err(error) => {
            let kind = error.kind();
            let fits = matches!(kind, ErrorKind::Corrupt | ErrorKind::Unsupported);
            assert!(fits && error.hint().is_some(), "{what}: {kind}: {error}");
            true
        }
    }
}

#[test]
fn a_gguf_file_that_is_cut_is_corrupt() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.gguf");
    let (file, ends) = Made::small().gguf(Format::Q4_0);
    let mut lengths: Vec<usize> = ends.iter().flat_map(|end| [end - 1, *end]).collect();
    lengths.pop();
    lengths.extend([0, 3, 4, 8, 16]);
    let mut dice = Dice(3);
    lengths.extend((0..60).map(|_| dice.below(ends[2])));
    lengths.extend((0..20).map(|_| dice.below(ends[3] - 32)));
    for len in lengths {
        fs::write(&path, &file[..len]).unwrap();
        let error = try_out(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "cut at {len}: {error}");
    }
}

#[test]
fn a_safetensors_file_that_is_cut_is_corrupt() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Made::small().write_folder(dir.path(), Format::F16);
    for name in source::FOLDER_FILES {
        let path = folder.join(name);
        let file = fs::read(&path).unwrap();
        let mut dice = Dice(4);
        let mut lengths = vec![0, 7, 8, 9, file.len() - 1];
        lengths.extend((0..20).map(|_| dice.below(file.len())));
        for len in lengths {
            fs::write(&path, &file[..len]).unwrap();
            let error = try_out(&folder).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{name} at {len}: {error}");
        }
        fs::write(&path, &file).unwrap();
    }
}

#[test]
fn flipped_bytes_are_an_error_or_other_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flipped.gguf");
    let (file, ends) = Made::small().gguf(Format::F16);
    let mut dice = Dice(5);
    let mut refused = 0;
    for case in 0..200 {
        // Half of them in the header, which is a small part of the file.
        let limit = if case % 2 == 0 { ends[2] } else { ends[3] };
        let mut file = file.clone();
        for _ in 0..=dice.below(3) {
            let at = dice.below(limit);
            file[at] ^= 1 << dice.below(8);
        }
        fs::write(&path, &file).unwrap();
        refused += usize::from(check_kind(&path, &format!("case {case}")));
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn large_numbers_anywhere_in_a_header_take_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.gguf");
    let (file, ends) = Made::new(32, 1, 2, 32, 8).gguf(Format::Q4_0);
    let mut dice = Dice(6);
    for case in 0..200 {
        let at = dice.below(ends[2] - 8);
        let values = [
            u64::MAX,
            i64::MAX as u64,
            1 << 40,
            u64::from(u32::MAX),
            1 << 31,
        ];
        let mut file = file.clone();
        file[at..at + 8].copy_from_slice(&values[dice.below(values.len())].to_le_bytes());
        fs::write(&path, &file).unwrap();
        check_kind(&path, &format!("case {case}"));
    }
}

#[test]
fn flipped_bytes_in_a_folder_are_an_error_or_other_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Made::small().write_folder(dir.path(), Format::F32);
    let mut refused = 0;
    for name in source::FOLDER_FILES {
        let path = folder.join(name);
        let file = fs::read(&path).unwrap();
        let mut dice = Dice(8);
        for case in 0..70 {
            let mut flipped = file.clone();
            // The header of the weights, and all of the others.
            let at = dice.below(file.len().min(6000));
            flipped[at] ^= 1 << dice.below(8);
            fs::write(&path, &flipped).unwrap();
            refused += usize::from(check_kind(&folder, &format!("{name}, case {case}")));
        }
        fs::write(&path, &file).unwrap();
    }
    assert!(refused > 50, "{refused}");
}

fn says(made: &Made, kind: ErrorKind, words: &str) {
    let dir = tempfile::tempdir().unwrap();
    let error = try_out(&made.write_gguf(dir.path(), Format::F32)).unwrap_err();
    assert!(error.message().contains(words), "{error}");
    assert_eq!(error.kind(), kind, "{error}");
}

fn changed(change: impl FnOnce(&mut Made)) -> Made {
    let mut made = Made::small();
    change(&mut made);
    made
}

#[test]
fn what_is_wrong_is_named() {
    use ErrorKind::{Corrupt, Unsupported};
    let key = |name: &str, value: &str| {
        changed(|made| made.keys.push((name.to_owned(), value.to_owned())))
    };
    let twice = changed(|made| made.pieces[20] = made.pieces[4].clone());
    says(&twice, Corrupt, "holds `▁the` twice");
    let unscored = changed(|made| made.pieces[20].1 = f32::NAN);
    says(&unscored, Corrupt, "not finite");
    let missing = changed(|made| made.tensor("blk.1.ffn_up.bias").gguf = "else".to_owned());
    says(&missing, Corrupt, "`blk.1.ffn_up.bias` is missing");
    let doubled = changed(|made| {
        made.tensor("blk.1.ffn_up.bias").gguf = "blk.0.ffn_up.bias".to_owned();
    });
    says(&doubled, Corrupt, "stands in it twice");
    let turned = changed(|made| made.tensor("blk.0.ffn_up.weight").shape.reverse());
    says(&turned, Corrupt, "is [32, 96] instead of [96, 32]");
    let fewer = changed(|made| drop(made.pieces.pop()));
    says(&fewer, Corrupt, "`token_embd.weight` is [");
    let heads = changed(|made| made.heads = 5);
    says(&heads, Corrupt, "make no 5 heads");
    let short = changed(|made| made.positions = 7);
    says(&short, Corrupt, "number of positions is 7");
    let llama = key("general.architecture", "llama");
    says(&llama, Unsupported, "architecture is `llama`");
    let gpt = key("tokenizer.ggml.model", "gpt2");
    says(&gpt, Unsupported, "tokenizer is `gpt2`");
    let text = key("bert.block_count", "two");
    says(&text, Corrupt, "`bert.block_count` is missing or no number");
}

/// Replaces the last number of a tensor in a GGUF file of f32.
fn with_last(made: &Made, name: &str, number: f32) -> Vec<u8> {
    let (mut file, ends) = made.gguf(Format::F32);
    let mut at = ends[2].next_multiple_of(32);
    for tensor in &made.tensors {
        let bytes = tensor.steps.len() * 4;
        if tensor.gguf == name {
            file[at + bytes - 4..at + bytes].copy_from_slice(&number.to_le_bytes());
        }
        at = (at + bytes).next_multiple_of(32);
    }
    file
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nan.gguf");
    let made = Made::small();
    for number in [f32::NAN, f32::INFINITY] {
        for name in ["blk.1.attn_v.weight", "token_embd_norm.bias"] {
            fs::write(&path, with_last(&made, name, number)).unwrap();
            let error = Model::load(&plan(&path)).unwrap_err();
            assert!(error.message().contains("not finite"), "{error}");
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
        // Rows of the vocabulary are looked at when they are used.
        fs::write(&path, with_last(&made, "token_embd.weight", number)).unwrap();
        let model = Model::load(&plan(&path)).unwrap();
        let last = &made.pieces.last().unwrap().0;
        assert!(model.embed(&["the ferry".to_owned()], &|| true).is_ok());
        let error = model
            .embed(std::slice::from_ref(last), &|| true)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    }
}

#[test]
fn a_tokenizer_of_another_model_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut made = Made::small();
    let folder = made.write_folder(dir.path(), Format::F32);
    made.pieces.push(("Ω".to_owned(), -1.0));
    fs::write(folder.join("tokenizer.json"), made.tokenizer().to_string()).unwrap();
    let model = Model::load(&plan(&folder)).unwrap();
    let error = model.embed(&["Ω".to_owned()], &|| true).unwrap_err();
    assert!(error.message().contains("no vector for token"), "{error}");
}

#[test]
fn a_tokenizer_of_special_tokens_alone_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let made = Made::small();
    let folder = made.write_folder(dir.path(), Format::F32);
    let mut tokenizer = made.tokenizer();
    let single = &mut tokenizer["post_processor"]["single"];
    let special = single[0].clone();
    single.as_array_mut().unwrap().extend(vec![special; 70]);
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let error = Model::load(&plan(&folder)).unwrap_err();
    assert!(error.message().contains("72 special tokens"), "{error}");
}
