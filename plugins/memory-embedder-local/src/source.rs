use std::fs;
use std::path::{Path, PathBuf};

use memory_api::Result;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::bert::{Bert, Layer, Linear, Shape};
use crate::config::MIN_TOKENS;
use crate::gemm::Packed;
use crate::gguf::{self, Metadata};
use crate::math::Norm;
use crate::safetensors;
use crate::tensors::{Tensors, corrupt, read_error, unsupported};
use crate::tokenizer::Tokenizer;
use crate::variant::Pooling;

/// The files of a folder, the weights first.
pub(crate) const FOLDER_FILES: &[&str] = &["model.safetensors", "config.json", "tokenizer.json"];

/// What a model says about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Description {
    pub(crate) shape: Shape,
    pub(crate) pooling: Option<Pooling>,
    /// Tokens per text.
    pub(crate) max_tokens: usize,
    /// Rows of the table of positions that come before the first token's.
    skipped_positions: usize,
}

/// Returns the files that decide what a model's numbers are.
pub(crate) fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() {
        FOLDER_FILES.iter().map(|name| path.join(name)).collect()
    } else {
        vec![path.to_owned()]
    }
}

/// Reads what a model says about itself, and none of its weights.
pub(crate) fn describe(path: &Path) -> Result<Description> {
    if path.is_dir() {
        describe_folder(path)
    } else {
        describe_gguf(&gguf::open(path)?.0)
    }
}

/// Loads a model and its tokenizer.
pub(crate) fn load(path: &Path, max_tokens: usize) -> Result<(Bert, Tokenizer)> {
    if path.is_dir() {
        let description = describe_folder(path)?;
        let tokenizer = Tokenizer::from_json(&path.join("tokenizer.json"), max_tokens)?;
        let weights = path.join("model.safetensors");
        let mut tensors = safetensors::open(&weights)?;
        let names = Names::hub(&weights, &tensors)?;
        let bert = weights_of(&weights, &mut tensors, &names, &description)?;
        Ok((bert, tokenizer))
    } else {
        let (mut metadata, mut tensors) = gguf::open(path)?;
        let description = describe_gguf(&metadata)?;
        let tokenizer =
            Tokenizer::from_gguf(&mut metadata, description.shape.vocabulary, max_tokens)?;
        let bert = weights_of(path, &mut tensors, &Names::Gguf, &description)?;
        Ok((bert, tokenizer))
    }
}

fn describe_gguf(metadata: &Metadata) -> Result<Description> {
    let path = metadata.path();
    match metadata.text("general.architecture") {
        Some("bert") => {}
        Some(other) => return Err(unsupported(path, format!("its architecture is `{other}`"))),
        None => return Err(corrupt(path, "it does not name its architecture")),
    }
    let pooling = match metadata.int("bert.pooling_type") {
        Some(1) => Some(Pooling::Mean),
        Some(2) => Some(Pooling::Cls),
        None | Some(0) => None,
        Some(other) => return Err(unsupported(path, format!("its pooling is number {other}"))),
    };
    let vocabulary = match metadata.get("tokenizer.ggml.tokens") {
        Some(gguf::Value::Texts(tokens)) => tokens.len(),
        _ => return Err(corrupt(path, "it holds no vocabulary")),
    };
    let positions = metadata.need_int("bert.context_length")?;
    let epsilon = metadata.float("bert.attention.layer_norm_epsilon");
    let shape = Shape {
        hidden: metadata.need_int("bert.embedding_length")?,
        layers: metadata.need_int("bert.block_count")?,
        heads: metadata.need_int("bert.attention.head_count")?,
        inner: metadata.need_int("bert.feed_forward_length")?,
        positions,
        vocabulary,
        epsilon: epsilon_of(path, epsilon.unwrap_or(1e-12))?,
    };
    check(path, &shape)?;
    Ok(Description {
        shape,
        pooling,
        max_tokens: positions,
        skipped_positions: 0,
    })
}

#[derive(Deserialize)]
struct HubConfig {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    vocab_size: usize,
    layer_norm_eps: f64,
    #[serde(default = "gelu")]
    hidden_act: String,
    position_embedding_type: Option<String>,
    pad_token_id: Option<usize>,
}

fn gelu() -> String {
    "gelu".to_owned()
}

/// `sentence_bert_config.json` of a folder, which may be missing.
#[derive(Default, Deserialize)]
struct Limit {
    max_seq_length: Option<usize>,
}

/// `1_Pooling/config.json` of a folder, which may be missing.
#[derive(Default, Deserialize)]
#[serde(default)]
struct HubPooling {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

fn describe_folder(folder: &Path) -> Result<Description> {
    let path = folder.join("config.json");
    let config: HubConfig = read_json(&path)?;
    let skipped_positions = match config.model_type.as_str() {
        "bert" => 0,
        // These count positions from the number behind the padding token's.
        "roberta" | "xlm-roberta" => config.pad_token_id.unwrap_or(1).saturating_add(1),
        other => return Err(unsupported(&path, format!("its architecture is `{other}`"))),
    };
    if config.hidden_act != "gelu" {
        let message = format!("its activation is `{}`", config.hidden_act);
        return Err(unsupported(&path, message));
    }
    if let Some(other) = config.position_embedding_type
        && other != "absolute"
    {
        return Err(unsupported(&path, format!("its positions are `{other}`")));
    }
    let positions = config
        .max_position_embeddings
        .saturating_sub(skipped_positions);
    let shape = Shape {
        hidden: config.hidden_size,
        layers: config.num_hidden_layers,
        heads: config.num_attention_heads,
        inner: config.intermediate_size,
        positions,
        vocabulary: config.vocab_size,
        epsilon: epsilon_of(&path, config.layer_norm_eps)?,
    };
    check(&path, &shape)?;
    let limit: Limit = read_optional(&folder.join("sentence_bert_config.json"))?;
    let pooling: HubPooling = read_optional(&folder.join("1_Pooling/config.json"))?;
    let pooling = match (
        pooling.pooling_mode_mean_tokens,
        pooling.pooling_mode_cls_token,
    ) {
        (true, false) => Some(Pooling::Mean),
        (false, true) => Some(Pooling::Cls),
        _ => None,
    };
    Ok(Description {
        shape,
        pooling,
        max_tokens: limit
            .max_seq_length
            .unwrap_or(positions)
            .clamp(MIN_TOKENS, positions),
        skipped_positions,
    })
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let bytes = fs::read(path).map_err(|err| read_error(path, err))?;
    serde_json::from_slice(&bytes)
        .map_err(|err| corrupt(path, format!("it cannot be understood: {err}")).with_source(err))
}

fn read_optional<T: DeserializeOwned + Default>(path: &Path) -> Result<T> {
    if path.exists() {
        read_json(path)
    } else {
        Ok(T::default())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "checked before")]
fn epsilon_of(path: &Path, epsilon: f64) -> Result<f32> {
    if epsilon > 0.0 && epsilon < 1.0 {
        Ok(epsilon as f32)
    } else {
        Err(corrupt(path, format!("its epsilon is {epsilon}")))
    }
}

/// Sizes no model of this family comes near. They keep products of sizes small; tensors are held against the file.
fn check(path: &Path, shape: &Shape) -> Result<()> {
    let sizes = [
        ("hidden size", shape.hidden, 1 << 14),
        ("number of layers", shape.layers, 1 << 10),
        ("number of heads", shape.heads, 1 << 10),
        ("inner size", shape.inner, 1 << 16),
        ("number of positions", shape.positions, 1 << 14),
        ("vocabulary", shape.vocabulary, 1 << 22),
    ];
    for (name, size, limit) in sizes {
        if size == 0 || size > limit {
            return Err(corrupt(path, format!("its {name} is {size}")));
        }
    }
    if shape.positions < MIN_TOKENS {
        let message = format!("its number of positions is {}", shape.positions);
        return Err(corrupt(path, message));
    }
    if !shape.hidden.is_multiple_of(shape.heads) {
        let message = format!("{} numbers make no {} heads", shape.hidden, shape.heads);
        return Err(corrupt(path, message));
    }
    Ok(())
}

/// How the tensors of a file are called.
enum Names {
    Gguf,
    Hub(&'static str),
}

/// A tensor's part, as llama.cpp calls it.
#[derive(Clone, Copy)]
enum Part {
    Query,
    Key,
    Value,
    Output,
    OutputNorm,
    Up,
    Down,
    Norm,
}

impl Names {
    /// Some files were saved from a larger model, and say so before each name.
    fn hub(path: &Path, tensors: &Tensors) -> Result<Self> {
        ["", "bert.", "roberta."]
            .into_iter()
            .find(|prefix| tensors.shape(&Self::Hub(prefix).words()).is_some())
            .map(Self::Hub)
            .ok_or_else(|| unsupported(path, "its tensors have names of another family"))
    }

    fn embedding(&self, gguf: &str, hub: &str) -> String {
        match self {
            Self::Gguf => gguf.to_owned(),
            Self::Hub(prefix) => format!("{prefix}embeddings.{hub}"),
        }
    }

    fn words(&self) -> String {
        self.embedding("token_embd.weight", "word_embeddings.weight")
    }

    fn layer(&self, layer_idx: usize, part: Part, end: &str) -> String {
        let (gguf, hub) = match part {
            Part::Query => ("attn_q", "attention.self.query"),
            Part::Key => ("attn_k", "attention.self.key"),
            Part::Value => ("attn_v", "attention.self.value"),
            Part::Output => ("attn_output", "attention.output.dense"),
            Part::OutputNorm => ("attn_output_norm", "attention.output.LayerNorm"),
            Part::Up => ("ffn_up", "intermediate.dense"),
            Part::Down => ("ffn_down", "output.dense"),
            Part::Norm => ("layer_output_norm", "output.LayerNorm"),
        };
        match self {
            Self::Gguf => format!("blk.{layer_idx}.{gguf}.{end}"),
            Self::Hub(prefix) => format!("{prefix}encoder.layer.{layer_idx}.{hub}.{end}"),
        }
    }
}

fn weights_of(
    path: &Path,
    tensors: &mut Tensors,
    names: &Names,
    description: &Description,
) -> Result<Bert> {
    let Description {
        shape,
        skipped_positions,
        ..
    } = *description;
    let hidden = shape.hidden;
    let words = tensors.read_table(&names.words(), shape.vocabulary, hidden)?;
    let name = names.embedding("position_embd.weight", "position_embeddings.weight");
    let rows = shape.positions + skipped_positions;
    let mut positions = tensors.read(&name, &[rows, hidden])?;
    positions.drain(..skipped_positions * hidden);
    let name = names.embedding("token_types.weight", "token_type_embeddings.weight");
    let Some([n_types @ 1..=16, _]) = tensors.shape(&name) else {
        return Err(corrupt(
            path,
            format!("tensor `{name}` is missing or of a wrong shape"),
        ));
    };
    let n_types = *n_types;
    let types = tensors.read(&name, &[n_types, hidden])?;
    for row in positions.chunks_exact_mut(hidden) {
        row.iter_mut()
            .zip(&types)
            .for_each(|(sum, value)| *sum += value);
    }
    let norm = Norm {
        weight: tensors.read(
            &names.embedding("token_embd_norm.weight", "LayerNorm.weight"),
            &[hidden],
        )?,
        bias: tensors.read(
            &names.embedding("token_embd_norm.bias", "LayerNorm.bias"),
            &[hidden],
        )?,
        epsilon: shape.epsilon,
    };
    let layers = (0..shape.layers)
        .map(|layer_idx| layer(tensors, names, &shape, layer_idx))
        .collect::<Result<_>>()?;
    Ok(Bert {
        shape,
        words,
        positions,
        norm,
        layers,
    })
}

fn layer(tensors: &mut Tensors, names: &Names, shape: &Shape, layer_idx: usize) -> Result<Layer> {
    let Shape { hidden, inner, .. } = *shape;
    let mut read = |part, rows: usize, columns: usize| {
        let weight = tensors.read(&names.layer(layer_idx, part, "weight"), &[rows, columns])?;
        let bias = tensors.read(&names.layer(layer_idx, part, "bias"), &[rows])?;
        Result::Ok((weight, bias))
    };
    // The scale of the scores is a part of the query.
    let scale = 1.0 / ((hidden / shape.heads) as f32).sqrt();
    let (mut weight, mut bias) = read(Part::Query, hidden, hidden)?;
    for value in weight.iter_mut().chain(&mut bias) {
        *value *= scale;
    }
    for part in [Part::Key, Part::Value] {
        let (more, more_bias) = read(part, hidden, hidden)?;
        weight.extend(more);
        bias.extend(more_bias);
    }
    let qkv = linear(hidden, &weight, bias);
    let mut dense = |part, rows, columns| {
        let (weight, bias) = read(part, rows, columns)?;
        Result::Ok(linear(columns, &weight, bias))
    };
    let output = dense(Part::Output, hidden, hidden)?;
    let up = dense(Part::Up, inner, hidden)?;
    let down = dense(Part::Down, hidden, inner)?;
    let mut norm = |part| {
        Result::Ok(Norm {
            weight: tensors.read(&names.layer(layer_idx, part, "weight"), &[hidden])?,
            bias: tensors.read(&names.layer(layer_idx, part, "bias"), &[hidden])?,
            epsilon: shape.epsilon,
        })
    };
    Ok(Layer {
        qkv,
        output,
        attention_norm: norm(Part::OutputNorm)?,
        up,
        down,
        norm: norm(Part::Norm)?,
    })
}

fn linear(columns: usize, weight: &[f32], bias: Vec<f32>) -> Linear {
    let mut packed = Packed::default();
    packed.fill(columns, weight.chunks_exact(columns));
    Linear {
        weight: packed,
        bias,
    }
}
