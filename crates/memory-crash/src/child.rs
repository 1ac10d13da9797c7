//! The process that dies: plays the script and ends at a step.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use futures::executor::block_on;

use crate::script::{Plan, Script, write};
use crate::{Result, print, replay, workspace};

/// How often each step has been heard.
static HEARD: Mutex<BTreeMap<&'static str, u64>> = Mutex::new(BTreeMap::new());

/// Plays the script of the seed, from its round `first`. With a step it dies when it hears that for the n-th time; else it prints
/// what it heard.
pub(crate) fn run(
    dir: &Path,
    plan: Plan,
    seed: u64,
    first: usize,
    step: Option<(String, u64)>,
) -> Result<()> {
    listen(step)?;
    let script = Script::new(seed);
    for (round, tree) in script.rounds.iter().enumerate().skip(first) {
        replay::mark(&format!("round {round}"));
        write(dir, tree)?;
        if plan.loses_words(round) {
            workspace::lose_words(dir)?;
        }
        let memory = workspace::open(dir, workspace::STATE, plan.setup(round))?;
        workspace::sync(&memory, plan.forces(round))?;
        block_on(memory.close())?;
    }
    for (step, n) in &*HEARD.lock().unwrap_or_else(PoisonError::into_inner) {
        print(&format!("{step} {n}"));
    }
    Ok(())
}

#[cfg(feature = "failpoints")]
#[expect(clippy::unnecessary_wraps, reason = "without the feature it fails")]
fn listen(last: Option<(String, u64)>) -> Result<()> {
    memory_engine::failpoint::set(Box::new(move |step| {
        replay::mark(step);
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        let n = heard.entry(step).or_default();
        *n += 1;
        if last
            .as_ref()
            .is_some_and(|last| last.0 == step && last.1 == *n)
        {
            std::process::abort();
        }
    }));
    Ok(())
}

#[cfg(not(feature = "failpoints"))]
fn listen(_: Option<(String, u64)>) -> Result<()> {
    Err("this program was built without steps; use `cargo xtask crash`".into())
}
