use xshell::{Shell, cmd};

use crate::{Result, prepare, print, program, release, undisturbed};

const WORKSPACES: &str = "examples/workspaces";

/// A question a newcomer understands, and the sample workspace that answers it.
const QUESTIONS: &[(&str, &str)] = &[
    ("english", "What caused ERR_LIMPET_4012 on harbor-crane-07?"),
    ("chinese", "我喜欢什么编程语言？"),
    // Not a word of it stands in the note that answers it, which is in English.
    ("mixed", "怎么给函数加额外行为"),
];

/// Builds the program, pulls the model, indexes the sample workspaces and asks.
pub(crate) fn run(shell: &Shell) -> Result<()> {
    let memory = &program(&release(shell, &["memory"])?, "memory");
    prepare::models(shell, memory)?;
    for workspace in ["english", "chinese", "mixed"] {
        let state = format!("target/demo/{workspace}");
        let workspace = format!("{WORKSPACES}/{workspace}");
        print("");
        let index = cmd!(
            shell,
            "{memory} --workspace {workspace} --state {state} index"
        );
        undisturbed(index, shell).run()?;
    }
    for (workspace, question) in QUESTIONS {
        let state = format!("target/demo/{workspace}");
        let workspace = format!("{WORKSPACES}/{workspace}");
        print("");
        let search = cmd!(
            shell,
            "{memory} --workspace {workspace} --state {state} search --max-results 2 {question}"
        );
        undisturbed(search, shell).run()?;
    }
    Ok(())
}
