//! Models of random weights, made here: a few hundred kilobytes, the same for ever.
//!
//! Weights are whole sixty-fourths from -8/64 to 7/64, which every format holds exactly: the same model in two formats is the same
//! model bit by bit.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// How a file stores its weights; norms and biases are f32 everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
}

pub(crate) const FORMATS: [Format; 8] = [
    Format::F32,
    Format::F16,
    Format::BF16,
    Format::Q4_0,
    Format::Q4_1,
    Format::Q5_0,
    Format::Q5_1,
    Format::Q8_0,
];

/// A tensor, rows first, in sixty-fourths.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub(crate) gguf: String,
    pub(crate) hub: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) steps: Vec<i8>,
}

impl Tensor {
    pub(crate) fn numbers(&self) -> Vec<f32> {
        self.steps
            .iter()
            .map(|step| f32::from(*step) / 64.0)
            .collect()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    pub(crate) positions: usize,
    pub(crate) pieces: Vec<(String, f32)>,
    pub(crate) tensors: Vec<Tensor>,
    /// Keys that a test adds or replaces, written as text.
    pub(crate) keys: Vec<(String, String)>,
}

/// Splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.roll() % limit as u64).unwrap()
    }
}

/// Special pieces, single characters of several scripts, and some words.
fn pieces() -> Vec<(String, f32)> {
    let mut pieces: Vec<(String, f32)> = ["<s>", "<pad>", "</s>", "<unk>"]
        .map(|piece| (piece.to_owned(), 0.0))
        .into();
    let words = "▁the ▁ferry ▁leaves ▁at ▁six ing ▁pier ▁harbour er in he ▁query: ▁passage:";
    for (idx, word) in (0_u8..).zip(words.split(' ')) {
        pieces.push((word.to_owned(), -4.0 - f32::from(idx) / 8.0));
    }
    let singles = "▁abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:!?-'\"猫犬港工事点出서울Приветмהשלום";
    for (idx, single) in singles.chars().enumerate() {
        if !pieces.iter().any(|(piece, _)| *piece == single.to_string()) {
            pieces.push((single.to_string(), -8.0 - idx as f32 / 64.0));
        }
    }
    pieces
}

impl Made {
    /// The model most tests use.
    pub(crate) fn small() -> Self {
        Self::new(32, 2, 4, 96, 64)
    }

    pub(crate) fn new(
        hidden: usize,
        layers: usize,
        heads: usize,
        inner: usize,
        positions: usize,
    ) -> Self {
        let pieces = pieces();
        let mut dice = Dice(7);
        let mut tensors = Vec::new();
        let mut add = |gguf: String, hub: String, shape: &[usize], base: i8| {
            let count: usize = shape.iter().product();
            let mut step = || base + i8::try_from(dice.below(16)).unwrap() - 8;
            tensors.push(Tensor {
                gguf,
                hub,
                shape: shape.to_vec(),
                steps: (0..count).map(|_| step()).collect(),
            });
        };
        for (gguf, hub, rows) in [
            ("token_embd", "word_embeddings", pieces.len()),
            ("position_embd", "position_embeddings", positions),
            ("token_types", "token_type_embeddings", 2),
        ] {
            let hub = format!("embeddings.{hub}.weight");
            add(format!("{gguf}.weight"), hub, &[rows, hidden], 0);
        }
        // Weights of norms are around 1, so that numbers neither vanish nor grow.
        for (end, base) in [("weight", 64), ("bias", 0)] {
            let hub = format!("embeddings.LayerNorm.{end}");
            add(format!("token_embd_norm.{end}"), hub, &[hidden], base);
        }
        for layer in 0..layers {
            for (gguf, hub, rows, columns) in [
                ("attn_q", "attention.self.query", hidden, hidden),
                ("attn_k", "attention.self.key", hidden, hidden),
                ("attn_v", "attention.self.value", hidden, hidden),
                ("attn_output", "attention.output.dense", hidden, hidden),
                ("ffn_up", "intermediate.dense", inner, hidden),
                ("ffn_down", "output.dense", hidden, inner),
            ] {
                let gguf = format!("blk.{layer}.{gguf}");
                let hub = format!("encoder.layer.{layer}.{hub}");
                let shape = [rows, columns];
                add(format!("{gguf}.weight"), format!("{hub}.weight"), &shape, 0);
                add(format!("{gguf}.bias"), format!("{hub}.bias"), &[rows], 0);
            }
            for (gguf, hub) in [
                ("attn_output_norm", "attention.output.LayerNorm"),
                ("layer_output_norm", "output.LayerNorm"),
            ] {
                for (end, base) in [("weight", 64), ("bias", 0)] {
                    let hub = format!("encoder.layer.{layer}.{hub}.{end}");
                    add(format!("blk.{layer}.{gguf}.{end}"), hub, &[hidden], base);
                }
            }
        }
        Self {
            hidden,
            layers,
            heads,
            inner,
            positions,
            pieces,
            tensors,
            keys: Vec::new(),
        }
    }

    pub(crate) fn tensor(&mut self, gguf: &str) -> &mut Tensor {
        let found = self.tensors.iter_mut().find(|tensor| tensor.gguf == gguf);
        found.unwrap()
    }

    /// Returns the bytes of a GGUF file, and where its sections end: head, keys, tensor list, data.
    pub(crate) fn gguf(&self, format: Format) -> (Vec<u8>, [usize; 4]) {
        let (mut keys, mut n_keys) = (Vec::new(), 0_u64);
        let mut key = |name: &str, kind: u32, value: &[u8]| {
            text(&mut keys, name);
            keys.extend(kind.to_le_bytes());
            keys.extend(value);
            n_keys += 1;
        };
        let string = |value: &str| {
            let mut bytes = Vec::new();
            text(&mut bytes, value);
            bytes
        };
        let own: Vec<_> = self.keys.iter().map(|(name, _)| name.as_str()).collect();
        for (name, value) in [
            ("general.architecture", "bert"),
            ("tokenizer.ggml.model", "t5"),
        ] {
            if !own.contains(&name) {
                key(name, 8, &string(value));
            }
        }
        for (name, value) in &self.keys {
            key(name, 8, &string(value));
        }
        for (name, value) in [
            ("bert.block_count", self.layers),
            ("bert.context_length", self.positions),
            ("bert.embedding_length", self.hidden),
            ("bert.feed_forward_length", self.inner),
            ("bert.attention.head_count", self.heads),
            ("bert.pooling_type", 1),
            ("tokenizer.ggml.bos_token_id", 0),
            ("tokenizer.ggml.eos_token_id", 2),
            ("tokenizer.ggml.padding_token_id", 1),
            ("tokenizer.ggml.unknown_token_id", 3),
        ] {
            if !own.contains(&name) {
                key(name, 4, &u32::try_from(value).unwrap().to_le_bytes());
            }
        }
        let epsilon = 1e-5_f32.to_le_bytes();
        key("bert.attention.layer_norm_epsilon", 6, &epsilon);
        let (mut tokens, mut scores) = (array(8, self.pieces.len()), array(6, self.pieces.len()));
        for (piece, score) in &self.pieces {
            text(&mut tokens, piece);
            scores.extend(score.to_le_bytes());
        }
        key("tokenizer.ggml.tokens", 9, &tokens);
        key("tokenizer.ggml.scores", 9, &scores);

        let (mut list, mut data) = (Vec::new(), Vec::new());
        for tensor in &self.tensors {
            let format = match tensor.shape.as_slice() {
                [_, _] => format,
                _ => Format::F32,
            };
            text(&mut list, &tensor.gguf);
            list.extend(u32::try_from(tensor.shape.len()).unwrap().to_le_bytes());
            for size in tensor.shape.iter().rev() {
                list.extend((*size as u64).to_le_bytes());
            }
            list.extend(number(format).to_le_bytes());
            list.extend((data.len() as u64).to_le_bytes());
            encode(&tensor.steps, format, &mut data);
            data.resize(data.len().next_multiple_of(32), 0);
        }
        let mut file = b"GGUF".to_vec();
        file.extend(3_u32.to_le_bytes());
        file.extend((self.tensors.len() as u64).to_le_bytes());
        file.extend(n_keys.to_le_bytes());
        let mut ends = [file.len(), 0, 0, 0];
        for (section, end) in [keys, list, data].into_iter().zip(1..) {
            file.extend(section);
            ends[end] = file.len();
            if end == 2 {
                file.resize(file.len().next_multiple_of(32), 0);
            }
        }
        (file, ends)
    }

    /// Returns the bytes of a safetensors file; `format` is f32, f16 or bf16.
    pub(crate) fn safetensors(&self, format: Format) -> Vec<u8> {
        let mut data = Vec::new();
        let mut header = serde_json::Map::new();
        for tensor in &self.tensors {
            let start = data.len();
            encode(&tensor.steps, format, &mut data);
            let entry = json!({
                "dtype": format!("{format:?}"),
                "shape": tensor.shape,
                "data_offsets": [start, data.len()],
            });
            header.insert(tensor.hub.clone(), entry);
        }
        let header = Value::Object(header).to_string();
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.as_bytes());
        file.extend(data);
        file
    }

    pub(crate) fn config(&self) -> Value {
        json!({
            "model_type": "bert",
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "intermediate_size": self.inner,
            "max_position_embeddings": self.positions,
            "vocab_size": self.pieces.len(),
            "layer_norm_eps": 1e-5,
            "hidden_act": "gelu",
        })
    }

    /// The same vocabulary as a `tokenizer.json`, in the form such models come with.
    pub(crate) fn tokenizer(&self) -> Value {
        json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": [],
            "normalizer": null,
            "pre_tokenizer": { "type": "Sequence", "pretokenizers": [
                { "type": "Split", "pattern": { "String": " " }, "behavior": "Removed", "invert": false },
                { "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true },
            ] },
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [
                    { "SpecialToken": { "id": "<s>", "type_id": 0 } },
                    { "Sequence": { "id": "A", "type_id": 0 } },
                    { "SpecialToken": { "id": "</s>", "type_id": 0 } },
                ],
                "pair": [
                    { "Sequence": { "id": "A", "type_id": 0 } },
                    { "Sequence": { "id": "B", "type_id": 0 } },
                ],
                "special_tokens": {
                    "<s>": { "id": "<s>", "ids": [0], "tokens": ["<s>"] },
                    "</s>": { "id": "</s>", "ids": [2], "tokens": ["</s>"] },
                },
            },
            "decoder": null,
            "model": { "type": "Unigram", "unk_id": 3, "vocab": self.pieces, "byte_fallback": false },
        })
    }

    /// Writes a GGUF file into a folder.
    pub(crate) fn write_gguf(&self, dir: &Path, format: Format) -> PathBuf {
        let path = dir.join(format!("made-{format:?}.gguf"));
        std::fs::write(&path, self.gguf(format).0).unwrap();
        path
    }

    /// Writes a folder with safetensors into a folder.
    pub(crate) fn write_folder(&self, dir: &Path, format: Format) -> PathBuf {
        let path = dir.join(format!("made-{format:?}"));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("model.safetensors"), self.safetensors(format)).unwrap();
        std::fs::write(path.join("config.json"), self.config().to_string()).unwrap();
        std::fs::write(path.join("tokenizer.json"), self.tokenizer().to_string()).unwrap();
        path
    }
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn array(kind: u32, len: usize) -> Vec<u8> {
    let mut bytes = kind.to_le_bytes().to_vec();
    bytes.extend((len as u64).to_le_bytes());
    bytes
}

fn number(format: Format) -> u32 {
    match format {
        Format::F32 => 0,
        Format::F16 => 1,
        Format::Q4_0 => 2,
        Format::Q4_1 => 3,
        Format::Q5_0 => 6,
        Format::Q5_1 => 7,
        Format::Q8_0 => 8,
        Format::BF16 => 30,
    }
}

/// Writes sixty-fourths as the formats' own programs would.
fn encode(steps: &[i8], format: Format, out: &mut Vec<u8>) {
    /// 1/64 and -8/64 as halves.
    const STEP: [u8; 2] = 0x2400_u16.to_le_bytes();
    const LOWEST: [u8; 2] = 0xB000_u16.to_le_bytes();
    let numbers = steps.iter().map(|step| f32::from(*step) / 64.0);
    match format {
        Format::F32 => out.extend(numbers.flat_map(f32::to_le_bytes)),
        Format::F16 => {
            out.extend(numbers.flat_map(|number| half::f16::from_f32(number).to_le_bytes()));
        }
        // The upper half of an f32.
        Format::BF16 => out.extend(numbers.flat_map(|number| {
            let bytes = number.to_le_bytes();
            [bytes[2], bytes[3]]
        })),
        Format::Q8_0 => {
            for block in steps.chunks_exact(32) {
                out.extend(STEP);
                out.extend(block.iter().map(|step| step.to_le_bytes()[0]));
            }
        }
        Format::Q4_0 | Format::Q4_1 | Format::Q5_0 | Format::Q5_1 => {
            for block in steps.chunks_exact(32) {
                let with_lowest = matches!(format, Format::Q4_1 | Format::Q5_1);
                let zero = if format == Format::Q5_0 { 16 } else { 8 };
                let codes: Vec<u8> = block
                    .iter()
                    .map(|step| (step + zero).cast_unsigned())
                    .collect();
                out.extend(STEP);
                if with_lowest {
                    out.extend(LOWEST);
                }
                if matches!(format, Format::Q5_0 | Format::Q5_1) {
                    let fifth = |idx: usize| u32::from(codes[idx] >> 4) << idx;
                    out.extend((0..32).map(fifth).sum::<u32>().to_le_bytes());
                }
                out.extend((0..16).map(|idx| codes[idx] & 15 | codes[idx + 16] << 4));
            }
        }
    }
}
