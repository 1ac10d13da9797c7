use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory::config::{self, Config, Flag, Loaded, Sources, env, workspace};
use memory::{App, FixedClock, Memory};
use memory_api::{Error, ErrorKind, Registry, Result};

use crate::args::Global;
use crate::output::Failure;

/// Where the program runs and what it was told there.
#[derive(Debug)]
pub(crate) struct Context {
    app: App,
    global: Global,
    current_dir: PathBuf,
    env: Vec<(String, String)>,
}

impl Context {
    #[expect(
        clippy::disallowed_methods,
        reason = "a front end is where the current folder comes in"
    )]
    pub(crate) fn new(global: Global) -> Result<Self> {
        let current_dir = std::env::current_dir().map_err(|err| {
            Error::new(
                ErrorKind::Unavailable,
                format!("the current folder is gone: {err}"),
            )
        })?;
        // Names and values that are not Unicode can be none of ours.
        let env: Vec<(String, String)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut app = App::with_default_plugins()?;
        if let Some(cache_dir) = env::cache_dir(&env) {
            app = app.with_cache_dir(cache_dir);
        }
        if let Some(now) = global.now {
            app = app.with_clock(Arc::new(FixedClock::new(now)));
        }
        Ok(Self {
            app,
            global,
            current_dir,
            env,
        })
    }

    /// Returns the folder the program was started in.
    pub(crate) fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Returns the plugins.
    pub(crate) fn registry(&self) -> &Registry {
        self.app.registry()
    }

    /// Returns the environment.
    pub(crate) fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Returns the folder of caches that all workspaces share.
    pub(crate) fn cache_dir(&self) -> Result<PathBuf> {
        env::cache_dir(&self.env).ok_or_else(|| {
            Error::new(ErrorKind::InvalidInput, "there is no place for caches")
                .with_hint("set `HOME`, or `XDG_CACHE_HOME` to a folder")
        })
    }

    /// Makes a path that a person typed absolute.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.current_dir.join(path)
    }

    /// Returns the workspace that was named, or that the current folder is in.
    pub(crate) fn workspace(&self) -> Result<PathBuf> {
        let Some(named) = &self.global.workspace else {
            return workspace::discover(&self.current_dir).ok_or_else(|| {
                let here = self.current_dir.display();
                Error::new(
                    ErrorKind::InvalidInput,
                    format!("`{here}` is not in a workspace"),
                )
                .with_hint(
                    "run `memory init` here, or name the folder of your notes: `--workspace DIR`",
                )
            });
        };
        if named.as_os_str().is_empty() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the path of the workspace is empty",
            ));
        }
        let dir = self.absolute(named);
        if dir.is_dir() {
            Ok(dir)
        } else {
            Err(Error::new(
                ErrorKind::InvalidInput,
                format!("there is no folder `{}`", dir.display()),
            )
            .with_hint("`memory init DIR` makes one"))
        }
    }

    /// Returns the workspace, or the current folder outside of one.
    pub(crate) fn workspace_or_current(&self) -> Result<PathBuf> {
        if self.global.workspace.is_none() {
            return Ok(
                workspace::discover(&self.current_dir).unwrap_or_else(|| self.current_dir.clone())
            );
        }
        self.workspace()
    }

    /// Returns the folder that is to become a workspace.
    pub(crate) fn new_workspace(&self, named: Option<&Path>) -> PathBuf {
        match named.or(self.global.workspace.as_deref()) {
            Some(dir) => self.absolute(dir),
            None => self.current_dir.clone(),
        }
    }

    /// Reads the configuration of a workspace.
    pub(crate) fn load(&self, workspace: &Path) -> Result<Loaded, Failure> {
        let mut sources = Sources {
            user_file: env::user_config_file(&self.env),
            workspace_file: Some(workspace.join(workspace::CONFIG_FILE)),
            explicit_file: self
                .global
                .config
                .as_deref()
                .map(|file| self.absolute(file)),
            env: self.env.clone(),
            flags: Vec::new(),
        };
        if let Some(state) = &self.global.state {
            let dir = self.absolute(state);
            sources
                .flags
                .push(Flag::new("--state", "state_dir", dir.to_string_lossy()));
        }
        if !self.global.include.is_empty() {
            sources.flags.push(Flag::new(
                "--include",
                "documents.include",
                self.global.include.clone(),
            ));
        }
        Ok(config::load(&sources, self.app.registry())
            .map_err(|problems| problems.seen_from(&self.current_dir))?)
    }

    /// Opens the memory of the workspace.
    pub(crate) async fn open(&self) -> Result<Memory, Failure> {
        Ok(self.open_with_config().await?.0)
    }

    /// Opens the memory of the workspace and returns what it is opened with.
    pub(crate) async fn open_with_config(&self) -> Result<(Memory, Config), Failure> {
        let workspace = self.workspace()?;
        let loaded = self.load(&workspace)?;
        let memory = self.app.open(&loaded.config, &workspace).await?;
        Ok((memory, loaded.config))
    }
}

/// Names of variables that clap reads; they are the same constants as the configuration's.
#[cfg(test)]
mod tests {
    use crate::args::Args;
    use clap::CommandFactory as _;
    use memory::config::env;

    #[test]
    fn variables_of_the_command_line_are_those_of_the_configuration() {
        let command = Args::command();
        for arg in command.get_arguments() {
            if let Some(name) = arg.get_env() {
                assert!(env::NAMES.contains(&name.to_str().unwrap()), "{name:?}");
            }
        }
    }
}
