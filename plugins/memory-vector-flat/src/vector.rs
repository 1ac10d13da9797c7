//! A vector's bytes.

/// Returns the bytes of a vector as they are stored: little endian, 4 a number.
pub(crate) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// Returns the numbers in stored bytes; bytes that make no whole number are left out.
pub(crate) fn from_bytes(bytes: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|bytes| f32::from_le_bytes(*bytes))
}
