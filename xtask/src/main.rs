//! `cargo xtask COMMAND`: what the maintainers run. Each command is a module.

mod bench;
mod crash;
mod demo;
mod eval;
mod fuzz;
mod prepare;
mod soak;
mod test;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use xshell::{Shell, cmd};

/// An error is for a person to read.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  prepare   fetch everything that needs the network: sources of dependencies, models, a Python package
  test      format, lints, tidy, all tests, documentation, deaths at every step of a sync, a short soak, random text; prepares first what is missing, then runs offline
  tidy      check the rules of the house: who may import whom, files of plugins, unsafe code
  demo      build, index examples/workspaces, answer a question in English and one in Chinese
  eval      measure retrieval on the sets in $EVAL_DIR:
            [--split section|block|both] [--mode lexical|vector|hybrid|all] [--set NAME]...
  bench     time what users wait for: meaning, sync
  crash     let a process die at every step of a sync and at seeded moments, and the machine stop, and compare what is left:
            [--rounds N] [--seed N]
  soak      let eight readers and two writers, one of them killed again and again, work on one state folder for a while:
            [--seconds N] [--seed N]
  fuzz      give random text to everything that reads text from outside:
            [--seconds N] [--target NAME]
";

/// A floor or an aim was missed, a death left what it should not, an answer was wrong, or random text found a fault.
const GATE_FAILED: u8 = 5;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    match run(&command, &rest) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(GATE_FAILED),
        Err(err) => {
            say(&format!("error: {err}"));
            ExitCode::FAILURE
        }
    }
}

/// Returns whether every floor and every aim held.
fn run(command: &str, args: &[String]) -> Result<bool> {
    let shell = Shell::new()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .ok_or("no root folder")?;
    shell.change_dir(root);
    match command {
        "prepare" => prepare::run(&shell)?,
        "test" => test::run(&shell)?,
        "tidy" => tidy::run(root)?,
        "demo" => demo::run(&shell)?,
        "eval" => return eval::run(&shell, args),
        "bench" => return bench::run(&shell, args),
        "crash" => return crash::run(&shell, args),
        "soak" => return soak::run(&shell, args),
        "fuzz" => return fuzz::run(&shell, args),
        _ => {
            say(USAGE);
            return Err(format!("unknown command `{command}`").into());
        }
    }
    Ok(true)
}

/// Builds programs of the workspace in release mode and returns their folder.
///
/// `--workspace` keeps one set of features for all of them, so that one command builds nothing again that another has built.
fn release(shell: &Shell, programs: &[&str]) -> Result<PathBuf> {
    let bins = programs.iter().flat_map(|program| ["--bin", program]);
    cmd!(
        shell,
        "cargo build --release --workspace --locked {bins...}"
    )
    .run()?;
    Ok(target(shell)?.join("release"))
}

/// The folder that cargo builds into.
fn target(shell: &Shell) -> Result<PathBuf> {
    let json = cmd!(
        shell,
        "cargo metadata --format-version 1 --no-deps --offline"
    )
    .quiet()
    .read()?;
    let metadata: serde_json::Value = serde_json::from_str(&json)?;
    let target = metadata
        .get("target_directory")
        .and_then(serde_json::Value::as_str)
        .ok_or("no target folder")?;
    Ok(PathBuf::from(target))
}

/// The path of a program in a folder of programs.
fn program(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

/// Prepares a run of the program that no configuration of the user reaches, with the models that `prepare` fetched.
fn undisturbed<'a>(mut command: xshell::Cmd<'a>, shell: &Shell) -> xshell::Cmd<'a> {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMORY_") {
            command = command.env_remove(name);
        }
    }
    command
        .env("XDG_CONFIG_HOME", "/nonexistent")
        .env("XDG_CACHE_HOME", prepare::cache(shell))
}

#[expect(clippy::print_stderr, reason = "a tool for the terminal")]
fn say(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stdout, reason = "a tool for the terminal")]
fn print(text: &str) {
    println!("{text}");
}
