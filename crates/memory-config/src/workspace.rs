//! Finding the workspace.

use std::path::{Path, PathBuf};

/// The config file of a workspace; its folder is the workspace.
pub const CONFIG_FILE: &str = "memory.toml";

/// The user's config file, below `$XDG_CONFIG_HOME`.
pub const USER_CONFIG_FILE: &str = "memory/config.toml";

/// Returns the workspace that `start` is in.
///
/// That is the nearest folder, from `start` upwards, that holds a `memory.toml`; if there is none, the nearest that holds a file
/// `MEMORY.md` or a folder `memory`. Pass an absolute path: the folders above a relative one are not known here.
pub fn discover(start: &Path) -> Option<PathBuf> {
    let nearest = |is_workspace: fn(&Path) -> bool| {
        start
            .ancestors()
            .find(|folder| is_workspace(folder))
            .map(Path::to_owned)
    };
    nearest(|folder| folder.join(CONFIG_FILE).is_file()).or_else(|| {
        nearest(|folder| folder.join("MEMORY.md").is_file() || folder.join("memory").is_dir())
    })
}
