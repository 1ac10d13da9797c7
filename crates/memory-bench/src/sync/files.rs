//! Indexing: nothing changed, one file, a hundred, all of them.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::bare;
use super::notes;
use super::probe::{Usage, usage};
use crate::Result;
use crate::report::{Aim, Report, millis, rounded};
use crate::sample::{median, paired_ratio, ratio_of_medians};
use crate::watch::time;

/// How many files, as they are named.
const SIZES: [(usize, &str); 2] = [(2_000, "2,000"), (10_000, "10,000")];
/// Measures something once.
type Job = fn(&mut Tree) -> Result<()>;

/// What is measured, and how often.
const JOBS: &[(usize, Job)] = &[
    (5, Tree::full),
    (1, |tree| tree.index("state").map(drop)),
    (21, Tree::nothing),
    (21, |tree| {
        let cost = tree.changed(1)?;
        tree.costs.one.push(cost);
        Ok(())
    }),
    (7, |tree| {
        let cost = tree.changed(100)?;
        tree.costs.hundred.push(cost);
        Ok(())
    }),
];

/// Notes, and what was measured of them.
#[derive(Debug)]
struct Tree {
    name: &'static str,
    dir: TempDir,
    program: PathBuf,
    n: usize,
    costs: Costs,
    /// Counts the texts that were written, so that each is a new one.
    version: u64,
}

/// Seconds of the processor, but for those on the wall.
#[derive(Debug, Default)]
struct Costs {
    nothing: Vec<f64>,
    nothing_wall: Vec<f64>,
    walk: Vec<f64>,
    one: Vec<f64>,
    hundred: Vec<f64>,
    full: Vec<f64>,
    full_wall: Vec<f64>,
    insert: Vec<f64>,
    /// Bytes.
    peak_nothing: f64,
    peak_full: f64,
}

impl Tree {
    fn new(program: &Path, n: usize, name: &'static str) -> Result<Self> {
        let tree = Self {
            name,
            dir: tempfile::tempdir()?,
            program: program.to_owned(),
            n,
            costs: Costs::default(),
            version: 0,
        };
        notes::write(&tree.notes(), n)?;
        fs::write(
            tree.notes().join("memory.toml"),
            "[embedder]\nuse = \"none\"\n",
        )?;
        Ok(tree)
    }

    fn notes(&self) -> PathBuf {
        self.dir.path().join("notes")
    }

    fn index(&self, state: &str) -> Result<Usage> {
        let (notes, state) = (self.notes(), self.dir.path().join(state));
        let args = [
            "--workspace",
            &notes.to_string_lossy(),
            "--state",
            &state.to_string_lossy(),
            "index",
        ];
        usage(&self.program, args)
    }

    /// Gives the first files other texts.
    fn change(&mut self, n: usize) -> Result<()> {
        self.version += 1;
        for number in 0..n {
            fs::write(
                self.notes().join(notes::path(number)),
                notes::note(number, self.version),
            )?;
        }
        Ok(())
    }

    /// Indexes everything into a new folder, and does the bare work.
    fn full(&mut self) -> Result<()> {
        let (took, wall) = time(|| self.index("full"))?;
        self.costs.full.push(took.cpu);
        self.costs.full_wall.push(wall.wall);
        self.costs.peak_full = self.costs.peak_full.max(took.peak as f64);
        fs::remove_dir_all(self.dir.path().join("full"))?;
        let database = self.dir.path().join("bare.db");
        let (dir, path) = (self.notes().join("memory"), database.to_string_lossy());
        let took = bare_work(&["insert", &dir.to_string_lossy(), &path])?;
        self.costs.insert.push(took.cpu);
        fs::remove_file(&database)?;
        Ok(())
    }

    fn nothing(&mut self) -> Result<()> {
        let (took, wall) = time(|| self.index("state"))?;
        self.costs.nothing.push(took.cpu);
        self.costs.nothing_wall.push(wall.wall);
        self.costs.peak_nothing = self.costs.peak_nothing.max(took.peak as f64);
        let dir = self.notes();
        let took = bare_work(&["walk", &dir.to_string_lossy()])?;
        self.costs.walk.push(took.cpu);
        Ok(())
    }

    /// Returns what changed files cost beyond a run without any.
    fn changed(&mut self, n: usize) -> Result<f64> {
        self.change(n)?;
        let with = self.index("state")?.cpu;
        Ok(with - self.index("state")?.cpu)
    }

    fn report(&self, report: &mut Report) {
        let (name, costs) = (self.name, &self.costs);
        report.figure(
            format!("{name} files"),
            format!("{} entries", notes::n_entries(self.n)),
        );
        report.times(format!("{name}: nothing changed"), &costs.nothing);
        report.times(
            format!("{name}: nothing changed, on the wall"),
            &costs.nothing_wall,
        );
        report.times(format!("{name}: bare walk and stat"), &costs.walk);
        report.times(format!("{name}: one file changed, beyond that"), &costs.one);
        report.times(
            format!("{name}: 100 files changed, beyond that"),
            &costs.hundred,
        );
        report.times(format!("{name}: full index"), &costs.full);
        report.times(format!("{name}: full index, on the wall"), &costs.full_wall);
        report.times(format!("{name}: bare insert"), &costs.insert);
        let mb = |bytes: f64| format!("{} MB", rounded(bytes / 1e6));
        report.figure(
            format!("{name}: peak memory, nothing changed"),
            mb(costs.peak_nothing),
        );
        report.figure(
            format!("{name}: peak memory, full index"),
            mb(costs.peak_full),
        );
        report.ratio(
            format!("sync: full index / bare insert, {name}"),
            paired_ratio(&costs.full, &costs.insert),
            Aim::AtMost(2.0),
        );
        let hundred = 100.0 * median(&costs.insert) / self.n as f64;
        report.ratio(
            format!("sync: 100 changed files / bare insert of 100, {name}"),
            ratio_of_medians(&costs.hundred, &[hundred]),
            Aim::AtMost(3.0),
        );
    }
}

fn bare_work(args: &[&str]) -> Result<Usage> {
    usage(
        &std::env::current_exe()?,
        [bare::NAME].into_iter().chain(args.iter().copied()),
    )
}

/// Measures, with the program at this path.
pub(crate) fn run(program: &Path) -> Result<Report> {
    let mut report = Report::default();
    let mut trees = Vec::new();
    for (n, name) in SIZES {
        trees.push(Tree::new(program, n, name)?);
    }
    // In turn, so that what disturbs the machine for a while disturbs both.
    for (n_rounds, job) in JOBS {
        for _ in 0..*n_rounds {
            for tree in &mut trees {
                job(tree)?;
            }
        }
    }
    for tree in &trees {
        tree.report(&mut report);
    }
    let [small, large] = trees.as_slice() else {
        return Err("two sizes are compared".into());
    };
    let (small, large) = (&small.costs, &large.costs);
    report.figure(
        "nothing changed, per 100 further files",
        millis((median(&large.nothing) - median(&small.nothing)) / 80.0),
    );
    report.ratio(
        "sync: nothing changed / bare walk and stat, 10,000",
        paired_ratio(&large.nothing, &large.walk),
        Aim::AtMost(1.5),
    );
    report.ratio(
        "sync: one changed file among 10,000 / among 2,000",
        ratio_of_medians(&large.one, &small.one),
        Aim::AtMost(1.5),
    );
    report.ratio(
        "sync: peak memory, nothing changed, 10,000 / 2,000",
        large.peak_nothing / small.peak_nothing,
        Aim::AtMost(1.2),
    );
    report.ratio(
        "sync: peak memory, full index, 10,000 / 2,000",
        large.peak_full / small.peak_full,
        Aim::AtMost(1.2),
    );
    Ok(report)
}
