use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use crate::{Result, fuzz, program, say, target, undisturbed};

/// The models that tests, demo and measurements need.
const MODELS: &[&str] = &["multilingual-e5-small-q4", "all-minilm-l6-v2"];

/// The official Python SDK of the Model Context Protocol, which drives `memory mcp` in tests.
const MCP_SDK: (&str, &str) = ("mcp", "2.3.0");

/// Fetches everything that needs the network: the sources of dependencies, the models and a client of the protocol.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    sources(shell)?;
    python(shell)?;
    cmd!(shell, "cargo build --workspace --locked --bin memory").run()?;
    models(shell, &program(&target(shell)?.join("debug"), "memory"))
}

/// Fetches the sources of all dependencies, as the lock file names them.
pub(crate) fn sources(shell: &Shell) -> Result<()> {
    cmd!(shell, "cargo fetch --locked").run()?;
    fuzz::fetch(shell)
}

/// Installs the Python SDK into an environment of its own inside `target`, if it is not there.
pub(crate) fn python(shell: &Shell) -> Result<()> {
    let (name, version) = MCP_SDK;
    let dir = cache(shell).join(format!("python/{name}-{version}"));
    // Written last, so that an installation that was interrupted is begun again.
    let complete = dir.join("complete");
    if complete.is_file() {
        return Ok(());
    }
    say(&format!("python package {name} {version}"));
    cmd!(shell, "python3 -m venv --clear {dir}").run()?;
    let python = dir.join("bin/python");
    cmd!(
        shell,
        "{python} -m pip install --quiet --disable-pip-version-check {name}=={version}"
    )
    .run()?;
    shell.write_file(complete, "")?;
    Ok(())
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
