mod import;

use std::path::Path;

use memory::config::{Loaded, Setting, config_schema};
use serde_json::json;

use crate::args::ConfigCommand;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{FAINT, Failure, Output};

pub(crate) fn run(
    context: &Context,
    command: &ConfigCommand,
    output: Output,
) -> Result<Exit, Failure> {
    match command {
        ConfigCommand::Schema => {
            output.json(&config_schema(context.registry()))?;
            return Ok(Exit::Ok);
        }
        ConfigCommand::Import { file, agent } => {
            return import::run(context, file, agent.as_deref(), output);
        }
        ConfigCommand::Show { .. } | ConfigCommand::Check => {}
    }
    let workspace = context.workspace_or_current()?;
    let loaded = context.load(&workspace)?;
    match command {
        ConfigCommand::Show { origin } => show(&loaded, *origin, context.current_dir(), output)?,
        ConfigCommand::Check => check(&loaded, &workspace, output)?,
        ConfigCommand::Schema | ConfigCommand::Import { .. } => {}
    }
    Ok(Exit::Ok)
}

fn show(loaded: &Loaded, origin: bool, current_dir: &Path, output: Output) -> Result<(), Failure> {
    if output.json {
        let rows: Vec<_> = loaded
            .settings()
            .map(|setting| json!({ "key": setting.key, "value": setting.value, "origin": origin_of(setting, current_dir) }))
            .collect();
        return output.json(&rows);
    }
    if !origin {
        return output.data(loaded.render().trim_end());
    }
    for setting in loaded.settings() {
        output.data(format_args!(
            "{} = {}  {FAINT}# {}{FAINT:#}",
            setting.key,
            setting.value,
            origin_of(setting, current_dir)
        ))?;
    }
    Ok(())
}

fn origin_of(setting: &Setting, current_dir: &Path) -> String {
    setting.origin.clone().seen_from(current_dir).to_string()
}

fn check(loaded: &Loaded, workspace: &Path, output: Output) -> Result<(), Failure> {
    if output.json {
        let files: Vec<String> = loaded
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        return output.json(
            &json!({ "ok": true, "workspace": workspace.display().to_string(), "files": files }),
        );
    }
    for file in &loaded.files {
        output.data(format_args!("{}: ok", file.display()))?;
    }
    if loaded.files.is_empty() {
        output.data("no config file; the defaults are in force")?;
    }
    Ok(())
}
