use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Preset;

/// Where a configuration comes from, in rising order of precedence.
///
/// A relative path in a file is relative to that file's folder, so that the same file means the same from everywhere; pass
/// absolute file paths for absolute results.
#[derive(Clone, Default)]
pub struct Sources {
    /// The user's own file; it may be missing.
    pub user_file: Option<PathBuf>,
    /// The workspace's file; it may be missing.
    pub workspace_file: Option<PathBuf>,
    /// A file the user named (`--config`, `MEMORY_CONFIG`): it replaces the workspace's file and has to be there.
    pub explicit_file: Option<PathBuf>,
    /// The whole environment. Only names that begin with `MEMORY_` configure; the others serve `${NAME}` in files.
    pub env: Vec<(String, String)>,
    /// What the user typed; a later flag wins.
    pub flags: Vec<Flag>,
}

impl fmt::Debug for Sources {
    /// Leaves out the values, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources")
            .field("user_file", &self.user_file)
            .field("workspace_file", &self.workspace_file)
            .field("explicit_file", &self.explicit_file)
            .field("n_env", &self.env.len())
            .field(
                "flags",
                &self.flags.iter().map(|flag| &flag.name).collect::<Vec<_>>(),
            )
            .finish()
    }
}

/// A configuration value given on the command line.
#[derive(Clone)]
pub struct Flag {
    /// The name to show: `--max-results`.
    pub name: String,
    /// The dotted key it sets: `search.max_results`.
    pub key: String,
    /// The value.
    pub value: Value,
}

impl Flag {
    /// Creates a flag.
    pub fn new(name: impl Into<String>, key: impl Into<String>, value: impl Into<Value>) -> Self {
        Self {
            name: name.into(),
            key: key.into(),
            value: value.into(),
        }
    }
}

impl fmt::Debug for Flag {
    /// Leaves out the value, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.key)
    }
}

/// Where a value comes from.
///
/// [`Display`](fmt::Display) gives `default`, `preset openclaw`, `memory.toml:6`, `env MEMORY_STATE` or `flag --state`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// It is built in.
    Default,
    /// The set of defaults that was chosen.
    Preset(Preset),
    /// A line of a file.
    File {
        /// The file, as the caller named it.
        path: PathBuf,
        /// The line, 1-based, where one is to blame.
        line: Option<usize>,
        /// The column in characters, 1-based.
        column: Option<usize>,
    },
    /// The environment variable of this name.
    Env(String),
    /// The flag of this name.
    Flag(String),
}

impl Origin {
    /// Names a file below `dir` as somebody in that folder would: `memory.toml`, not its absolute path.
    pub fn seen_from(mut self, dir: &Path) -> Self {
        if let Self::File { path, .. } = &mut self
            && let Ok(below) = path.strip_prefix(dir)
        {
            *path = below.to_owned();
        }
        self
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Preset(preset) => write!(f, "preset {preset}"),
            Self::File { path, line, .. } => {
                write!(f, "{}", path.display())?;
                line.map_or(Ok(()), |line| write!(f, ":{line}"))
            }
            Self::Env(name) => write!(f, "env {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}
