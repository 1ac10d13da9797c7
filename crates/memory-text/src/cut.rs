//! Cuts what is too long for one entry.
//!
//! Text is split at the strongest kind of border that helps, and only where a piece is still too long at the next weaker one.
//! The pieces are then packed into entries again.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::estimate_tokens;
use crate::line::{is_blank, lines, slice, trim};

/// A kind of border, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    Block,
    /// Between list items and between turns of a chat.
    Part,
    /// A blank line.
    Stanza,
    Line,
    Sentence,
    /// White space or a comma.
    Word,
    Grapheme,
    /// Inside of a grapheme: for a letter with a thousand accents.
    Char,
}

impl Border {
    fn weaker(self) -> Option<Self> {
        Some(match self {
            Self::Block => Self::Part,
            Self::Part => Self::Stanza,
            Self::Stanza => Self::Line,
            Self::Line => Self::Sentence,
            Self::Sentence => Self::Word,
            Self::Word => Self::Grapheme,
            Self::Grapheme => Self::Char,
            Self::Char => return None,
        })
    }

    /// Returns the borders of this kind inside of `text`, ascending.
    fn positions(self, text: &str) -> Vec<usize> {
        match self {
            // These are known to the caller alone.
            Self::Block | Self::Part => Vec::new(),
            Self::Stanza => {
                let mut after_blank = false;
                lines(text, 0)
                    .filter(|line| {
                        let begins = after_blank && !line.is_blank();
                        after_blank = line.is_blank();
                        begins
                    })
                    .map(|line| line.start)
                    .collect()
            }
            Self::Line => lines(text, 0).skip(1).map(|line| line.start).collect(),
            Self::Sentence => sentences(text),
            Self::Word => words(text),
            Self::Grapheme => text
                .grapheme_indices(true)
                .skip(1)
                .map(|(idx, _)| idx)
                .collect(),
            Self::Char => text.char_indices().skip(1).map(|(idx, _)| idx).collect(),
        }
    }
}

/// Returns where sentences begin, but for the first one.
fn sentences(text: &str) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((_, ch)) = chars.next() {
        let wide = matches!(ch, '。' | '！' | '？' | '；' | '…');
        if !wide && !matches!(ch, '.' | '!' | '?') {
            continue;
        }
        let is_closing = |ch: char| {
            matches!(
                ch,
                '。' | '！'
                    | '？'
                    | '；'
                    | '…'
                    | '.'
                    | '!'
                    | '?'
                    | '"'
                    | '\''
                    | ')'
                    | ']'
                    | '*'
                    | '_'
            ) || matches!(ch, '”' | '’' | '」' | '』' | '）' | '】' | '》')
        };
        while chars.next_if(|(_, ch)| is_closing(*ch)).is_some() {}
        let mut spaced = false;
        while chars.next_if(|(_, ch)| ch.is_whitespace()).is_some() {
            spaced = true;
        }
        // Latin sentences need the space: `3.5` and `lib.rs` are none.
        if let Some((idx, _)) = chars.peek().filter(|_| wide || spaced) {
            positions.push(*idx);
        }
    }
    positions
}

/// Returns where words begin, but for the first one; Chinese has no spaces, so its commas serve as well.
fn words(text: &str) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut after_gap = false;
    for (idx, ch) in text.char_indices() {
        let is_comma = matches!(ch, '，' | '、' | '：' | '；');
        let is_gap = ch.is_whitespace() || is_comma;
        if after_gap && !is_gap {
            positions.push(idx);
        }
        after_gap = is_gap;
    }
    positions.retain(|idx| *idx > 0);
    positions
}

/// A block on its way to become an entry, a part of one, or several.
#[derive(Debug, Clone, Default)]
pub struct Piece {
    /// Where it stands.
    pub span: Range<usize>,
    /// Where its list items or chat turns begin, but for the first one.
    pub parts: Vec<usize>,
    /// Whether it has sentences; code and tables have lines only.
    pub prose: bool,
}

impl Piece {
    /// Creates a piece without sentences and parts.
    pub fn verbatim(span: Range<usize>) -> Self {
        Self {
            span,
            ..Self::default()
        }
    }
}

/// The smallest unit that packing moves.
#[derive(Debug)]
struct Atom {
    span: Range<usize>,
    /// Where its text ends and the white space behind it begins.
    text_end: usize,
    /// The kind of border it begins with.
    border: Border,
    prose: bool,
}

/// What cutting a run of pieces gives.
#[derive(Debug, Default)]
pub struct Cut {
    /// The spans of the entries.
    pub entries: Vec<Range<usize>>,
    /// Whether the lead stands in no entry, since it did not fit together with the first text.
    pub lead_left_out: bool,
    /// What would have been an entry without text: a byte order mark, alone between text that fills entries.
    pub blank: Vec<Range<usize>>,
}

/// Cuts text to size.
#[derive(Debug, Clone, Copy)]
pub struct Cutter<'a> {
    /// The text that all spans are of.
    pub text: &'a str,
    /// How large an entry may be, by [`estimate_tokens`].
    pub max_tokens: usize,
    /// How much of an entry's end the next one may repeat; below `max_tokens`.
    pub overlap_tokens: usize,
}

impl Cutter<'_> {
    /// Cuts pieces that follow each other. A `lead`, which is a heading, belongs to the first entry and is never one alone.
    pub fn cut(&self, lead: Option<&Range<usize>>, pieces: &[Piece]) -> Cut {
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else {
            return Cut::default();
        };
        let start = lead.map_or(first.span.start, |lead| lead.start);
        let whole = trim(self.text, start..last.span.end);
        if self.fits(whole.clone()) {
            return Cut {
                entries: vec![whole],
                ..Cut::default()
            };
        }
        let mut atoms = Vec::new();
        for (idx, piece) in pieces.iter().enumerate() {
            let end = pieces
                .get(idx + 1)
                .map_or(piece.span.end, |next| next.span.start);
            self.split(
                piece.span.start..end,
                Border::Block,
                piece,
                Border::Block,
                &mut atoms,
            );
        }
        self.pack(lead, &atoms)
    }

    fn fits(&self, span: Range<usize>) -> bool {
        self.tokens(span) <= self.max_tokens
    }

    fn tokens(&self, span: Range<usize>) -> usize {
        estimate_tokens(slice(self.text, span))
    }

    /// Splits a span into atoms. It begins with a border of the kind `begins`, and holds none that is stronger than `inside`.
    fn split(
        &self,
        span: Range<usize>,
        begins: Border,
        piece: &Piece,
        inside: Border,
        atoms: &mut Vec<Atom>,
    ) {
        let text = slice(self.text, span.clone());
        let text_end = span.start + text.trim_end().len();
        let weaker = inside.weaker().filter(|_| !self.fits(span.start..text_end));
        let Some(weaker) = weaker else {
            atoms.push(Atom {
                span,
                text_end,
                border: begins,
                prose: piece.prose,
            });
            return;
        };
        let positions = match weaker {
            Border::Part => piece.parts.clone(),
            Border::Sentence if !piece.prose => Vec::new(),
            weaker => weaker
                .positions(text)
                .iter()
                .map(|idx| span.start + idx)
                .collect(),
        };
        let mut from = span.start;
        let mut border = begins;
        for position in positions {
            self.split(from..position, border, piece, weaker, atoms);
            from = position;
            border = weaker;
        }
        self.split(from..span.end, border, piece, weaker, atoms);
    }

    fn pack(&self, mut lead: Option<&Range<usize>>, atoms: &[Atom]) -> Cut {
        let mut cut = Cut::default();
        let mut rest = atoms;
        // Where the text begins that the entry before added; what it repeated itself is not repeated again.
        let mut added: Option<usize> = None;
        while let Some(first) = rest.first() {
            let start = match (added, lead) {
                (None, Some(lead)) if self.fits(lead.start..first.text_end) => lead.start,
                (None, lead) => {
                    cut.lead_left_out |= lead.is_some();
                    first.span.start
                }
                (Some(added), _) => self.overlap(added, first),
            };
            let (taken, left) = rest
                .split_at_checked(self.fill(start, rest))
                .unwrap_or((rest, &[]));
            let end = taken.last().map_or(first.text_end, |last| last.text_end);
            let entry = trim(self.text, start..end);
            rest = left;
            lead = None;
            added = None;
            if is_blank(slice(self.text, entry.clone())) {
                // What it would have repeated stands in the entry before.
                let blank = trim(self.text, first.span.start..end);
                cut.blank.extend((!blank.is_empty()).then_some(blank));
            } else {
                cut.entries.push(entry);
                added = Some(first.span.start);
            }
        }
        cut
    }

    /// Returns how many atoms make an entry that begins at `start`, at or before the first of them; at least one.
    fn fill(&self, start: usize, atoms: &[Atom]) -> usize {
        // Estimates of parts do not add up to the estimate of the whole, so the whole is asked for: in growing steps first, to
        // look no further ahead than about one entry.
        let fits = |atom: &Atom| self.fits(start..atom.text_end);
        let mut step = 1;
        while atoms.get(step).is_some_and(fits) {
            step *= 2;
        }
        let known = step / 2;
        let ahead = atoms.get(known..atoms.len().min(step)).unwrap_or_default();
        let n_atoms = (known + ahead.partition_point(fits)).max(1);
        let Some(next) = atoms.get(n_atoms) else {
            return n_atoms;
        };
        // The strongest border in the second half of the entry is the best one to stop at, the last of equals.
        let middle = usize::midpoint(start, next.span.start);
        (1..=n_atoms)
            .rev()
            .filter_map(|idx| Some((idx, atoms.get(idx)?)))
            .take_while(|(_, atom)| atom.span.start >= middle)
            .min_by_key(|(_, atom)| atom.border)
            .map_or(n_atoms, |(idx, _)| idx)
    }

    /// Returns where an entry begins that repeats text from `added` on before its first atom.
    fn overlap(&self, added: usize, first: &Atom) -> usize {
        let cut = first.span.start;
        if self.overlap_tokens == 0 {
            return cut;
        }
        let tail = slice(self.text, added..cut);
        let mut positions = Border::Line.positions(tail);
        if first.prose {
            positions.extend(Border::Sentence.positions(tail));
        }
        if first.border >= Border::Word {
            positions.extend(Border::Word.positions(tail));
        }
        positions.sort_unstable();
        let mut starts = Vec::new();
        let mut tokens = 0;
        let mut from = cut;
        for idx in positions.into_iter().rev() {
            tokens += self.tokens(added + idx..from);
            // Repeating all that was added would make the entry before needless.
            if tokens > self.overlap_tokens || slice(tail, 0..idx).trim_start().is_empty() {
                break;
            }
            from = added + idx;
            starts.push(from);
        }
        let n_fit = starts.partition_point(|start| self.fits(*start..first.text_end));
        starts
            .get(..n_fit)
            .and_then(<[usize]>::last)
            .copied()
            .unwrap_or(cut)
    }
}
