//! The rules of the house that a compiler does not know. Each names its place and what to do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::Result;

/// The document whose table says who may import whom.
const TABLE: &str = "ARCHITECTURE.md";

/// Files of every plugin beside the one named after its kind.
const PLUGIN_FILES: &[&str] = &[
    "README.md",
    "src/lib.rs",
    "src/config.rs",
    "tests/conformance.rs",
];

/// The file of a plugin's kind.
const KIND_FILES: &[(&str, &str)] = &[
    ("chunker", "chunker.rs"),
    ("lexical", "index.rs"),
    ("vector", "index.rs"),
    ("embedder", "embedder.rs"),
    ("reranker", "reranker.rs"),
    ("decay", "policy.rs"),
];

/// The only places with unsafe code.
const UNSAFE: &[&str] = &[
    "crates/memory-sqlite/src/fts5.rs",
    "plugins/memory-vector-sqlite-vec/src/extension.rs",
    "crates/memory-crash/src/replay/layer.rs",
];

/// Checks every rule.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut broken = Vec::new();
    let packages = packages(root)?;
    let table = import_table(&fs::read_to_string(root.join(TABLE))?);
    for package in packages.values() {
        imports(package, &table, &mut broken);
        if package
            .dir
            .file_name()
            .is_none_or(|name| *name != *package.name)
        {
            broken.push(format!(
                "{}: the folder has another name than its crate",
                package.dir.display()
            ));
        }
    }
    for package in packages.values().filter(|package| package.is_plugin()) {
        plugin(package, &mut broken)?;
    }
    unsafe_code(root, &mut broken)?;
    if broken.is_empty() {
        Ok(())
    } else {
        Err(broken.join("\n").into())
    }
}

/// A crate of the workspace.
struct Package {
    name: String,
    dir: PathBuf,
    /// Crates of the workspace it depends on, and whether only its tests do.
    imports: Vec<(String, bool)>,
}

impl Package {
    fn is_plugin(&self) -> bool {
        self.dir
            .parent()
            .and_then(Path::file_name)
            .is_some_and(|folder| folder == "plugins")
    }

    /// The row of the table it stands in.
    fn row(&self) -> &str {
        if self.is_plugin() {
            "plugins"
        } else {
            &self.name
        }
    }
}

fn packages(root: &Path) -> Result<BTreeMap<String, Package>> {
    let shell = Shell::new()?;
    shell.change_dir(root);
    let json = cmd!(
        shell,
        "cargo metadata --format-version 1 --no-deps --offline"
    )
    .quiet()
    .read()?;
    let metadata: Value = serde_json::from_str(&json)?;
    let array = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let text = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut packages = BTreeMap::new();
    for package in array(&metadata, "packages") {
        let name = text(&package, "name");
        let manifest = PathBuf::from(text(&package, "manifest_path"));
        let imports = array(&package, "dependencies")
            .iter()
            .filter(|dependency| dependency.get("path").is_some_and(Value::is_string))
            .map(|dependency| (text(dependency, "name"), text(dependency, "kind") == "dev"))
            .collect();
        let dir = manifest.parent().map(Path::to_owned).unwrap_or_default();
        packages.insert(name.clone(), Package { name, dir, imports });
    }
    Ok(packages)
}

/// What a crate may import, and what its tests may beside that.
#[derive(Debug, Default, PartialEq)]
struct Allowed {
    always: Vec<String>,
    in_tests: Vec<String>,
}

/// Reads the table whose last column is headed "may import"; `plugins/*` is the row of every plugin.
fn import_table(document: &str) -> BTreeMap<String, Allowed> {
    let names = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(|name| name.trim_end_matches("/*").to_owned())
            .collect()
    };
    let rows = document
        .lines()
        .skip_while(|line| !line.ends_with("| may import |"));
    rows.skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
            let (first, last) = (cells.first()?, cells.last()?);
            let (always, in_tests) = last.split_once("tests:").unwrap_or((last, ""));
            // What follows the last semicolon says what is never allowed.
            let in_tests = in_tests.split(';').next().unwrap_or_default();
            Some((
                names(first).pop()?,
                Allowed {
                    always: names(always),
                    in_tests: names(in_tests),
                },
            ))
        })
        .collect()
}

fn imports(package: &Package, table: &BTreeMap<String, Allowed>, broken: &mut Vec<String>) {
    let Some(allowed) = table.get(package.row()) else {
        broken.push(format!(
            "{}: not in the table of imports in {TABLE}",
            package.name
        ));
        return;
    };
    for (import, is_dev) in &package.imports {
        // A plugin is known by the folder in its name's first words.
        let group = if is_plugin_name(import) {
            "plugins".to_owned()
        } else {
            import.clone()
        };
        let is_allowed =
            allowed.always.contains(&group) || (*is_dev && allowed.in_tests.contains(&group));
        if !is_allowed {
            broken.push(format!("{}: may not depend on {import}", package.name));
        }
    }
}

fn is_plugin_name(name: &str) -> bool {
    kind_of(name).is_some()
}

/// Returns the file that a plugin of this name has for its kind.
fn kind_of(name: &str) -> Option<&'static str> {
    let rest = name.strip_prefix("memory-")?;
    KIND_FILES
        .iter()
        .find(|(kind, _)| {
            rest.strip_prefix(kind)
                .is_some_and(|rest| rest.starts_with('-'))
        })
        .map(|(_, file)| *file)
}

fn plugin(package: &Package, broken: &mut Vec<String>) -> Result<()> {
    let Some(kind_file) = kind_of(&package.name) else {
        broken.push(format!(
            "{}: a plugin is named memory-<kind>-<backend>",
            package.name
        ));
        return Ok(());
    };
    let kind_file = format!("src/{kind_file}");
    for file in PLUGIN_FILES.iter().copied().chain([kind_file.as_str()]) {
        if !package.dir.join(file).is_file() {
            broken.push(format!("{}: `{file}` is missing", package.name));
        }
    }
    let conformance = package.dir.join("tests/conformance.rs");
    let names_plugin = conformance.is_file() && fs::read_to_string(conformance)?.contains("PLUGIN");
    if !names_plugin {
        broken.push(format!(
            "{}: `tests/conformance.rs` does not name its PLUGIN",
            package.name
        ));
    }
    Ok(())
}

fn unsafe_code(root: &Path, broken: &mut Vec<String>) -> Result<()> {
    let shell = Shell::new()?;
    shell.change_dir(root);
    let files = cmd!(
        shell,
        "git ls-files --cached --others --exclude-standard *.rs"
    )
    .quiet()
    .read()?;
    for file in files
        .lines()
        .filter(|file| !UNSAFE.iter().any(|place| file.starts_with(place)))
        .filter(|file| *file != "xtask/src/tidy.rs")
    {
        // A file that git still lists may be deleted in the working tree.
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        if text.contains("unsafe_code") || text.contains("unsafe {") {
            broken.push(format!(
                "{file}: unsafe code belongs to {}",
                UNSAFE.join(" and ")
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Allowed, Package, import_table, imports, kind_of};

    const DOCUMENT: &str = "\
text

| crate | holds | may import |
|---|---|---|
| `memory-api` | traits | nothing of ours |
| `plugins/*` | one each | `memory-api`, `memory-text`; tests: `memory-conformance`; never another plugin |
| `memory-plugins` | the set | `memory-api`, `plugins/*` |

| other | table |
";

    #[test]
    fn the_house_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        if let Err(broken) = super::run(root) {
            panic!("{broken}");
        }
    }

    fn broken(name: &str, folder: &str, imported: &[(&str, bool)]) -> Vec<String> {
        let imported = imported
            .iter()
            .map(|(name, is_dev)| ((*name).to_owned(), *is_dev))
            .collect();
        let package = Package {
            name: name.to_owned(),
            dir: PathBuf::from(folder).join(name),
            imports: imported,
        };
        let mut broken = Vec::new();
        imports(&package, &import_table(DOCUMENT), &mut broken);
        broken
    }

    #[test]
    fn a_plugin_may_not_import_another_plugin_or_the_engine() {
        let plugin = "memory-lexical-fts5";
        let check = |import, is_dev| broken(plugin, "plugins", &[(import, is_dev)]);
        assert_eq!(check("memory-text", false), [""; 0]);
        assert_eq!(check("memory-conformance", true), [""; 0]);
        assert_eq!(
            check("memory-conformance", false),
            ["memory-lexical-fts5: may not depend on memory-conformance"]
        );
        assert_eq!(
            check("memory-engine", true),
            ["memory-lexical-fts5: may not depend on memory-engine"]
        );
        assert_eq!(
            check("memory-chunker-markdown", false),
            ["memory-lexical-fts5: may not depend on memory-chunker-markdown"]
        );
    }

    #[test]
    fn the_table_is_read_from_the_document() {
        let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let table = import_table(DOCUMENT);
        assert_eq!(table.len(), 3);
        assert_eq!(table["memory-api"], Allowed::default());
        let plugins = Allowed {
            always: strings(&["memory-api", "memory-text"]),
            in_tests: strings(&["memory-conformance"]),
        };
        assert_eq!(table["plugins"], plugins);
        assert_eq!(table["memory-plugins"].always, ["memory-api", "plugins"]);
    }

    #[test]
    fn a_crate_outside_the_table_is_named() {
        assert!(broken("memory-utils", "crates", &[])[0].contains("not in the table"));
    }

    #[test]
    fn a_plugin_is_known_by_its_name() {
        assert_eq!(kind_of("memory-lexical-fts5"), Some("index.rs"));
        assert_eq!(kind_of("memory-lexical"), None);
        assert_eq!(kind_of("memory-engine"), None);
    }
}
