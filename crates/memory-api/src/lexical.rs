use std::fmt;

use async_trait::async_trait;

use crate::{EntryId, Fields, Hit, Projection, Result};

/// What a lexical index holds of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LexicalEntry {
    /// The entry.
    pub id: EntryId,
    /// Its text.
    pub text: String,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// What filters look at.
    pub fields: Fields,
}

impl LexicalEntry {
    /// Creates an entry without headings.
    pub fn new(id: EntryId, text: impl Into<String>, fields: Fields) -> Self {
        Self {
            id,
            text: text.into(),
            heading_path: Vec::new(),
            fields,
        }
    }
}

/// A change of a lexical index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LexicalOp {
    /// Adds the entry or replaces it whole.
    Put(Box<LexicalEntry>),
    /// Replaces the filter fields of a known entry; nothing for an unknown one.
    SetMeta(EntryId, Fields),
    /// Removes the entry.
    Delete(EntryId),
}

/// A search by words.
///
/// The text follows one query language in every index, parsed by `memory-text`: words are joined by OR and ranked, `"…"` is a
/// phrase, a trailing `*` a prefix, a leading `-` excludes; nothing else is syntax and no text is an error.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct LexicalQuery<'a> {
    /// What a person typed.
    pub text: &'a str,
    /// How many hits to return at most; 0 returns none.
    pub k: usize,
    /// Only these entries, ascending; `None` allows all.
    pub allowed: Option<&'a [EntryId]>,
}

impl<'a> LexicalQuery<'a> {
    /// Creates a query over all entries.
    pub fn new(text: &'a str, k: usize) -> Self {
        Self {
            text,
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

/// Finds entries by their words.
///
/// # Contract
///
/// The lines of [`Projection`], and:
///
/// 1. Hits are ordered by score, ties by ascending id, without repeats, at most `k`. \[`lexical::hits_are_ranked`\]
/// 2. Every hit holds a word of the query in its text or its headings; an entry that holds one is found when `k` allows.
///    \[`lexical::one_word_finds_exactly_its_entries`\] \[`lexical::many_words_find_the_entries_of_each`\]
///    \[`lexical::heading_words_are_found`\] \[`lexical::words_of_every_script_are_found`\] \[`lexical::long_words_are_found`\]
/// 3. The first `k` of a search for `k + 1` are the search for `k`. \[`lexical::smaller_k_is_a_prefix`\]
/// 4. `allowed` is honoured inside the search: never fewer hits than exist. \[`lexical::allowed_ids_are_honoured`\]
/// 5. [`score`](LexicalIndex::score) equals the score [`search`](LexicalIndex::search) gives. \[`lexical::score_equals_search`\]
/// 6. No score is above [`attainable`](LexicalIndex::attainable); scores are finite and above 0 for a hit. \[`lexical::scores_are_attainable`\]
/// 7. Of two entries of one length the one with the rarer word or with more of them is before the other, of two entries with
///    the same matches the shorter one. \[`lexical::rare_and_repeated_words_weigh_more`\]
/// 8. No query text is an error, and a query without words finds nothing. \[`lexical::hostile_query_is_no_error`\]
///    \[`lexical::query_without_words_finds_nothing`\]
/// 9. With `phrase_query`, `prefix_query`, `exclude_query`: as the query language says. \[`lexical::phrase_words_stand_together`\]
///    \[`lexical::prefix_finds_word_beginnings`\] \[`lexical::excluded_word_removes_entries`\]
/// 10. Without: every call answers [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
///     \[`lexical::undeclared_phrase_is_unsupported`\] \[`lexical::undeclared_prefix_is_unsupported`\]
///     \[`lexical::undeclared_exclusion_is_unsupported`\]
#[async_trait]
pub trait LexicalIndex: Projection<LexicalOp> + fmt::Debug {
    /// Returns the best entries. The score is a BM25 of at least 0 (Lucene's idf, k1 1.2, b 0.75).
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>>;

    /// Returns the score of each id, in the order of `ids`: `Some(0.0)` for an entry without a match, `None` for an entry
    /// that is not in this index. `k` and `allowed` of the query are not looked at.
    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>>;

    /// Returns a bound that no entry's score for this query exceeds: the sum of its words' weights. 0 when the query has no
    /// word. The engine divides by it, so that a score means the same in a small and in a large memory.
    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32>;
}
