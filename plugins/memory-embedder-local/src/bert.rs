use memory_api::{Error, ErrorKind, Result};
use pulp::Arch;

use crate::gemm::{Packed, Product};
use crate::math::{Norm, add_norm, bias, bias_gelu, softmax};
use crate::tensors::Table;
use crate::variant::Pooling;

/// The sizes of a model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) hidden: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    pub(crate) inner: usize,
    /// How many positions there are for tokens.
    pub(crate) positions: usize,
    pub(crate) vocabulary: usize,
    pub(crate) epsilon: f32,
}

/// A transformer of the BERT family.
#[derive(Debug)]
pub(crate) struct Bert {
    pub(crate) shape: Shape,
    pub(crate) words: Table,
    /// A row per position, with the vector of the first segment already in it.
    pub(crate) positions: Vec<f32>,
    pub(crate) norm: Norm,
    pub(crate) layers: Vec<Layer>,
}

#[derive(Debug)]
pub(crate) struct Layer {
    /// Query, key and value in one; the query already has the scale of its head in it.
    pub(crate) qkv: Linear,
    pub(crate) output: Linear,
    pub(crate) attention_norm: Norm,
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) norm: Norm,
}

#[derive(Debug)]
pub(crate) struct Linear {
    pub(crate) weight: Packed,
    pub(crate) bias: Vec<f32>,
}

/// Memory that one thread works in, kept from pack to pack.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    rows: Vec<f32>,
    qkv: Vec<f32>,
    context: Vec<f32>,
    wide: Vec<f32>,
    scores: Vec<f32>,
    keys: Packed,
    values: Packed,
    packed: Vec<f32>,
}

impl Bert {
    /// Embeds texts, given as their tokens. All tokens stand below each other without padding; only attention looks at one text at a
    /// time, so that a text's vector is the same in any company.
    pub(crate) fn embed(
        &self,
        texts: &[&[u32]],
        pooling: Pooling,
        scratch: &mut Scratch,
    ) -> Result<Vec<Vec<f32>>> {
        let arch = Arch::new();
        let hidden = self.shape.hidden;
        let mut rows = std::mem::take(&mut scratch.rows);
        self.look_up(texts, &mut rows)?;
        // The first normalisation adds nothing but the positions.
        scratch.context.clear();
        for text in texts {
            let positions = self.positions.chunks_exact(hidden).take(text.len());
            positions.for_each(|row| scratch.context.extend_from_slice(row));
        }
        let nothing = vec![0.0; hidden];
        add_norm(arch, &mut rows, &scratch.context, &nothing, &self.norm);
        for layer in &self.layers {
            self.layer(arch, layer, texts, &mut rows, scratch);
        }
        let vectors = pool(texts, &rows, hidden, pooling);
        scratch.rows = rows;
        vectors
    }

    fn look_up(&self, texts: &[&[u32]], rows: &mut Vec<f32>) -> Result<()> {
        rows.clear();
        for text in texts {
            if text.is_empty() || text.len() > self.shape.positions {
                let message = format!("a text of {} tokens reached the model", text.len());
                return Err(Error::new(ErrorKind::Internal, message));
            }
            for token in *text {
                if !self.words.append_row(*token as usize, rows) {
                    let message = format!("the model has no vector for token {token}");
                    return Err(Error::new(ErrorKind::Corrupt, message)
                        .with_hint("the tokenizer belongs to another model; get both again"));
                }
            }
        }
        Ok(())
    }

    fn layer(
        &self,
        arch: Arch,
        layer: &Layer,
        texts: &[&[u32]],
        rows: &mut [f32],
        scratch: &mut Scratch,
    ) {
        let Shape { hidden, inner, .. } = self.shape;
        let Scratch { qkv, packed, .. } = &mut *scratch;
        layer
            .qkv
            .multiply(arch, rows, hidden, qkv, 3 * hidden, packed);
        bias(arch, qkv, &layer.qkv.bias);
        scratch.context.resize(rows.len(), 0.0);
        self.attend(arch, texts, scratch);
        let Scratch {
            qkv,
            context,
            wide,
            packed,
            ..
        } = scratch;
        layer
            .output
            .multiply(arch, context, hidden, qkv, hidden, packed);
        add_norm(arch, rows, qkv, &layer.output.bias, &layer.attention_norm);
        layer.up.multiply(arch, rows, hidden, wide, inner, packed);
        bias_gelu(arch, wide, &layer.up.bias);
        layer.down.multiply(arch, wide, inner, qkv, hidden, packed);
        add_norm(arch, rows, qkv, &layer.down.bias, &layer.norm);
    }

    /// From query, key and value to the context, text by text and head by head.
    fn attend(&self, arch: Arch, texts: &[&[u32]], scratch: &mut Scratch) {
        let Scratch {
            qkv,
            context,
            scores,
            keys,
            values,
            packed,
            ..
        } = scratch;
        let hidden = self.shape.hidden;
        let head = hidden / self.shape.heads;
        let (mut qkv, mut context) = (qkv.as_slice(), context.as_mut_slice());
        for text in texts {
            let count = text.len();
            let (text_qkv, rest) = qkv.split_at(count * 3 * hidden);
            let (text_context, rest_context) =
                std::mem::take(&mut context).split_at_mut(count * hidden);
            (qkv, context) = (rest, rest_context);
            for head_idx in 0..self.shape.heads {
                let part = |which: usize| {
                    let start = which * hidden + head_idx * head;
                    text_qkv
                        .chunks_exact(3 * hidden)
                        .map(move |row| row.get(start..start + head).unwrap_or_default())
                };
                keys.fill(head, part(1));
                values.fill_transposed(head, part(2));
                scores.clear();
                scores.resize(count * count, 0.0);
                Product {
                    a: text_qkv.get(head_idx * head..).unwrap_or_default(),
                    a_stride: 3 * hidden,
                    b: keys,
                    out: scores,
                    out_stride: count,
                    scratch: packed,
                }
                .run(arch);
                softmax(arch, scores, count);
                Product {
                    a: scores,
                    a_stride: count,
                    b: values,
                    out: text_context.get_mut(head_idx * head..).unwrap_or_default(),
                    out_stride: hidden,
                    scratch: packed,
                }
                .run(arch);
            }
        }
    }
}

impl Linear {
    fn multiply(
        &self,
        arch: Arch,
        rows: &[f32],
        width: usize,
        out: &mut Vec<f32>,
        out_width: usize,
        scratch: &mut Vec<f32>,
    ) {
        // Every number is overwritten.
        out.resize(rows.len() / width * out_width, 0.0);
        Product {
            a: rows,
            a_stride: width,
            b: &self.weight,
            out,
            out_stride: out_width,
            scratch,
        }
        .run(arch);
    }
}

fn pool(texts: &[&[u32]], rows: &[f32], hidden: usize, pooling: Pooling) -> Result<Vec<Vec<f32>>> {
    let mut rows = rows.chunks_exact(hidden);
    let mut vectors = Vec::with_capacity(texts.len());
    for text in texts {
        let used = match pooling {
            Pooling::Mean => text.len(),
            Pooling::Cls => 1,
        };
        let mut vector = vec![0.0_f32; hidden];
        for row in rows.by_ref().take(text.len()).take(used) {
            vector
                .iter_mut()
                .zip(row)
                .for_each(|(sum, value)| *sum += value);
        }
        // The rest of the text's rows, which its vector is not made of.
        rows.by_ref().take(text.len() - used).for_each(drop);
        let length = vector
            .iter()
            .map(|value| f64::from(*value).powi(2))
            .sum::<f64>()
            .sqrt();
        if !length.is_normal() {
            return Err(
                Error::new(ErrorKind::Corrupt, "the model's numbers make no vector")
                    .with_hint("the model file is damaged; remove it and get it again"),
            );
        }
        #[expect(clippy::cast_possible_truncation, reason = "a share of 1")]
        for value in &mut vector {
            *value = (f64::from(*value) / length) as f32;
        }
        vectors.push(vector);
    }
    Ok(vectors)
}
