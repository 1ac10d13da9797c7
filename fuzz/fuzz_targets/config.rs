//! Reads any bytes as a config file.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use memory_api::Registry;
use memory_config::{Loaded, Origin, Problems, Sources, load};
use memory_fuzz::check_message;
use tempfile::TempDir;

/// The plugins of the default set that are built in no time.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    Registry::new([
        &memory_chunker_markdown::PLUGIN,
        &memory_decay_exponential::PLUGIN,
        &memory_embedder_hash::PLUGIN,
        &memory_lexical_fts5::PLUGIN,
        &memory_reranker_mmr::PLUGIN,
        &memory_vector_flat::PLUGIN,
    ])
    .expect("no two plugins share a name")
});

static DIR: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a folder"));

fuzz_target!(|data: &[u8]| {
    match read(data) {
        Ok(loaded) => check_printed(&loaded),
        Err(problems) => check_problems(data, &problems),
    }
});

fn read(data: &[u8]) -> Result<Loaded, Problems> {
    let path = DIR.path().join("memory.toml");
    fs::write(&path, data).expect("a file");
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let sources = Sources {
        workspace_file: Some(path),
        env: vec![
            variable("PLACE", "harbour ${PLACE} \"'\n"),
            variable("PLACE_KEY", "very secret"),
        ],
        ..Sources::default()
    };
    load(&sources, &REGISTRY)
}

/// What is printed is a config file of the same meaning.
fn check_printed(loaded: &Loaded) {
    let printed = loaded.render();
    let again = match read(printed.as_bytes()) {
        Ok(again) => again,
        Err(problems) => panic!("{problems}\nin what was printed:\n{printed}"),
    };
    assert_eq!(again.render(), printed);
    let values = |loaded: &Loaded| -> Vec<_> {
        let settings = loaded.settings();
        settings
            .map(|setting| (setting.key.clone(), setting.value.clone()))
            .collect()
    };
    assert_eq!(values(&again), values(loaded));
    assert!(!printed.contains("very secret"), "{printed}");
}

/// Every problem stands at a place of the file, and says something.
fn check_problems(data: &[u8], problems: &Problems) {
    let text = String::from_utf8_lossy(data);
    let lines: Vec<&str> = text.split('\n').collect();
    assert!(problems.iter().next().is_some(), "nothing is wrong");
    for problem in problems.iter() {
        check_message(&problem.message);
        assert!(!problem.to_string().contains("very secret"), "{problem}");
        let Origin::File { path, line, column } = &problem.origin else {
            continue;
        };
        assert_eq!(path.file_name(), Some(Path::new("memory.toml").as_os_str()));
        let Some(line) = line else {
            continue;
        };
        let there = line.checked_sub(1).and_then(|idx| lines.get(idx));
        let Some(there) = there else {
            panic!("line {line} of {}: {problem}", lines.len());
        };
        if let Some(column) = column {
            // A place right behind the last character is one, too.
            let n_places = there.chars().count() + 1;
            assert!(
                (1..=n_places).contains(column),
                "column {column} of {n_places}: {problem}"
            );
        }
    }
}
