//! A vector's bytes.

/// Returns the bytes of a vector as sqlite-vec takes them: 4 a number, in the machine's order.
pub(crate) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect()
}
