//! Snowball stems, remembered.

use std::cell::Cell;

use rust_stemmers::{Algorithm, Stemmer};

use crate::language::Languages;
use crate::normalise::push_folded;
use crate::script::{Script, script};

/// Longer words are no words; they keep their form, which also bounds what a stemmer has to chew.
const MAX_STEMMED: usize = 64;
/// Places for stems that were made before; a power of two. The words of a text repeat, and a stemmer takes longer than all
/// the rest of the analysis.
const PLACES: usize = 4096;

thread_local! {
    static SPARE: Cell<Option<Box<Stems>>> = const { Cell::new(None) };
}

/// Makes stems; keeps the last ones.
#[derive(Debug, Default)]
pub(crate) struct Stems {
    places: Vec<Place>,
}

/// A word in lower case and its stem as it is compared.
#[derive(Debug, Clone)]
struct Place {
    algorithm: Algorithm,
    word: String,
    stem: String,
}

impl Stems {
    /// Calls `work` with the thread's stems. It may come back here: it then gets fresh ones.
    pub(crate) fn with<T>(work: impl FnOnce(&mut Self) -> T) -> T {
        let mut stems = SPARE.take().unwrap_or_default();
        let result = work(&mut stems);
        SPARE.set(Some(stems));
        result
    }

    /// Calls `sink` with each distinct stem of a word, given in lower case and as it is compared.
    ///
    /// English comes first for Latin letters, always: a note of one language is asked for in another, and a short text gives no
    /// clue.
    pub(crate) fn of(
        &mut self,
        lower: &str,
        text: &str,
        languages: Languages,
        mut sink: impl FnMut(&str),
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
        let first = self.stem(algorithm, lower, text);
        sink(first);
        if algorithm != Algorithm::English || languages.is_empty() {
            return;
        }
        let mut seen = vec![first.to_owned()];
        for own in languages.algorithms() {
            let other = self.stem(own, lower, text);
            if !seen.iter().any(|stem| stem == other) {
                sink(other);
                seen.push(other.to_owned());
            }
        }
    }

    fn stem(&mut self, algorithm: Algorithm, lower: &str, text: &str) -> &str {
        if self.places.is_empty() {
            let empty = Place {
                algorithm,
                word: String::new(),
                stem: String::new(),
            };
            self.places.resize(PLACES, empty);
        }
        let idx = hash(algorithm, lower) % PLACES;
        let Some(place) = self.places.get_mut(idx) else {
            return "";
        };
        if place.word != lower || place.algorithm != algorithm {
            place.algorithm = algorithm;
            lower.clone_into(&mut place.word);
            place.stem.clear();
            let stemmer = Stemmer::create(algorithm);
            stemmer
                .stem(lower)
                .chars()
                .for_each(|c| push_folded(c, &mut place.stem));
            // Some algorithms take a short word for an ending altogether.
            if place.stem.is_empty() {
                place.stem.push_str(text);
            }
        }
        &place.stem
    }
}

/// FNV-1a; a collision costs a stem made again.
fn hash(algorithm: Algorithm, word: &str) -> usize {
    let start = 0xCBF2_9CE4_8422_2325 ^ algorithm as u64;
    let hash = word.bytes().fold(start, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    usize::try_from((hash ^ (hash >> 32)) & 0xFFFF_FFFF).unwrap_or_default()
}
