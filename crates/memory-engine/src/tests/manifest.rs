use std::fs;

use memory_api::{EmbeddingSpace, ErrorKind, Fingerprint, StoreId};

use crate::manifest::{IndexFolder, Manifest, StoreFolder, VectorFolder};

fn manifest() -> Manifest {
    Manifest::new(
        3,
        StoreFolder {
            dir: "gen/2-store".to_owned(),
            id: StoreId(7),
        },
        IndexFolder {
            plugin: "fts5".to_owned(),
            dir: "gen/3-lexical-fts5".to_owned(),
            fingerprint: Fingerprint("x/1".to_owned()),
        },
        Some(VectorFolder {
            index: IndexFolder {
                plugin: "flat".to_owned(),
                dir: "gen/3-vector-flat".to_owned(),
                fingerprint: Fingerprint("y/1".to_owned()),
            },
            space: EmbeddingSpace::new("hash/1", 8),
        }),
    )
}

#[test]
fn a_manifest_without_a_vector_index_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let whole = serde_json::to_value(manifest()).unwrap();
    let mut without = whole.clone();
    without.as_object_mut().unwrap().remove("vector");
    assert_ne!(without, whole);
    fs::write(dir.path().join("MANIFEST.json"), without.to_string()).unwrap();
    let read = Manifest::read(dir.path()).unwrap().unwrap();
    assert_eq!(read.vector, None);
    assert_eq!(read.lexical, manifest().lexical);
    assert_eq!(
        manifest().folders().collect::<Vec<_>>(),
        ["gen/2-store", "gen/3-lexical-fts5", "gen/3-vector-flat"]
    );
}

#[test]
fn a_published_manifest_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Manifest::read(dir.path()).unwrap(), None);
    manifest().publish(dir.path()).unwrap();
    assert_eq!(Manifest::read(dir.path()).unwrap(), Some(manifest()));
    let names: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["MANIFEST.json"]);
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_temporary_file_is_not_written_through() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, dir.path().join("MANIFEST.json.new")).unwrap();
    manifest().publish(dir.path()).unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(Manifest::read(dir.path()).unwrap(), Some(manifest()));
}

#[test]
fn a_damaged_manifest_is_told_apart_from_a_newer_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("MANIFEST.json");
    for damaged in [
        "",
        "{",
        "[]",
        r#"{"format":1}"#,
        r#"{"format":0,"generation":1}"#,
        r#"{"name":"a web page"}"#,
        "\0\0\0\0",
    ] {
        fs::write(&path, damaged).unwrap();
        let err = Manifest::read(dir.path()).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Corrupt, "{damaged:?}");
        assert!(err.hint().unwrap().contains("memory index --force"));
    }
    fs::write(&path, r#"{"format":2,"shape":"unknown"}"#).unwrap();
    assert_eq!(
        Manifest::read(dir.path()).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}
