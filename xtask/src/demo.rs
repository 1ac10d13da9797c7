use xshell::{Shell, cmd};

use crate::{Result, build_memory, print, undisturbed};

const WORKSPACES: &str = "examples/workspaces";

/// A question a newcomer understands, and the sample workspace that answers it.
const QUESTIONS: &[(&str, &str)] = &[
    ("english", "What caused ERR_LIMPET_4012 on harbor-crane-07?"),
    ("chinese", "我喜欢什么编程语言？"),
];

/// Builds the program, indexes the sample workspaces and asks.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let memory = &build_memory(shell)?;
    for workspace in ["english", "chinese", "mixed"] {
        let state = format!("target/demo/{workspace}");
        let workspace = format!("{WORKSPACES}/{workspace}");
        print("");
        undisturbed(cmd!(
            shell,
            "{memory} --workspace {workspace} --state {state} index"
        ))
        .run()?;
    }
    for (workspace, question) in QUESTIONS {
        let state = format!("target/demo/{workspace}");
        let workspace = format!("{WORKSPACES}/{workspace}");
        print("");
        undisturbed(cmd!(
            shell,
            "{memory} --workspace {workspace} --state {state} search --max-results 2 {question}"
        ))
        .run()?;
    }
    Ok(())
}
