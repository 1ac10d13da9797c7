//! Finds keys, tokens and passwords in a text, and takes them out.
//!
//! One pass looks for the words that secrets begin with or stand behind (`pattern`); only where one stands is anything
//! looked at more closely (`check`). Time is linear in the text, whatever it holds.

mod check;
mod pattern;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use pattern::{PATTERNS, Pattern};

/// Changes whenever other secrets are found than before; what was redacted by another version has to be redacted again.
pub const VERSION: u32 = 1;

/// What a secret is, in a word or two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum SecretKind {
    /// A key of a service, as `sk-…` is.
    ApiKey,
    /// An id of a key or the key that belongs to it.
    AccessKey,
    /// A token that lets its bearer in.
    Token,
    /// A password.
    Password,
    /// A private key in PEM.
    PrivateKey,
}

impl SecretKind {
    /// Returns its name in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api key",
            Self::AccessKey => "access key",
            Self::Token => "token",
            Self::Password => "password",
            Self::PrivateKey => "private key",
        }
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A secret in a text. It does not hold the secret itself, so that it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What it is.
    pub kind: SecretKind,
    /// The bytes of the text it stands in.
    pub span: Range<usize>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redacted<'a> {
    /// The text with `[redacted: KIND]` in the place of each secret; the text itself where there is none.
    pub text: Cow<'a, str>,
    /// What was found, in the order of the text.
    pub found: Vec<Found>,
}

/// Replaces each secret of a text by `[redacted: KIND]`.
pub fn redact(text: &str) -> Redacted<'_> {
    let found = find_secrets(text);
    if found.is_empty() {
        return Redacted {
            text: Cow::Borrowed(text),
            found,
        };
    }
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for Found { kind, span } in &found {
        kept.push_str(text.get(from..span.start).unwrap_or_default());
        kept.push_str("[redacted: ");
        kept.push_str(kind.as_str());
        kept.push(']');
        from = span.end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    Redacted {
        text: Cow::Owned(kept),
        found,
    }
}

/// Returns the secrets of a text, in its order; they do not overlap.
pub fn find_secrets(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let Some(words) = &*WORDS else {
        return found;
    };
    let mut blocks = check::Blocks::default();
    let mut at = 0;
    while let Some(hit) = words.find(Input::new(text).span(at..text.len())) {
        at = hit.end();
        let Some(pattern) = PATTERNS.get(hit.pattern().as_usize()) else {
            continue;
        };
        if let Some(secret) = check::secret(text, hit.start()..hit.end(), pattern, &mut blocks) {
            at = secret.span.end;
            found.push(secret);
        }
    }
    found
}

/// The words of all patterns in one automaton; `None` would take more words than there can be.
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .match_kind(MatchKind::LeftmostLongest)
        // Tokens are told apart by their case later on.
        .ascii_case_insensitive(true)
        .build(PATTERNS.iter().map(Pattern::word))
        .ok()
});
