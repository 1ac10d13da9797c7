//! What a machine that stops may leave: everything that syncs do to a state folder is recorded, and the folder is built as a disk
//! could have it at that moment, with some of what was not synced and without the rest. Then it is used.
//!
//! * `layer`: records what this process does to files.
//! * `history`: the records.
//! * `disk`: what a disk promises, and what it may make of the records.
//! * `choice`: which of the many states are looked at.

pub(crate) mod choice;
pub(crate) mod disk;
pub(crate) mod history;
pub(crate) mod layer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use futures::executor::block_on;
use tempfile::TempDir;

use crate::script::{Plan, Random, Script, write};
use crate::state::State;
use crate::workspace::{self, STATE, Whole};
use crate::{Result, say};
use choice::{Choice, Moment, Variant};
use disk::{Disk, Tree};
use history::Op;

pub(crate) use layer::{mark, record};

/// States that are looked at, per round.
const STATES: u64 = 10;
/// For so many rounds one process dies before the machine stops.
const DEATHS_PER: u64 = 10;
/// Rounds that are played after a death.
const AFTER_DEATH: usize = 2;
/// What is said of one state at most.
const MAX_LINES: usize = 12;
/// How many states are looked at together.
const THREADS: usize = 2;

/// A script, and what new indexes of its trees hold.
struct Expected {
    plan: Plan,
    seed: u64,
    script: Script,
    wholes: Vec<Whole>,
}

/// All that was done to a state folder while a script was played.
struct Recording<'a> {
    expected: &'a Expected,
    name: String,
    ops: Vec<Op>,
    /// Whether its last process found that the index by words was lost.
    begins_without_words: bool,
}

/// Returns whether every state that was looked at is as it should be: those that a machine leaves that stops in the middle of a
/// script, and those where it stops after a process died and another one went on.
pub(crate) fn run(rounds: u64, seed: u64) -> Result<bool> {
    // What is looked at here is looked at by a machine that goes on.
    layer::leave_out_syncs();
    let mut random = Random::new(seed);
    let mut all_held = true;
    let share = usize::try_from(rounds * STATES / 3)?;
    let n_deaths = rounds.div_ceil(DEATHS_PER);
    let mut n_left = n_deaths;
    for (n, plan) in (1..).zip(Plan::ALL) {
        let expected = Expected::make(plan, seed)?;
        let undisturbed = Recording::undisturbed(&expected)?;
        all_held &= undisturbed.look_at(share)?;
        let moments = choice::syncs(&undisturbed.ops)?;
        let here = n_left / (Plan::ALL.len() as u64 + 1 - n);
        n_left -= here;
        for _ in 0..here {
            let moment = choice::sync(&moments, &mut random).ok_or("nothing is ever synced")?;
            let interrupted = Recording::interrupted(&expected, moment)?;
            all_held &= interrupted.look_at(share / usize::try_from(n_deaths)?)?;
        }
    }
    Ok(all_held)
}

impl Expected {
    fn make(plan: Plan, seed: u64) -> Result<Self> {
        let script = Script::new(seed);
        let dir = TempDir::new()?;
        let dir = dir.path();
        let mut wholes = Vec::new();
        for (round, tree) in script.rounds.iter().enumerate() {
            write(dir, tree)?;
            let (state, setup) = (format!("fresh-{round}"), plan.setup(round));
            let fresh = workspace::open(dir, &state, setup)?;
            workspace::sync(&fresh, false)?;
            block_on(fresh.close())?;
            let mut problems = Vec::new();
            wholes.push(workspace::look(dir, &state, setup, &mut problems)?);
            if !problems.is_empty() {
                return Err(format!("a new index is not as it should be: {problems:?}").into());
            }
        }
        Ok(Self {
            plan,
            seed,
            script,
            wholes,
        })
    }
}

impl<'a> Recording<'a> {
    fn undisturbed(expected: &'a Expected) -> Result<Self> {
        Self::make(expected, expected.plan.name().to_owned(), &[(0, None)])
    }

    /// Lets a process write and die before it syncs; another one goes on.
    fn interrupted(expected: &'a Expected, moment: &Moment) -> Result<Self> {
        let Moment { n_ops, round, file } = moment;
        let plan = expected.plan.name();
        let name = format!("{plan}, a death after change {n_ops} before `{file}` is synced");
        let last = u64::try_from(*n_ops)?.max(1);
        let mut recording = Self::make(expected, name, &[(0, Some(last)), (*round, None)])?;
        let end = Op::Mark(format!("round {}", round + AFTER_DEATH));
        if let Some(end) = recording.ops.iter().rposition(|op| *op == end) {
            recording.ops.truncate(end);
        }
        Ok(recording)
    }

    /// Plays the script by one process after the other, each from a round to the end or to a record.
    fn make(
        expected: &'a Expected,
        name: String,
        processes: &[(usize, Option<u64>)],
    ) -> Result<Self> {
        let dir = TempDir::new()?;
        let dir = dir.path().canonicalize()?;
        let log_dir = TempDir::new()?;
        let log = log_dir.path().join("log");
        let mut begins_without_words = false;
        for (first, last) in processes {
            begins_without_words = workspace::forget_lost_words(&dir)?;
            let output = Command::new(std::env::current_exe()?)
                .arg("child")
                .arg(&dir)
                .args([expected.plan.name(), &expected.seed.to_string(), "trace"])
                .arg(&log)
                .arg(first.to_string())
                .args(last.map(|last| last.to_string()))
                .output()?;
            let died = output.status.code().is_none();
            if died != last.is_some() || !(died || output.status.success()) {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(
                    format!("{name}: the child ended with {}: {said}", output.status).into(),
                );
            }
        }
        let ops = Op::decode_all(&std::fs::read(log)?)?;
        check_layer(&ops, &dir.join(STATE))?;
        Ok(Self {
            expected,
            name,
            ops,
            begins_without_words,
        })
    }

    /// Looks at so many states that a disk could be in; returns whether all are as they should be.
    fn look_at(&self, n_states: usize) -> Result<bool> {
        let begin = Instant::now();
        let all = choice::all(&self.ops, self.expected.seed)?;
        let (n_steps, n_all) = (all.len(), all.values().map(Vec::len).sum::<usize>());
        let choices = choice::sample(all, n_states, self.expected.seed);
        let n_looked = choices.len();
        let states = Mutex::new(States {
            disk: Disk::new(),
            ops: &self.ops,
            n_done: 0,
            choices: choices.into_iter(),
        });
        let failed = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let state = states.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some((choice, tree)) = state else {
                            return;
                        };
                        let differences = self.look_at_one(&choice, &tree);
                        if !differences.is_empty() {
                            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                            failed.push((choice, tree, differences));
                        }
                    }
                });
            }
        });
        let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort_by_key(|(choice, ..)| choice.n_ops);
        let (name, seed) = (&self.name, self.expected.seed);
        for (choice, tree, differences) in &failed {
            let kept = TempDir::new()?.keep();
            disk::build(tree, &kept.join(STATE))?;
            let Choice {
                n_ops,
                variant,
                round,
                step,
            } = choice;
            say(&format!(
                "{name}, seed {seed}, round {round}, after `{step}`, {n_ops} changes, {variant:?}: {}",
                kept.display()
            ));
            for difference in differences.iter().take(MAX_LINES) {
                say(&format!("  {difference}"));
            }
        }
        say(&format!(
            "replay, {name}, seed {seed}: {} changes, {n_all} states of the disk after {n_steps} steps, {n_looked} looked at, {} failed, {:.1} s",
            self.ops.len(),
            failed.len(),
            begin.elapsed().as_secs_f64()
        ));
        Ok(failed.is_empty())
    }

    fn look_at_one(&self, choice: &Choice, tree: &Tree) -> Vec<String> {
        match catch_unwind(AssertUnwindSafe(|| self.use_it(choice, tree))) {
            Ok(Ok(differences)) => differences,
            Ok(Err(err)) => vec![err.to_string()],
            Err(_) => vec!["it panicked".to_owned()],
        }
    }

    /// Looks at the state, uses it, finishes it, and holds it against a new index of the same files.
    fn use_it(&self, choice: &Choice, tree: &Tree) -> Result<Vec<String>> {
        let dir = TempDir::new()?;
        let dir = dir.path();
        disk::build(tree, &dir.join(STATE))?;
        let round = choice.round;
        let Expected {
            plan,
            script,
            wholes,
            ..
        } = self.expected;
        let notes = script.rounds.get(round);
        let (notes, whole) = notes
            .zip(wholes.get(round))
            .ok_or("a round that is not of the script")?;
        write(dir, notes)?;
        let setup = plan.setup(round);
        let left = State::read(&dir.join(STATE))?;
        let mut differences = left.as_ref().map(State::violations).unwrap_or_default();
        let has_words = left.as_ref().is_some_and(|left| left.words.is_some());
        let may_lack_words = self.begins_without_words || plan.loses_words(round);
        if left.is_some() && !has_words && !may_lack_words {
            differences.push("the manifest names an index by words that is not there".to_owned());
        }
        let memory = workspace::open(dir, STATE, setup)?;
        workspace::ask_at_once(&memory, script, has_words)?;
        workspace::sync(&memory, false)?;
        block_on(memory.close())?;
        workspace::look(dir, STATE, setup, &mut differences)?.compare(whole, &mut differences);
        Ok(differences)
    }
}

/// Makes the chosen states, in the order of their moments.
struct States<'a> {
    disk: Disk,
    ops: &'a [Op],
    n_done: usize,
    choices: std::vec::IntoIter<Choice>,
}

impl States<'_> {
    fn next(&mut self) -> Option<(Choice, Tree)> {
        let choice = self.choices.next()?;
        let missing = self.ops.get(self.n_done..choice.n_ops)?;
        for op in missing {
            // It went well before, when the states were counted.
            self.disk.apply(op).ok()?;
        }
        self.n_done = choice.n_ops;
        let variant = choice.variant;
        let tree = self.disk.tree(&|id, part| variant.keep(id, part));
        Some((choice, tree))
    }
}

/// Holds what is made of the records against what is really there: were a change not recorded, nothing would be proved.
fn check_layer(ops: &[Op], state: &Path) -> Result<()> {
    let mut disk = Disk::new();
    for op in ops {
        disk.apply(op)?;
    }
    let recorded = disk.tree(&|id, part| Variant::Everything.keep(id, part));
    let there = disk::read(state)?;
    let paths = recorded.keys().chain(there.keys());
    for path in paths {
        if recorded.get(path) != there.get(path) {
            return Err(format!("`{path}` is not as it was recorded").into());
        }
    }
    Ok(())
}
