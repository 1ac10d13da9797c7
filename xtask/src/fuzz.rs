//! Gives random text to everything that reads text from outside. The targets are the crate in `fuzz`, laid out as `cargo fuzz`
//! wants it; they are built here without that tool, which would have to be built first.
//!
//! There is no sanitizer: what is fuzzed is safe Rust, where a wrong step is a panic, and SQLite is no part of what is searched
//! for faults. So no unstable flag is needed, and building takes half as long.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;

use xshell::{Shell, cmd};

use crate::{Result, print, program, say, target};

const SECONDS: &str = "20";
const SEED: u32 = 1;
/// Longer input finds nothing else and takes longer.
const MAX_BYTES: u32 = 4096;
/// One input that takes longer is a finding.
const TIMEOUT_SECONDS: u32 = 10;
const MEMORY_MIB: u32 = 1024;

/// What LLVM needs to tell the fuzzer which way an input took; the same as `cargo fuzz` gives.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Ccodegen-units=1 \
    --cfg fuzzing";

/// Returns whether no target found anything.
pub(crate) fn run(shell: &Shell, args: &[String]) -> Result<bool> {
    let root = shell.current_dir();
    let all = targets(&root.join("fuzz/fuzz_targets"))?;
    let (seconds, only) = parse(args, &all)?;
    let folder = target(shell)?.join("fuzz");
    let programs = build(shell, &folder)?;
    let runs: Vec<Run<'_>> = all
        .iter()
        .filter(|name| only.is_none_or(|only| only == *name))
        .map(|name| Run {
            name,
            program: program(&programs, name),
            sources: root.join("fuzz"),
            folder: folder.clone(),
        })
        .collect();
    let at_once = thread::available_parallelism()?.get();
    let mut is_clean = true;
    for runs in runs.chunks(at_once) {
        let started: Vec<(&Run<'_>, Child)> = runs
            .iter()
            .map(|run| Ok((run, run.start(seconds)?)))
            .collect::<Result<_>>()?;
        for (run, mut child) in started {
            let status = child.wait()?;
            is_clean &= run.report(status.success())?;
        }
    }
    Ok(is_clean)
}

/// Fetches the sources that the targets need.
pub(crate) fn fetch(shell: &Shell) -> Result<()> {
    let manifest = "fuzz/Cargo.toml";
    let fetch = cmd!(shell, "cargo fetch --locked --manifest-path {manifest}").run();
    fetch.map_err(|err| {
        format!("{err}\n`fuzz/Cargo.lock` follows the dependencies of the crates: run `cargo fetch --manifest-path {manifest}`, and commit it").into()
    })
}

/// Builds the targets and returns their folder.
fn build(shell: &Shell, folder: &Path) -> Result<PathBuf> {
    let version = cmd!(shell, "rustc --version --verbose").quiet().read()?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .ok_or("rustc names no host")?;
    // With `--target`, the flags are not for build scripts.
    cmd!(
        shell,
        "cargo build --release --locked --bins --manifest-path fuzz/Cargo.toml --target {host} --target-dir {folder}"
    )
    .env("RUSTFLAGS", FLAGS)
    .env_remove("CARGO_ENCODED_RUSTFLAGS")
    .run()?;
    Ok(folder.join(host).join("release"))
}

/// One target on its way.
struct Run<'a> {
    name: &'a str,
    program: PathBuf,
    /// The crate of the targets.
    sources: PathBuf,
    /// What is written.
    folder: PathBuf,
}

impl Run<'_> {
    /// Starts it, with what earlier runs kept and with the seeds.
    fn start(&self, seconds: &str) -> Result<Child> {
        let corpus = self.folder.join("corpus").join(self.name);
        let found = self.found();
        fs::create_dir_all(&corpus)?;
        // What an earlier run found is no finding of this one.
        if found.exists() {
            fs::remove_dir_all(&found)?;
        }
        fs::create_dir_all(&found)?;
        let dictionary = self
            .sources
            .join(format!("dictionaries/{}.dict", self.name));
        let log = fs::File::create(self.log())?;
        let child = Command::new(&self.program)
            .args([corpus, self.sources.join("seeds").join(self.name)])
            .arg(format!("-dict={}", dictionary.display()))
            // The slash makes it a folder.
            .arg(format!("-artifact_prefix={}/", found.display()))
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-seed={SEED}"))
            .arg(format!("-max_len={MAX_BYTES}"))
            .arg(format!("-timeout={TIMEOUT_SECONDS}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
            .arg("-print_final_stats=1")
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        Ok(child)
    }

    /// Says what came of it; returns whether nothing was found.
    fn report(&self, is_clean: bool) -> Result<bool> {
        let log = String::from_utf8_lossy(&fs::read(self.log())?).into_owned();
        let n_inputs = stat(&log, "number_of_executed_units").unwrap_or("?");
        if is_clean {
            print(&format!("{}: {n_inputs} inputs, nothing found", self.name));
            return Ok(true);
        }
        let program = self.program.display();
        say(&format!("{}: failed after {n_inputs} inputs", self.name));
        for line in reason(&log) {
            say(&format!("  {line}"));
        }
        for entry in fs::read_dir(self.found())? {
            let input = entry?.path();
            let input = input.display();
            say(&format!("  the input: {input}"));
            say(&format!("  once more: {program} {input}"));
            say(&format!(
                "  make it smaller: {program} -minimize_crash=1 -max_total_time=60 -artifact_prefix={}/ {input}",
                self.found().display()
            ));
        }
        say(&format!("  all it said: {}", self.log().display()));
        Ok(false)
    }

    fn found(&self) -> PathBuf {
        self.folder.join("found").join(self.name)
    }

    fn log(&self) -> PathBuf {
        self.folder.join(format!("{}.log", self.name))
    }
}

/// Returns the names of all targets.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_stem().unwrap_or_default();
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Reads `--seconds N` and `--target NAME`.
fn parse<'a>(args: &'a [String], all: &[String]) -> Result<(&'a str, Option<&'a str>)> {
    let (mut seconds, mut only) = (SECONDS, None);
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match (arg, args.next()) {
            // To libFuzzer, 0 is no limit.
            ("--seconds", Some(value)) if value.parse::<u32>().is_ok_and(|n| n > 0) => {
                seconds = value;
            }
            ("--target", Some(value)) if all.iter().any(|name| name == value) => only = Some(value),
            ("--target", _) => return Err(format!("the targets are: {}", all.join(", ")).into()),
            _ => return Err("usage: cargo xtask fuzz [--seconds N] [--target NAME]".into()),
        }
    }
    Ok((seconds, only))
}

/// Returns a number of the fuzzer's statistics.
fn stat<'a>(log: &'a str, name: &str) -> Option<&'a str> {
    log.lines().find_map(|line| {
        let (key, value) = line.strip_prefix("stat::")?.split_once(':')?;
        (key == name).then(|| value.trim())
    })
}

/// Returns what a log says of a failure: the panic's own words, or those of the fuzzer.
fn reason(log: &str) -> Vec<&str> {
    const MAX_LINES: usize = 8;
    let begins = |line: &&str| line.contains(" panicked at ") || line.contains("ERROR: libFuzzer:");
    log.lines()
        .skip_while(|line| !begins(line))
        .take_while(|line| !line.starts_with("stack backtrace") && !line.starts_with("note: "))
        .take(MAX_LINES)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{parse, reason, stat, targets};

    #[test]
    fn every_target_has_seeds_and_words() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        let names = targets(&fuzz.join("fuzz_targets")).unwrap();
        assert!(!names.is_empty());
        for name in names {
            assert!(fuzz.join("seeds").join(&name).is_dir(), "{name}");
            let dictionary = fuzz.join(format!("dictionaries/{name}.dict"));
            assert!(dictionary.is_file(), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        }
    }

    #[test]
    fn seconds_and_target_are_checked() {
        let all = ["query".to_owned(), "config".to_owned()];
        let args = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>();
        assert_eq!(parse(&[], &all).unwrap(), ("20", None));
        let given = args(&["--target", "query", "--seconds", "5"]);
        assert_eq!(parse(&given, &all).unwrap(), ("5", Some("query")));
        for wrong in [
            &["--seconds", "0"][..],
            &["--seconds"],
            &["--target", "x"],
            &["x"],
        ] {
            assert!(parse(&args(wrong), &all).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_log_says_why_and_how_often() {
        let log = "INFO: x\n\nthread '<unnamed>' (7) panicked at a.rs:1:2:\nline 38 of 11\nstack backtrace:\n  0: x\nstat::number_of_executed_units: 58\n";
        assert_eq!(
            reason(log),
            [
                "thread '<unnamed>' (7) panicked at a.rs:1:2:",
                "line 38 of 11"
            ]
        );
        assert_eq!(stat(log, "number_of_executed_units"), Some("58"));
        let slow = "==9== ERROR: libFuzzer: timeout after 10 seconds\n    #0 x\n";
        assert_eq!(reason(slow).len(), 2);
    }
}
