use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use memory_api::{
    Embedder, Error, ErrorKind, Factory, Model, Models, OpenContext, Opening, Plugin, PullProgress,
    PullRequest, Registry, Result,
};
use serde_json::json;

use super::bar::line;
use super::{Pulled, Surroundings, choose, lines, pull, rows, sources};
use crate::args::ModelPullArgs;

fn refused(_: OpenContext<'_>) -> Opening<'_, dyn Embedder> {
    let refusal = async { Err(Error::new(ErrorKind::Unsupported, "a double opens nothing")) };
    Box::pin(refusal)
}

fn listed(cache_dir: &Path) -> Vec<Model> {
    let mut small = Model::new("small", "English, 8 bit", "MIT", 384, 120 << 20);
    small.path = Some(cache_dir.join("small.bin")).filter(|path| path.is_file());
    small.sources = vec!["somewhere".to_owned()];
    vec![
        small,
        Model::new(
            "large",
            "100 languages, 16 bit",
            "Apache-2.0",
            1024,
            2 << 30,
        ),
    ]
}

/// Writes down what it was asked for, in place of a download.
fn pulled(request: &PullRequest<'_>) -> Result<PathBuf> {
    (request.progress)(PullProgress::Trying("somewhere"));
    if request.cancel.load(Ordering::Relaxed) {
        return Err(Error::new(ErrorKind::Closed, "stopped"));
    }
    if request.hub_offline {
        (request.progress)(PullProgress::Failed {
            source: "somewhere",
            reason: "offline\u{1b}",
        });
        return Err(Error::new(ErrorKind::Unavailable, "no source has it"));
    }
    (request.progress)(PullProgress::Bytes {
        done: 1,
        total: Some(2),
    });
    (request.progress)(PullProgress::Verifying);
    let model = request.model.unwrap_or("nothing");
    let path = request.cache_dir.join(format!("{model}.bin"));
    let file = request.file.map(|file| file.display().to_string());
    let asked = format!("{} {} {file:?}", request.hub, request.python);
    std::fs::write(&path, asked).unwrap();
    Ok(path)
}

macro_rules! double {
    ($id:ident, $name:literal) => {
        static $id: Plugin = Plugin::new::<serde_json::Value>(
            $name,
            "1.0.0",
            "embeds nothing",
            Factory::Embedder(refused),
        )
        .with_models(Models::new(listed, pulled));
    };
}

double!(DOUBLE, "double");
double!(OTHER_DOUBLE, "other-double");
static NO_MODELS: Plugin = Plugin::new::<serde_json::Value>(
    "remote-double",
    "1.0.0",
    "embeds elsewhere",
    Factory::Embedder(refused),
);

fn registry(plugins: &[&'static Plugin]) -> Registry {
    Registry::new(plugins.iter().copied()).unwrap()
}

fn surroundings(cache_dir: &Path) -> Surroundings<'static> {
    Surroundings {
        cache_dir: cache_dir.to_owned(),
        file: None,
        hub: "https://hub.test",
        hub_offline: false,
        python: "python3",
    }
}

fn args(name: Option<&str>) -> ModelPullArgs {
    ModelPullArgs {
        name: name.map(str::to_owned),
        file: None,
        plugin: None,
    }
}

#[test]
fn a_list_says_what_is_here() {
    let cache = tempfile::tempdir().unwrap();
    let sources = sources(&registry(&[&DOUBLE, &NO_MODELS]), None).unwrap();
    std::fs::write(cache.path().join("small.bin"), "").unwrap();
    let rows = rows(&sources, cache.path());
    let path = cache.path().join("small.bin");
    assert_eq!(
        serde_json::to_value(&rows).unwrap(),
        json!([
            {
                "plugin": "double", "name": "small", "default": true, "summary": "English, 8 bit",
                "licence": "MIT", "dimensions": 384, "bytes": 120 << 20, "sources": ["somewhere"],
                "path": path,
            },
            {
                "plugin": "double", "name": "large", "default": false, "summary": "100 languages, 16 bit",
                "licence": "Apache-2.0", "dimensions": 1024, "bytes": 2_u64 << 30, "sources": [],
                "path": null,
            },
        ])
    );
    let lines: Vec<_> = lines(&rows)
        .iter()
        .map(|line| anstream::adapter::strip_str(line).to_string())
        .collect();
    assert_eq!(
        lines,
        [
            "double  small  here      120.00 MiB  384 dimensions   MIT         default",
            "  English, 8 bit",
            &format!("  {}", path.display()),
            "double  large  not here  2.00 GiB    1024 dimensions  Apache-2.0",
            "  100 languages, 16 bit",
        ]
    );
}

#[test]
fn a_pull_hands_over_what_the_machine_says_and_tells_how_far_it_is() {
    let cache = tempfile::tempdir().unwrap();
    let sources = sources(&registry(&[&DOUBLE]), None).unwrap();
    let mut surroundings = surroundings(cache.path());
    surroundings.file = Some(PathBuf::from("brought.bin"));
    let told = RefCell::new(Vec::new());
    let progress = |progress: PullProgress<'_>| told.borrow_mut().extend(line(progress));
    let pulled = pull(
        &sources,
        &args(None),
        &surroundings,
        &progress,
        &AtomicBool::new(false),
    )
    .unwrap();
    let path = cache.path().join("small.bin");
    let asked = std::fs::read_to_string(&path).unwrap();
    assert_eq!(asked, "https://hub.test python3 Some(\"brought.bin\")");
    let expected = Pulled {
        plugin: "double",
        model: "small".to_owned(),
        path,
    };
    assert_eq!(pulled, expected);
    assert_eq!(told.into_inner(), ["trying somewhere", "verifying"]);
}

#[test]
fn a_failed_pull_names_the_embedder_and_its_sources() {
    let cache = tempfile::tempdir().unwrap();
    let sources = sources(&registry(&[&DOUBLE]), None).unwrap();
    let mut surroundings = surroundings(cache.path());
    surroundings.hub_offline = true;
    let told = RefCell::new(Vec::new());
    let progress = |progress: PullProgress<'_>| told.borrow_mut().extend(line(progress));
    let cancel = AtomicBool::new(false);
    let err = pull(
        &sources,
        &args(Some("large")),
        &surroundings,
        &progress,
        &cancel,
    )
    .unwrap_err();
    assert_eq!(err.to_string(), "double: no source has it");
    assert_eq!(
        told.into_inner(),
        ["trying somewhere", "failed: somewhere: offline\u{fffd}"]
    );
}

#[test]
fn a_stopped_pull_is_closed() {
    let cache = tempfile::tempdir().unwrap();
    let sources = sources(&registry(&[&DOUBLE]), None).unwrap();
    let cancel = AtomicBool::new(true);
    let surroundings = surroundings(cache.path());
    let err = pull(&sources, &args(None), &surroundings, &|_| {}, &cancel).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Closed);
}

#[test]
fn what_to_pull_has_to_be_clear() {
    let cache = tempfile::tempdir().unwrap();
    let chosen = |plugins: &[&'static Plugin], plugin: Option<&str>, name: Option<&str>| {
        let sources = sources(&registry(plugins), plugin);
        sources
            .and_then(|sources| choose(&sources, name, cache.path()))
            .map(|(source, model)| format!("{} {model}", source.plugin.name))
            .map_err(|err| format!("{err}; {}", err.hint().unwrap_or_default()))
    };
    let one: &[&'static Plugin] = &[&DOUBLE, &NO_MODELS];
    let two: &[&'static Plugin] = &[&DOUBLE, &OTHER_DOUBLE];
    assert_eq!(chosen(one, None, None).unwrap(), "double small");
    assert_eq!(chosen(one, None, Some("large")).unwrap(), "double large");
    assert_eq!(
        chosen(two, Some("other-double"), None).unwrap(),
        "other-double small"
    );
    for (plugins, plugin, name, expected) in [
        (
            one,
            None,
            Some("huge"),
            "unknown model `huge`; known: small, large",
        ),
        (
            two,
            None,
            None,
            "several embedders use model files: double, other-double; name one of them with `--plugin`",
        ),
        (
            two,
            None,
            Some("large"),
            "several embedders have a model `large`: double, other-double; name one of them with `--plugin`",
        ),
        (
            one,
            Some("remote-double"),
            None,
            "the embedder `remote-double` uses no model files; ",
        ),
        (
            &[&NO_MODELS],
            None,
            Some("small"),
            "no embedder that is linked uses model files; `memory plugins list` tells what is linked",
        ),
    ] {
        assert_eq!(chosen(plugins, plugin, name).unwrap_err(), expected);
    }
    let unknown = chosen(one, Some("dubble"), None).unwrap_err();
    assert!(
        unknown.starts_with("unknown embedder plugin `dubble`, linked: double, remote-double"),
        "{unknown}"
    );
}
