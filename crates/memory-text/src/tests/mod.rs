mod analysis;
mod date;
mod estimate;
mod language;
mod properties;
mod query;
mod redact;
mod snippet;

use std::collections::HashMap;

use crate::{Clause, Form, Query, analyze};

/// Every token as `position:text`, stems with a `~`.
fn tokens(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    analyze(text, &mut |token| {
        let mark = if token.form == Form::Stem { "~" } else { "" };
        found.push(format!("{}:{mark}{}", token.position, token.text));
    });
    found
}

fn exact(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    analyze(text, &mut |token| {
        if token.form == Form::Exact {
            found.push(token.text.to_owned());
        }
    });
    found
}

/// What an index does with a query, in memory: a score that counts weights, 0 without a match or with an excluded clause.
fn score(query: &str, text: &str) -> f32 {
    let query = Query::parse(query);
    let mut places: HashMap<(Form, String), Vec<u32>> = HashMap::new();
    analyze(text, &mut |token| {
        places
            .entry((token.form, token.text.to_owned()))
            .or_default()
            .push(token.position);
    });
    let of = |clause: &Clause| -> f32 {
        match clause {
            Clause::Word(terms) => terms
                .iter()
                .filter(|term| places.contains_key(&(term.form, term.text.clone())))
                .map(|term| term.weight)
                .sum(),
            Clause::Phrase(words) => {
                let at = |word: &String| {
                    places
                        .get(&(Form::Exact, word.clone()))
                        .cloned()
                        .unwrap_or_default()
                };
                let follows = |start: u32| {
                    words
                        .iter()
                        .zip(start..)
                        .all(|(word, position)| at(word).contains(&position))
                };
                f32::from(u8::from(at(&words[0]).into_iter().any(follows)))
            }
            Clause::Prefix(start) => {
                let found = places
                    .keys()
                    .any(|(form, text)| *form == Form::Exact && text.starts_with(start));
                f32::from(u8::from(found))
            }
        }
    };
    if query.excluded.iter().any(|clause| of(clause) > 0.0) {
        return 0.0;
    }
    query.clauses.iter().map(of).sum()
}

fn finds(query: &str, text: &str) -> bool {
    score(query, text) > 0.0
}
