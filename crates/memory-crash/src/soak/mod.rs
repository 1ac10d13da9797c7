//! Readers and writers on one state folder for a while: no error, no answer older than one sync.
//!
//! Every version of every note has a word of its own. Who writes says in the [`ledger`] what it is about to write, what it has
//! written and what a finished sync has seen of it; who asks reads the ledger before and after. An answer may be as old as the
//! ledger said before the question, and as new as it says after the answer, and nothing else.
//!
//! * `ledger`: what was written and synced, for all processes.
//! * `notes`: the notes and their words.
//! * `settings`: the config file, which changes as well.
//! * `writer`: edits and syncs; once as a thread, once as a process that is killed again and again.
//! * `reader`: asks and judges the answers.
//! * `end`: looks at what is left when all have stopped.

mod end;
mod ledger;
mod notes;
mod reader;
mod settings;
mod writer;

#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::script::Random;
use crate::{Result, say};
use ledger::Ledger;
use reader::{Kind, Reader, Tally};
use settings::Settings;
use writer::Writer;

pub(crate) use writer::run_process;

/// Two of each kind.
const N_READERS: usize = 8;
/// How long the second process lives at least and at most, before it is killed.
const LIFE_MS: (u64, u64) = (300, 4000);
/// What did not happen within this many times the wanted duration never will.
const PATIENCE: u32 = 10;
/// What has to happen at least once, as the ledger names it.
const DEEDS: &[&str] = &[
    "thread sync",
    "thread rebuild",
    "process sync",
    "switch vector",
    "switch chunker",
    "switch model",
    "kill",
];

/// What all threads share.
#[derive(Debug)]
struct Shared {
    /// The workspace.
    dir: PathBuf,
    /// The program `memory`.
    program: PathBuf,
    ledger: Ledger,
    stop: AtomicBool,
    failures: Mutex<Vec<String>>,
}

impl Shared {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Notes a failure, which ends the run.
    fn fail(&self, failure: String) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.push(failure);
        self.stop.store(true, Ordering::Relaxed);
    }

    fn failures(&self) -> Vec<String> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.clone()
    }
}

/// Returns whether no answer was wrong and what is left is whole.
pub(crate) fn run(seconds: u64, seed: u64, program: &Path) -> Result<bool> {
    let dir = tempfile::tempdir()?;
    let shared = Shared {
        dir: dir.path().to_owned(),
        program: program.to_owned(),
        ledger: Ledger::open(dir.path())?,
        stop: AtomicBool::new(false),
        failures: Mutex::default(),
    };
    Settings::default().write(dir.path())?;
    let mut first = Writer::new(&shared.dir, program, "thread", 0, seed)?;
    first.write_all()?;
    first.round()?;

    let begin = Instant::now();
    let tallies = thread::scope(|scope| {
        let readers: Vec<_> = (0..N_READERS)
            .zip(Kind::ALL.iter().cycle())
            .map(|(n, kind)| {
                let shared = &shared;
                scope.spawn(move || Reader::new(shared, *kind, seed + n as u64).run())
            })
            .collect();
        let writers = [
            scope.spawn(|| write(&shared, &mut first)),
            scope.spawn(|| kill_again_and_again(&shared, seed)),
        ];
        wait(&shared, Duration::from_secs(seconds), begin);
        for writer in writers {
            if let Err(err) = writer.join().map_err(|_| "a writer panicked".to_owned()) {
                shared.fail(err);
            }
        }
        readers
            .into_iter()
            .filter_map(|reader| reader.join().ok())
            .collect::<Vec<_>>()
    });
    if tallies.len() < N_READERS {
        shared.fail("a reader panicked".to_owned());
    }
    let took = begin.elapsed();
    let mut failures = shared.failures();
    if failures.is_empty() {
        failures = end::problems(&shared).unwrap_or_else(|err| vec![err.to_string()]);
    }
    report(&shared, &tallies, took, seed)?;
    if failures.is_empty() {
        return Ok(true);
    }
    for failure in failures.iter().take(12) {
        say(&format!("  {failure}"));
    }
    say(&format!("  what is left: {}", dir.keep().display()));
    Ok(false)
}

/// Waits until the time is over and everything has happened, or something failed.
fn wait(shared: &Shared, wanted: Duration, begin: Instant) {
    while !shared.is_over() {
        thread::sleep(Duration::from_millis(50));
        let missing = match shared.ledger.now() {
            Ok(state) => DEEDS.iter().find(|deed| state.count(deed) == 0),
            Err(err) => return shared.fail(err.to_string()),
        };
        match missing {
            None if begin.elapsed() >= wanted => shared.stop.store(true, Ordering::Relaxed),
            Some(deed) if begin.elapsed() >= wanted * PATIENCE => {
                shared.fail(format!("there was no `{deed}` in all the time"));
            }
            _ => {}
        }
    }
}

fn write(shared: &Shared, writer: &mut Writer) {
    while !shared.is_over() {
        if let Err(err) = writer.round() {
            shared.fail(format!("writing thread: {err}"));
        }
    }
}

/// Starts the second process, lets it live for a while, and kills it.
fn kill_again_and_again(shared: &Shared, seed: u64) {
    let mut random = Random::new(seed ^ 0x50a4);
    while !shared.is_over() {
        let seed = seed + 1 + random.below(1 << 32);
        let life = LIFE_MS.0 + random.below(LIFE_MS.1 - LIFE_MS.0);
        let lived = start(shared, seed).and_then(|child| live(shared, child, life));
        if let Err(err) = lived {
            shared.fail(format!("second process: {err}"));
        }
    }
}

fn start(shared: &Shared, seed: u64) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("soak-writer")
        .arg(&shared.dir)
        .arg(&shared.program)
        .arg(seed.to_string())
        .stdout(Stdio::null());
    #[cfg(unix)]
    command.process_group(0);
    Ok(command.spawn()?)
}

/// A process that ends by itself has failed and said why.
fn live(shared: &Shared, mut child: Child, life_ms: u64) -> Result<()> {
    let until = Instant::now() + Duration::from_millis(life_ms);
    while Instant::now() < until && !shared.is_over() {
        thread::sleep(Duration::from_millis(5));
        if let Some(status) = child.try_wait()? {
            return Err(format!("it ended with {status}").into());
        }
    }
    kill(&mut child)?;
    child.wait()?;
    shared.ledger.did("kill")
}

/// Kills a process with the program that it may have started: one that lived on would sync by settings that hold no more, and
/// after the end.
#[cfg(unix)]
fn kill(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    let killed = Command::new("kill")
        .args(["-KILL", "--", &group])
        .status()?;
    if killed.success() {
        Ok(())
    } else {
        Err(format!("it cannot be killed: {killed}").into())
    }
}

#[cfg(not(unix))]
fn kill(child: &mut Child) -> Result<()> {
    Ok(child.kill()?)
}

fn report(shared: &Shared, tallies: &[Tally], took: Duration, seed: u64) -> Result<()> {
    let state = shared.ledger.now()?;
    let gaps: u64 = tallies.iter().map(|tally| tally.gaps).sum();
    say(&format!(
        "soak of {} s, seed {seed}; {gaps} answers lacked a note while a sync was at it, and said so",
        took.as_secs()
    ));
    for kind in Kind::ALL {
        let of_kind = || tallies.iter().filter(|tally| tally.kind == *kind);
        let answers: u64 = of_kind().map(|tally| tally.answers).sum();
        let slowest = of_kind().map(|tally| tally.slowest).max();
        say(&format!(
            "  {answers} answers by {}; the slowest took {} ms",
            kind.name(),
            slowest.unwrap_or_default().as_millis()
        ));
    }
    let count = |deed: &str| state.count(deed);
    say(&format!(
        "  {} syncs and {} rebuilds here, {} and {} by the second process, which was killed {} times; settings switched: {} vector, \
         {} chunker, {} model; {} changes of {} notes",
        count("thread sync"),
        count("thread rebuild"),
        count("process sync"),
        count("process rebuild"),
        count("kill"),
        count("switch vector"),
        count("switch chunker"),
        count("switch model"),
        state.n_changes(),
        notes::N_NOTES,
    ));
    Ok(())
}
