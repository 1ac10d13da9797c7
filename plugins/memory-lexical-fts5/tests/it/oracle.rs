//! The same scores from first principles: a map of entries, `memory_text::analyze`, and the formula.

use std::collections::BTreeMap;

use memory_api::{EntryId, Hit, LexicalEntry};
use memory_text::{Clause, Form, Query, analyze};

const HEADING_WEIGHT: f64 = 1.5;
const PATH_WEIGHT: f64 = 0.3;

/// The tokens at each position.
type Positions = Vec<Vec<(Form, String)>>;

/// Whether a term stands at the beginning of what is left of a field.
type Matches<'a> = Box<dyn Fn(&[Vec<(Form, String)>]) -> bool + 'a>;

struct Analysed {
    text: Positions,
    headings: Vec<Positions>,
    path: Positions,
}

#[derive(Default)]
pub(crate) struct Oracle(BTreeMap<EntryId, Analysed>);

fn positions(text: &str) -> Positions {
    let mut all = Positions::new();
    analyze(text, &mut |token| {
        all.resize(all.len().max(token.position as usize + 1), Vec::new());
        all[token.position as usize].push((token.form, token.text.to_owned()));
    });
    all
}

/// How often a clause's term stands in a field.
fn count(field: &Positions, matches: &Matches<'_>) -> f64 {
    (0..field.len()).filter(|at| matches(&field[*at..])).count() as f64
}

impl Oracle {
    pub(crate) fn put(&mut self, entry: &LexicalEntry) {
        let analysed = Analysed {
            text: positions(&entry.text),
            headings: entry.heading_path.iter().map(|h| positions(h)).collect(),
            path: positions(&entry.fields.path),
        };
        self.0.insert(entry.id, analysed);
    }

    pub(crate) fn delete(&mut self, id: EntryId) {
        self.0.remove(&id);
    }

    fn tf(entry: &Analysed, matches: &Matches<'_>) -> (f64, bool) {
        let in_headings: f64 = entry.headings.iter().map(|h| count(h, matches)).sum();
        let tf = count(&entry.text, matches) + HEADING_WEIGHT * in_headings;
        (tf, count(&entry.path, matches) > 0.0)
    }

    fn terms(clause: &Clause) -> Vec<(f64, Matches<'_>)> {
        match clause {
            Clause::Word(terms) => terms
                .iter()
                .map(|term| {
                    let matches = move |at: &[Vec<(Form, String)>]| {
                        at[0]
                            .iter()
                            .any(|(form, text)| *form == term.form && *text == term.text)
                    };
                    (f64::from(term.weight), Box::new(matches) as Matches<'_>)
                })
                .collect(),
            Clause::Phrase(words) => vec![(
                1.0,
                Box::new(move |at: &[Vec<(Form, String)>]| {
                    words.len() <= at.len()
                        && words.iter().zip(at).all(|(word, tokens)| {
                            tokens
                                .iter()
                                .any(|(form, text)| *form == Form::Exact && text == word)
                        })
                }),
            )],
            Clause::Prefix(start) => vec![(
                1.0,
                Box::new(move |at: &[Vec<(Form, String)>]| {
                    at[0].iter().any(|(form, text)| {
                        *form == Form::Exact && text.starts_with(start.as_str())
                    })
                }),
            )],
        }
    }

    pub(crate) fn search(&self, text: &str) -> Vec<Hit> {
        let query = Query::parse(text);
        let n = self.0.len() as f64;
        let idf = |df: f64| (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        let average = self.0.values().map(|e| e.text.len() as f64).sum::<f64>() / n.max(1.0);
        let mut scores: BTreeMap<EntryId, f64> = BTreeMap::new();
        for clause in &query.clauses {
            for (weight, matches) in Self::terms(clause) {
                let found: Vec<_> = self
                    .0
                    .iter()
                    .map(|(id, e)| (*id, e, Self::tf(e, &matches)))
                    .collect();
                let content_df = found.iter().filter(|(_, _, (tf, _))| *tf > 0.0).count() as f64;
                let path_df = found.iter().filter(|(_, _, (_, path))| *path).count() as f64;
                for (id, entry, (tf, in_path)) in found {
                    let k = 1.2 * (0.25 + 0.75 * entry.text.len() as f64 / average);
                    let content = if tf > 0.0 {
                        weight * idf(content_df) * tf / (tf + k)
                    } else {
                        0.0
                    };
                    let path = if in_path {
                        weight * PATH_WEIGHT * idf(path_df)
                    } else {
                        0.0
                    };
                    let score = content.max(path);
                    if score > 0.0 {
                        *scores.entry(id).or_default() += score;
                    }
                }
            }
        }
        for clause in &query.excluded {
            for (_, matches) in Self::terms(clause) {
                scores.retain(|id, _| {
                    let (tf, in_path) = Self::tf(&self.0[id], &matches);
                    tf == 0.0 && !in_path
                });
            }
        }
        let mut hits: Vec<_> = scores
            .into_iter()
            .map(|(id, score)| Hit {
                id,
                score: to_f32(score),
            })
            .collect();
        hits.sort_by(Hit::rank);
        hits
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the contract wants f32")]
fn to_f32(score: f64) -> f32 {
    score as f32
}
