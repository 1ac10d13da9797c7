use std::fs;
use std::path::Path;

use memory_api::ErrorKind;

use super::tiny::{Pull, files, variant};
use crate::{MODELS, catalogue};

fn wanted(cache: &Path) -> Pull<'_> {
    Pull::new(
        variant(&[("tiny/model.bin", b"weights"), ("tiny/config.json", b"{}")]),
        cache,
    )
}

#[test]
fn a_folder_or_the_weights_beside_the_rest_are_taken() {
    let brought = tempfile::tempdir().unwrap();
    fs::write(brought.path().join("model.bin"), "weights").unwrap();
    fs::write(brought.path().join("renamed.bin"), "weights").unwrap();
    fs::write(brought.path().join("config.json"), "{}").unwrap();
    for name in ["", "model.bin", "config.json", "renamed.bin"] {
        let cache = tempfile::tempdir().unwrap();
        let mut pull = wanted(cache.path());
        let path = brought.path().join(name);
        pull.file = Some(&path);
        pull.run().unwrap();
        assert_eq!(
            files(pull.cache),
            ["models/tiny/config.json", "models/tiny/model.bin"]
        );
    }
}

#[test]
fn another_file_is_refused_with_both_hashes() {
    let brought = tempfile::tempdir().unwrap();
    let path = brought.path().join("model.bin");
    fs::write(&path, "weightz").unwrap();
    let cache = tempfile::tempdir().unwrap();
    let mut pull = wanted(cache.path());
    pull.file = Some(&path);
    let error = pull.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let wanted = pull.variant.files[0].sha256;
    let found = super::tiny::sha256(b"weightz");
    assert!(
        error.message().contains(wanted) && error.message().contains(&found),
        "{error}"
    );
    assert!(files(pull.cache).is_empty());
    fs::write(&path, "weights").unwrap();
    let error = pull.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("config.json"), "{error}");
}

#[test]
fn a_model_that_is_there_is_kept_and_a_damaged_one_is_not() {
    let cache = tempfile::tempdir().unwrap();
    let pull = wanted(cache.path());
    let dir = pull.cache.join("models/tiny");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("model.bin"), "weights").unwrap();
    fs::write(dir.join("config.json"), "{}").unwrap();
    pull.run().unwrap();
    fs::write(dir.join("model.bin"), "weightz").unwrap();
    assert_eq!(pull.run().unwrap_err().kind(), ErrorKind::Unavailable);
}

#[test]
fn what_a_killed_pull_left_is_swept() {
    let cache = tempfile::tempdir().unwrap();
    let pull = wanted(cache.path());
    let left = pull.cache.join("models/.tiny-tmp-abc");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("half"), "x").unwrap();
    assert!(pull.run().is_err());
    assert!(!left.exists());
}

#[test]
fn the_list_names_what_is_there_by_size() {
    let cache = tempfile::tempdir().unwrap();
    let models = (MODELS.list)(cache.path());
    assert_eq!(models[0].name, catalogue::default().name);
    assert!(
        models
            .iter()
            .all(|model| model.path.is_none() && !model.sources.is_empty())
    );
    let default = catalogue::default();
    let path = default.path(cache.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::File::create(&path).unwrap();
    file.set_len(default.files[0].bytes).unwrap();
    assert_eq!((MODELS.list)(cache.path())[0].path, Some(path));
    file.set_len(1).unwrap();
    assert_eq!((MODELS.list)(cache.path())[0].path, None);
}

#[test]
fn the_catalogue_is_well_formed() {
    for variant in catalogue::VARIANTS {
        assert_eq!(catalogue::find(variant.name).unwrap().name, variant.name);
        assert!(!catalogue::sources(variant).is_empty());
        for file in variant.files {
            let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
            assert!(file.sha256.len() == 64 && file.sha256.chars().all(is_hex));
            assert!(
                file.name == variant.path || file.name.starts_with(&format!("{}/", variant.path))
            );
        }
    }
}
