//! The rules of the house that a compiler does not know. Each names its place and what to do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

use crate::Result;

/// Who may depend on whom inside the workspace; `plugins` and `everything` stand for many. ARCHITECTURE.md has the same table.
const IMPORTS: &[(&str, &[&str])] = &[
    ("memory-api", &[]),
    ("memory-text", &["memory-api"]),
    ("memory-sqlite", &["memory-api"]),
    ("memory-config", &["memory-api"]),
    (
        "memory-engine",
        &["memory-api", "memory-text", "memory-sqlite"],
    ),
    ("memory-plugins", &["memory-api", "plugins"]),
    (
        "memory",
        &[
            "memory-api",
            "memory-engine",
            "memory-config",
            "memory-plugins",
        ],
    ),
    ("memory-cli", &["memory", "memory-api"]),
    ("memory-conformance", &["memory-api"]),
    ("plugins", &["memory-api", "memory-text", "memory-sqlite"]),
    ("xtask", &["memory-api", "memory-plugins"]),
];

/// What only tests of these crates may use beside it.
const DEV_IMPORTS: &[(&str, &[&str])] = &[("plugins", &["memory-conformance"])];

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

/// The only crate with unsafe code.
const UNSAFE_CRATE: &str = "crates/memory-sqlite/";

/// Checks every rule.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut broken = Vec::new();
    let packages = packages(root)?;
    for package in packages.values() {
        imports(package, &mut broken);
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
    linked(&packages, &mut broken);
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

fn imports(package: &Package, broken: &mut Vec<String>) {
    let row = |table: &[(&'static str, &'static [&'static str])]| {
        table
            .iter()
            .find(|(name, _)| *name == package.row())
            .map(|(_, allowed)| *allowed)
    };
    let Some(allowed) = row(IMPORTS) else {
        broken.push(format!(
            "{}: not in the table of imports (xtask/src/tidy.rs and ARCHITECTURE.md)",
            package.name
        ));
        return;
    };
    for (import, is_dev) in &package.imports {
        // A plugin is known by the folder in its name's first words.
        let group = if is_plugin_name(import) {
            "plugins"
        } else {
            import.as_str()
        };
        let in_dev = *is_dev && row(DEV_IMPORTS).is_some_and(|allowed| allowed.contains(&group));
        if !allowed.contains(&group) && !in_dev {
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

/// Every plugin of the workspace is in the default set, under the name that its crate has.
fn linked(packages: &BTreeMap<String, Package>, broken: &mut Vec<String>) {
    let linked: Vec<String> = memory_plugins::ALL
        .iter()
        .map(|plugin| format!("memory-{}-{}", slot(plugin), plugin.name))
        .collect();
    for package in packages.values().filter(|package| package.is_plugin()) {
        if !linked.contains(&package.name) {
            broken.push(format!(
                "{}: not in memory_plugins::ALL under that name",
                package.name
            ));
        }
    }
}

/// The word for a plugin's kind in the name of its crate.
fn slot(plugin: &memory_api::Plugin) -> &'static str {
    match plugin.kind() {
        memory_api::Kind::Rerank => "reranker",
        kind => kind.as_str(),
    }
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
        .filter(|file| !file.starts_with(UNSAFE_CRATE) && !file.starts_with("xtask/src/tidy.rs"))
    {
        // A file that git still lists may be deleted in the working tree.
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        if text.contains("unsafe_code") || text.contains("unsafe {") {
            broken.push(format!("{file}: unsafe code belongs to {UNSAFE_CRATE}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{Package, imports, kind_of};

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
        imports(&package, &mut broken);
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
