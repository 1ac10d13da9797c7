//! Feature hashing: every word adds to one number of the vector, or takes from it, as its hash says. Words that meet in one
//! number cancel out as often as they add up, so that texts without a common word are nearly at right angles.

use memory_text::{Form, analyze};

/// Version of what a text's vector is. It is a part of the space; bump it when vectors change.
pub(crate) const VERSION: u32 = 1;

/// Returns the unit vector of a text. A text without words, or whose words cancel out, has the first axis.
pub(crate) fn vector_of(text: &str, dimensions: usize) -> Vec<f32> {
    // Whole numbers, so the order of the words changes no bit.
    let mut sums = vec![0_i64; dimensions];
    analyze(text, &mut |token| {
        let (bucket, sign) = place_of(token.form, token.text, dimensions);
        if let Some(sum) = sums.get_mut(bucket) {
            *sum += sign;
        }
    });
    let square: f64 = sums.iter().map(|sum| (*sum as f64).powi(2)).sum();
    if square == 0.0 {
        return (0..dimensions).map(|axis| f32::from(axis == 0)).collect();
    }
    let length = square.sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "it lies between -1 and 1")]
    let vector = sums
        .iter()
        .map(|sum| (*sum as f64 / length) as f32)
        .collect();
    vector
}

/// Returns the number a word belongs to, and whether it adds or takes.
fn place_of(form: Form, word: &str, dimensions: usize) -> (usize, i64) {
    let form: u8 = match form {
        Form::Exact => 0,
        Form::Stem => 1,
    };
    let hash = mixed(fnv1a(std::iter::once(form).chain(word.bytes())));
    // The upper half chooses the number and the lowest bit the sign, so that one says nothing about the other.
    let bucket = (hash >> 32) % dimensions as u64;
    let sign = if hash & 1 == 0 { 1 } else { -1 };
    (usize::try_from(bucket).unwrap_or(0), sign)
}

/// The hash FNV-1a of 64 bits, the same on every machine and in every version of Rust.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Lets every bit depend on every other one (MurmurHash3's last step). The lowest bit of FNV is but a sum of lowest bits, so that a
/// word and its equal stem would always have opposite signs.
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}
