//! What the made models give: the numbers of a slow and plain computation, whatever the format, the company and the threads.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::made::{Dice, FORMATS, Format, Made};
use crate::model::{Model, Plan};
use crate::source;
use crate::variant::Pooling;

pub(super) fn plan(path: &Path) -> Plan {
    let description = source::describe(path).unwrap();
    Plan {
        path: path.to_owned(),
        files: &[],
        models_dir: PathBuf::new(),
        dimensions: description.shape.hidden,
        pooling: Pooling::Mean,
        max_tokens: description.max_tokens,
        threads: NonZeroUsize::MIN,
    }
}

fn rows(model: &Model, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
    let matrix = model.embed(&texts, &|| true).unwrap().unwrap();
    matrix.rows().map(<[f32]>::to_vec).collect()
}

const TEXTS: [&str; 7] = [
    "the ferry leaves at six",
    "",
    "猫 on the 港 pier, ☕️ she said",
    "a",
    "the harbour thing   in the herring  ",
    "Привет 서울 zzzzzzzzzz",
    "the the the the the the the the the the the the the the the the the the",
];

/// The same in f64, one number after the other, as the papers have it.
fn plain(made: &Made, tokens: &[u32], pooling: Pooling) -> Vec<f64> {
    let get = |name: &str| -> Vec<f64> {
        let tensor = made.tensors.iter().find(|tensor| tensor.gguf == name);
        let numbers = tensor.unwrap().numbers();
        numbers.into_iter().map(f64::from).collect()
    };
    let dense = |x: &[f64], name: &str| -> Vec<f64> {
        let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        let rows = weight.chunks_exact(x.len()).zip(bias);
        rows.map(|(row, bias)| dot(row, x) + bias).collect()
    };
    let norm = |x: &[f64], name: &str| -> Vec<f64> {
        let (weight, bias) = (get(&format!("{name}.weight")), get(&format!("{name}.bias")));
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        let scaled = x.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt());
        scaled
            .zip(weight.iter().zip(bias))
            .map(|(x, (weight, bias))| x * weight + bias)
            .collect()
    };
    let (words, positions) = (get("token_embd.weight"), get("position_embd.weight"));
    let types = get("token_types.weight");
    let (hidden, head) = (made.hidden, made.hidden / made.heads);
    let mut xs: Vec<Vec<f64>> = tokens
        .iter()
        .enumerate()
        .map(|(at, token)| {
            let word = &words[*token as usize * hidden..];
            let sum = |i: usize| word[i] + positions[at * hidden + i] + types[i];
            norm(&(0..hidden).map(sum).collect::<Vec<_>>(), "token_embd_norm")
        })
        .collect();
    for layer in 0..made.layers {
        let all = |part: &str| -> Vec<Vec<f64>> {
            let name = format!("blk.{layer}.{part}");
            xs.iter().map(|x| dense(x, &name)).collect()
        };
        let (query, key, value) = (all("attn_q"), all("attn_k"), all("attn_v"));
        let mut next = Vec::new();
        for (x, query) in xs.iter().zip(&query) {
            let mut context = vec![0.0; hidden];
            for at in (0..hidden).step_by(head) {
                let part = at..at + head;
                let score = |key: &Vec<f64>| {
                    dot(&query[part.clone()], &key[part.clone()]) / (head as f64).sqrt()
                };
                let powers: Vec<f64> = key.iter().map(|key| score(key).exp()).collect();
                let sum: f64 = powers.iter().sum();
                for (power, value) in powers.iter().zip(&value) {
                    for i in part.clone() {
                        context[i] += power / sum * value[i];
                    }
                }
            }
            let output = dense(&context, &format!("blk.{layer}.attn_output"));
            let x = norm(&add(x, &output), &format!("blk.{layer}.attn_output_norm"));
            let up = dense(&x, &format!("blk.{layer}.ffn_up"));
            let up: Vec<f64> = up.into_iter().map(gelu).collect();
            let down = dense(&up, &format!("blk.{layer}.ffn_down"));
            next.push(norm(
                &add(&x, &down),
                &format!("blk.{layer}.layer_output_norm"),
            ));
        }
        xs = next;
    }
    let used = match pooling {
        Pooling::Mean => xs.len(),
        Pooling::Cls => 1,
    };
    let sum = xs[..used]
        .iter()
        .fold(vec![0.0; hidden], |sum, x| add(&sum, x));
    let length = dot(&sum, &sum).sqrt();
    sum.into_iter().map(|x| x / length).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// With the error function as its series.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let erf = if z.abs() > 5.0 {
        z.signum()
    } else {
        let (mut term, mut sum) = (z, z);
        for n in 1..200 {
            let n = f64::from(n);
            term *= -z * z / n;
            sum += term / (2.0 * n + 1.0);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    };
    x * 0.5 * (1.0 + erf)
}

#[test]
fn sizes_that_fill_no_register_give_the_plain_numbers() {
    // 20 pieces in one block of columns, odd heads, an inner size that is no multiple of anything.
    for (hidden, layers, heads, inner) in [(32, 2, 4, 96), (40, 1, 5, 67), (6, 3, 2, 5)] {
        let made = Made::new(hidden, layers, heads, inner, 64);
        let dir = tempfile::tempdir().unwrap();
        let mut plan = plan(&made.write_folder(dir.path(), Format::F32));
        for pooling in [Pooling::Mean, Pooling::Cls] {
            plan.pooling = pooling;
            let model = Model::load(&plan).unwrap();
            for (text, row) in TEXTS.iter().zip(rows(&model, &TEXTS)) {
                let tokens = model.tokenizer().encode(text).unwrap();
                for (wanted, number) in plain(&made, &tokens, pooling).iter().zip(&row) {
                    let off = (wanted - f64::from(*number)).abs();
                    assert!(off < 2e-6, "{off} of {text:?}, {hidden}, {pooling:?}");
                }
            }
        }
    }
}

#[test]
fn every_format_of_the_same_weights_has_the_same_bits() {
    let made = Made::small();
    let dir = tempfile::tempdir().unwrap();
    let load = |path: PathBuf| rows(&Model::load(&plan(&path)).unwrap(), &TEXTS);
    let first = load(made.write_gguf(dir.path(), Format::F32));
    for format in FORMATS {
        let path = dir.path().join(format!("{format:?}"));
        std::fs::create_dir(&path).unwrap();
        let path = made.write_gguf(&path, format);
        assert!(load(path) == first, "{format:?}");
    }
    for format in [Format::F32, Format::F16, Format::BF16] {
        let path = made.write_folder(dir.path(), format);
        assert!(load(path) == first, "{format:?} in safetensors");
    }
}

#[test]
fn a_text_has_the_same_bits_in_any_company_and_on_any_threads() {
    let made = Made::small();
    let dir = tempfile::tempdir().unwrap();
    let mut plan = plan(&made.write_gguf(dir.path(), Format::Q8_0));
    let one = Model::load(&plan).unwrap();
    let mut dice = Dice(11);
    let words = ["ferry", "pier", "six", "猫", "a", "leaving", ",", "zz"];
    let texts: Vec<String> = (0..60)
        .map(|_| {
            let count = dice.below(30);
            let word = |_| words[dice.below(words.len())];
            (0..count).map(word).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let alone: Vec<_> = texts
        .iter()
        .map(|text| rows(&one, &[text]).remove(0))
        .collect();
    assert!(rows(&one, &texts) == alone);
    plan.threads = NonZeroUsize::new(3).unwrap();
    let three = Model::load(&plan).unwrap();
    assert!(rows(&three, &texts) == alone);
    assert!(rows(&three, &texts[20..50]) == alone[20..50]);
}

#[test]
fn both_tokenizers_cut_a_text_alike_and_keep_its_end() {
    let made = Made::small();
    let dir = tempfile::tempdir().unwrap();
    let paths = [
        made.write_gguf(dir.path(), Format::Q4_0),
        made.write_folder(dir.path(), Format::F32),
    ];
    let long = "the ferry leaves at six ".repeat(40);
    let mut texts = TEXTS.to_vec();
    texts.push(&long);
    let tokens = paths.map(|path| {
        let mut plan = plan(&path);
        plan.max_tokens = 9;
        let model = Model::load(&plan).unwrap();
        let tokens = texts
            .iter()
            .map(|text| model.tokenizer().encode(text).unwrap());
        (rows(&model, &texts), tokens.collect::<Vec<_>>())
    });
    assert_eq!(tokens[0], tokens[1]);
    for tokens in &tokens[0].1 {
        assert!(tokens.len() <= 9 && tokens[0] == 0, "{tokens:?}");
        assert_eq!(tokens.last(), Some(&2));
    }
    // Its beginning is what it is: seven tokens between the two ends.
    assert_eq!(tokens[0].1[7], [0, 4, 5, 6, 7, 8, 4, 5, 2]);
}

#[test]
fn a_loading_that_finds_another_model_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = Made::small().write_gguf(dir.path(), Format::F32);
    let plan = plan(&path);
    std::fs::write(&path, Made::new(64, 1, 2, 64, 64).gguf(Format::F32).0).unwrap();
    let error = Model::load(&plan).unwrap_err();
    assert!(
        error.message().contains("changed since it was opened"),
        "{error}"
    );
}

#[test]
fn nobody_waiting_ends_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(&Made::small().write_gguf(dir.path(), Format::F32));
    let model = Model::load(&plan).unwrap();
    let answer = model.embed(&["a".to_owned()], &|| false).unwrap();
    assert!(answer.is_none());
}
