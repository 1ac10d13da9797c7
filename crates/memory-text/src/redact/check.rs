//! Looks at a place where a secret may be.

use std::ops::Range;

use super::pattern::{Pattern, Prefixed, Shape, Value};
use super::{Found, SecretKind};

/// Longer values, and longer blocks of a key, are none.
const MAX_VALUE: usize = 256;
const MAX_BLOCK: usize = 64 * 1024;

/// How long a part of a token has to be before letters and digits in it say that nobody wrote it.
const MIN_RANDOM: usize = 12;

/// What stands in the place of a secret already.
const REDACTED: &str = "[redacted";

/// Returns the secret of this pattern whose word stands at `hit`.
pub(super) fn secret(
    text: &str,
    hit: Range<usize>,
    pattern: &Pattern,
    blocks: &mut Blocks,
) -> Option<Found> {
    let (kind, span) = match *pattern {
        Pattern::Prefixed(pattern) => (pattern.kind, prefixed(text, hit, pattern)?),
        Pattern::Assigned { kind, value, .. } => (kind, assigned(text, hit.end, value)?),
        Pattern::Following { kind, .. } => (kind, following(text, hit)?),
        Pattern::WebToken { prefix } => (SecretKind::Token, web_token(text, hit, prefix)?),
        Pattern::PrivateKey { .. } => (SecretKind::PrivateKey, blocks.private_key(text, hit)?),
        Pattern::Url { .. } => (SecretKind::Password, url(text, hit.end)?),
    };
    Some(Found { kind, span })
}

/// Returns the rest of the text.
fn after(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Returns how many bytes from `at` on are ASCII letters, digits or these marks.
fn run(text: &str, at: usize, marks: &str) -> usize {
    after(text, at)
        .bytes()
        .take_while(|byte| is_token(*byte, marks))
        .count()
}

fn is_token(byte: u8, marks: &str) -> bool {
    byte.is_ascii_alphanumeric() || marks.as_bytes().contains(&byte)
}

/// Returns whether a token may begin here: not in the middle of a longer one. So each run of characters is read once.
fn begins(text: &str, at: usize, marks: &str) -> bool {
    let before = at.checked_sub(1).and_then(|idx| text.as_bytes().get(idx));
    before.is_none_or(|byte| !is_token(*byte, marks))
}

fn prefixed(text: &str, hit: Range<usize>, pattern: Prefixed) -> Option<Range<usize>> {
    let Prefixed {
        prefix,
        marks,
        len: (least, most),
        shape,
        ..
    } = pattern;
    if text.get(hit.clone()) != Some(prefix) || !begins(text, hit.start, marks) {
        return None;
    }
    let len = run(text, hit.end, marks);
    let end = hit.end + len;
    // What goes on with `_` is a name.
    let goes_on = after(text, end).starts_with('_');
    if len < least || len > most || goes_on {
        return None;
    }
    let rest = text.get(hit.end..end)?.trim_end_matches(['.', '-', '_']);
    let fits = match shape {
        Shape::Any => rest.bytes().any(|byte| !byte.is_ascii_lowercase()),
        Shape::Capitals => {
            rest.bytes().all(|byte| !byte.is_ascii_lowercase())
                && (prefix == "AKIA" || rest.bytes().any(|byte| byte.is_ascii_digit()))
        }
        Shape::Random => is_random(rest),
    };
    fits.then(|| hit.start..hit.end + rest.len())
}

/// Returns whether a text has small and capital letters in an order that words and names have not.
fn is_mixed(text: &str) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
    let letters: Vec<u8> = text.bytes().filter(is_letter).collect();
    let n_changes = letters
        .windows(2)
        .filter(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() != b.is_ascii_lowercase()))
        .count();
    // `camelCaseNamesOfMethods` change twice per word.
    n_changes * 5 >= letters.len() * 2 && letters.len() >= MIN_RANDOM
}

/// Returns whether a token looks like nobody wrote it: a long part of letters and digits, or of letters in no order.
fn is_random(text: &str) -> bool {
    let is_long = |part: &&str| part.len() >= MIN_RANDOM;
    let has = |part: &str, is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
    let has_both = |part: &str| has(part, u8::is_ascii_digit) && has(part, u8::is_ascii_alphabetic);
    let mut parts = text.split(|ch: char| !ch.is_ascii_alphanumeric());
    if parts.any(|part| is_long(&part) && (has_both(part) || is_mixed(part))) {
        return true;
    }
    // A separator may stand anywhere in base64.
    let n_digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() >= 32 && n_digits >= 4 && is_mixed(text)
        || text.len() >= 24
            && n_digits * 2 >= text.len()
            && has(text, u8::is_ascii_alphabetic)
            && !is_dated(text)
}

/// Returns whether a text is made of short numbers, as dates and versions are.
fn is_dated(text: &str) -> bool {
    text.split(|ch: char| !ch.is_ascii_alphanumeric())
        .all(|part| part.len() < MIN_RANDOM)
}

/// Skips at most eight spaces and tabs.
fn skip_space(text: &str, at: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    at + after(text, at).bytes().take(8).take_while(is_space).count()
}

/// Skips one of these texts, if it stands there.
fn skip_one(text: &str, at: usize, any: &[&str]) -> Option<usize> {
    let rest = after(text, at);
    any.iter()
        .find(|one| rest.starts_with(**one))
        .map(|one| at + one.len())
}

/// Reads `= value`, `: "value"`, `=> 'value'` behind a name.
fn assigned(text: &str, name_end: usize, value: Value) -> Option<Range<usize>> {
    const QUOTES: &[&str] = &["\\\"", "\"", "'", "`"];
    // `API_KEY_2=`
    let digits =
        after(text, name_end).trim_start_matches(|ch: char| ch == '_' || ch.is_ascii_digit());
    let name_end = if text.len() - digits.len() - name_end <= 4 {
        text.len() - digits.len()
    } else {
        name_end
    };
    // `"password": `, `**Password**: `, `['password'] = `
    let mut at = name_end;
    for _ in 0..3 {
        at = skip_one(text, at, &["\\\"", "\"", "'", "`", "]", "**"]).unwrap_or(at);
    }
    at = skip_space(text, at);
    at = skip_one(text, at, &[":=", "=>", "==", "=", ":", "：", "＝"])?;
    at = skip_one(text, at, &["**"]).unwrap_or(at);
    at = skip_space(text, at);
    let (quote, start) = QUOTES
        .iter()
        .find_map(|quote| Some((Some(*quote), skip_one(text, at, &[quote])?)))
        .unwrap_or((None, at));
    let mut start = start;
    if value == Value::Header {
        start = skip_scheme(text, start);
    }
    let rest = after(text, start);
    let ends = |(_, ch): &(usize, char)| match quote {
        Some(quote) => quote.starts_with(*ch) || ch.is_whitespace(),
        None => {
            ch.is_whitespace()
                || matches!(
                    ch,
                    '"' | '\'' | '`' | ',' | ';' | '<' | '>' | '，' | '。' | '；' | '、'
                )
        }
    };
    let len = rest
        .char_indices()
        .take_while(|(idx, _)| *idx <= MAX_VALUE)
        .find(ends)
        .map_or(rest.len(), |(idx, _)| idx);
    let mut word = rest.get(..len)?;
    if quote.is_none() {
        word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '*', '\\']);
        // `&` ends a value in a query.
        if value != Value::Chosen {
            word = word.split('&').next().unwrap_or_default();
        }
    }
    let is_secret = word.len() <= MAX_VALUE
        && match value {
            Value::Chosen => is_chosen(word),
            Value::Random => is_value(word) && (is_random(word) || is_key(word)),
            Value::Header => is_value(word) && word.len() >= 8 && looks_made(word),
        };
    is_secret.then(|| start..start + word.len())
}

/// Skips `Bearer `, `Basic `, `Token `.
fn skip_scheme(text: &str, at: usize) -> usize {
    let rest = after(text, at);
    ["bearer", "basic", "token", "apikey"]
        .iter()
        .find(|scheme| {
            rest.get(..scheme.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
                && after(rest, scheme.len()).starts_with([' ', '\t'])
        })
        .map_or(at, |scheme| skip_space(text, at + scheme.len()))
}

/// Returns whether a value stands for itself: no variable, no call, no path, no mask.
fn is_value(word: &str) -> bool {
    // A bracket also begins what stands in the place of a secret already.
    let is_reference = word.starts_with(['$', '<', '{', '%', '(', '[', '/', '~', '.', '&', '@'])
        || word.contains(['(', '{'])
        || word.contains("://")
        || word.contains("process.env")
        || word.contains("environ");
    let mut bytes = word.bytes();
    let first = bytes.next();
    let is_mask = bytes.all(|byte| Some(byte) == first);
    !is_reference && !is_mask
}

/// Returns whether a word has letters and digits, or is made of digits, or is long and mixed.
fn looks_made(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    has(u8::is_ascii_digit) || is_mixed(word)
}

/// Returns whether the value of a name such as `secret_key` is one: long, with small letters, capitals and digits, and a part
/// that is longer than words are.
fn is_key(word: &str) -> bool {
    let has = |is: fn(&u8) -> bool| word.as_bytes().iter().any(is);
    word.len() >= 20
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
        && word
            .split(|ch: char| !ch.is_ascii_alphanumeric())
            .any(|part| part.len() >= MIN_RANDOM)
}

/// Returns whether a word is a password that somebody chose: six characters, and not letters alone.
fn is_chosen(word: &str) -> bool {
    let n_chars = word.chars().count();
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_mark = word.contains(['!', '@', '#', '$', '%', '^', '&', '*', '?', '+', '=']);
    let has_letter = word.contains(char::is_alphabetic);
    // `user.password2`, `v1.2.3`
    let is_name = word
        .split(['.', '_'])
        .filter(|part| !part.is_empty())
        .count()
        > 1
        && word.split(['.', '_']).all(|part| {
            part.trim_end_matches(|ch: char| ch.is_ascii_digit())
                .chars()
                .all(char::is_alphabetic)
        });
    let made = has_digit && (has_letter || n_chars >= 6) || has_mark && has_letter;
    n_chars >= 6 && is_value(word) && made && !is_name
}

/// Reads `Bearer …`.
fn following(text: &str, hit: Range<usize>) -> Option<Range<usize>> {
    let start = skip_space(text, hit.end);
    if start == hit.end || !begins(text, hit.start, "") {
        return None;
    }
    let len = run(text, start, "-._~+/=");
    let word = text.get(start..start + len)?.trim_end_matches('.');
    let is_secret = word.len() >= 16 && is_value(word) && is_random(word);
    is_secret.then(|| start..start + word.len())
}

/// Reads `eyJhbGciOi….eyJzdWIi….c2ln`.
fn web_token(text: &str, hit: Range<usize>, prefix: &str) -> Option<Range<usize>> {
    const MARKS: &str = "-_";
    if text.get(hit.clone()) != Some(prefix) || !begins(text, hit.start, "-_.") {
        return None;
    }
    let mut end = hit.start;
    let mut parts = [0; 5];
    let mut n_parts = 0;
    for part in &mut parts {
        *part = run(text, end, MARKS);
        end += *part;
        n_parts += 1;
        if !after(text, end).starts_with('.') || n_parts == 5 {
            break;
        }
        // The full stop of a sentence.
        if n_parts >= 3 && run(text, end + 1, MARKS) == 0 {
            break;
        }
        end += 1;
    }
    let [header, payload, signature, ..] = parts;
    let is_token =
        header >= 10 && payload >= 10 && n_parts >= 3 && (signature == 0 || signature >= 10);
    is_token.then_some(hit.start..end)
}

/// Finds the ends of key blocks, each place of the text once.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Where the end is that was found last; behind the text when there is none.
    next_end: usize,
}

impl Blocks {
    fn private_key(&mut self, text: &str, hit: Range<usize>) -> Option<Range<usize>> {
        const DASHES: &str = "-----";
        if text.get(hit.clone()) != Some("-----BEGIN ") {
            return None;
        }
        let label_len = after(text, hit.end)
            .bytes()
            .take(64)
            .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ')
            .count();
        let label = text.get(hit.end..hit.end + label_len)?;
        let body = skip_one(text, hit.end + label_len, &[DASHES])?;
        if !label.contains("PRIVATE KEY") {
            return None;
        }
        let end = self.end_after(text, body);
        let inside = end.filter(|end| end - body <= MAX_BLOCK);
        let end = match inside {
            Some(end) => {
                let line = after(text, end + DASHES.len());
                let len = line
                    .bytes()
                    .take(64)
                    .take_while(|byte| {
                        byte.is_ascii_uppercase() || matches!(byte, b' ' | b'0'..=b'9')
                    })
                    .count();
                let label_end = end + DASHES.len() + len;
                skip_one(text, label_end, &[DASHES]).unwrap_or(label_end)
            }
            None => unterminated(text, body),
        };
        Some(hit.start..end)
    }

    fn end_after(&mut self, text: &str, at: usize) -> Option<usize> {
        if self.next_end < at {
            let found = after(text, at).find("-----END ");
            self.next_end = found.map_or(usize::MAX, |idx| at + idx);
        }
        Some(self.next_end).filter(|end| *end < text.len())
    }
}

/// Returns where a block without an end stops: behind the last line that can be of a key. Written in one line, its breaks are
/// escapes.
fn unterminated(text: &str, body: usize) -> usize {
    const BASE64: &str = "+/=\\";
    let mut end = body;
    loop {
        let before = after(text, end)
            .bytes()
            .take(16)
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'"' | b'>' | b'|'))
            .count();
        let start = end + before;
        let is_header = ["Proc-Type:", "DEK-Info:"]
            .iter()
            .any(|header| after(text, start).starts_with(header));
        let line = if is_header { "+/=\\:,- " } else { BASE64 };
        let len = run(text, start, line);
        let next = after(text, start + len);
        let is_line = next.is_empty() || next.starts_with(['\n', '\r', '"', ',']);
        // Only the last line is shorter.
        let is_long =
            len >= 16 || end > body && after(text, start + len - 1.min(len)).starts_with('=');
        if len == 0 || !is_line || !is_long {
            return end;
        }
        end = start + len;
    }
}

/// Reads `user:password@` behind `://`.
fn url(text: &str, at: usize) -> Option<Range<usize>> {
    let authority = after(text, at)
        .char_indices()
        .take_while(|(idx, ch)| {
            *idx <= MAX_VALUE
                && !ch.is_whitespace()
                && !matches!(ch, '/' | '?' | '#' | '"' | '\'' | '`' | '<' | '>' | '|')
        })
        .last()
        .map(|(idx, ch)| idx + ch.len_utf8())?;
    let authority = text.get(at..at + authority)?;
    let (user, _) = authority.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let is_secret = !password.is_empty()
        && !password.starts_with(['$', '{', '<', '%', '*'])
        && !password.starts_with(REDACTED);
    let start = at + name.len() + 1;
    is_secret.then(|| start..start + password.len())
}
