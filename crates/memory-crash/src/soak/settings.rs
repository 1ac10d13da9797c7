//! The config file of the workspace, which changes while all use it.

use std::fs;
use std::path::Path;

use futures::executor::block_on;
use memory::config::{self, Sources};
use memory::{App, Memory};

use crate::Result;

/// The config file. One that is not looked for would be an accident of the folder it lies in.
pub(crate) const FILE_NAME: &str = "memory.toml";

/// The settings that change. Each change makes the next sync build something anew.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Settings {
    other_vector: bool,
    other_split: bool,
    other_space: bool,
}

impl Settings {
    /// Changes one of them, and returns its name.
    pub(crate) fn switch(&mut self, which: u64) -> &'static str {
        let (setting, name) = match which % 3 {
            0 => (&mut self.other_vector, "vector"),
            1 => (&mut self.other_split, "chunker"),
            _ => (&mut self.other_space, "model"),
        };
        *setting = !*setting;
        name
    }

    /// Replaces the config file in one step.
    pub(crate) fn write(self, dir: &Path) -> Result<()> {
        let choose = |other, a, b| if other { b } else { a };
        let text = format!(
            "[documents]\ninclude = [\"notes/**/*.md\"]\n\
             [vector]\nuse = \"{}\"\n\
             [chunker.markdown]\nsplit = \"{}\"\n\
             [embedder]\nuse = \"hash\"\n[embedder.hash]\ndimensions = {}\n",
            choose(self.other_vector, "flat", "sqlite-vec"),
            choose(self.other_split, "section", "block"),
            choose(self.other_space, "64", "96"),
        );
        let beside = dir.join("memory.toml.new");
        fs::write(&beside, text)?;
        fs::rename(beside, dir.join(FILE_NAME))?;
        Ok(())
    }
}

/// A memory, and the config file's text when it was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) memory: Memory,
    text: String,
}

impl Opened {
    /// Opens the memory of a workspace as its config file says now, with the index in the folder `state`.
    pub(crate) fn new(dir: &Path, state: &str) -> Result<Self> {
        let app = App::with_default_plugins()?;
        loop {
            let text = read(dir)?;
            let sources = Sources {
                explicit_file: Some(dir.join(FILE_NAME)),
                flags: vec![config::Flag::new(
                    "soak",
                    "state_dir",
                    dir.join(state).display().to_string(),
                )],
                ..Sources::default()
            };
            let loaded = config::load(&sources, app.registry()).map_err(|err| err.to_string())?;
            // The file may have changed between the two times it was read.
            if read(dir)? == text {
                let memory = block_on(app.open(&loaded.config, dir))?;
                return Ok(Self { memory, text });
            }
        }
    }

    /// Returns whether the config file is still as it was.
    pub(crate) fn is_current(&self, dir: &Path) -> Result<bool> {
        Ok(read(dir)? == self.text)
    }

    pub(crate) fn close(self) -> Result<()> {
        Ok(block_on(self.memory.close())?)
    }
}

fn read(dir: &Path) -> Result<String> {
    Ok(fs::read_to_string(dir.join(FILE_NAME))?)
}
