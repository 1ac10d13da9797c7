//! Measures retrieval on the sets in `$EVAL_DIR`: each unit is indexed and asked with the program itself, and the answers are
//! scored by the sets' own `score.py`.

mod figures;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, prepare, print, program, release, undisturbed};
use figures::{Estimate, Metric, Questions};

/// Where the sets are when the environment does not say.
const DEFAULT_DIR: &str = "../shared/eval";

const MODES: &[&str] = &["lexical", "vector", "hybrid"];

/// What must hold: mode, split, set, nDCG@10 and recall within 8,000 characters, in per cent.
const FLOORS: &[(&str, &str, &str, f64, f64)] = &[
    ("lexical", "section", "locomo", 76.0, 82.0),
    ("lexical", "section", "beam100k", 46.0, 48.0),
    ("lexical", "section", "xquad-zh", 97.0, 99.0),
    ("lexical", "section", "cmrc2018", 96.0, 99.0),
    ("lexical", "section", "drcd", 96.0, 99.0),
    ("lexical", "section", "jsquad", 94.0, 98.0),
    ("lexical", "section", "memorybank-zh", 93.0, 99.0),
    ("lexical", "block", "locomo", 47.0, 73.0),
    ("lexical", "block", "memorybank-zh", 66.0, 93.0),
    ("hybrid", "section", "locomo", 77.0, 83.0),
    ("hybrid", "block", "locomo", 51.0, 81.0),
    ("hybrid", "block", "memorybank-en", 65.0, 93.0),
    ("hybrid", "block", "memorybank-zh", 72.0, 98.0),
];

/// Where both legs together must not be below the better one by more than chance: split and set.
const NOT_BELOW_A_LEG: &[(&str, &str)] = &[
    ("section", "locomo"),
    ("block", "locomo"),
    ("block", "memorybank-en"),
    ("block", "memorybank-zh"),
];

/// What was asked for on the command line.
struct Wish {
    splits: Vec<&'static str>,
    modes: Vec<&'static str>,
    sets: Vec<String>,
}

/// The figures of one split, by mode and set.
type Figures = BTreeMap<&'static str, BTreeMap<String, Questions>>;

/// Returns whether every floor held.
pub(crate) fn run(shell: &Shell, args: &[String]) -> Result<bool> {
    let wish = parse(args)?;
    let dir =
        std::env::var_os("EVAL_DIR").map_or_else(|| PathBuf::from(DEFAULT_DIR), PathBuf::from);
    let dir = shell.current_dir().join(dir);
    let units = units(&dir, &wish.sets)?;
    let memory = program(&release(shell, &["memory"])?, "memory");
    prepare::models(shell, &memory)?;
    let mut held = true;
    for split in &wish.splits {
        for unit in &units {
            index(shell, &memory, &dir, unit, split, &wish.modes)?;
        }
        let mut figures = Figures::new();
        for mode in &wish.modes {
            let results = shell
                .current_dir()
                .join(format!("target/eval/{split}-{mode}.jsonl"));
            answer(shell, &memory, &dir, &units, split, mode, &results)?;
            figures.insert(mode, per_question(shell, &dir, &results)?);
        }
        print(&format!("\nsplit = \"{split}\"\n"));
        print(&table(&figures));
        for complaint in missed(split, &figures) {
            held = false;
            print(&complaint);
        }
    }
    Ok(held)
}

fn parse(args: &[String]) -> Result<Wish> {
    let mut wish = Wish {
        splits: vec!["section", "block"],
        modes: MODES.to_vec(),
        sets: Vec::new(),
    };
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match (arg, args.next()) {
            ("--split", Some("section")) => wish.splits = vec!["section"],
            ("--split", Some("block")) => wish.splits = vec!["block"],
            ("--split", Some("both")) | ("--mode", Some("all")) => {}
            ("--mode", Some(mode)) if MODES.contains(&mode) => {
                wish.modes = MODES
                    .iter()
                    .copied()
                    .filter(|known| *known == mode)
                    .collect();
            }
            ("--set", Some(set)) => wish.sets.push(set.to_owned()),
            _ => return Err(format!("`{arg}` is no option, or its value is missing").into()),
        }
    }
    Ok(wish)
}

/// Finds the units, as `<set>/<unit>`.
fn units(dir: &Path, only: &[String]) -> Result<Vec<String>> {
    let mut units = Vec::new();
    for set in folders(dir)
        .map_err(|err| format!("no sets in `{}`, set EVAL_DIR: {err}", dir.display()))?
    {
        if !only.is_empty() && !only.contains(&set) {
            continue;
        }
        let with_queries =
            |unit: &String| dir.join(&set).join(unit).join("queries.jsonl").is_file();
        units.extend(
            folders(&dir.join(&set))?
                .into_iter()
                .filter(with_queries)
                .map(|unit| format!("{set}/{unit}")),
        );
    }
    if units.is_empty() {
        Err(format!("no unit in `{}`", dir.display()).into())
    } else {
        Ok(units)
    }
}

fn folders(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Prepares a run of the program over a unit.
fn on_unit<'a>(
    shell: &'a Shell,
    memory: &Path,
    dir: &Path,
    unit: &str,
    split: &str,
) -> xshell::Cmd<'a> {
    let state = shell
        .current_dir()
        .join("target/eval/state")
        .join(split)
        .join(unit);
    let corpus = dir.join(unit).join("corpus");
    let include = "**/*.md";
    let command = cmd!(
        shell,
        "{memory} --quiet --workspace {corpus} --state {state} --include {include}"
    );
    undisturbed(command, shell)
        .env("MEMORY_CHUNKER__MARKDOWN__SPLIT", split)
        .quiet()
        .ignore_stdout()
}

/// Builds a unit's index anew; vectors that are known are not computed again.
fn index(
    shell: &Shell,
    memory: &Path,
    dir: &Path,
    unit: &str,
    split: &str,
    modes: &[&str],
) -> Result<()> {
    let mut command = on_unit(shell, memory, dir, unit, split).args(["index", "--force"]);
    if modes == ["lexical"] {
        command = command.env("MEMORY_EMBEDDER__USE", "none");
    }
    command.run()?;
    Ok(())
}

fn answer(
    shell: &Shell,
    memory: &Path,
    dir: &Path,
    units: &[String],
    split: &str,
    mode: &str,
    results: &Path,
) -> Result<()> {
    let out = shell.current_dir().join("target/eval/results.jsonl");
    let mut rows = String::new();
    for unit in units {
        let queries = dir.join(unit).join("queries.jsonl");
        on_unit(shell, memory, dir, unit, split)
            .args(["eval", "run", "--mode", mode, "--out"])
            .args([&out, &queries])
            .run()?;
        for line in shell.read_file(&out)?.lines() {
            let mut row: Value = serde_json::from_str(line)?;
            if let Some(row) = row.as_object_mut() {
                row.insert("unit".to_owned(), unit.as_str().into());
            }
            rows.extend([row.to_string().as_str(), "\n"]);
        }
    }
    shell.write_file(results, rows)?;
    Ok(())
}

/// Returns the figures of every question, by set.
fn per_question(shell: &Shell, dir: &Path, results: &Path) -> Result<BTreeMap<String, Questions>> {
    let script = shell.current_dir().join("xtask/src/eval/per_question.py");
    let json = cmd!(shell, "python3 {script} {dir} {results}")
        .env("PYTHONPATH", dir)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .quiet()
        .read()?;
    let sets: BTreeMap<String, Vec<[f64; 2]>> = serde_json::from_str(&json)?;
    Ok(sets
        .into_iter()
        .map(|(set, figures)| (set, Questions { figures }))
        .collect())
}

/// One row per set: nDCG@10 with its interval and recall@8kc of each mode, and what both legs gain over the better one.
fn table(figures: &Figures) -> String {
    let modes: Vec<_> = figures.keys().copied().collect();
    let with_gain = modes.len() == MODES.len();
    let mut head = vec!["set".to_owned(), "questions".to_owned()];
    for mode in &modes {
        head.push(format!("{mode}: nDCG@10 (95 %)"));
        head.push("recall@8kc".to_owned());
    }
    if with_gain {
        head.push("hybrid − better leg: nDCG@10 (95 %)".to_owned());
    }
    let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let mut lines = vec![row(&head), format!("|{}", "---|".repeat(head.len()))];
    for set in figures.values().next().into_iter().flat_map(BTreeMap::keys) {
        let of = |mode: &str| figures.get(mode).and_then(|sets| sets.get(set));
        let n = modes
            .first()
            .and_then(|mode| of(mode))
            .map_or(0, |set| set.figures.len());
        let mut cells = vec![set.clone(), n.to_string()];
        for questions in modes.iter().filter_map(|mode| of(mode)) {
            let Estimate { mean, low, high } = questions.estimate(Metric::Ndcg);
            let recall = questions.estimate(Metric::Recall).mean;
            cells.push(format!("{mean:.1} ({low:.1}–{high:.1})"));
            cells.push(format!("{recall:.1}"));
        }
        if let Some(Estimate { mean, low, high }) = gain(figures, set, Metric::Ndcg) {
            cells.push(format!("{mean:+.1} ({low:+.1} to {high:+.1})"));
        }
        lines.push(row(&cells));
    }
    lines.join("\n")
}

/// Returns what both legs together gain over the better one, question by question.
fn gain(figures: &Figures, set: &str, metric: Metric) -> Option<Estimate> {
    let of = |mode: &str| figures.get(mode)?.get(set);
    let (words, meaning, both) = (of("lexical")?, of("vector")?, of("hybrid")?);
    let better = if words.estimate(metric).mean >= meaning.estimate(metric).mean {
        words
    } else {
        meaning
    };
    Some(both.paired(better, metric))
}

fn missed(split: &str, figures: &Figures) -> Vec<String> {
    let mut complaints = Vec::new();
    for (mode, _, set, ndcg, recall) in FLOORS.iter().filter(|floor| floor.1 == split) {
        let Some(questions) = figures.get(mode).and_then(|sets| sets.get(*set)) else {
            continue;
        };
        let floors = [
            ("nDCG@10", Metric::Ndcg, ndcg),
            ("recall@8kc", Metric::Recall, recall),
        ];
        for (name, metric, floor) in floors {
            let figure = questions.estimate(metric).mean;
            if figure < *floor {
                complaints.push(format!(
                    "below the floor: {mode} {set} {name} {figure:.1} < {floor}"
                ));
            }
        }
    }
    for (_, set) in NOT_BELOW_A_LEG.iter().filter(|row| row.0 == split) {
        for (name, metric) in [("nDCG@10", Metric::Ndcg), ("recall@8kc", Metric::Recall)] {
            if let Some(gain) = gain(figures, set, metric).filter(|gain| gain.high < 0.0) {
                complaints.push(format!(
                    "below the better leg: hybrid {set} {name} by {:.1} (95 %: {:.1} to {:.1})",
                    -gain.mean, -gain.high, -gain.low
                ));
            }
        }
    }
    complaints
}
