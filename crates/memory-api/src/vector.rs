use std::fmt;

use async_trait::async_trait;

use crate::{EmbeddingSpace, EntryId, Error, ErrorKind, Fields, Hit, Projection, Result};

/// A change of a vector index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum VectorOp {
    /// Adds the entry's vector and filter fields or replaces both.
    Put(EntryId, Vec<f32>, Fields),
    /// Replaces the filter fields of a known entry; nothing for an unknown one.
    SetMeta(EntryId, Fields),
    /// Removes the entry.
    Delete(EntryId),
}

/// A search by meaning.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct VectorQuery<'a> {
    /// A vector of the index's space.
    pub vector: &'a [f32],
    /// How many hits to return at most; 0 returns none.
    pub k: usize,
    /// Only these entries, ascending; `None` allows all.
    pub allowed: Option<&'a [EntryId]>,
}

impl<'a> VectorQuery<'a> {
    /// Creates a query over all entries.
    pub fn new(vector: &'a [f32], k: usize) -> Self {
        Self {
            vector,
            k,
            allowed: None,
        }
    }

    /// Restricts the query to these entries, ascending.
    pub fn with_allowed(mut self, allowed: &'a [EntryId]) -> Self {
        self.allowed = Some(allowed);
        self
    }
}

/// Finds entries by the closeness of their vectors.
///
/// # Contract
///
/// The lines of [`Projection`], and:
///
/// 1. Hits are ordered by score, ties by ascending id, without repeats: `k` of them, or as many as there are.
///    \[`vector::hits_are_ranked`\]
/// 2. A score is the cosine similarity (within 1e-5), in hits as well as in [`score`](VectorIndex::score), also where the search
///    for hits is approximate. \[`vector::scores_are_cosines`\]
/// 3. Vectors are compared by their direction; their length does not count, whatever the space says.
///    \[`vector::length_does_not_count`\]
/// 4. A stored vector finds its own entry first, with a score of 1. \[`vector::stored_vector_finds_itself_first`\]
/// 5. With `exact_search` the hits are the closest there are, ties at the cut go to the smaller ids, and the first `k` of a
///    search for `k + 1` are the search for `k`. \[`vector::exact_search_equals_brute_force`\]
///    \[`vector::ties_at_the_cut_ascend`\] \[`vector::smaller_k_is_a_prefix`\]
/// 6. Without it nine of the ten closest are found on average. \[`vector::approximate_search_recalls_most`\]
/// 7. `allowed` is honoured inside the search: never fewer hits than exist, however far from the query they are. Unknown ids
///    in it do no harm. \[`vector::allowed_ids_are_honoured`\]
/// 8. A vector of other dimensions, with a number that is not finite, or of length 0 is refused with
///    [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput): as a query, and in a batch, of which then nothing is
///    applied. \[`vector::malformed_query_is_refused`\] \[`vector::malformed_vector_is_refused`\]
/// 9. An index tells the space it was opened with and, with `persistent`, is bound to it: opening it with another one, be it of
///    the same dimensions, is refused with `InvalidInput` and leaves it as it was. \[`vector::space_is_the_one_it_was_opened_with`\]
///    \[`vector::another_space_is_refused`\]
#[async_trait]
pub trait VectorIndex: Projection<VectorOp> + fmt::Debug {
    /// Returns the space of its vectors.
    fn space(&self) -> &EmbeddingSpace;

    /// Returns the closest entries.
    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>>;

    /// Returns the similarity of each id, in the order of `ids`; `None` for an entry that is not in this index.
    /// `k` and `allowed` of the query are not looked at.
    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>>;
}

/// Brings a vector to length 1, for an index that compares by direction.
///
/// # Errors
///
/// `InvalidInput` for other dimensions, a number that is not finite, or length 0: what [`VectorIndex`] has to refuse.
pub fn unit_vector(vector: &[f32], dimensions: usize) -> Result<Vec<f32>> {
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

#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding a number between -1 and 1 is what is wanted"
)]
fn to_f32(number: f64) -> f32 {
    number as f32
}
