//! The tokens of a text.

use std::ops::{ControlFlow, Range};

use crate::date::Date;
use crate::language::{Languages, detect};
use crate::segment::{Segment, segment};
use crate::stem::Stems;

/// Version of the analysis. It goes into every lexical index's fingerprint; bump it when tokens change.
pub const ANALYSIS_VERSION: u32 = 1;

/// Which form of a word a token is. Indexes keep the forms apart, so that a phrase matches exact words only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// The word as written, normalised and folded; also characters and pairs of scripts without spaces, and compounds as a
    /// whole and in parts.
    Exact,
    /// The Snowball stem of a word.
    Stem,
}

/// A token of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// The word as it is compared.
    pub text: &'a str,
    /// Which form of the word this is.
    pub form: Form,
    /// The bytes of the text it came from; on character borders.
    pub range: Range<usize>,
    /// Tokens at one position are forms of the same word. Positions start at 0 and leave no gap.
    pub position: u32,
}

/// Calls `sink` with every token of the text, in order of position.
///
/// The first token of a position is the word itself; a compound's whole, a name such as `camelCase` or `server2` inside of one, a
/// pair and stems follow at the same position. A compound
/// takes as many positions as it has parts, a solid run as many as it has characters. Nothing is left out: no stop words, no
/// short words.
pub fn analyze(text: &str, sink: &mut dyn FnMut(Token<'_>)) {
    let languages = detect(text);
    let mut position = 0_u32;
    Stems::with(|stems| {
        segment(text, |segment| {
            tokens(segment, stems, languages, position, sink);
            let taken = u32::try_from(segment.parts().len()).unwrap_or(u32::MAX);
            position = position.saturating_add(taken);
            ControlFlow::Continue(())
        });
    });
}

fn tokens(
    segment: &Segment<'_>,
    stems: &mut Stems,
    languages: Languages,
    first: u32,
    sink: &mut dyn FnMut(Token<'_>),
) {
    let whole = segment.whole();
    for (index, (part, position)) in segment.parts().iter().zip(first..).enumerate() {
        let mut send = |text: &str, form: Form, range: Range<usize>| {
            sink(Token {
                text,
                form,
                range,
                position,
            });
        };
        send(segment.text(part), Form::Exact, part.range.clone());
        if index == 0
            && let Some((text, range)) = &whole
        {
            send(text, Form::Exact, range.clone());
            if let Some(date) = Date::from_digits(text) {
                for text in [date.year_month(), date.month_day()].into_iter().flatten() {
                    send(&text, Form::Exact, range.clone());
                }
            }
        }
        let is_whole = |text: &str| whole.as_ref().is_some_and(|(whole, _)| *whole == text);
        let word = part
            .undivided
            .as_ref()
            .map(|word| (segment.undivided(word), word.range.clone()));
        for (text, range) in segment.run(part).into_iter().chain(word) {
            if !is_whole(text) {
                send(text, Form::Exact, range);
            }
        }
        if segment.is_solid() {
            if let Some((text, range)) = segment.pair(index) {
                send(text, Form::Exact, range);
            }
        } else if part.is_word {
            stems.of(segment.lower(part), segment.text(part), languages, |stem| {
                send(stem, Form::Stem, part.range.clone());
            });
        }
    }
}
