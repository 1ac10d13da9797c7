//! Writes what was read as GGUF, version 3: metadata, then where each tensor is, then the tensors.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::AtomicBool;

use memory_api::{Error, ErrorKind, Result};

use super::{Head, Source, Tensor, read_error};
use crate::stage::{self, BLOCK};

const NAME: &str = "multilingual-e5-small";
const LICENCE: &str = "mit";
const ALIGNMENT: u64 = 32;

/// A value of GGUF's metadata.
enum Value<'a> {
    Text(&'a str),
    U32(u32),
    F32(f32),
    Bool(bool),
}

/// Writes the output and knows how far it is.
struct Out<'a, W> {
    inner: &'a mut W,
    at: u64,
}

impl<W: Write> Out<'_, W> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.inner.write_all(bytes).map_err(|error| {
            Error::new(
                ErrorKind::Unavailable,
                format!("cannot write the model: {error}"),
            )
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn u32(&mut self, value: u32) -> Result<()> {
        self.put(&value.to_le_bytes())
    }

    fn u64(&mut self, value: u64) -> Result<()> {
        self.put(&value.to_le_bytes())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        self.u64(text.len() as u64)?;
        self.put(text.as_bytes())
    }

    fn entry(&mut self, key: &str, value: &Value<'_>) -> Result<()> {
        self.text(key)?;
        match value {
            Value::U32(value) => {
                self.u32(4)?;
                self.u32(*value)
            }
            Value::F32(value) => {
                self.u32(6)?;
                self.u32(value.to_bits())
            }
            Value::Bool(value) => {
                self.u32(7)?;
                self.put(&[u8::from(*value)])
            }
            Value::Text(value) => {
                self.u32(8)?;
                self.text(value)
            }
        }
    }

    /// Begins an array; `kind` is 4 (u32), 5 (i32), 6 (f32) or 8 (text).
    fn array(&mut self, key: &str, kind: u32, len: u64) -> Result<()> {
        self.text(key)?;
        self.u32(9)?;
        self.u32(kind)?;
        self.u64(len)
    }

    fn words(&mut self, words: impl Iterator<Item = u32>) -> Result<()> {
        for word in words {
            self.u32(word)?;
        }
        Ok(())
    }

    fn align(&mut self) -> Result<()> {
        let padding = self.at.next_multiple_of(ALIGNMENT) - self.at;
        for _ in 0..padding {
            self.put(&[0])?;
        }
        Ok(())
    }
}

/// How many arrays follow the plain values.
const ARRAYS: u64 = 4;

pub(super) fn write<R: Read + Seek>(
    head: &Head,
    tensors: &[Tensor],
    source: &mut Source<'_, R>,
    target: &mut impl Write,
    cancel: &AtomicBool,
) -> Result<()> {
    let mut out = Out {
        inner: target,
        at: 0,
    };
    // Sizes were held against bounds that fit.
    let small = |value: u64| Value::U32(u32::try_from(value).unwrap_or(u32::MAX));
    let values = [
        ("general.architecture", Value::Text("bert")),
        ("general.name", Value::Text(NAME)),
        ("general.license", Value::Text(LICENCE)),
        // Mostly Q4_0, in the second version of ggml's block formats.
        ("general.file_type", Value::U32(2)),
        ("general.quantization_version", Value::U32(2)),
        ("bert.block_count", small(head.layers)),
        ("bert.embedding_length", small(head.hidden)),
        ("bert.feed_forward_length", small(head.ffn)),
        ("bert.attention.head_count", small(head.heads)),
        (
            "bert.attention.layer_norm_epsilon",
            Value::F32(head.epsilon),
        ),
        ("bert.attention.causal", Value::Bool(false)),
        ("bert.context_length", small(head.positions)),
        // The mean.
        ("bert.pooling_type", Value::U32(1)),
        ("tokenizer.ggml.model", Value::Text("t5")),
        ("tokenizer.ggml.token_type_count", small(head.types)),
        ("tokenizer.ggml.bos_token_id", Value::U32(head.special.bos)),
        ("tokenizer.ggml.eos_token_id", Value::U32(head.special.eos)),
        (
            "tokenizer.ggml.padding_token_id",
            Value::U32(head.special.pad),
        ),
        (
            "tokenizer.ggml.unknown_token_id",
            Value::U32(head.special.unk),
        ),
        ("tokenizer.ggml.add_bos_token", Value::Bool(true)),
        ("tokenizer.ggml.add_eos_token", Value::Bool(true)),
        ("tokenizer.ggml.add_space_prefix", Value::Bool(true)),
        ("tokenizer.ggml.remove_extra_whitespaces", Value::Bool(true)),
    ];
    out.put(b"GGUF")?;
    out.u32(3)?;
    out.u64(tensors.len() as u64)?;
    out.u64(values.len() as u64 + ARRAYS)?;
    for (key, value) in &values {
        out.entry(key, value)?;
    }
    let count = head.pieces.len();
    out.array("tokenizer.ggml.tokens", 8, count)?;
    for piece in head.pieces.iter() {
        out.text(piece)?;
    }
    out.array("tokenizer.ggml.scores", 6, count)?;
    out.words(head.pieces.scores.iter().copied())?;
    out.array("tokenizer.ggml.token_type", 5, count)?;
    out.words(
        (0..)
            .zip(head.pieces.iter())
            .map(|(id, piece)| head.token_type(id, piece)),
    )?;
    let normalizer = &head.normalizer;
    out.array("memory.tokenizer.normalizer", 4, normalizer.len() as u64)?;
    out.words(normalizer.iter().copied())?;

    let mut offset = 0_u64;
    for tensor in tensors {
        out.text(&tensor.name)?;
        out.u32(u32::try_from(tensor.shape.len()).unwrap_or(u32::MAX))?;
        for size in &tensor.shape {
            out.u64(*size)?;
        }
        out.u32(tensor.form.ggml())?;
        out.u64(offset)?;
        offset = (offset + tensor.bytes).next_multiple_of(ALIGNMENT);
    }
    for tensor in tensors {
        out.align()?;
        copy(tensor, source, &mut out, cancel)?;
    }
    out.align()
}

fn copy<R: Read + Seek>(
    tensor: &Tensor,
    source: &mut Source<'_, R>,
    out: &mut Out<'_, impl Write>,
    cancel: &AtomicBool,
) -> Result<()> {
    source
        .inner
        .seek(SeekFrom::Start(tensor.offset))
        .map_err(|e| read_error(&e, "a tensor"))?;
    let mut block = vec![0; BLOCK];
    let mut left = tensor.bytes;
    while left > 0 {
        stage::check(cancel)?;
        let take = usize::try_from(left).map_or(block.len(), |left| left.min(block.len()));
        let block = block.get_mut(..take).unwrap_or_default();
        source
            .inner
            .read_exact(block)
            .map_err(|e| read_error(&e, "a tensor"))?;
        out.put(block)?;
        left -= take as u64;
    }
    Ok(())
}
