//! The environment variables of the product.
//!
//! `MEMORY_` and two or more config keys joined by `__` set that key: `MEMORY_SEARCH__MAX_RESULTS=3` is `search.max_results = 3`.
//! Case does not matter below the prefix, and `_` stands for the `-` of plugin names. Lists are written `a,b` or as TOML arrays.
//! Names without `__` are the list below; any other is an error, because a variable that does nothing is a trap.

use crate::key::KeyPath;

/// What every name begins with.
pub const PREFIX: &str = "MEMORY_";

/// What stands between two config keys.
pub const SEPARATOR: &str = "__";

/// The workspace folder, as `--workspace`.
pub const WORKSPACE: &str = "MEMORY_WORKSPACE";

/// The folder of the index, as `--state`; the key `state_dir`.
pub const STATE: &str = "MEMORY_STATE";

/// The config file, as `--config`.
pub const CONFIG: &str = "MEMORY_CONFIG";

/// The set of defaults; the key `preset`.
pub const PRESET: &str = "MEMORY_PRESET";

/// Reserved for a log file.
pub const LOG: &str = "MEMORY_LOG";

/// What names begin with that only tests look at; nothing else reads them.
pub const TEST_PREFIX: &str = "MEMORY_TEST_";

/// Every whole name.
pub const NAMES: &[&str] = &[WORKSPACE, STATE, CONFIG, PRESET, LOG];

/// Names of others that share our prefix: systemd tells every service how to watch for memory pressure.
const FOREIGN: &[&str] = &["MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE"];

/// The whole names that set a config key.
const KEYS: &[(&str, &str)] = &[(STATE, "state_dir"), (PRESET, "preset")];

/// What a variable means to the config.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning<'a> {
    /// Nothing: it belongs to the front end, to tests or to somebody else.
    None,
    /// It sets the key at these names.
    Key(Vec<&'a str>),
    /// Nobody knows it.
    Unknown,
}

pub(crate) fn meaning(name: &str) -> Meaning<'_> {
    let Some(rest) = name.strip_prefix(PREFIX) else {
        return Meaning::None;
    };
    if let Some((_, key)) = KEYS.iter().find(|(known, _)| *known == name) {
        Meaning::Key(vec![key])
    } else if name.starts_with(TEST_PREFIX) || NAMES.contains(&name) || FOREIGN.contains(&name) {
        Meaning::None
    } else if rest.contains(SEPARATOR) {
        Meaning::Key(rest.split(SEPARATOR).collect())
    } else {
        Meaning::Unknown
    }
}

/// Returns whether a part of a variable's name means this key.
pub(crate) fn names_key(part: &str, key: &str) -> bool {
    part.eq_ignore_ascii_case(&key.replace('-', "_"))
}

/// Returns the variable that sets a key, where there is one.
pub(crate) fn name_of(path: &KeyPath) -> Option<String> {
    let keys: Vec<_> = path.keys().collect();
    if let [key] = keys.as_slice() {
        let (name, _) = KEYS.iter().find(|(_, known)| known == key)?;
        return Some((*name).to_owned());
    }
    let name = keys.join(SEPARATOR).replace('-', "_").to_uppercase();
    Some(format!("{PREFIX}{name}"))
}
