//! Cuts a text into compounds (words, identifiers, paths) and solid runs (scripts without spaces); index and query share it.

use std::ops::{ControlFlow, Range};

use unicode_normalization::char::is_combining_mark;

use crate::normalise::{Unit, push_cluster, push_folded, push_lower};
use crate::script::{Class, class, is_hangul};

/// A compound of more parts than this is a blob, of which only the parts are kept.
const MAX_PARTS: usize = 16;
/// The same, in bytes.
const MAX_WHOLE: usize = 256;
/// A run with more changes between letters and digits than this is a hash, which has no parts.
const MAX_DIGIT_CHANGES: usize = 3;
/// A run with more humps than this is no camelCase but a blob.
const MAX_HUMPS: usize = 8;

/// What an English apostrophe leaves behind: `it's`, `don't`, `we'll`. It is no word and takes no position.
const CLITICS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];

/// A word of a compound, or a character of a solid run.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    text: Range<usize>,
    lower: Range<usize>,
    /// The bytes of the source.
    pub(crate) range: Range<usize>,
    /// Whether it has no digit, hence a stem.
    pub(crate) is_word: bool,
    /// Of the first part of a word that digits divide: the undivided word.
    pub(crate) undivided: Option<Undivided>,
    /// Of the first part of a run that humps divide: the run as who types in lower case writes it, and its bytes of the source.
    run: Option<(Range<usize>, Range<usize>)>,
}

/// A word of letters and digits, such as `server2`. Its parts can be searched for, but it stands for itself alone: to who asks
/// for `server2`, `server1` is another thing.
#[derive(Debug, Clone)]
pub(crate) struct Undivided {
    text: Range<usize>,
    /// The bytes of the source.
    pub(crate) range: Range<usize>,
    /// At least 2.
    pub(crate) n_parts: usize,
}

/// Parts that stand together without a space.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    buffer: &'a str,
    parts: &'a [Part],
    whole: Option<(Range<usize>, Range<usize>)>,
    is_solid: bool,
}

impl<'a> Segment<'a> {
    /// The parts in order, never none; each has a position of its own.
    pub(crate) fn parts(&self) -> &'a [Part] {
        self.parts
    }

    /// Whether this is a run of characters of a script without spaces.
    pub(crate) fn is_solid(&self) -> bool {
        self.is_solid
    }

    /// The bytes of the source.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.parts.first().map_or(0, |part| part.range.start);
        let end = self.parts.last().map_or(0, |part| part.range.end);
        match &self.whole {
            Some((_, range)) => start.min(range.start)..end.max(range.end),
            None => start..end,
        }
    }

    /// The part as it is compared.
    pub(crate) fn text(&self, part: &Part) -> &'a str {
        slice(self.buffer, part.text.clone())
    }

    /// The word of letters and digits as it is compared.
    pub(crate) fn undivided(&self, word: &Undivided) -> &'a str {
        slice(self.buffer, word.text.clone())
    }

    /// The run that begins with this part, where humps divide it: `camelcase` of `camelCase`.
    pub(crate) fn run(&self, part: &Part) -> Option<(&'a str, Range<usize>)> {
        let (text, range) = part.run.as_ref()?;
        Some((slice(self.buffer, text.clone()), range.clone()))
    }

    /// The part in lower case with its accents.
    pub(crate) fn lower(&self, part: &Part) -> &'a str {
        slice(self.buffer, part.lower.clone())
    }

    /// The compound or Hangul word as a whole where that is more than one part, with its bytes of the source.
    pub(crate) fn whole(&self) -> Option<(&'a str, Range<usize>)> {
        let (text, range) = self.whole.as_ref()?;
        Some((slice(self.buffer, text.clone()), range.clone()))
    }

    /// The characters of a solid run at `index` and after it, with their bytes of the source.
    pub(crate) fn pair(&self, index: usize) -> Option<(&'a str, Range<usize>)> {
        let (first, second) = (self.parts.get(index)?, self.parts.get(index + 1)?);
        Some((
            slice(self.buffer, first.text.start..second.text.end),
            first.range.start..second.range.end,
        ))
    }
}

fn slice(text: &str, range: Range<usize>) -> &str {
    text.get(range).unwrap_or_default()
}

/// Calls `sink` with every segment of the text, in order, until it breaks.
pub(crate) fn segment(text: &str, mut sink: impl FnMut(&Segment<'_>) -> ControlFlow<()>) {
    let bytes = text.as_bytes();
    let mut segmenter = Segmenter::default();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let flow;
        if let Some(end) = simple_word(bytes, at) {
            flow = sink(&segmenter.simple(text, at..end));
            at = end;
        } else if byte.is_ascii_alphanumeric() || !byte.is_ascii() || is_lead(bytes, at) {
            (at, flow) = segmenter.chunk(text, at, &mut sink);
        } else {
            at += 1;
            continue;
        }
        if flow.is_break() {
            return;
        }
    }
}

/// The end of the ASCII word or number at `at`, if it is clear without a look at Unicode that it is no compound.
fn simple_word(bytes: &[u8], at: usize) -> Option<usize> {
    let (first, rest) = bytes.get(at..)?.split_first()?;
    let same: fn(&u8) -> bool = if first.is_ascii_digit() {
        u8::is_ascii_digit
    } else if !first.is_ascii_alphabetic() {
        return None;
    } else if first.is_ascii_uppercase() && rest.first().is_some_and(u8::is_ascii_uppercase) {
        u8::is_ascii_uppercase
    } else {
        u8::is_ascii_lowercase
    };
    let len = rest
        .iter()
        .position(|byte| !same(byte))
        .unwrap_or(rest.len());
    let ends = match rest.get(len..)? {
        [] => true,
        [b'+' | b'#', ..] => false,
        [joiner, next, ..] if class(char::from(*joiner)) == Class::Joiner => {
            next.is_ascii() && !next.is_ascii_alphanumeric()
        }
        [end, ..] => end.is_ascii() && !end.is_ascii_alphanumeric(),
    };
    ends.then_some(at + 1 + len)
}

/// Whether a dot, hash or at sign belongs to the word after it: `.NET`, `#tag`, `@name`.
fn is_lead(bytes: &[u8], at: usize) -> bool {
    let opens = |byte: &u8| byte.is_ascii_whitespace() || b"([{<\"'`*_|".contains(byte);
    matches!(bytes.get(at..), Some([b'.' | b'#' | b'@', next, ..]) if next.is_ascii_alphabetic())
        && at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_none_or(opens)
}

/// Buffers that are used again for every segment.
#[derive(Debug, Default)]
struct Segmenter {
    units: Vec<Unit>,
    buffer: String,
    parts: Vec<Part>,
}

impl Segmenter {
    fn simple(&mut self, text: &str, range: Range<usize>) -> Segment<'_> {
        self.clear();
        let word = slice(text, range.clone());
        self.buffer.push_str(word);
        self.buffer.make_ascii_lowercase();
        self.parts.push(Part {
            text: 0..word.len(),
            lower: 0..word.len(),
            range,
            is_word: !word.starts_with(|c: char| c.is_ascii_digit()),
            undivided: None,
            run: None,
        });
        self.segment(None, false)
    }

    /// Takes the characters from `at` to the next one that ends a word; returns where to go on.
    fn chunk(
        &mut self,
        text: &str,
        at: usize,
        sink: &mut impl FnMut(&Segment<'_>) -> ControlFlow<()>,
    ) -> (usize, ControlFlow<()>) {
        let mut units = std::mem::take(&mut self.units);
        units.clear();
        let mut end = at;
        while end < text.len() {
            let before = units.len();
            end = push_cluster(text, end, &mut units);
            let new = units.get(before..).unwrap_or_default();
            if !new.is_empty() && new.iter().all(|unit| class(unit.ch) == Class::Break) {
                units.truncate(before);
                break;
            }
        }
        let flow = self.units(&units, is_lead(text.as_bytes(), at), sink);
        self.units = units;
        (end, flow)
    }

    fn units(
        &mut self,
        units: &[Unit],
        is_led: bool,
        sink: &mut impl FnMut(&Segment<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut at = 0;
        while let Some(unit) = units.get(at) {
            let kind = class(unit.ch);
            let lead = usize::from(at == 0 && is_led);
            if kind == Class::Word || lead == 1 {
                let end = compound_end(units, at + lead);
                let tail = tail(units, end);
                let whole =
                    self.compound(units.get(at..end + tail).unwrap_or_default(), lead, tail);
                if !self.parts.is_empty() {
                    sink(&self.segment(whole, false))?;
                }
                at = end + tail;
            } else if kind == Class::Solid {
                let rest = units.get(at..).unwrap_or_default();
                let len = rest
                    .iter()
                    .take_while(|unit| class(unit.ch) == Class::Solid)
                    .count();
                let whole = self.solid(rest.get(..len).unwrap_or_default());
                sink(&self.segment(whole, true))?;
                at += len;
            } else {
                at += 1;
            }
        }
        ControlFlow::Continue(())
    }

    /// Fills the parts of a compound; returns its whole.
    fn compound(
        &mut self,
        units: &[Unit],
        lead: usize,
        tail: usize,
    ) -> Option<(Range<usize>, Range<usize>)> {
        self.clear();
        let body = units.get(lead..units.len() - tail).unwrap_or_default();
        let mut is_compound = lead + tail > 0;
        let mut at = 0_usize;
        for run in body.split(|unit| class(unit.ch) == Class::Joiner) {
            let joiner = at
                .checked_sub(1)
                .and_then(|before| body.get(before))
                .map(|unit| unit.ch);
            is_compound |= joiner.is_some();
            if !(joiner == Some('\'') && is_clitic(run)) {
                self.run(run);
            }
            at += run.len() + 1;
        }
        is_compound |= self.parts.len() > 1;
        if !is_compound || self.parts.len() > MAX_PARTS {
            return None;
        }
        let start = self.buffer.len();
        for unit in units {
            push_folded(unit.ch, &mut self.buffer);
            if self.buffer.len() - start > MAX_WHOLE {
                return None;
            }
        }
        Some((start..self.buffer.len(), source(units)))
    }

    /// Adds the parts of a run without joiners.
    fn run(&mut self, run: &[Unit]) {
        let digit_changes = run
            .array_windows()
            .filter(|[a, b]| digit_change(a.ch, b.ch))
            .count();
        let humps = (1..run.len()).filter(|&at| is_hump(run, at)).count();
        if digit_changes > MAX_DIGIT_CHANGES || humps > MAX_HUMPS {
            self.part(run);
            return;
        }
        let first = self.parts.len();
        let mut start = 0;
        for at in (1..run.len()).filter(|&at| is_hump(run, at)) {
            self.word(run.get(start..at).unwrap_or_default());
            start = at;
        }
        self.word(run.get(start..).unwrap_or_default());
        if humps == 0 {
            return;
        }
        let start = self.buffer.len();
        for unit in run {
            push_folded(unit.ch, &mut self.buffer);
        }
        let text = start..self.buffer.len();
        if let Some(part) = self.parts.get_mut(first) {
            part.run = Some((text, source(run)));
        }
    }

    /// Adds the parts of a word, which digits may divide.
    fn word(&mut self, word: &[Unit]) {
        let first = self.parts.len();
        for part in word.chunk_by(|a, b| !digit_change(a.ch, b.ch)) {
            self.part(part);
        }
        let n_parts = self.parts.len() - first;
        if n_parts < 2 {
            return;
        }
        let start = self.buffer.len();
        for unit in word {
            push_folded(unit.ch, &mut self.buffer);
        }
        let undivided = Undivided {
            text: start..self.buffer.len(),
            range: source(word),
            n_parts,
        };
        if let Some(part) = self.parts.get_mut(first) {
            part.undivided = Some(undivided);
        }
    }

    fn part(&mut self, units: &[Unit]) {
        let start = self.buffer.len();
        for unit in units {
            push_folded(unit.ch, &mut self.buffer);
        }
        let text = start..self.buffer.len();
        if text.is_empty() {
            return;
        }
        let lower = if units.iter().all(|unit| unit.ch.is_ascii()) {
            text.clone()
        } else {
            let start = self.buffer.len();
            for unit in units {
                push_lower(unit.ch, &mut self.buffer);
            }
            start..self.buffer.len()
        };
        self.parts.push(Part {
            text,
            lower,
            range: source(units),
            is_word: !units.iter().any(|unit| unit.ch.is_numeric()),
            undivided: None,
            run: None,
        });
    }

    /// Fills the characters of a solid run; returns the whole of a Hangul word.
    fn solid(&mut self, units: &[Unit]) -> Option<(Range<usize>, Range<usize>)> {
        self.clear();
        let mut rest = units;
        while let [_, tail @ ..] = rest {
            let len = 1 + tail.iter().take_while(|unit| is_dependent(unit.ch)).count();
            let (character, next) = rest.split_at(len);
            let start = self.buffer.len();
            for unit in character {
                push_folded(unit.ch, &mut self.buffer);
            }
            let text = start..self.buffer.len();
            self.parts.push(Part {
                lower: text.clone(),
                text,
                range: source(character),
                is_word: false,
                undivided: None,
                run: None,
            });
            rest = next;
        }
        let is_hangul_word = self.parts.len() > 2 && units.iter().all(|unit| is_hangul(unit.ch));
        (is_hangul_word && self.buffer.len() <= MAX_WHOLE)
            .then(|| (0..self.buffer.len(), source(units)))
    }

    fn segment(&self, whole: Option<(Range<usize>, Range<usize>)>, is_solid: bool) -> Segment<'_> {
        Segment {
            buffer: &self.buffer,
            parts: &self.parts,
            whole,
            is_solid,
        }
    }

    fn clear(&mut self) {
        self.buffer.clear();
        self.parts.clear();
    }
}

fn source(units: &[Unit]) -> Range<usize> {
    units.first().map_or(0, |unit| unit.start)..units.last().map_or(0, |unit| unit.end)
}

/// A vowel sign or tone of South-East Asia, which is searched with its consonant.
fn is_dependent(c: char) -> bool {
    matches!(c, '\u{0E00}'..='\u{17FF}' | '\u{A9E0}'..='\u{AA7F}') && is_combining_mark(c)
}

fn compound_end(units: &[Unit], start: usize) -> usize {
    let word_at = |at: usize| {
        units
            .get(at)
            .is_some_and(|unit| class(unit.ch) == Class::Word)
    };
    let mut end = start;
    loop {
        while word_at(end) {
            end += 1;
        }
        let joins = units
            .get(end)
            .is_some_and(|unit| class(unit.ch) == Class::Joiner)
            && word_at(end + 1);
        if !joins || !comma_joins(units, end) {
            return end;
        }
        end += 1;
    }
}

/// A comma joins the digits of a number only.
fn comma_joins(units: &[Unit], at: usize) -> bool {
    match units.get(at.saturating_sub(1)..=at + 1) {
        Some([before, joiner, after]) => {
            joiner.ch != ',' || (before.ch.is_ascii_digit() && after.ch.is_ascii_digit())
        }
        _ => false,
    }
}

/// The length of `++` or `#` after a compound: `C++`, `C#`.
fn tail(units: &[Unit], end: usize) -> usize {
    let letter = end
        .checked_sub(1)
        .and_then(|last| units.get(last))
        .is_some_and(|unit| unit.ch.is_ascii_alphabetic());
    let ch = |at: usize| units.get(at).map(|unit| unit.ch);
    match (letter, ch(end), ch(end + 1)) {
        (true, Some('+'), Some('+')) => 2,
        (true, Some('#'), _) => 1,
        _ => 0,
    }
}

fn is_clitic(run: &[Unit]) -> bool {
    CLITICS.iter().any(|clitic| {
        clitic.len() == run.len()
            && clitic
                .chars()
                .zip(run)
                .all(|(c, unit)| c == unit.ch.to_ascii_lowercase())
    })
}

fn digit_change(a: char, b: char) -> bool {
    a.is_ascii_digit() != b.is_ascii_digit()
}

/// Whether a word starts at `at`: before a hump of `camelCase`, before the last capital of `HTTPServer`.
fn is_hump(run: &[Unit], at: usize) -> bool {
    let ch = |at: usize| run.get(at).map(|unit| unit.ch);
    let (Some(before), Some(here)) = (at.checked_sub(1).and_then(ch), ch(at)) else {
        return false;
    };
    if !here.is_uppercase() {
        return false;
    }
    // A capital after a digit begins a word: `v2Server`.
    if before.is_lowercase() || before.is_ascii_digit() {
        return true;
    }
    let next = ch(at + 1);
    // The plural of an abbreviation is no hump: `APIs`.
    let is_plural = next == Some('s') && !ch(at + 2).is_some_and(char::is_alphabetic);
    before.is_uppercase() && next.is_some_and(char::is_lowercase) && !is_plural
}
