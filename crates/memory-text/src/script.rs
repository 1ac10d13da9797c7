//! What a character is to the segmenter.

use unicode_normalization::char::is_combining_mark;

/// The role of a normalised character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Ends a word.
    Break,
    /// Joins two words to a compound (`harbor-crane`), alone it ends a word.
    Joiner,
    /// A letter, mark or digit of a script with spaces between words.
    Word,
    /// A character of a script that is searched by characters and pairs.
    Solid,
}

/// The scripts that decide about stems and stop words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Tamil,
    Other,
}

pub(crate) fn class(c: char) -> Class {
    if c.is_ascii() {
        return ascii_class(c);
    }
    if is_solid(c) {
        return Class::Solid;
    }
    if c.is_alphanumeric() || is_combining_mark(c) {
        Class::Word
    } else {
        Class::Break
    }
}

fn ascii_class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Word,
        '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '\'' | '#' | '+' | '&' | ',' => Class::Joiner,
        _ => Class::Break,
    }
}

fn is_solid(c: char) -> bool {
    is_kana(c)
        || is_hangul(c)
        || matches!(c,
            // Han with its iteration marks, extensions A to I and compatibility forms; Bopomofo; Yi.
            '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' | '\u{303B}'
            | '\u{3105}'..='\u{312F}' | '\u{31A0}'..='\u{31BF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
            | '\u{A000}'..='\u{A48C}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{323AF}'
            // Thai, Lao, Myanmar, Khmer: letters, vowels and tones, not their digits and punctuation.
            | '\u{0E01}'..='\u{0E3A}' | '\u{0E40}'..='\u{0E4E}' | '\u{0E81}'..='\u{0ECE}' | '\u{0EDC}'..='\u{0EDF}'
            | '\u{1000}'..='\u{103F}' | '\u{1050}'..='\u{108F}' | '\u{109A}'..='\u{109D}' | '\u{1780}'..='\u{17D3}'
            | '\u{17D7}' | '\u{17DC}'..='\u{17DD}' | '\u{A9E0}'..='\u{A9EF}' | '\u{A9FA}'..='\u{A9FE}'
            | '\u{AA60}'..='\u{AA7F}')
}

pub(crate) fn is_han(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{323AF}')
}

pub(crate) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{309D}'..='\u{309F}')
}

fn is_kana(c: char) -> bool {
    is_hiragana(c)
        || matches!(c, '\u{3099}' | '\u{309A}' | '\u{30A1}'..='\u{30FA}' | '\u{30FC}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}')
}

pub(crate) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{AC00}'..='\u{D7A3}' | '\u{1100}'..='\u{11FF}' | '\u{3131}'..='\u{318E}' | '\u{A960}'..='\u{A97C}'
        | '\u{D7B0}'..='\u{D7FB}')
}

pub(crate) fn script(c: char) -> Script {
    match c {
        'a'..='z' | 'A'..='Z' | '\u{00AA}'..='\u{02AF}' | '\u{1E00}'..='\u{1EFF}' => Script::Latin,
        '\u{0370}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
        '\u{0400}'..='\u{052F}' | '\u{1C80}'..='\u{1C8F}' => Script::Cyrillic,
        '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}' => Script::Arabic,
        '\u{0B80}'..='\u{0BFF}' => Script::Tamil,
        _ => Script::Other,
    }
}
