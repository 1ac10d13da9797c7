//! Lets children die and compares what they leave with an index that nothing ever interrupted.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tempfile::TempDir;

use crate::script::{Plan, Random, Script, write};
use crate::state::State;
use crate::workspace::{STATE, Whole};
use crate::{Result, say, workspace};

/// Parts of the undisturbed run's duration that a moment is chosen by.
const MOMENTS: u64 = 10_000;
/// What is said of one death at most.
const MAX_LINES: usize = 12;

/// How a child is to die.
#[derive(Debug)]
enum Death {
    /// When it hears this step for the n-th time.
    Step(String, u64),
    /// After this time, by SIGKILL.
    After(Duration),
}

/// A script that was played to its end.
struct Undisturbed {
    plan: Plan,
    seed: u64,
    script: Script,
    /// Its steps, with how often each was heard.
    steps: Vec<(String, u64)>,
    took: Duration,
    whole: Whole,
}

/// Returns whether every death left what it should. Each plan gets its part of the `rounds`, beside a few deaths at each step.
pub(crate) fn run(rounds: u64, seed: u64) -> Result<bool> {
    let mut all_held = true;
    let mut left = rounds;
    for (n, plan) in (1..).zip(Plan::ALL) {
        let share = left / (Plan::ALL.len() as u64 + 1 - n);
        left -= share;
        all_held &= let_all_die(&Undisturbed::play(plan, seed)?, share)?;
    }
    Ok(all_held)
}

fn let_all_die(undisturbed: &Undisturbed, rounds: u64) -> Result<bool> {
    let begin = Instant::now();
    let (plan, seed) = (undisturbed.plan, undisturbed.seed);
    let mut random = Random::new(seed);
    let mut deaths = Vec::new();
    for (step, n) in &undisturbed.steps {
        let mut at = vec![1, *n, 1 + random.below(*n)];
        at.sort_unstable();
        at.dedup();
        deaths.extend(at.into_iter().map(|at| Death::Step(step.clone(), at)));
    }
    let n_steps = deaths.len();
    for _ in 0..rounds {
        let part = u32::try_from(random.below(MOMENTS))?;
        deaths.push(Death::After(
            undisturbed.took * part / u32::try_from(MOMENTS)?,
        ));
    }
    let next = AtomicUsize::new(0);
    let (failed, alive) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZeroUsize::get) {
            scope.spawn(|| {
                while let Some(death) = deaths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = let_one_die(undisturbed, death).unwrap_or_else(|err| {
                        say(&format!("{death:?}: {err}"));
                        (true, false)
                    });
                    alive.fetch_add(u64::from(!one.0), Ordering::Relaxed);
                    failed.fetch_add(u64::from(!one.1), Ordering::Relaxed);
                }
            });
        }
    });
    let (failed, alive) = (failed.into_inner(), alive.into_inner());
    say(&format!(
        "deaths, {}, seed {seed}: {} steps, {n_steps} deaths at them, {rounds} at other moments ({alive} came too late), {failed} failed, {:.1} s",
        plan.name(),
        undisturbed.steps.len(),
        begin.elapsed().as_secs_f64()
    ));
    Ok(failed == 0)
}

/// Returns whether the child died before its end, and whether it left what it should; says what is not so.
fn let_one_die(undisturbed: &Undisturbed, death: &Death) -> Result<(bool, bool)> {
    let dir = tempfile::tempdir()?;
    let mut died = true;
    let differences = let_die(dir.path(), undisturbed, death).and_then(|so| {
        died = so;
        compare(dir.path(), undisturbed)
    });
    let differences = differences.unwrap_or_else(|err| vec![err.to_string()]);
    if differences.is_empty() {
        return Ok((died, true));
    }
    let (plan, seed) = (undisturbed.plan.name(), undisturbed.seed);
    let place = dir.keep();
    let lines = differences.iter().take(MAX_LINES).map(String::as_str);
    let lines = lines.collect::<Vec<_>>().join("\n  ");
    // At once, since other deaths are told of meanwhile.
    say(&format!(
        "{plan}, seed {seed}, {death:?}: {}\n  {lines}",
        place.display()
    ));
    Ok((died, false))
}

impl Undisturbed {
    /// Plays the script undisturbed, and holds what it leaves against a new index of the same files.
    fn play(plan: Plan, seed: u64) -> Result<Self> {
        let script = Script::new(seed);
        let dir = TempDir::new()?;
        let begin = Instant::now();
        let output = child(dir.path(), plan, seed)?.arg("record").output()?;
        let took = begin.elapsed();
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        let mut steps = Vec::new();
        for line in String::from_utf8(output.stdout)?.lines() {
            let (step, n) = line.split_once(' ').ok_or("a step without a count")?;
            steps.push((step.to_owned(), n.parse()?));
        }
        let setup = plan.setup(script.rounds.len());
        let mut differences = Vec::new();
        let whole = workspace::look(dir.path(), STATE, setup, &mut differences)?;
        let fresh = workspace::open(dir.path(), "fresh", setup)?;
        workspace::sync(&fresh, false)?;
        block_on(fresh.close())?;
        let fresh = workspace::look(dir.path(), "fresh", setup, &mut differences)?;
        whole.compare(&fresh, &mut differences);
        if steps.is_empty() || !differences.is_empty() {
            let (n, lines) = (differences.len(), differences.iter().take(MAX_LINES));
            let lines: Vec<_> = lines.map(String::as_str).collect();
            return Err(format!(
                "{}: the undisturbed run is not as it should be in {n} places:\n  {}",
                plan.name(),
                lines.join("\n  ")
            )
            .into());
        }
        Ok(Self {
            plan,
            seed,
            script,
            steps,
            took,
            whole,
        })
    }
}

fn child(dir: &Path, plan: Plan, seed: u64) -> Result<Command> {
    let program: PathBuf = std::env::current_exe()?;
    let mut command = Command::new(program);
    command
        .arg("child")
        .arg(dir)
        .arg(plan.name())
        .arg(seed.to_string());
    Ok(command)
}

/// Returns whether the child died before its end. One that is to die at a step has to.
fn let_die(dir: &Path, undisturbed: &Undisturbed, death: &Death) -> Result<bool> {
    let mut command = child(dir, undisturbed.plan, undisturbed.seed)?;
    match death {
        Death::Step(step, n) => {
            let output = command.args(["step", step, &n.to_string()]).output()?;
            // A child that ends with a code was not ended by its step.
            if let Some(code) = output.status.code() {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                return Err(format!("the child ended with {code}: {said}").into());
            }
            Ok(true)
        }
        Death::After(time) => {
            let mut child = command.arg("run").stdout(Stdio::null()).spawn()?;
            std::thread::sleep(*time);
            child.kill()?;
            let status = child.wait()?;
            match status.code() {
                None => Ok(true),
                Some(0) => Ok(false),
                Some(code) => Err(format!("the child ended with {code}").into()),
            }
        }
    }
}

/// Looks at what is left, uses it, finishes it, and holds it against the undisturbed run.
fn compare(dir: &Path, undisturbed: &Undisturbed) -> Result<Vec<String>> {
    let script = &undisturbed.script;
    let setup = undisturbed.plan.setup(script.rounds.len());
    let left = State::read(&dir.join(STATE))?;
    let mut differences = left.as_ref().map(State::violations).unwrap_or_default();
    let has_words = left.as_ref().is_some_and(|left| left.words.is_some());
    if left.is_some() && !has_words && !workspace::has_lost_words(dir) {
        differences.push("the manifest names an index by words that is not there".to_owned());
    }
    let memory = workspace::open(dir, STATE, setup)?;
    workspace::ask_at_once(&memory, script, has_words)?;
    write(dir, &script.last())?;
    workspace::sync(&memory, false)?;
    block_on(memory.close())?;
    let whole = workspace::look(dir, STATE, setup, &mut differences)?;
    whole.compare(&undisturbed.whole, &mut differences);
    Ok(differences)
}
