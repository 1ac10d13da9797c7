//! What a vector has to be, and its bytes.

use memory_api::{Error, ErrorKind, Result};

/// Brings a vector to length 1, so that its squares add up within the range of f32.
///
/// # Errors
///
/// `InvalidInput` for other dimensions, a number that is not finite, or length 0.
pub(crate) fn unit(vector: &[f32], dimensions: usize) -> Result<Vec<f32>> {
    let refuse = |message| {
        Err(Error::new(ErrorKind::InvalidInput, message)
            .with_hint("give a vector as the index's embedder makes it"))
    };
    if vector.len() != dimensions {
        let n_numbers = vector.len();
        return refuse(format!(
            "the vector has {n_numbers} numbers, the index's space has {dimensions}"
        ));
    }
    if let Some(number) = vector.iter().find(|number| !number.is_finite()) {
        return refuse(format!("a number of the vector is `{number}`"));
    }
    // In f64 neither a very long nor a very short vector leaves the range.
    let square: f64 = vector.iter().map(|number| f64::from(*number).powi(2)).sum();
    if square == 0.0 {
        return refuse("the vector has length 0 and no direction".to_owned());
    }
    let length = square.sqrt();
    Ok(vector
        .iter()
        .map(|number| to_f32(f64::from(*number) / length))
        .collect())
}

/// Returns the bytes of a vector as sqlite-vec takes them: 4 a number, in the machine's order.
pub(crate) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding a number between -1 and 1 is what is wanted"
)]
fn to_f32(number: f64) -> f32 {
    number as f32
}
