//! What the README and the demo promise of the sample workspaces.

use std::path::Path;

use crate::program::Program;

fn first_line(workspace: &str, question: &str, indexed: &str) -> String {
    let program = Program::new().with_models();
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/workspaces")
        .join(workspace);
    let workspace = workspace.to_str().unwrap();
    let run = |args: &[&str]| {
        program
            .run(&[&["--workspace", workspace, "--state", "state"], args].concat())
            .exits(0)
    };
    assert_eq!(run(&["index"]).stdout, indexed);
    run(&["search", question])
        .stdout
        .lines()
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let line = first_line(
        "english",
        "what caused ERR_LIMPET_4012 on harbor-crane-07",
        "27 new, 0 updated, 0 unchanged (99 entries, 99 embedded)\n",
    );
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md"))
            .unwrap();
    assert!(readme.contains(&line), "{line}");
    assert!(readme.contains("27 new, 0 updated, 0 unchanged (99 entries, 99 embedded)"));
}

#[test]
fn the_demo_answers_in_chinese() {
    let line = first_line(
        "chinese",
        "我喜欢什么编程语言？",
        "26 new, 0 updated, 0 unchanged (85 entries, 85 embedded)\n",
    );
    assert!(line.starts_with("memory/用户偏好.md#L8-L10  "), "{line}");
}

#[test]
fn the_demo_finds_an_answer_in_another_language() {
    let line = first_line(
        "mixed",
        "怎么给函数加额外行为",
        "16 new, 0 updated, 0 unchanged (37 entries, 37 embedded)\n",
    );
    assert!(
        line.starts_with("memory/learning/python-decorators.md#L8-L10  "),
        "{line}"
    );
}

#[test]
fn the_demo_finds_what_shares_no_word_with_the_question() {
    // Both reach the floor by meaning alone, and neither does once half of a hybrid score is missing.
    let line = first_line(
        "english",
        "谁是港口队长",
        "27 new, 0 updated, 0 unchanged (99 entries, 99 embedded)\n",
    );
    assert!(line.starts_with("memory/people/customers.md#"), "{line}");
}
