//! What a person typed, as clauses.

use std::collections::HashSet;
use std::ops::ControlFlow;

use crate::analysis::Form;
use crate::cjk::run_terms;
use crate::date::named;
use crate::language::{Languages, detect, is_stop_word};
use crate::script::{Class, class};
use crate::segment::{Part, Segment, segment};
use crate::stem::Stems;

/// Clauses beyond these are not looked at: a pasted page is as well described by its first words.
const MAX_CLAUSES: usize = 128;
/// Words of one stretch of text beyond these are not looked at, for the same reason.
const MAX_WORDS: usize = 4096;
/// What the stems of a word count, its exact form counts the rest: an inflected word is found, the very word comes first.
const STEMS: f32 = 0.5;
/// What a part of a compound counts beside the whole.
const PART: f32 = 0.5;

/// A query. Parsing never fails: a text without a word gives an empty query.
///
/// Words are joined by OR and ranked. `"…"` is a phrase, a `*` directly after a word makes it a prefix, a single `-` directly
/// before a word or phrase, at the start of the text or after white space, excludes it. Nothing else is syntax.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// What to look for, in the order typed, without repeats; at most 128.
    pub clauses: Vec<Clause>,
    /// What no result may hold.
    pub excluded: Vec<Clause>,
    /// What was asked, without operators and exclusions: what a model is to embed.
    pub text: String,
    /// A query for what no result may hold; empty when nothing is excluded.
    pub excluded_text: String,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum Clause {
    /// A word in several forms; any of them matches.
    ///
    /// The score of the clause is the sum over its terms of weight × BM25 of the term, where an entry that lacks a term gets 0
    /// for it. The weights sum to at most 1: to 1 for a word, to less for a part of a compound and for grammar.
    Word(Vec<Term>),
    /// Exact tokens at consecutive positions, never none; scored like a word of weight 1.
    Phrase(Vec<String>),
    /// Every exact token that begins with this; scored like a word of weight 1.
    Prefix(String),
}

/// A token to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The token's text.
    pub text: String,
    /// The token's form.
    pub form: Form,
    /// How much it counts; above 0 and at most 1.
    pub weight: f32,
}

impl Term {
    fn new(text: impl Into<String>, form: Form, weight: f32) -> Self {
        Self {
            text: text.into(),
            form,
            weight,
        }
    }
}

impl Query {
    /// Parses what a person typed.
    pub fn parse(text: &str) -> Self {
        let mut builder = Builder {
            languages: detect(text),
            positive: Vec::new(),
            excluded: Vec::new(),
            seen: HashSet::new(),
        };
        let (mut asked, mut excluded) = (String::new(), String::new());
        for piece in pieces(text) {
            builder.add(&piece);
            match piece {
                Piece::Text(text) | Piece::Phrase(text) => asked.push_str(text),
                Piece::Excluded(text) => {
                    // What holds a `"` stood in the other quotes, and holds none of those.
                    let [open, close] = if text.contains('"') {
                        ["“", "” "]
                    } else {
                        ["\"", "\" "]
                    };
                    excluded.extend([open, text, close]);
                }
            }
        }
        Self {
            text: without_stars(&asked),
            excluded_text: excluded.trim_end().to_owned(),
            ..builder.finish()
        }
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }
}

/// Leaves out the `*` that makes a word a prefix.
fn without_stars(text: &str) -> String {
    let mut before = ' ';
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let ends_prefix = c == '*'
            && class(before) == Class::Word
            && chars.peek().is_none_or(|next| next.is_whitespace());
        if !ends_prefix {
            kept.push(c);
        }
        before = c;
    }
    kept
}

#[derive(Debug)]
enum Piece<'a> {
    Text(&'a str),
    Phrase(&'a str),
    Excluded(&'a str),
}

/// Splits a query at its quotes and exclusions; linear in its length.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut plain_from = 0;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    let last = |quote: char| text.rfind(quote).unwrap_or(0);
    let last_closers = [last('"'), last('”')];
    while let Some((at, c)) = chars.next() {
        let rest = text.get(at..).unwrap_or_default();
        let excludes = c == '-' && before.is_whitespace();
        let quoted = if excludes {
            quote(rest, 1, at, last_closers)
        } else {
            None
        };
        let quoted = quoted.or_else(|| {
            if class(before) == Class::Word {
                None
            } else {
                quote(rest, 0, at, last_closers)
            }
        });
        let word = if excludes && quoted.is_none() {
            excluded_word(rest)
        } else {
            None
        };
        before = c;
        let Some((inner, len)) = quoted.or(word) else {
            continue;
        };
        found.push(Piece::Text(text.get(plain_from..at).unwrap_or_default()));
        found.push(match (quoted, excludes) {
            (Some(_), false) => Piece::Phrase(inner),
            _ => Piece::Excluded(inner),
        });
        plain_from = at + len;
        while chars.next_if(|(next, _)| *next < plain_from).is_some() {}
        before = text
            .get(..plain_from)
            .and_then(|done| done.chars().next_back())
            .unwrap_or(' ');
    }
    found.push(Piece::Text(text.get(plain_from..).unwrap_or_default()));
    found
}

/// The inside of the quotes that open after `skip` bytes of `rest`, and the bytes up to their end.
fn quote(rest: &str, skip: usize, at: usize, last_closers: [usize; 2]) -> Option<(&str, usize)> {
    let inner = rest.get(skip..)?;
    let (open, close, last) = match inner.chars().next()? {
        '"' => ('"', '"', last_closers[0]),
        '“' => ('“', '”', last_closers[1]),
        _ => return None,
    };
    let inner = inner.get(open.len_utf8()..)?;
    let start = skip + open.len_utf8();
    // Without this look at the last closer, a text of opening quotes alone would take quadratic time.
    if last < at + start {
        return None;
    }
    let len = inner.find(close)?;
    Some((inner.get(..len)?, start + len + close.len_utf8()))
}

/// The word after a leading `-`, up to white space or a quote.
fn excluded_word(rest: &str) -> Option<(&str, usize)> {
    let inner = rest.strip_prefix('-')?;
    let starts = inner
        .chars()
        .next()
        .is_some_and(|c| matches!(class(c), Class::Word | Class::Solid));
    let len = inner
        .find(|c: char| c.is_whitespace() || matches!(c, '"' | '“'))
        .unwrap_or(inner.len());
    if starts {
        Some((inner.get(..len)?, len + 1))
    } else {
        None
    }
}

#[derive(Debug)]
struct Builder {
    languages: Languages,
    positive: Vec<(Clause, bool)>,
    excluded: Vec<Clause>,
    seen: HashSet<String>,
}

impl Builder {
    fn add(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Text(text) => {
                let mut words = Vec::new();
                segment(text, |segment| {
                    self.segment(text, segment);
                    words.extend(
                        segment
                            .parts()
                            .iter()
                            .map(|part| segment.text(part).to_owned()),
                    );
                    if self.positive.len() < 4 * MAX_CLAUSES && words.len() < MAX_WORDS {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                });
                for date in named(&words) {
                    let tokens: Vec<String> = date.tokens().collect();
                    let weight = 1.0 / tokens.len() as f32;
                    let term = |text: String| Term::new(text, Form::Exact, weight);
                    self.push(Clause::Word(tokens.into_iter().map(term).collect()), false);
                }
            }
            Piece::Phrase(text) => {
                let words = phrase(text);
                if !words.is_empty() {
                    self.push(Clause::Phrase(words), false);
                }
            }
            Piece::Excluded(text) => {
                let words = phrase(text);
                if !words.is_empty() && self.excluded.len() < MAX_CLAUSES {
                    self.excluded.push(Clause::Phrase(words));
                }
            }
        }
    }

    fn segment(&mut self, text: &str, segment: &Segment<'_>) {
        if segment.is_solid() {
            self.solid(segment);
            return;
        }
        let is_prefix = {
            let after = text.get(segment.range().end..).unwrap_or_default();
            after.starts_with('*') && !after.starts_with("**")
        };
        if is_prefix {
            let word = match (segment.whole(), segment.parts()) {
                (Some((whole, _)), _) => whole,
                (None, [part]) => segment.text(part),
                _ => return,
            };
            self.push(Clause::Prefix(word.to_owned()), false);
            return;
        }
        match (segment.whole(), segment.parts()) {
            (Some((whole, _)), [part]) if whole.contains('\'') => {
                let is_stop = is_stop_word(whole, self.languages);
                self.word(segment, part, 1.0, is_stop);
            }
            (Some((whole, _)), parts) => {
                self.push(
                    Clause::Word(vec![Term::new(whole, Form::Exact, 1.0)]),
                    is_stop_word(whole, self.languages),
                );
                self.parts(segment, parts);
            }
            (None, parts) => {
                for part in parts {
                    self.word(segment, part, 1.0, false);
                }
            }
        }
    }

    /// The parts of a compound. A word of letters and digits is asked for undivided.
    fn parts(&mut self, segment: &Segment<'_>, mut parts: &[Part]) {
        let n_all = parts.len();
        while let [part, rest @ ..] = parts {
            parts = rest;
            let Some(word) = &part.undivided else {
                self.word(segment, part, PART, false);
                continue;
            };
            // One that is the whole compound is asked for already.
            if word.n_parts < n_all {
                let term = Term::new(segment.undivided(word), Form::Exact, PART);
                self.push(Clause::Word(vec![term]), false);
            }
            parts = rest.get(word.n_parts - 1..).unwrap_or_default();
        }
    }

    fn word(&mut self, segment: &Segment<'_>, part: &Part, weight: f32, is_stop: bool) {
        let text = segment.text(part);
        let is_stop = is_stop || is_stop_word(text, self.languages);
        let mut terms = Vec::new();
        if part.is_word {
            Stems::with(|stems| {
                stems.of(segment.lower(part), text, self.languages, |stem| {
                    terms.push(Term::new(stem, Form::Stem, 0.0));
                });
            });
        }
        let stem_weight = if terms.is_empty() {
            0.0
        } else {
            STEMS * weight / terms.len() as f32
        };
        for term in &mut terms {
            term.weight = stem_weight;
        }
        let exact_weight = if terms.is_empty() {
            weight
        } else {
            (1.0 - STEMS) * weight
        };
        terms.insert(0, Term::new(text, Form::Exact, exact_weight));
        self.push(Clause::Word(terms), is_stop);
    }

    fn solid(&mut self, segment: &Segment<'_>) {
        let characters: Vec<&str> = segment
            .parts()
            .iter()
            .map(|part| segment.text(part))
            .collect();
        for term in run_terms(&characters) {
            let text = if term.is_pair {
                segment.pair(term.start).map(|(pair, _)| pair)
            } else {
                characters.get(term.start).copied()
            };
            if let Some(text) = text {
                self.push(
                    Clause::Word(vec![Term::new(text, Form::Exact, term.weight)]),
                    term.is_stop,
                );
            }
        }
    }

    fn push(&mut self, clause: Clause, is_stop: bool) {
        let key = match &clause {
            Clause::Word(terms) => terms
                .first()
                .map_or_else(String::new, |term| format!("w{}", term.text)),
            Clause::Phrase(words) => format!("p{}", words.join(" ")),
            Clause::Prefix(start) => format!("s{start}"),
        };
        if self.seen.insert(key) {
            self.positive.push((clause, is_stop));
        }
    }

    fn finish(self) -> Query {
        let keep_stop_words = self.positive.iter().all(|(_, is_stop)| *is_stop);
        let clauses = self
            .positive
            .into_iter()
            .filter(|(_, is_stop)| keep_stop_words || !is_stop)
            .map(|(clause, _)| clause)
            .take(MAX_CLAUSES)
            .collect();
        Query {
            clauses,
            excluded: self.excluded,
            ..Query::default()
        }
    }
}

/// The exact tokens of a text, one per position, the most telling of each.
fn phrase(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut covers_last = false;
    segment(text, |segment| {
        covers_last = false;
        match (segment.whole(), segment.parts()) {
            (Some((whole, _)), [_]) => words.push(whole.to_owned()),
            (_, parts) => {
                for (index, part) in parts.iter().enumerate() {
                    let pair = if segment.is_solid() {
                        segment.pair(index)
                    } else {
                        None
                    };
                    words.push(pair.map_or_else(
                        || segment.text(part).to_owned(),
                        |(pair, _)| pair.to_owned(),
                    ));
                }
                // The last character of a run is covered by the pair before it, unless a word has to follow right after.
                covers_last = segment.is_solid() && parts.len() > 1;
            }
        }
        ControlFlow::Continue(())
    });
    if covers_last {
        words.pop();
    }
    words
}
