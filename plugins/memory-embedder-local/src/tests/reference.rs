//! The real models against vectors that other programs computed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::model::{Model, Plan};
use crate::variant::Pooling;

fn cached(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/cache/memory/models")
        .join(name);
    assert!(
        path.exists(),
        "{name} is missing: run `cargo xtask prepare`"
    );
    path
}

fn check(path: PathBuf, max_tokens: usize, reference: &str) {
    let plan = Plan {
        path,
        files: &[],
        models_dir: PathBuf::new(),
        dimensions: 384,
        pooling: Pooling::Mean,
        max_tokens,
        threads: std::num::NonZeroUsize::new(2).unwrap(),
    };
    let model = Model::load(&plan).unwrap();
    let reference: Value = serde_json::from_str(reference).unwrap();
    let items = reference["items"].as_array().unwrap();
    let texts: Vec<String> = items
        .iter()
        .map(|item| {
            let prefix = item["prefix"].as_str().unwrap_or_default();
            format!("{prefix}{}", item["text"].as_str().unwrap())
        })
        .collect();
    for (item, text) in items.iter().zip(&texts) {
        let tokens = model.tokenizer().encode(text).unwrap();
        if let Some(first) = item["first_ids"].as_array() {
            let first: Vec<u32> = first
                .iter()
                .map(|id| u32::try_from(id.as_u64().unwrap()).unwrap())
                .collect();
            let begin = &tokens[..first.len().min(tokens.len())];
            assert_eq!(begin, first, "tokens of {text:?}");
        }
        assert!(tokens.len() <= max_tokens);
    }
    let vectors = model.embed(&texts, &|| true).unwrap().unwrap();
    let mut lowest = 1.0_f64;
    for ((item, text), row) in items.iter().zip(&texts).zip(vectors.rows()) {
        let wanted: Vec<f64> = item["vector"]
            .as_array()
            .unwrap()
            .iter()
            .map(|number| number.as_f64().unwrap())
            .collect();
        let length = wanted.iter().map(|value| value * value).sum::<f64>().sqrt();
        let cosine = wanted
            .iter()
            .zip(row)
            .map(|(a, b)| a * f64::from(*b))
            .sum::<f64>()
            / length;
        assert!(cosine > 0.9995, "cosine {cosine} of {text:?}");
        lowest = lowest.min(cosine);
    }
    assert!(lowest > 0.999_99, "lowest cosine {lowest}");
}

#[test]
fn minilm_from_safetensors_gives_the_reference_vectors() {
    check(
        cached("all-minilm-l6-v2"),
        256,
        include_str!("../../tests/data/minilm-reference.json"),
    );
}

#[test]
fn e5_from_gguf_gives_the_reference_tokens_and_vectors() {
    check(
        cached("multilingual-e5-small-q4_0.gguf"),
        512,
        include_str!("../../tests/data/e5-small-reference.json"),
    );
}
