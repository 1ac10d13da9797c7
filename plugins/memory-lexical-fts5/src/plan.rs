//! A query, ready to be run on one state of the index.

use std::collections::HashMap;
use std::sync::OnceLock;

use memory_api::{Result, Watermark};
use memory_sqlite::rusqlite::Connection;
use memory_sqlite::sqlite_error;
use memory_text::{Clause, Form, Query};

use crate::bm25::idf;
use crate::config::Config;
use crate::schema::State;
use crate::search::Scored;
use crate::tokens::{Place, quoted};

/// A parsed query with the frequencies of its words.
///
/// A clause is worth the sum of its terms; a term what text and headings or, if that is more, the path is worth. A word scores
/// weight × BM25 per form. A phrase and a prefix are one term each: their occurrences are counted like those of a word, their
/// frequency is the number of entries that match them.
///
/// What no entry holds still counts in [`attainable`](Self::attainable), so that an entry with one of two words is half an
/// answer: a form counts like the rarest form of its word that occurs, a whole clause that does not occur like one that occurs
/// once.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) text: String,
    pub(crate) watermark: Option<Watermark>,
    /// FTS5's expression; `None` when nothing can match.
    pub(crate) expression: Option<String>,
    /// The terms of each clause that can match.
    pub(crate) clauses: Vec<Vec<Term>>,
    /// The bound of every score.
    pub(crate) attainable: f64,
    /// What running it gave; empty until it has run.
    pub(crate) scores: OnceLock<Vec<Scored>>,
    average_length: f64,
}

/// Something to look for, by the places where it occurs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Term {
    pub(crate) content: Option<Bound>,
    pub(crate) path: Option<Bound>,
}

/// A phrase of the expression.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    /// Its number.
    pub(crate) phrase: usize,
    /// The most it is worth.
    pub(crate) most: f64,
}

impl Plan {
    pub(crate) fn new(
        conn: &Connection,
        state: &State,
        text: &str,
        config: Config,
    ) -> Result<Self> {
        let query = Query::parse(text);
        let mut builder = Builder {
            conn,
            n_entries: state.n_entries,
            path_weight: config.path_weight,
            phrases: Vec::new(),
            known: HashMap::new(),
        };
        let mut clauses = Vec::new();
        let mut attainable = 0.0;
        for clause in &query.clauses {
            let (terms, most) = builder.clause(clause)?;
            attainable += most;
            clauses.push(terms);
        }
        let mut expression = None;
        if !builder.phrases.is_empty() {
            let wanted = builder.phrases.join(" OR ");
            let unwanted: Vec<_> = query
                .excluded
                .iter()
                .flat_map(forms)
                .flat_map(|(_, phrases)| phrases)
                .collect();
            expression = Some(if unwanted.is_empty() {
                wanted
            } else {
                format!("({wanted}) NOT ({})", unwanted.join(" OR "))
            });
        }
        Ok(Self {
            text: text.to_owned(),
            watermark: state.watermark,
            expression,
            clauses,
            attainable,
            scores: OnceLock::new(),
            average_length: state.n_words as f64 / state.n_entries.max(1) as f64,
        })
    }

    /// Returns a text's length as a multiple of the average.
    pub(crate) fn relative_length(&self, length: f64) -> f64 {
        if self.average_length > 0.0 {
            length / self.average_length
        } else {
            1.0
        }
    }
}

struct Builder<'a> {
    conn: &'a Connection,
    n_entries: i64,
    path_weight: f64,
    /// The expression's phrases, in order.
    phrases: Vec<String>,
    /// Number and frequency of each; words share stems.
    known: HashMap<String, Option<Found>>,
}

#[derive(Debug, Clone, Copy)]
struct Found {
    phrase: usize,
    n_matching: i64,
}

impl Builder<'_> {
    /// Returns the terms of a clause that occur, and the most the clause is worth.
    fn clause(&mut self, clause: &Clause) -> Result<(Vec<Term>, f64)> {
        let mut found = Vec::new();
        for (weight, [content, path]) in forms(clause) {
            let content = self.find(content)?;
            let path = if self.path_weight > 0.0 {
                self.find(path)?
            } else {
                None
            };
            found.push((weight, content, path));
        }
        // What is rarer is worth more, so the rarest form is the one with the least matches.
        let rarest = found
            .iter()
            .filter_map(|(_, content, path)| content.or(*path))
            .map(|found| found.n_matching)
            .min()
            .unwrap_or(1);
        let mut terms = Vec::new();
        let mut clause_most = 0.0;
        for (weight, content, path) in found {
            let bound = |found: Found, weight: f64| Bound {
                phrase: found.phrase,
                most: weight * idf(self.n_entries, found.n_matching),
            };
            let term = Term {
                content: content.map(|found| bound(found, weight)),
                path: path.map(|found| bound(found, weight * self.path_weight)),
            };
            clause_most += match (term.content, term.path) {
                (None, None) => weight * idf(self.n_entries, rarest),
                (content, path) => {
                    let most = |bound: Option<Bound>| bound.map_or(0.0, |bound| bound.most);
                    terms.push(term);
                    most(content).max(most(path))
                }
            };
        }
        Ok((terms, clause_most))
    }

    /// Adds a phrase to the expression, if any row matches it.
    fn find(&mut self, phrase: String) -> Result<Option<Found>> {
        if let Some(found) = self.known.get(&phrase) {
            return Ok(*found);
        }
        let n_matching: i64 = self
            .conn
            .prepare_cached("SELECT count(*) FROM entries WHERE entries MATCH ?1")
            .and_then(|mut count| count.query_row([&phrase], |row| row.get(0)))
            .map_err(sqlite_error)?;
        let found = (n_matching > 0).then_some(Found {
            phrase: self.phrases.len(),
            n_matching,
        });
        if found.is_some() {
            self.phrases.push(phrase.clone());
        }
        self.known.insert(phrase, found);
        Ok(found)
    }
}

/// Returns the forms of a clause: the weight of each and its phrases, for the content and for the path.
fn forms(clause: &Clause) -> Vec<(f64, [String; 2])> {
    const PLACES: [Place; 2] = [Place::Content, Place::Path];
    match clause {
        Clause::Word(terms) => terms
            .iter()
            .map(|term| {
                let phrases = PLACES.map(|place| quoted([term.text.as_str()], place, term.form));
                (f64::from(term.weight), phrases)
            })
            .collect(),
        Clause::Phrase(words) => {
            let words = || words.iter().map(String::as_str);
            let phrases = PLACES.map(|place| quoted(words(), place, Form::Exact));
            vec![(1.0, phrases)]
        }
        Clause::Prefix(start) => {
            let phrases = PLACES.map(|place| quoted([start.as_str()], place, Form::Exact) + " *");
            vec![(1.0, phrases)]
        }
    }
}
