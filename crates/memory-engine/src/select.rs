/// What the threshold looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Graded {
    /// 0 to 1.
    pub(crate) relevance: f64,
    /// Whether the entry holds a word of the query.
    pub(crate) by_words: bool,
    /// Whether the entry was found by its meaning.
    pub(crate) by_meaning: bool,
}

/// How strictly the floor is held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Strictness {
    /// The caller named the floor: nothing below it is returned.
    Hard,
    /// The floor is a default: hits by words are better than empty hands.
    Relaxed,
}

/// Returns which of the candidates, ordered best first, are good enough, as ascending indexes, at most `max_results`.
///
/// Strict hits reach the floor. With [`Strictness::Relaxed`], no strict hit lets every hit by words through; otherwise hits that
/// only words found fill the places left: a long entry, or one that no meaning came to help, stays below the floor although it
/// holds the very word.
pub(crate) fn select(
    candidates: &[Graded],
    max_results: usize,
    floor: f64,
    strictness: Strictness,
) -> Vec<usize> {
    let is_strict = |graded: &Graded| graded.relevance >= floor;
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
        let fill = if chosen.is_empty() {
            positions(&|graded| graded.by_words)
        } else {
            positions(&|graded| !is_strict(graded) && graded.by_words && !graded.by_meaning)
        };
        let n_free = max_results.saturating_sub(chosen.len());
        chosen.extend(fill.into_iter().take(n_free));
    }
    // Strict hits were taken first, also where reranking put a weak one between them; now all stand in their order again.
    chosen.truncate(max_results);
    chosen.sort_unstable();
    chosen
}
