use std::fmt;

use serde_json::Value;

use crate::key::KeyPath;

/// What stands for a secret.
pub(crate) const MASK: &str = "***";

/// Returns whether a value under this name has to be kept from screens and logs.
pub(crate) fn is_secret(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "api_key",
        "key",
        "token",
        "secret",
        "password",
        "passphrase",
        "authorization",
        "credentials",
    ];
    let name = name.to_lowercase().replace('-', "_");
    name == "apikey"
        || WORDS.iter().any(|word| {
            name.strip_suffix(word)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
        })
}

/// Returns whether the value, or a table it is in, is secret.
pub(crate) fn is_secret_path(path: &KeyPath) -> bool {
    path.keys().any(is_secret)
}

/// The secrets of one configuration, to be found again wherever they turn up.
#[derive(Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: &str) {
        // A shorter one would turn up in innocent words.
        const SHORTEST: usize = 5;
        if secret.len() >= SHORTEST {
            self.0.push(secret.to_owned());
            // Longer ones first, so that no rest of one is left when it holds another.
            self.0.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// Adds every string under a secret key.
    pub(crate) fn collect(&mut self, value: &Value, secret: bool) {
        match value {
            Value::Object(map) => {
                for (key, child) in map {
                    self.collect(child, secret || is_secret(key));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item, secret)),
            Value::String(text) if secret => self.add(text),
            _ => {}
        }
    }

    /// Masks every secret in a text.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            // A message quotes a value with escapes.
            let quoted = format!("{secret:?}");
            text.replace(quoted.trim_matches('"'), MASK)
                .replace(secret, MASK)
        })
    }

    /// Rewords a message that may quote the value at `path`.
    pub(crate) fn message(&self, path: &KeyPath, message: &str) -> String {
        if !is_secret_path(path) {
            return self.scrub(message);
        }
        match message.rsplit_once(", expected ") {
            Some((_, expected)) => format!("invalid value: {MASK}, expected {expected}"),
            None if message.starts_with("missing field") => message.to_owned(),
            None => format!("invalid value: {MASK}"),
        }
    }

    /// Masks what is secret below `path`.
    pub(crate) fn mask(&self, value: &Value, secret: bool) -> Value {
        match value {
            Value::Object(map) => map
                .iter()
                .map(|(key, child)| (key.clone(), self.mask(child, secret || is_secret(key))))
                .collect(),
            Value::Array(items) if !secret => {
                items.iter().map(|item| self.mask(item, false)).collect()
            }
            Value::Null => Value::Null,
            // That no secret is set is worth knowing.
            Value::String(text) if text.is_empty() => value.clone(),
            _ if secret => MASK.into(),
            Value::String(text) => self.scrub(text).into(),
            other => other.clone(),
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}
