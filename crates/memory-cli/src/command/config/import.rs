use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use memory::config::{self, ImportSource, NoteKind};
use memory_api::{Error, ErrorKind, Result};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output, printable};

/// Above this it is no config file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The folder of that system in the home folder.
const FOLDER: &str = ".openclaw";

pub(crate) fn run(
    context: &Context,
    file: &Path,
    agent: Option<&str>,
    output: Output,
) -> Result<Exit, Failure> {
    let path = context.absolute(file);
    let text = read(&path, file)?;
    let home = context
        .env()
        .iter()
        .find(|(name, value)| name == "HOME" && !value.is_empty())
        .map(|(_, value)| PathBuf::from(value));
    // A copy of the file may lie anywhere.
    let beside = path.parent().map(Path::to_owned);
    let usual = home.as_ref().map(|home| home.join(FOLDER));
    let state_dir = [beside, usual]
        .into_iter()
        .flatten()
        .find(|dir| dir.join("agents").is_dir());
    let source = ImportSource {
        file: &path,
        state_dir: state_dir.as_deref(),
        home: home.as_deref(),
        env: context.env(),
        agent,
    };
    let import = config::import(&text, &source, context.registry())
        .map_err(|problems| problems.seen_from(context.current_dir()))?;
    if output.json {
        output.json(&import)?;
        return Ok(Exit::Ok);
    }
    output.data(import.toml.trim_end())?;
    let mut outside = Vec::new();
    for note in &import.notes {
        if note.kind == NoteKind::Outside {
            outside.push(note.key.as_str());
        } else {
            output.note(printable(&format!("{}: {}", note.key, note.text)));
        }
    }
    if !outside.is_empty() {
        let outside = outside.join(", ");
        output.note(printable(&format!(
            "not about this agent's memory: {outside}"
        )));
    }
    if let Some(workspace) = &import.workspace {
        let place = workspace.join(config::workspace::CONFIG_FILE);
        output.hint(format_args!("its place is `{}`", place.display()));
    }
    Ok(Exit::Ok)
}

fn read(path: &Path, typed: &Path) -> Result<String> {
    let failed = |message: String| {
        Error::new(
            ErrorKind::InvalidInput,
            format!("`{}` {message}", typed.display()),
        )
    };
    let cannot = |err: std::io::Error| failed(format!("cannot be read: {err}"));
    // Before opening, since a named pipe waits there for its writer.
    let metadata = fs::metadata(path).map_err(cannot)?;
    if !metadata.is_file() {
        return Err(failed("is no file".to_owned()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(cannot)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(failed(format!(
            "is larger than {} MiB",
            MAX_BYTES / 1024 / 1024
        )));
    }
    String::from_utf8(bytes).map_err(|_| failed("is not UTF-8 text".to_owned()))
}
