use std::fs;
use std::io::Write as _;
use std::path::Path;

use memory::config::workspace::CONFIG_FILE;
use memory_api::{Error, ErrorKind};

use crate::args::InitArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

const CONFIG: &str = include_str!("init/memory.toml");
const NOTES: &str = include_str!("init/MEMORY.md");

/// Adds to a folder what makes it a workspace. What is there stays as it is.
pub(crate) fn run(context: &Context, args: &InitArgs, output: Output) -> Result<Exit, Failure> {
    let dir = context.new_workspace(args.dir.as_deref());
    let mut made = Vec::new();
    let folder = dir.join("memory");
    if !folder.is_dir() {
        create(&folder, |path| fs::create_dir_all(path))?;
        made.push("memory/");
    }
    for (name, content) in [(CONFIG_FILE, CONFIG), ("MEMORY.md", NOTES)] {
        let path = dir.join(name);
        let is_new = create(&path, |path| write_new(path, content))?;
        if is_new {
            made.push(name);
        }
    }
    if output.json {
        output.json(
            &serde_json::json!({ "workspace": dir.display().to_string(), "created": made }),
        )?;
        return Ok(Exit::Ok);
    }
    let made = if made.is_empty() {
        "everything was there already".to_owned()
    } else {
        format!("made {}", made.join(", "))
    };
    output.data(format_args!("{}: {made}", dir.display()))?;
    output.note("next: put notes into `MEMORY.md` and `memory/*.md`, then run `memory index` and `memory search QUERY`");
    Ok(Exit::Ok)
}

fn create<T>(path: &Path, make: impl Fn(&Path) -> std::io::Result<T>) -> Result<T, Error> {
    make(path).map_err(|err| {
        Error::new(
            ErrorKind::Unavailable,
            format!("cannot create `{}`: {err}", path.display()),
        )
    })
}

/// Returns whether the file was made; one that is there is left alone.
fn write_new(path: &Path, content: &str) -> std::io::Result<bool> {
    match fs::File::create_new(path) {
        Ok(mut file) => file.write_all(content.as_bytes()).map(|()| true),
        Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(err) => Err(err),
    }
}
