//! The parts of a transformer that are no products. Loops are written so that the compiler can use wide registers: a fixed number of
//! independent sums, no branches, no calls.

use pulp::Arch;

/// Independent sums, so that their order is fixed and they fit one wide register.
const LANES: usize = 16;

/// Adds the bias to each row and applies the exact Gelu.
pub(crate) fn bias_gelu(arch: Arch, rows: &mut [f32], bias: &[f32]) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(bias.len().max(1)) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value = gelu(*value + *bias);
            }
        }
    });
}

/// Adds the bias to each row.
pub(crate) fn bias(arch: Arch, rows: &mut [f32], bias: &[f32]) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(bias.len().max(1)) {
            for (value, bias) in row.iter_mut().zip(bias) {
                *value += *bias;
            }
        }
    });
}

/// A normalisation's weights.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

/// `rows = norm(rows + added + bias)`.
pub(crate) fn add_norm(arch: Arch, rows: &mut [f32], added: &[f32], bias: &[f32], norm: &Norm) {
    arch.dispatch(|| {
        let width = bias.len().max(1);
        let pairs = rows.chunks_exact_mut(width).zip(added.chunks_exact(width));
        for (row, added) in pairs {
            for ((value, added), bias) in row.iter_mut().zip(added).zip(bias) {
                *value += *added + *bias;
            }
            let count = width as f32;
            let mean = sum(row, |value| value) / count;
            let variance = sum(row, |value| (value - mean) * (value - mean)) / count;
            let scale = 1.0 / (variance + norm.epsilon).sqrt();
            let weights = norm.weight.iter().zip(&norm.bias);
            for (value, (weight, bias)) in row.iter_mut().zip(weights) {
                *value = (*value - mean) * scale * *weight + *bias;
            }
        }
    });
}

/// Makes each row of `width` numbers, of which the first `used` count, a share of 1.
pub(crate) fn softmax(arch: Arch, rows: &mut [f32], width: usize) {
    arch.dispatch(|| {
        for row in rows.chunks_exact_mut(width.max(1)) {
            let highest = max(row);
            for value in row.iter_mut() {
                *value = exp(*value - highest);
            }
            let scale = 1.0 / sum(row, |value| value);
            for value in row.iter_mut() {
                *value *= scale;
            }
        }
    });
}

#[expect(
    clippy::inline_always,
    reason = "only what is inlined into a dispatch is compiled for the wide registers"
)]
#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += of(*value);
        }
    }
    sums.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
}

#[expect(clippy::inline_always, reason = "as `sum`")]
#[inline(always)]
fn max(values: &[f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut highest = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for (highest, value) in highest.iter_mut().zip(chunk) {
            *highest = if *value > *highest { *value } else { *highest };
        }
    }
    let all = highest.iter().chain(rest);
    all.fold(f32::NEG_INFINITY, |highest, value| highest.max(*value))
}

/// `x · Φ(x)` with the error function by Abramowitz and Stegun 7.1.26, which is off by at most 1.5e-7.
#[expect(clippy::inline_always, reason = "as `sum`")]
#[inline(always)]
pub(crate) fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = t
        * (0.254_829_6
            + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    let tail = series * exp(-z * z);
    // The tail is what the error function lacks to 1.
    let phi = if x < 0.0 {
        0.5 * tail
    } else {
        1.0 - 0.5 * tail
    };
    x * phi
}

/// The exponential of what is not above 88, to a few units in the last place; 0 far below.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// 1.5 × 2^23: adding it leaves the nearest integer in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x < -87.0 { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let series = 1.0
        + r * (1.0
            + r * (0.5
                + r * (0.166_666_66
                    + r * (0.041_666_49 + r * (0.008_334_519 + r * 0.001_399_24)))));
    let power = shifted
        .to_bits()
        .wrapping_sub(ROUND.to_bits())
        .wrapping_add(127)
        << 23;
    series * f32::from_bits(power)
}
