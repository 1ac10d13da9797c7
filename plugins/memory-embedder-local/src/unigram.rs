use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use memory_api::Result;

use crate::tensors::corrupt;

/// What an unknown character costs below the rarest piece, as sentencepiece has it.
const UNKNOWN_PENALTY: f64 = 10.0;
/// How far a piece may lie from where its hash puts it; far beyond what chance makes.
const MAX_PROBES: usize = 512;
/// How sentencepiece writes a space.
const SPACE: char = '▁';

/// A sentencepiece unigram vocabulary: text is cut so that the sum of the pieces' scores is highest.
#[derive(Debug)]
pub(crate) struct Unigram {
    pieces: Vec<String>,
    scores: Vec<f32>,
    /// Open addressing by a hash that can be carried on from prefix to prefix; a slot holds a piece's number plus 1.
    slots: Vec<u32>,
    seed: u64,
    longest: usize,
    unknown: u32,
    unknown_score: f64,
}

impl Unigram {
    /// Takes the pieces in the order of their numbers; those in `special` never stand for text.
    pub(crate) fn new(
        path: &Path,
        pieces: Vec<String>,
        scores: Vec<f32>,
        unknown: u32,
        special: &[u32],
    ) -> Result<Self> {
        if pieces.len() != scores.len() || unknown as usize >= pieces.len() {
            return Err(corrupt(
                path,
                "its vocabulary and its scores do not fit each other",
            ));
        }
        if scores.iter().any(|score| !score.is_finite()) {
            return Err(corrupt(path, "a score of its vocabulary is not finite"));
        }
        let lowest = scores.iter().copied().fold(0.0, f32::min);
        let mut unigram = Self {
            slots: vec![0; (pieces.len() * 2).next_power_of_two()],
            seed: RandomState::new().hash_one(pieces.len()),
            longest: pieces.iter().map(String::len).max().unwrap_or(0),
            unknown,
            unknown_score: f64::from(lowest) - UNKNOWN_PENALTY,
            pieces: Vec::new(),
            scores,
        };
        for (number, piece) in (0_u32..).zip(&pieces) {
            if piece.is_empty() || special.contains(&number) {
                continue;
            }
            let hash = piece.bytes().fold(unigram.seed, step);
            let mut free = None;
            for slot in unigram.probe(hash) {
                match unigram.slots.get(slot) {
                    Some(0) => {
                        free = Some(slot);
                        break;
                    }
                    Some(other) if pieces.get(*other as usize - 1) == Some(piece) => {
                        return Err(corrupt(
                            path,
                            format!("its vocabulary holds `{piece}` twice"),
                        ));
                    }
                    _ => {}
                }
            }
            match free.and_then(|slot| unigram.slots.get_mut(slot)) {
                Some(slot) => *slot = number + 1,
                None => return Err(corrupt(path, "its vocabulary is not one of words")),
            }
        }
        unigram.pieces = pieces;
        Ok(unigram)
    }

    fn probe(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let mask = self.slots.len() - 1;
        // The upper bits are the well-mixed ones.
        let first = usize::try_from(mix(hash) >> 32).unwrap_or(0);
        (0..MAX_PROBES.min(mask + 1)).map(move |probe| (first + probe) & mask)
    }

    fn find(&self, piece: &[u8], hash: u64) -> Option<u32> {
        for slot in self.probe(hash) {
            let number = self.slots.get(slot)?.checked_sub(1)?;
            if self.pieces.get(number as usize)?.as_bytes() == piece {
                return Some(number);
            }
        }
        None
    }

    /// Cuts a normalised text; neighbouring unknown characters are one token.
    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        #[derive(Clone, Copy)]
        struct Best {
            score: f64,
            start: usize,
            number: u32,
        }
        let bytes = text.as_bytes();
        // The best way to each byte; only borders of characters are reached.
        let mut best: Vec<Option<Best>> = vec![None; bytes.len() + 1];
        for (start, first) in text.char_indices() {
            let so_far = match best.get(start) {
                Some(Some(best)) => best.score,
                _ if start == 0 => 0.0,
                _ => continue,
            };
            let mut offer = |end: usize, score: f64, number: u32| {
                if let Some(slot) = best.get_mut(end)
                    && slot.is_none_or(|best| score > best.score)
                {
                    *slot = Some(Best {
                        score,
                        start,
                        number,
                    });
                }
            };
            let one = start + first.len_utf8();
            let mut known = false;
            let mut hash = self.seed;
            for (end, byte) in (start + 1..).zip(bytes.iter().skip(start).take(self.longest)) {
                hash = step(hash, *byte);
                if text.is_char_boundary(end)
                    && let Some(piece) = bytes.get(start..end)
                    && let Some(number) = self.find(piece, hash)
                {
                    let score = self.scores.get(number as usize).copied().unwrap_or(0.0);
                    offer(end, so_far + f64::from(score), number);
                    known |= end == one;
                }
            }
            if !known {
                offer(one, so_far + self.unknown_score, self.unknown);
            }
        }
        let mut numbers = Vec::new();
        let mut end = bytes.len();
        while let Some(Some(step)) = best.get(end) {
            if step.number != self.unknown || numbers.last() != Some(&self.unknown) {
                numbers.push(step.number);
            }
            end = step.start;
        }
        numbers.reverse();
        numbers
    }
}

fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn mix(hash: u64) -> u64 {
    (hash ^ (hash >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// A normaliser that replaces single code points by none, one or several characters.
#[derive(Debug)]
pub(crate) struct CharMap(HashMap<char, Box<[char]>>);

impl CharMap {
    /// Reads entries of a code point, a count, and as many code points.
    pub(crate) fn new(path: &Path, numbers: &[u32]) -> Result<Self> {
        let wrong = || corrupt(path, "its table of characters is damaged");
        let mut map = HashMap::new();
        let mut rest = numbers;
        while let [from, count, tail @ ..] = rest {
            let (to, after) = tail.split_at_checked(*count as usize).ok_or_else(wrong)?;
            let from = char::from_u32(*from).ok_or_else(wrong)?;
            let to: Option<Box<[char]>> = to.iter().copied().map(char::from_u32).collect();
            map.insert(from, to.ok_or_else(wrong)?);
            rest = after;
        }
        if rest.is_empty() {
            Ok(Self(map))
        } else {
            Err(wrong())
        }
    }

    pub(crate) fn apply(&self, text: &str) -> String {
        let mut mapped = String::with_capacity(text.len());
        for char in text.chars() {
            match self.0.get(&char) {
                Some(chars) => mapped.extend(chars.iter()),
                None => mapped.push(char),
            }
        }
        mapped
    }
}

/// Folds runs of spaces, trims them, and writes them as sentencepiece does, with one before the text.
pub(crate) fn mark_spaces(text: &str) -> String {
    let mut marked = String::with_capacity(text.len() + 3);
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        marked.push(SPACE);
        marked.push_str(word);
    }
    marked
}
