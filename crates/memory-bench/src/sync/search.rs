//! A search by words: from a new process, and in an open memory.

use std::fs;
use std::path::{Path, PathBuf};

use futures::executor::block_on;
use memory::config::{Flag, Sources};
use memory::{App, AskedMode, Memory, Query, SyncRequest};
use tempfile::TempDir;

use super::bare;
use super::notes;
use super::probe::usage;
use crate::Result;
use crate::open;
use crate::report::{Aim, Report};
use crate::sample::{paired_ratio, percentile, ratio_of_medians};
use crate::watch::time;

const SIZES: [(usize, &str); 2] = [(2_000, "2,000"), (20_000, "20,000")];
const N_COLD: usize = 21;
const N_WARM: usize = 400;

/// Notes with an index of them, and with a bare one.
struct Tree {
    dir: TempDir,
}

/// Seconds of the processor.
#[derive(Default)]
struct Costs {
    cold: Vec<f64>,
    cold_bare: Vec<f64>,
    warm: Vec<f64>,
    warm_bare: Vec<f64>,
}

impl Tree {
    fn new(n: usize) -> Result<Self> {
        let tree = Self {
            dir: tempfile::tempdir()?,
        };
        notes::write(&tree.notes(), n)?;
        fs::write(
            tree.notes().join("memory.toml"),
            "[embedder]\nuse = \"none\"\n",
        )?;
        let memory = tree.open()?;
        let synced = block_on(memory.sync(&SyncRequest::default()))?;
        block_on(memory.close())?;
        if synced.entries != notes::n_entries(n) as u64 {
            return Err(format!("{} entries came of {n} notes", synced.entries).into());
        }
        let (dir, database) = (tree.notes().join("memory"), tree.bare());
        usage(
            &std::env::current_exe()?,
            [
                bare::NAME,
                "insert",
                &dir.to_string_lossy(),
                &database.to_string_lossy(),
            ],
        )?;
        Ok(tree)
    }

    fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn bare(&self) -> PathBuf {
        self.dir.path().join("bare.db")
    }

    fn open(&self) -> Result<Memory> {
        let app = App::with_default_plugins()?.with_cache_dir(open::cache_dir()?);
        let sources = Sources {
            workspace_file: Some(self.notes().join("memory.toml")),
            flags: vec![Flag::new(
                "--state",
                "state_dir",
                self.state().to_string_lossy(),
            )],
            ..Sources::default()
        };
        let loaded = memory::config::load(&sources, app.registry())?;
        Ok(block_on(app.open(&loaded.config, &self.notes()))?)
    }

    fn cold(&self, program: &Path, costs: &mut Costs) -> Result<()> {
        let (notes, state, database) = (self.notes(), self.state(), self.bare());
        for question in notes::questions(N_COLD) {
            let took = usage(
                program,
                [
                    "--workspace",
                    &notes.to_string_lossy(),
                    "--state",
                    &state.to_string_lossy(),
                    "search",
                    &question,
                ],
            )?;
            costs.cold.push(took.cpu);
            let took = usage(
                &std::env::current_exe()?,
                [bare::NAME, "search", &database.to_string_lossy(), &question],
            )?;
            costs.cold_bare.push(took.cpu);
        }
        Ok(())
    }

    fn warm(&self, costs: &mut Costs) -> Result<()> {
        let memory = self.open()?;
        let conn = bare::open(&self.bare())?;
        for (round, question) in notes::questions(N_WARM).iter().enumerate() {
            let query = Query::new(question.as_str()).with_mode(AskedMode::Lexical);
            let (answer, took) = time(|| Ok(block_on(memory.search(&query))?))?;
            let (texts, took_bare) = time(|| bare::search(&conn, question))?;
            if answer.results.is_empty() != texts.is_empty() || !answer.degraded.is_empty() {
                return Err(format!("`{question}` was answered otherwise: {answer:?}").into());
            }
            // The first wake everything up.
            if round >= 10 {
                costs.warm.push(took.cpu.unwrap_or(took.wall));
                costs
                    .warm_bare
                    .push(took_bare.cpu.unwrap_or(took_bare.wall));
            }
        }
        block_on(memory.close())?;
        Ok(())
    }
}

/// Measures, with the program at this path.
pub(crate) fn run(program: &Path) -> Result<Report> {
    let mut report = Report::default();
    let p95 = |seconds: &[f64]| percentile(seconds, 0.95).unwrap_or(f64::NAN);
    let mut measured = Vec::new();
    for (n, name) in SIZES {
        let tree = Tree::new(n)?;
        let mut costs = Costs::default();
        tree.cold(program, &mut costs)?;
        tree.warm(&mut costs)?;
        report.times(format!("{name}: cold"), &costs.cold);
        report.times(format!("{name}: cold, bare SQLite"), &costs.cold_bare);
        report.times(format!("{name}: warm"), &costs.warm);
        report.times(format!("{name}: warm, bare FTS5"), &costs.warm_bare);
        report.ratio(
            format!("search: cold / bare SQLite open and query, {name}"),
            paired_ratio(&costs.cold, &costs.cold_bare),
            Aim::AtMost(3.0),
        );
        report.ratio(
            format!("search: warm p95 / bare FTS5 p95, {name}"),
            p95(&costs.warm) / p95(&costs.warm_bare),
            Aim::AtMost(2.0),
        );
        measured.push(costs);
    }
    let [small, large] = measured.as_slice() else {
        return Err("two sizes are compared".into());
    };
    // More files have more matches, which cost FTS5 more as well.
    let grown = |large: &[f64], small: &[f64], large_bare: &[f64], small_bare: &[f64]| {
        ratio_of_medians(large, small) / ratio_of_medians(large_bare, small_bare)
    };
    report.ratio(
        "search: cold, 20,000 files / 2,000, by the same of bare SQLite",
        grown(&large.cold, &small.cold, &large.cold_bare, &small.cold_bare),
        Aim::AtMost(1.5),
    );
    report.ratio(
        "search: warm, 20,000 files / 2,000, by the same of bare FTS5",
        grown(&large.warm, &small.warm, &large.warm_bare, &small.warm_bare),
        Aim::AtMost(1.5),
    );
    Ok(report)
}
