//! Lets children die and compares what they leave with an index that nothing ever interrupted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use futures::executor::block_on;
use tempfile::TempDir;

use crate::script::{Random, Script, write};
use crate::{Result, say, workspace};

/// Parts of the undisturbed run's duration that a moment is chosen by.
const MOMENTS: u64 = 10_000;

/// How a child is to die.
#[derive(Debug)]
enum Death {
    /// When it hears this step for the n-th time.
    Step(String, u64),
    /// After this time, by SIGKILL.
    After(Duration),
}

/// Returns whether every death left what it should.
pub(crate) fn run(rounds: u64, seed: u64) -> Result<bool> {
    let script = Script::new(seed);
    let (steps, took) = record(seed)?;
    let mut random = Random::new(seed);
    let mut deaths = Vec::new();
    for (step, n) in &steps {
        let mut at = vec![1, *n, 1 + random.below(*n)];
        at.sort_unstable();
        at.dedup();
        deaths.extend(at.into_iter().map(|at| Death::Step(step.clone(), at)));
    }
    let n_steps = deaths.len();
    for _ in 0..rounds {
        let part = u32::try_from(random.below(MOMENTS))?;
        deaths.push(Death::After(took * part / u32::try_from(MOMENTS)?));
    }
    let mut failed = 0;
    let mut alive = 0;
    for (n, death) in deaths.iter().enumerate() {
        let dir = tempfile::tempdir()?;
        let differences = match let_die(dir.path(), seed, death) {
            Ok(died) => {
                alive += u64::from(!died);
                compare(dir.path(), &script)
            }
            Err(err) => Err(err),
        };
        let differences = differences.unwrap_or_else(|err| vec![err.to_string()]);
        if !differences.is_empty() {
            failed += 1;
            let kept = dir.keep();
            say(&format!("seed {seed}, {death:?}: {}", kept.display()));
            for difference in differences.iter().take(12) {
                say(&format!("  {difference}"));
            }
        }
        if n % 20 == 19 {
            say(&format!("{} of {} deaths", n + 1, deaths.len()));
        }
    }
    say(&format!(
        "seed {seed}: {} steps, {n_steps} deaths at them, {rounds} at other moments ({alive} came too late), {failed} failed",
        steps.len()
    ));
    Ok(failed == 0)
}

/// Plays the script undisturbed; returns its steps with their counts, and how long it takes.
fn record(seed: u64) -> Result<(Vec<(String, u64)>, Duration)> {
    let dir = TempDir::new()?;
    let begin = Instant::now();
    let output = child(dir.path(), seed)?.arg("record").output()?;
    let took = begin.elapsed();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut steps = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let (step, n) = line.split_once(' ').ok_or("a step without a count")?;
        steps.push((step.to_owned(), n.parse()?));
    }
    let differences = compare(dir.path(), &Script::new(seed))?;
    if steps.is_empty() || !differences.is_empty() {
        return Err(format!("the undisturbed run is not as it should be: {differences:?}").into());
    }
    Ok((steps, took))
}

fn child(dir: &Path, seed: u64) -> Result<Command> {
    let program: PathBuf = std::env::current_exe()?;
    let mut command = Command::new(program);
    command.arg("child").arg(dir).arg(seed.to_string());
    Ok(command)
}

/// Returns whether the child died before its end. One that is to die at a step has to.
fn let_die(dir: &Path, seed: u64, death: &Death) -> Result<bool> {
    let mut command = child(dir, seed)?;
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

/// Uses what is left, finishes it, and holds it against a new index of the same files.
fn compare(dir: &Path, script: &Script) -> Result<Vec<String>> {
    let published = dir.join(".memory").join("MANIFEST.json").is_file();
    let memory = workspace::open(dir, ".memory", true)?;
    workspace::ask_at_once(&memory, script, published)?;
    write(dir, &script.last())?;
    workspace::sync(&memory, false)?;
    let found = workspace::answers(&memory)?;
    block_on(memory.close())?;
    let memory = workspace::open(dir, ".memory", true)?;
    let mut differences = workspace::problems(&memory, &dir.join(".memory"))?;
    block_on(memory.close())?;

    let fresh = workspace::open(dir, "fresh", true)?;
    workspace::sync(&fresh, false)?;
    let expected = workspace::answers(&fresh)?;
    block_on(fresh.close())?;
    let is = |mark: &str, line: &String| format!("{mark} {line}");
    let surplus = found.iter().filter(|line| !expected.contains(line));
    differences.extend(surplus.map(|line| is("+", line)));
    let missing = expected.iter().filter(|line| !found.contains(line));
    differences.extend(missing.map(|line| is("-", line)));
    Ok(differences)
}
