//! The query language and BM25 as a person would do them on paper.

/// An entry's words, heading by heading, then those of its text.
pub(super) type Words = Vec<Vec<String>>;

/// Letters and digits in a row are a word; of scripts without spaces each character is one.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars().flat_map(char::to_lowercase) {
        let alone = matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}');
        if alone || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.push(c);
        }
        if alone {
            words.push(String::new());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[derive(Debug)]
enum Clause {
    /// Words that follow each other; mostly one.
    Phrase(Vec<String>),
    Prefix(String),
}

impl Clause {
    /// Returns how often it occurs.
    fn count(&self, words: &Words) -> usize {
        let count_in = |part: &Vec<String>| match self {
            Self::Phrase(phrase) => part
                .windows(phrase.len())
                .filter(|window| window == phrase)
                .count(),
            Self::Prefix(prefix) => part.iter().filter(|word| word.starts_with(prefix)).count(),
        };
        words.iter().map(count_in).sum()
    }
}

#[derive(Debug, Default)]
pub(super) struct Query {
    clauses: Vec<Clause>,
    excluded: Vec<Clause>,
}

impl Query {
    pub(super) fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (excludes, body) = match rest.strip_prefix('-') {
                Some(body) => (true, body),
                None => (false, rest),
            };
            let quoted = body.strip_prefix('"').and_then(|body| body.split_once('"'));
            let (clauses, tail) = if let Some((phrase, tail)) = quoted {
                (phrase_of(phrase), tail)
            } else {
                let end = body.find(char::is_whitespace).unwrap_or(body.len());
                let (piece, tail) = body.split_at(end);
                (clauses_of(piece), tail)
            };
            let side = if excludes {
                &mut query.excluded
            } else {
                &mut query.clauses
            };
            side.extend(clauses);
            rest = tail.trim_start();
        }
        query
    }

    /// Returns what each clause weighs among these entries (Lucene's idf).
    fn weights(&self, all: &[&Words]) -> Vec<f64> {
        self.clauses
            .iter()
            .map(|clause| {
                let holders = all.iter().filter(|words| clause.count(words) > 0).count() as f64;
                (1.0 + (all.len() as f64 - holders + 0.5) / (holders + 0.5)).ln()
            })
            .collect()
    }

    /// Returns the sum of the weights.
    pub(super) fn attainable(&self, all: &[&Words]) -> f64 {
        self.weights(all).iter().sum()
    }

    /// Returns the score of each entry.
    pub(super) fn scores(&self, all: &[&Words]) -> Vec<f64> {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let length = |words: &Words| words.iter().map(Vec::len).sum::<usize>() as f64;
        let average = all.iter().map(|words| length(words)).sum::<f64>() / all.len().max(1) as f64;
        let weights = self.weights(all);
        all.iter()
            .map(|words| {
                if self.excluded.iter().any(|clause| clause.count(words) > 0) {
                    return 0.0;
                }
                let damping = K1 * (1.0 - B + B * length(words) / average);
                self.clauses
                    .iter()
                    .zip(&weights)
                    .map(|(clause, weight)| {
                        let count = clause.count(words) as f64;
                        weight * count / (count + damping)
                    })
                    .sum()
            })
            .collect()
    }
}

fn phrase_of(text: &str) -> Vec<Clause> {
    let words = words_of(text);
    if words.is_empty() {
        Vec::new()
    } else {
        vec![Clause::Phrase(words)]
    }
}

fn clauses_of(piece: &str) -> Vec<Clause> {
    let words = words_of(piece);
    match <[String; 1]>::try_from(words) {
        Ok([word]) if piece.ends_with('*') => vec![Clause::Prefix(word)],
        Ok([word]) => vec![Clause::Phrase(vec![word])],
        Err(words) => words
            .into_iter()
            .map(|word| Clause::Phrase(vec![word]))
            .collect(),
    }
}
