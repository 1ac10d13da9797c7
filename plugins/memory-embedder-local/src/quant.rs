use half::{bf16, f16};

/// How a tensor's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dtype {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
}

impl Dtype {
    /// Numbers per block.
    pub(crate) fn block_len(self) -> usize {
        match self {
            Self::F32 | Self::F16 | Self::BF16 => 1,
            Self::Q4_0 | Self::Q4_1 | Self::Q5_0 | Self::Q5_1 | Self::Q8_0 => 32,
        }
    }

    /// Bytes per block.
    pub(crate) fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::BF16 => 2,
            Self::Q4_0 => 18,
            Self::Q4_1 => 20,
            Self::Q5_0 => 22,
            Self::Q5_1 => 24,
            Self::Q8_0 => 34,
        }
    }

    /// Returns the bytes of this many numbers; `None` when they fill no whole blocks, or more than memory can hold.
    pub(crate) fn bytes(self, numbers: usize) -> Option<usize> {
        let whole = numbers.is_multiple_of(self.block_len());
        (numbers / self.block_len())
            .checked_mul(self.block_bytes())
            .filter(|_| whole)
    }

    /// Appends the numbers in `bytes`, which are whole blocks.
    pub(crate) fn append(self, bytes: &[u8], out: &mut Vec<f32>) {
        match self {
            Self::F32 => each(bytes, |block: &[u8; 4]| {
                out.push(f32::from_le_bytes(*block));
            }),
            Self::F16 => each(bytes, |block| out.push(half(*block))),
            Self::BF16 => each(bytes, |block| {
                out.push(bf16::from_le_bytes(*block).to_f32());
            }),
            Self::Q4_0 => each(bytes, |[a, b, low @ ..]: &[u8; 18]| {
                nibbles(half([*a, *b]), -8.0, 0.0, low, 0, out);
            }),
            Self::Q4_1 => each(bytes, |[a, b, c, d, low @ ..]: &[u8; 20]| {
                nibbles(half([*a, *b]), 0.0, half([*c, *d]), low, 0, out);
            }),
            Self::Q5_0 => each(bytes, |[a, b, h0, h1, h2, h3, low @ ..]: &[u8; 22]| {
                let high = u32::from_le_bytes([*h0, *h1, *h2, *h3]);
                nibbles(half([*a, *b]), -16.0, 0.0, low, high, out);
            }),
            Self::Q5_1 => each(
                bytes,
                |[a, b, c, d, h0, h1, h2, h3, low @ ..]: &[u8; 24]| {
                    let high = u32::from_le_bytes([*h0, *h1, *h2, *h3]);
                    nibbles(half([*a, *b]), 0.0, half([*c, *d]), low, high, out);
                },
            ),
            Self::Q8_0 => each(bytes, |[a, b, values @ ..]: &[u8; 34]| {
                let scale = half([*a, *b]);
                let value = |byte: &u8| f32::from(i8::from_le_bytes([*byte])) * scale;
                out.extend(values.iter().map(value));
            }),
        }
    }
}

fn half(bytes: [u8; 2]) -> f32 {
    f16::from_le_bytes(bytes).to_f32()
}

fn each<const N: usize>(bytes: &[u8], read: impl FnMut(&[u8; N])) {
    bytes.as_chunks::<N>().0.iter().for_each(read);
}

/// A block of 32: the low halves of the bytes come first, then the high ones; `high` has a fifth bit for each.
fn nibbles(scale: f32, shift: f32, min: f32, low: &[u8; 16], high: u32, out: &mut Vec<f32>) {
    let number = |idx: usize, four: u8| {
        let fifth = u8::from(high >> idx & 1 == 1) << 4;
        (f32::from(four | fifth) + shift) * scale + min
    };
    let first = low.iter().enumerate();
    out.extend(first.map(|(idx, byte)| number(idx, byte & 15)));
    let second = low.iter().enumerate();
    out.extend(second.map(|(idx, byte)| number(idx + 16, byte >> 4)));
}
