//! A workspace and the program run in it, with an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub(crate) struct Program {
    dir: tempfile::TempDir,
    env: Vec<(String, String)>,
}

/// What a run printed, and its exit code.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(command: &mut Command) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let Output {
            status,
            stdout,
            stderr,
        } = command.stdin(Stdio::null()).output().unwrap();
        Self {
            code: status.code().unwrap(),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|err| panic!("{err}: {}\n{}", self.stdout, self.stderr))
    }

    /// Asserts the exit code and returns the run.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.stdout, self.stderr
        );
        self
    }
}

impl Program {
    /// Goes by words alone, as long as nothing else is said: no model is here.
    pub(crate) fn new() -> Self {
        let program = Self {
            dir: tempfile::tempdir().unwrap(),
            env: vec![("MEMORY_EMBEDDER__USE".to_owned(), "none".to_owned())],
        };
        fs::create_dir_all(program.path("memory")).unwrap();
        program
    }

    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let program = Self::new();
        for (path, content) in files {
            program.write(path, content);
        }
        program
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves the embedder to the configuration. No model is here.
    pub(crate) fn with_meaning(mut self) -> Self {
        self.env.clear();
        self
    }

    /// Leaves the embedder to the configuration, with the models that `cargo xtask prepare` fetched.
    pub(crate) fn with_models(self) -> Self {
        let cache = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cache");
        assert!(cache.is_dir(), "no models yet: run `cargo xtask prepare`");
        self.with_meaning()
            .env("XDG_CACHE_HOME", cache.to_str().unwrap())
    }

    /// The workspace. Its parent is the home folder.
    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("desk")
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_in(&self.root(), args)
    }

    pub(crate) fn run_in(&self, dir: &Path, args: &[&str]) -> Run {
        Run::of(&mut self.command(dir, args))
    }

    pub(crate) fn command(&self, dir: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memory"));
        command
            .args(args)
            .current_dir(dir)
            .env_clear()
            .env("HOME", self.dir.path())
            .stdin(Stdio::null());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
