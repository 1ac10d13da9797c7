//! Measures retrieval on the sets in `$EVAL_DIR`: each unit is indexed and asked with the program itself, and the answers are
//! scored by the sets' own `score.py`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, build_memory, print, undisturbed};

/// Where the sets are when the environment does not say.
const DEFAULT_DIR: &str = "../shared/eval";

/// What must hold: split, set, nDCG@10 and recall within 8,000 characters, in per cent.
const FLOORS: &[(&str, &str, f64, f64)] = &[
    ("section", "locomo", 76.0, 82.0),
    ("section", "beam100k", 46.0, 48.0),
    ("section", "xquad-zh", 97.0, 99.0),
    ("section", "cmrc2018", 96.0, 99.0),
    ("section", "drcd", 96.0, 99.0),
    ("section", "jsquad", 94.0, 98.0),
    ("section", "memorybank-zh", 93.0, 99.0),
    ("block", "locomo", 47.0, 73.0),
    ("block", "memorybank-zh", 66.0, 93.0),
];

/// Returns whether every floor held.
pub(crate) fn run(shell: &Shell, args: &[String]) -> Result<bool> {
    let (splits, only) = parse(args)?;
    let dir =
        std::env::var_os("EVAL_DIR").map_or_else(|| PathBuf::from(DEFAULT_DIR), PathBuf::from);
    let dir = shell.current_dir().join(dir);
    let units = units(&dir, &only)?;
    let memory = build_memory(shell)?;
    let mut held = true;
    for split in splits {
        let results = shell
            .current_dir()
            .join(format!("target/eval/{split}.jsonl"));
        answer(shell, &memory, &dir, &units, split, &results)?;
        let score = score(shell, &dir, &results)?;
        print(&format!("\nsplit = \"{split}\"\n"));
        print(&table(&score));
        let asked = |set: &str| only.is_empty() || only.iter().any(|asked| asked == set);
        for (_, set, ndcg, recall) in FLOORS
            .iter()
            .filter(|floor| floor.0 == split && asked(floor.1))
        {
            for (metric, floor) in [("ndcg@10", ndcg), ("recall@Bc", recall)] {
                let figure = per_cent(&score, &format!("/sets/{set}/{metric}"));
                if figure < *floor {
                    held = false;
                    print(&format!(
                        "below the floor: {set} {metric} {figure:.1} < {floor}"
                    ));
                }
            }
        }
    }
    Ok(held)
}

fn parse(args: &[String]) -> Result<(Vec<&'static str>, Vec<String>)> {
    let mut splits = vec!["section", "block"];
    let mut only = Vec::new();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match (arg, args.next()) {
            ("--split", Some("section")) => splits = vec!["section"],
            ("--split", Some("block")) => splits = vec!["block"],
            ("--split", Some("both")) => {}
            ("--set", Some(set)) => only.push(set.to_owned()),
            _ => return Err(format!("`{arg}` is no option, or its value is missing").into()),
        }
    }
    Ok((splits, only))
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

fn answer(
    shell: &Shell,
    memory: &Path,
    dir: &Path,
    units: &[String],
    split: &str,
    results: &Path,
) -> Result<()> {
    let scratch = shell.current_dir().join("target/eval/state");
    let mut rows = String::new();
    for unit in units {
        let state = scratch.join(split).join(unit);
        shell.remove_path(&state)?;
        let corpus = dir.join(unit).join("corpus");
        let queries = dir.join(unit).join("queries.jsonl");
        let out = scratch.join("results.jsonl");
        shell.create_dir(&scratch)?;
        let include = "**/*.md";
        let asked = [
            cmd!(
                shell,
                "{memory} --quiet --workspace {corpus} --state {state} --include {include} index"
            ),
            cmd!(
                shell,
                "{memory} --quiet --workspace {corpus} --state {state} --include {include} eval run {queries} --out {out}"
            ),
        ];
        for command in asked {
            undisturbed(command)
                .env("MEMORY_CHUNKER__MARKDOWN__SPLIT", split)
                .quiet()
                .ignore_stdout()
                .run()?;
        }
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

fn score(shell: &Shell, dir: &Path, results: &Path) -> Result<Value> {
    let script = dir.join("score.py");
    let json = results.with_extension("json");
    cmd!(
        shell,
        "python3 {script} --data {dir} --results {results} --json {json}"
    )
    .quiet()
    .ignore_stdout()
    .run()?;
    Ok(serde_json::from_str(&shell.read_file(json)?)?)
}

/// Sets that were not asked are left out; the script counts their questions as unanswered.
fn table(score: &Value) -> String {
    let mut lines = vec![
        "| set | questions | recall@6 | MRR@10 | nDCG@10 | 95 % | recall@8kc |".to_owned(),
        "|---|---|---|---|---|---|---|".to_owned(),
    ];
    for (set, figures) in score
        .pointer("/sets")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let figure = |pointer: &str| per_cent(figures, pointer);
        if figure("/recall@10") == 0.0 {
            continue;
        }
        lines.push(format!(
            "| {set} | {} | {:.1} | {:.1} | {:.1} | {:.1}–{:.1} | {:.1} |",
            figures.pointer("/n").unwrap_or(&Value::Null),
            figure("/recall@6"),
            figure("/mrr@10"),
            figure("/ndcg@10"),
            figure("/ci/ndcg@10/0"),
            figure("/ci/ndcg@10/1"),
            figure("/recall@Bc"),
        ));
    }
    lines.join("\n")
}

/// Returns the figure at a JSON pointer, 0 where there is none.
fn per_cent(value: &Value, pointer: &str) -> f64 {
    value
        .pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or(0.0)
        * 100.0
}
