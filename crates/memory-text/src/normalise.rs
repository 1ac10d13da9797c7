//! Characters as they are compared: NFKC, case folding, accent folding.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use crate::script::{Class, class};

/// A normalised character (case and accents kept) and the bytes of the text it came from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    pub(crate) ch: char,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Appends the NFKC of the character at `at` with the marks that follow it; returns where the next one starts.
///
/// A cluster is normalised by itself, so that it gives the same characters wherever it stands.
pub(crate) fn push_cluster(text: &str, at: usize, units: &mut Vec<Unit>) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        return text.len();
    };
    let mut len = first.len_utf8();
    for c in chars {
        if !extends(c) {
            break;
        }
        len += c.len_utf8();
    }
    let (start, end) = (at, at + len);
    let mut has_base = false;
    let mut push = |ch: char| {
        // An accent on a sign, an ideograph or nothing would make a word without letters of it.
        let keep = !is_ignorable(ch) && (has_base || !is_accent(ch));
        has_base = keep && class(ch) == Class::Word;
        if keep {
            units.push(Unit {
                ch: plain(ch),
                start,
                end,
            });
        }
    };
    // NFKC would make a space and a mark of the acute accent that some type for an apostrophe.
    let first = plain(first);
    if first == '\'' || (len == first.len_utf8() && is_stable(first)) {
        push(first);
    } else {
        rest.get(..len).unwrap_or_default().nfkc().for_each(push);
    }
    end
}

/// Whether NFKC leaves the character as it is; false where that is not known at once.
fn is_stable(c: char) -> bool {
    matches!(c, '\0'..='\u{7F}' | '\u{00C0}'..='\u{0131}' | '\u{0391}'..='\u{03A1}' | '\u{03A3}'..='\u{03CE}'
        | '\u{0400}'..='\u{0481}' | '\u{05D0}'..='\u{05EA}' | '\u{0620}'..='\u{064A}' | '\u{0904}'..='\u{0939}'
        | '\u{0E01}'..='\u{0E30}' | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FC}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7A3}')
}

/// Whether the character belongs to the one before it: marks, jamo that complete a syllable, half-width voicing marks.
fn extends(c: char) -> bool {
    match c {
        '\0'..='\u{02FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' => false,
        '\u{1160}'..='\u{11FF}' | '\u{FF9E}' | '\u{FF9F}' => true,
        _ => is_combining_mark(c),
    }
}

/// Characters that change how others look, not what they say.
fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{0640}' | '\u{180B}'..='\u{180F}' | '\u{200C}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{E0000}'..='\u{E0FFF}')
}

/// Maps typographic variants to the character on the keyboard, and decimal digits of any script to ASCII.
fn plain(c: char) -> char {
    match c {
        '\0'..='\u{7F}' => c,
        '\u{2018}'
        | '\u{2019}'
        | '\u{201B}'
        | '\u{2032}'
        | '\u{02B9}'
        | '\u{02BB}'..='\u{02BD}'
        | '\u{00B4}' => '\'',
        '\u{2010}'..='\u{2013}' | '\u{2212}' => '-',
        '\u{2044}' | '\u{2215}' => '/',
        _ => digit(c).unwrap_or(c),
    }
}

fn digit(c: char) -> Option<char> {
    const ZEROS: [u32; 15] = [
        0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
        0x0D66, 0x0E50, 0x0ED0, 0x17E0,
    ];
    if !('\u{0660}'..='\u{17E9}').contains(&c) {
        return None;
    }
    let zero = ZEROS.into_iter().rev().find(|&zero| zero <= u32::from(c))?;
    char::from_digit(u32::from(c) - zero, 10)
}

/// Appends the character in lower case, accents kept: what stemmers expect.
pub(crate) fn push_lower(c: char, out: &mut String) {
    match c {
        '\0'..='\u{7F}' => out.push(c.to_ascii_lowercase()),
        'İ' => out.push('i'),
        'ς' => out.push('σ'),
        _ => out.extend(c.to_lowercase()),
    }
}

/// Appends the character as it is compared: without case and accents, in plain letters.
pub(crate) fn push_folded(c: char, out: &mut String) {
    match c {
        '\0'..='\u{7F}' => out.push(c.to_ascii_lowercase()),
        // The bulk of Chinese, Japanese and Korean has neither case nor accents.
        '\u{3041}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}' => out.push(c),
        _ => c
            .to_lowercase()
            .for_each(|lower| push_unaccented(lower, out)),
    }
}

fn push_unaccented(c: char, out: &mut String) {
    if let Some(letters) = without_decomposition(c) {
        out.push_str(letters);
        return;
    }
    match c {
        // Arabic writers leave out the hamza and the dots of a final letter as often as not.
        'أ' | 'إ' | 'آ' | 'ٱ' => out.push('ا'),
        'ؤ' => out.push('و'),
        'ى' | 'ئ' | 'ی' => out.push('ي'),
        'ة' => out.push('ه'),
        'ک' => out.push('ك'),
        // In Cyrillic, й and ї are letters of their own; ё and the stress marks are not.
        'ё' | 'ѐ' => out.push('е'),
        'ѝ' => out.push('и'),
        'ς' => out.push('σ'),
        _ if is_accent(c) => {}
        '\u{00C0}'..='\u{024F}' | '\u{0370}'..='\u{03FF}' | '\u{1E00}'..='\u{1FFF}' => {
            decompose_canonical(c, |part| match without_decomposition(part) {
                Some(letters) => out.push_str(letters),
                None if is_accent(part) => {}
                None => out.push(part),
            });
        }
        _ => out.push(c),
    }
}

/// Marks that can be left out of a word: accents and the vowel points of Hebrew and Arabic; no vowel sign of India or South-East
/// Asia, no voicing mark of Japanese.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036F}' | '\u{0483}'..='\u{0487}' | '\u{0591}'..='\u{05BD}' | '\u{05BF}' | '\u{05C1}'
        | '\u{05C2}' | '\u{05C4}' | '\u{05C5}' | '\u{05C7}' | '\u{0610}'..='\u{061A}' | '\u{064B}'..='\u{065F}' | '\u{0670}'
        | '\u{06D6}'..='\u{06DC}' | '\u{06DF}'..='\u{06E4}' | '\u{06E7}'..='\u{06E8}' | '\u{06EA}'..='\u{06ED}'
        | '\u{1AB0}'..='\u{1AFF}' | '\u{1DC0}'..='\u{1DFF}' | '\u{20D0}'..='\u{20FF}' | '\u{FE20}'..='\u{FE2F}')
}

/// Latin letters that no decomposition leads back to plain ones.
fn without_decomposition(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' | 'ɵ' => "o",
        'đ' | 'ð' | 'ɖ' | 'ɗ' => "d",
        'þ' => "th",
        'ł' | 'ƚ' => "l",
        'ħ' => "h",
        'ŧ' | 'ƭ' => "t",
        'ı' | 'ɨ' => "i",
        'ŋ' | 'ɲ' => "n",
        'ĸ' => "q",
        'ƀ' | 'ɓ' => "b",
        'ƈ' => "c",
        'ƒ' => "f",
        'ǥ' | 'ɠ' => "g",
        'ƙ' => "k",
        'ƥ' => "p",
        'ƴ' => "y",
        'ƶ' => "z",
        'ʋ' => "v",
        _ => return None,
    })
}
