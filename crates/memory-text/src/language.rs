//! Languages: their stop words, how to recognise them, their stems.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use crate::normalise::push_folded;
use crate::script::{Script, script};
use crate::segment::segment;

/// How many words of a text are looked at to recognise its language.
const SAMPLE: usize = 96;
/// Longer words are no words; they keep their form, which also bounds what a stemmer has to chew.
const MAX_STEMMED: usize = 64;

/// A language in Latin letters other than English, with stems of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Language(usize);

const ENGLISH: u32 = 1;
/// Bit of the stop words of languages that the script alone tells.
const BY_SCRIPT: u32 = 1 << 31;

const LATIN: [(&str, Algorithm); 13] = [
    ("da", Algorithm::Danish),
    ("nl", Algorithm::Dutch),
    ("fi", Algorithm::Finnish),
    ("fr", Algorithm::French),
    ("de", Algorithm::German),
    ("hu", Algorithm::Hungarian),
    ("it", Algorithm::Italian),
    ("no", Algorithm::Norwegian),
    ("pt", Algorithm::Portuguese),
    ("ro", Algorithm::Romanian),
    ("es", Algorithm::Spanish),
    ("sv", Algorithm::Swedish),
    ("tr", Algorithm::Turkish),
];

const OTHER: [&str; 7] = ["ru", "el", "ar", "ta", "he", "bn", "ne"];

impl Language {
    fn bit(self) -> u32 {
        ENGLISH << (self.0 + 1)
    }
}

/// For each stop word, as it is compared, the languages it belongs to.
static STOP_WORDS: LazyLock<HashMap<String, u32>> = LazyLock::new(|| {
    let mut all: HashMap<String, u32> = HashMap::new();
    let mut add = |code: &str, bit: u32| {
        for word in stop_words::lookup(code).unwrap_or_default() {
            let mut folded = String::new();
            word.chars().for_each(|c| push_folded(c, &mut folded));
            *all.entry(folded).or_default() |= bit;
        }
    };
    add("en", ENGLISH);
    for (idx, (code, _)) in LATIN.iter().enumerate() {
        add(code, Language(idx).bit());
    }
    for code in OTHER {
        add(code, BY_SCRIPT);
    }
    all
});

/// Whether a word, as it is compared, only serves grammar in English, in the language given or in its script.
pub(crate) fn is_stop_word(word: &str, language: Option<Language>) -> bool {
    let bits = ENGLISH | BY_SCRIPT | language.map_or(0, Language::bit);
    STOP_WORDS
        .get(word)
        .is_some_and(|languages| languages & bits != 0)
}

/// The language of a text in Latin letters, if its stop words leave no doubt that it is one and not English.
pub(crate) fn detect(text: &str) -> Option<Language> {
    let mut english = 0_usize;
    let mut hits = [0_usize; LATIN.len()];
    let mut seen = 0;
    segment(text, |segment| {
        if let [part] = segment.parts()
            && part.is_word
        {
            seen += 1;
            if let Some(languages) = STOP_WORDS.get(segment.text(part)) {
                english += usize::from(languages & ENGLISH != 0);
                for (idx, count) in hits.iter_mut().enumerate() {
                    *count += usize::from(languages & Language(idx).bit() != 0);
                }
            }
        }
        if seen < SAMPLE {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    let best = hits.iter().copied().max().unwrap_or_default();
    let mut leaders = hits.iter().enumerate().filter(|(_, count)| **count == best);
    let (leader, _) = leaders.next()?;
    let is_clear = best >= 2 && best >= 2 * english && best * 8 >= seen && leaders.next().is_none();
    is_clear.then_some(Language(leader))
}

/// Calls `sink` with each stem of a word given in lower case, as it is compared.
pub(crate) fn stems(
    lower: &str,
    text: &str,
    language: Option<Language>,
    sink: &mut dyn FnMut(&str),
) {
    let algorithm = match lower.chars().next().map_or(Script::Other, script) {
        Script::Latin => Algorithm::English,
        Script::Cyrillic => Algorithm::Russian,
        Script::Greek => Algorithm::Greek,
        Script::Arabic => Algorithm::Arabic,
        Script::Tamil => Algorithm::Tamil,
        Script::Other => return sink(text),
    };
    if lower.len() > MAX_STEMMED {
        return sink(text);
    }
    let first = stem(algorithm, lower, text);
    sink(&first);
    if algorithm == Algorithm::English
        && let Some((_, own)) = language.and_then(|language| LATIN.get(language.0))
    {
        let second = stem(*own, lower, text);
        if second != first {
            sink(&second);
        }
    }
}

fn stem(algorithm: Algorithm, lower: &str, text: &str) -> String {
    let stemmer = Stemmer::create(algorithm);
    let stem = stemmer.stem(lower);
    if stem.is_ascii() {
        return stem.into_owned();
    }
    let mut folded = String::with_capacity(stem.len());
    stem.chars().for_each(|c| push_folded(c, &mut folded));
    if folded.is_empty() {
        text.to_owned()
    } else {
        folded
    }
}
