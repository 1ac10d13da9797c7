//! Edits notes, syncs, and says so in the ledger.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use futures::executor::block_on;
use memory::SyncRequest;

use super::ledger::Ledger;
use super::notes::{self, N_NOTES};
use super::settings::{Opened, Settings};
use crate::Result;
use crate::script::Random;

/// The folder of the index.
pub(crate) const STATE: &str = ".memory";
/// After how many rounds each of the rare things has happened once, in an order that is known; later a seed decides.
const WARM_UP: u64 = 8;
/// One of so many rounds builds anew, and one of so many switches a setting. Each begins a generation and ends another.
const REBUILD: u64 = 12;
const SWITCH: u64 = 8;
/// What a sync says of the settings that changed. Anything else that it warns of is a fault.
const OF_SETTINGS: &[&str] = &[
    "documents are cut in another way now",
    "the index was built by `",
    "the index holds vectors of `",
];

/// One that writes. The thread owns the even notes, the second process the odd ones.
#[derive(Debug)]
pub(crate) struct Writer {
    dir: PathBuf,
    program: PathBuf,
    name: &'static str,
    /// 0 for the thread, 1 for the process.
    first_note: usize,
    ledger: Ledger,
    random: Random,
    round: u64,
    settings: Settings,
    opened: Option<Opened>,
}

/// The second process: writes until it is killed.
pub(crate) fn run_process(dir: &Path, program: &Path, seed: u64) -> Result<()> {
    let mut writer = Writer::new(dir, program, "process", 1, seed)?;
    loop {
        writer.round()?;
    }
}

impl Writer {
    pub(crate) fn new(
        dir: &Path,
        program: &Path,
        name: &'static str,
        first_note: usize,
        seed: u64,
    ) -> Result<Self> {
        Ok(Self {
            dir: dir.to_owned(),
            program: program.to_owned(),
            name,
            first_note,
            ledger: Ledger::open(dir)?,
            random: Random::new(seed),
            round: 0,
            settings: Settings::default(),
            opened: None,
        })
    }

    /// Writes the first version of every note.
    pub(crate) fn write_all(&self) -> Result<()> {
        (0..N_NOTES).try_for_each(|note| self.write(note, 1, false))
    }

    /// Edits some notes and syncs.
    pub(crate) fn round(&mut self) -> Result<()> {
        let is_thread = self.first_note == 0;
        if is_thread && let Some(which) = self.switch() {
            let name = self.settings.switch(which);
            self.settings.write(&self.dir)?;
            self.ledger.did(&format!("switch {name}"))?;
        }
        for _ in 0..=self.random.below(4) {
            self.edit()?;
        }
        let force = self.round == WARM_UP || self.random.below(REBUILD) == 0;
        let seen = self.ledger.now()?;
        if !is_thread && self.random.below(4) == 0 {
            self.sync_by_program(force)?;
        } else {
            self.sync(force)?;
        }
        self.ledger.synced(&seen)?;
        let deed = if force { "rebuild" } else { "sync" };
        self.ledger.did(&format!("{} {deed}", self.name))?;
        self.round += 1;
        Ok(())
    }

    /// Returns which setting changes in this round.
    fn switch(&mut self) -> Option<u64> {
        match self.round {
            0 => None,
            round if round < WARM_UP => (round % 2 == 0).then_some(round / 2),
            _ => (self.random.below(SWITCH) == 0).then(|| self.random.below(3)),
        }
    }

    /// Changes one of the own notes: mostly to another version; some are deleted and come back.
    fn edit(&mut self) -> Result<()> {
        let n_own = (N_NOTES / 2) as u64;
        let note = 2 * usize::try_from(self.random.below(n_own))? + self.first_note;
        let is_there = notes::on_disk(&self.dir, note)?.is_some();
        let version = self.ledger.now()?.note(note).begun + 1;
        let is_deletion = is_there && self.random.below(5) == 0;
        self.write(note, version, is_deletion)
    }

    fn write(&self, note: usize, version: u64, is_deletion: bool) -> Result<()> {
        self.ledger.begin(note, version, is_deletion)?;
        if is_deletion {
            notes::delete(&self.dir, note)?;
        } else {
            notes::write(&self.dir, note, version)?;
        }
        self.ledger.written(note, version)
    }

    /// Syncs as the config file says now.
    fn sync(&mut self, force: bool) -> Result<()> {
        let opened = match self.opened.take() {
            Some(opened) if opened.is_current(&self.dir)? => opened,
            Some(opened) => {
                opened.close()?;
                Opened::new(&self.dir, STATE)?
            }
            None => Opened::new(&self.dir, STATE)?,
        };
        let request = SyncRequest {
            force,
            ..SyncRequest::default()
        };
        let report = block_on(opened.memory.sync(&request))?;
        self.opened = Some(opened);
        if !report.failed.is_empty() {
            return Err(format!("not indexed: {:?}", report.failed).into());
        }
        report
            .warnings
            .iter()
            .try_for_each(|warning| expected(warning))
    }

    fn sync_by_program(&self, force: bool) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.arg("--workspace").arg(&self.dir).arg("index");
        if force {
            command.arg("--force");
        }
        let output = command.stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("`memory index` ended with {}: {said}", output.status).into());
        }
        said.lines()
            .filter_map(|line| line.strip_prefix("warning: "))
            .try_for_each(expected)
    }
}

fn expected(warning: &str) -> Result<()> {
    if OF_SETTINGS.iter().any(|known| warning.contains(known)) {
        Ok(())
    } else {
        Err(format!("a sync warns: {warning}").into())
    }
}
