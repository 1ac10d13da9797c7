use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::{Result, fuzz, program, say, target, undisturbed};

/// The models that tests, demo and measurements need.
const MODELS: &[&str] = &["multilingual-e5-small-q4", "all-minilm-l6-v2"];

/// Fetches everything that needs the network: the sources of dependencies and the models.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    sources(shell)?;
    cmd!(shell, "cargo build --workspace --locked --bin memory").run()?;
    models(shell, &program(&target(shell)?.join("debug"), "memory"))
}

/// Fetches the sources of all dependencies, as the lock file names them.
pub(crate) fn sources(shell: &Shell) -> Result<()> {
    cmd!(shell, "cargo fetch --locked").run()?;
    fuzz::fetch(shell)
}

/// Pulls the models that are missing, with the program itself, into a cache inside `target`.
pub(crate) fn models(shell: &Shell, memory: &Path) -> Result<()> {
    for model in MODELS {
        say(&format!("model {model}"));
        let pull = cmd!(shell, "{memory} model pull {model}").quiet();
        undisturbed(pull, shell).ignore_stdout().run()?;
    }
    Ok(())
}

/// The folder of caches of all runs that belong to this repository.
pub(crate) fn cache(shell: &Shell) -> PathBuf {
    shell.current_dir().join("target/cache")
}
