/// What the threshold looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Graded {
    /// What the floor is held against, 0 to 1.
    pub(crate) score: f64,
    /// Whether one leg alone would let it through: it holds a word of the query, or its meaning alone reaches the floor.
    pub(crate) by_one_leg: bool,
}

/// How strictly the floor is held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Strictness {
    /// The caller named the floor: nothing below it is returned.
    Hard,
    /// The floor is a default: hits of one leg are better than empty hands.
    Relaxed,
}

/// Returns which of the candidates, ordered best first, are good enough, as ascending indexes, at most `max_results`.
///
/// Strict hits reach the floor. With [`Strictness::Relaxed`], hits of one leg fill the places that those leave: a long entry, or one
/// that no meaning came to help, stays below the floor although it holds the very word; an entry in another language than the
/// question stays below although it says the very thing.
pub(crate) fn select(
    candidates: &[Graded],
    max_results: usize,
    floor: f64,
    strictness: Strictness,
) -> Vec<usize> {
    let is_strict = |graded: &Graded| graded.score >= floor;
    let positions = |keep: &dyn Fn(&Graded) -> bool| -> Vec<usize> {
        candidates
            .iter()
            .enumerate()
            .filter(|(_, graded)| keep(graded))
            .map(|(idx, _)| idx)
            .collect()
    };
    let mut chosen = positions(&is_strict);
    if strictness == Strictness::Relaxed {
        chosen.extend(positions(&|graded| !is_strict(graded) && graded.by_one_leg));
    }
    // Strict hits were taken first, also where reranking put a weak one between them; now all stand in their order again.
    chosen.truncate(max_results);
    chosen.sort_unstable();
    chosen
}
