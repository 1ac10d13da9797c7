use std::fs;
use std::path::Path;

use memory_api::{ErrorKind, Result};

use crate::discovery::Discovery;
use crate::options::Options;
use crate::state_dir::prepare;

fn prepare_in(workspace: &Path, dir: &Path) -> Result<()> {
    let options = Options::new(workspace, dir);
    prepare(dir, &Discovery::new(&options)?)
}

#[test]
fn a_folder_with_other_content_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (workspace, state) = (dir.path().join("w"), dir.path().join("s"));
    fs::create_dir_all(&workspace).unwrap();
    for content in [
        "gen/1-store/precious",
        "notes.md",
        "MANIFEST.json",
        "lock",
        ".gitignore",
    ] {
        let path = state.join(content);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "{\"name\": \"a web page\"}").unwrap();
        let err = prepare_in(&workspace, &state).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::InvalidInput, "{content}");
        assert!(
            err.message().contains("has content that is no index"),
            "{err}"
        );
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "{\"name\": \"a web page\"}"
        );
        fs::remove_dir_all(&state).unwrap();
    }
    prepare_in(&workspace, &state).unwrap();
    prepare_in(&workspace, &state).unwrap();
}

#[test]
fn a_folder_with_half_a_mark_and_nothing_else_is_ours_and_gets_a_whole_one() {
    let dir = tempfile::tempdir().unwrap();
    let (workspace, state) = (dir.path().join("w"), dir.path().join("s"));
    fs::create_dir_all(&workspace).unwrap();
    fs::create_dir_all(&state).unwrap();
    for half in ["", "# An index that can be"] {
        fs::write(state.join(".gitignore"), half).unwrap();
        prepare_in(&workspace, &state).unwrap();
        // What a sync makes next, and leaves if it is interrupted.
        fs::write(state.join("lock"), "").unwrap();
        prepare_in(&workspace, &state).unwrap();
        fs::remove_file(state.join("lock")).unwrap();
    }
    fs::write(state.join(".gitignore"), "# An index that can be").unwrap();
    fs::write(state.join("notes.md"), "mine").unwrap();
    assert_eq!(
        prepare_in(&workspace, &state).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn a_folder_of_memory_files_is_no_state_folder() {
    let dir = tempfile::tempdir().unwrap();
    let workspace = dir.path().join("w");
    fs::create_dir_all(workspace.join("memory")).unwrap();
    for state in [
        workspace.join("memory"),
        workspace.clone(),
        dir.path().to_owned(),
    ] {
        let err = prepare_in(&workspace, &state).unwrap_err();
        assert!(
            err.message().contains("is a folder of memory files"),
            "{err}"
        );
    }
    assert_eq!(fs::read_dir(workspace.join("memory")).unwrap().count(), 0);
    prepare_in(&workspace, &workspace.join(".memory")).unwrap();
}
