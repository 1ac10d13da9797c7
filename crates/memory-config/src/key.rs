use std::fmt;

use serde_json::Value;

/// One step into a configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The way to a value: `lexical.fts5.stop_words[2]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct KeyPath(Vec<Step>);

impl KeyPath {
    pub(crate) fn new<'a>(keys: impl IntoIterator<Item = &'a str>) -> Self {
        Self(keys.into_iter().map(|k| Step::Key(k.to_owned())).collect())
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.iter().filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn push_key(&mut self, key: &str) {
        self.0.push(Step::Key(key.to_owned()));
    }

    pub(crate) fn push_index(&mut self, index: usize) {
        self.0.push(Step::Index(index));
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    pub(crate) fn key(&self, key: &str) -> Self {
        let mut path = self.clone();
        path.push_key(key);
        path
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.push_index(index);
        path
    }

    pub(crate) fn concat(&self, below: &Self) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// Finds the value in `root` that a path printed by `serde_path_to_error` means.
    ///
    /// A printed path is ambiguous when keys hold dots; the value decides. What is not in the value (a variant's name) becomes
    /// a last step.
    pub(crate) fn locate(root: &Value, printed: &str) -> Self {
        let (steps, rest) = locate(root, printed);
        let mut path = Self(steps.into_iter().rev().collect());
        if !rest.is_empty() && rest != "?" {
            path.push_key(rest);
        }
        path
    }

    pub(crate) fn get<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(root, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }

    /// Takes the value out, or the whole list that it is in: other items must not change their place. Returns whether there
    /// was one.
    pub(crate) fn remove(&self, root: &mut Value) -> bool {
        let keys: Vec<_> = self
            .0
            .iter()
            .map_while(|step| match step {
                Step::Key(key) => Some(key),
                Step::Index(_) => None,
            })
            .collect();
        let Some((last, above)) = keys.split_last() else {
            return false;
        };
        above
            .iter()
            .try_fold(root, |value, key| value.get_mut(key))
            .and_then(Value::as_object_mut)
            .is_some_and(|map| map.remove(last.as_str()).is_some())
    }

    /// Returns the path of the table around it.
    pub(crate) fn parent(&self) -> Self {
        let mut path = self.clone();
        path.pop();
        path
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Key(key) => {
                    if idx > 0 {
                        f.write_str(".")?;
                    }
                    // Quotes what has to be quoted in a TOML file, and with it whatever a terminal might obey.
                    f.write_str(&toml_edit::Key::new(key).display_repr())?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the steps that lead furthest, last one first, and what is left of the printed path.
fn locate<'p>(value: &Value, printed: &'p str) -> (Vec<Step>, &'p str) {
    let rest = printed.strip_prefix('.').unwrap_or(printed);
    let below = |step: Step, child: &Value, tail: &'p str| {
        let (mut steps, rest) = locate(child, tail);
        steps.push(step);
        (steps, rest)
    };
    let furthest = match value {
        Value::Object(map) => map
            .iter()
            .filter_map(|(key, child)| {
                let tail = rest.strip_prefix(key.as_str())?;
                let ends = tail.is_empty() || tail.starts_with(['.', '[']);
                (ends && !rest.is_empty()).then(|| below(Step::Key(key.clone()), child, tail))
            })
            .min_by_key(|(_, rest)| rest.len()),
        Value::Array(items) => rest.strip_prefix('[').and_then(|rest| {
            let (number, tail) = rest.split_once(']')?;
            let index = number.parse().ok()?;
            Some(below(Step::Index(index), items.get(index)?, tail))
        }),
        _ => None,
    };
    furthest.unwrap_or((Vec::new(), rest))
}

/// Returns the candidate that was probably meant.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Less alike than this is another word, not a slip of the finger.
    const ALIKE: f64 = 0.5;
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let word = plain(word);
    candidates
        .map(|known| {
            (
                strsim::normalized_damerau_levenshtein(&word, &plain(known)),
                known,
            )
        })
        .filter(|(alike, _)| *alike > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}
