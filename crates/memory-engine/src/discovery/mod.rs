//! Which files are memory files, and where they are.
//!
//! Without `include`: `MEMORY.md` and `USER.md` in the workspace (in this very spelling; another spelling counts only where the
//! exact one is missing) and every file below `memory/` that ends in `.md` or `.markdown`, in any case. With `include`: every
//! file below the workspace that one of the globs matches. Always: the extra paths, of a folder its Markdown files, and the
//! transcripts, of a folder its files `*.jsonl` and what a reset or a deletion renames them to (`*.jsonl.reset.*`,
//! `*.jsonl.deleted.*`).
//!
//! Never: links (a root that the user named may be one), folders whose name begins with a dot, the state folder, what
//! `.memoryignore` (the syntax of `.gitignore`) excludes, and the side files `._*`, `.#*` of other programs.

mod walk;

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use memory_api::{Error, ErrorKind, Result};

use crate::document::decode;
use crate::file::open_regular;
use crate::manifest::io_error;
use crate::options::Options;

pub use walk::{Found, Remarks, Unreadable, Walk};

/// The name of the file with patterns of what is no memory.
pub const IGNORE_FILE: &str = ".memoryignore";

/// The files at the top of a workspace.
const TOP_FILES: [&str; 2] = ["MEMORY.md", "USER.md"];
/// The keys that name further places.
const EXTRA_PATHS: &str = "documents.extra_paths";
const TRANSCRIPTS: &str = "documents.transcripts";
/// The folder of a workspace.
const FOLDER: &str = "memory";

/// Where documents come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Notes that people and agents keep.
    Notes,
    /// Transcripts of chats, which only grow.
    Transcripts,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Notes, Self::Transcripts];

    /// Returns the source of a path; its name decides.
    pub fn of(path: &str) -> Self {
        if is_transcript(path) {
            Self::Transcripts
        } else {
            Self::Notes
        }
    }

    /// Returns its name, as filters and results have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Notes => "memory",
            Self::Transcripts => "sessions",
        }
    }
}

/// Knows the memory files of a workspace.
#[derive(Debug)]
pub struct Discovery {
    workspace: PathBuf,
    state_dir: PathBuf,
    roots: Vec<Root>,
    /// Configured places that are not there.
    missing: Vec<Missing>,
}

/// A place that is configured and not there.
#[derive(Debug)]
struct Missing {
    path: String,
    dir: PathBuf,
    /// The key that names it.
    key: &'static str,
}

/// A place to walk.
#[derive(Debug)]
struct Root {
    /// The folder, or the one file.
    dir: PathBuf,
    /// What its path begins with in results: empty for the workspace.
    prefix: String,
    rule: Rule,
}

/// A folder in which memory files come and go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchFolder {
    /// Where it is; it may be missing.
    pub path: PathBuf,
    /// Whether folders below it count.
    pub is_recursive: bool,
}

/// Which files below a root are memory files.
#[derive(Debug)]
enum Rule {
    TopFilesAndFolder,
    Globs(GlobSet),
    Markdown,
    Transcripts,
    /// The root is the file.
    Itself,
}

impl Discovery {
    /// Prepares the rules.
    ///
    /// # Errors
    ///
    /// `NotFound` when the workspace does not exist; `InvalidInput` for the root of a file system and for a glob that cannot be
    /// read. An extra path that is not there is found [unreadable](Remarks::unreadable).
    pub fn new(options: &Options) -> Result<Self> {
        let workspace = canonical(&options.workspace)?;
        if workspace.parent().is_none() {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "`{}` is the root of a file system, no workspace",
                    workspace.display()
                ),
            )
            .with_hint("name the folder of your notes: `--workspace DIR`"));
        }
        let rule = if options.documents.include.is_empty() {
            Rule::TopFilesAndFolder
        } else {
            Rule::Globs(glob_set(&options.documents.include)?)
        };
        let mut roots = vec![Root {
            dir: workspace.clone(),
            prefix: String::new(),
            rule,
        }];
        let mut missing = Vec::new();
        let documents = &options.documents;
        let extra = documents.extra_paths.iter().map(|path| (EXTRA_PATHS, path));
        let transcripts = documents.transcripts.iter().map(|path| (TRANSCRIPTS, path));
        for (key, path) in extra.chain(transcripts) {
            if path.as_os_str().is_empty() {
                return Err(
                    Error::new(ErrorKind::InvalidInput, "a path is empty").with_context("key", key)
                );
            }
            let Ok(dir) = fs::canonicalize(workspace.join(path)) else {
                let dir = normal(&workspace.join(path));
                let path = relative(&workspace, &dir);
                missing.push(Missing { path, dir, key });
                continue;
            };
            if dir.parent().is_none() {
                return Err(Error::new(
                    ErrorKind::InvalidInput,
                    "the root of a file system is no place of documents",
                )
                .with_context("key", key));
            }
            let rule = if !dir.is_dir() {
                Rule::Itself
            } else if key == TRANSCRIPTS {
                Rule::Transcripts
            } else {
                Rule::Markdown
            };
            let prefix = relative(&workspace, &dir);
            roots.push(Root { dir, prefix, rule });
        }
        // The folder may not exist yet; then nothing has to be kept out.
        let state_dir =
            fs::canonicalize(&options.state_dir).unwrap_or_else(|_| options.state_dir.clone());
        Ok(Self {
            workspace,
            state_dir,
            roots,
            missing,
        })
    }

    /// Returns the workspace as an absolute path without links.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns whether the workspace, its folder of notes or an extra path is this folder or below it.
    pub(crate) fn lies_in(&self, dir: &Path) -> bool {
        // A folder that does not exist yet has nothing in it.
        let Ok(dir) = fs::canonicalize(dir) else {
            return false;
        };
        let folder = self.workspace.join(FOLDER);
        let roots = self.roots.iter().map(|root| root.dir.as_path());
        roots
            .chain([folder.as_path()])
            .any(|root| root.starts_with(&dir))
    }

    /// Returns the folders to watch for changes: all that is memory lies in one of them. A file is watched by its folder, since
    /// editors put another one in its place.
    pub fn watch_folders(&self) -> Vec<WatchFolder> {
        let folder = |path: &Path, is_recursive| WatchFolder {
            path: path.to_owned(),
            is_recursive,
        };
        let mut folders = Vec::new();
        for root in &self.roots {
            match &root.rule {
                Rule::TopFilesAndFolder => {
                    folders.push(folder(&root.dir, false));
                    folders.push(folder(&root.dir.join(FOLDER), true));
                }
                Rule::Globs(_) | Rule::Markdown | Rule::Transcripts => {
                    folders.push(folder(&root.dir, true));
                }
                Rule::Itself => folders.extend(root.dir.parent().map(|dir| folder(dir, false))),
            }
        }
        for missing in &self.missing {
            folders.extend(missing.dir.parent().map(|above| folder(above, false)));
        }
        folders
    }

    /// Goes through the memory files.
    pub fn walk(&self) -> Walk<'_> {
        Walk::new(self)
    }

    /// The ignore files of the workspace hold for an extra path inside of it as well.
    fn rules_above(
        &self,
        root: &Root,
        warnings: &mut Vec<String>,
    ) -> std::io::Result<Vec<Gitignore>> {
        let Ok(below) = root.dir.strip_prefix(&self.workspace) else {
            return Ok(Vec::new());
        };
        let mut dir = self.workspace.clone();
        let mut rules = Vec::new();
        for name in below.components() {
            rules.push(ignore_rules(&dir, warnings)?);
            dir.push(name);
        }
        Ok(rules)
    }

    /// Returns whether a walk from this root comes to the file.
    fn leads(&self, root: &Root, file: &Path) -> bool {
        let Ok(below) = file.strip_prefix(&root.dir) else {
            return false;
        };
        let below = below.to_string_lossy().replace(MAIN_SEPARATOR, "/");
        matches!(self.locate(root, &below), Ok(Some(_)))
    }

    /// Returns the file `below` a root if it is a memory file, by the same rules as the walk.
    fn locate(&self, root: &Root, below: &str) -> std::io::Result<Option<PathBuf>> {
        self.locate_as(Whether::IsThere, root, below)
    }

    fn locate_as(
        &self,
        whether: Whether,
        root: &Root,
        below: &str,
    ) -> std::io::Result<Option<PathBuf>> {
        if !root.may_have(below) {
            return Ok(None);
        }
        let ignores = self.rules_above(root, &mut Vec::new())?;
        root.locate(whether, below, ignores, &self.state_dir)
    }

    /// Returns where the memory file of this path is. Paths are compared by their components, and no link is followed.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when the path leads out of the memory or is not a memory file; `NotFound` when it would be one but does
    /// not exist.
    pub fn resolve(&self, path: &str) -> Result<PathBuf> {
        let refused =
            || not_a_memory_file(path).with_hint("use a path as `memory search` prints it");
        let wanted = plain(path).ok_or_else(refused)?;
        let mut missing = false;
        for root in &self.roots {
            let Some(below) = strip_components(&wanted, &root.prefix) else {
                continue;
            };
            match self.locate(root, below) {
                Ok(Some(absolute)) => return Ok(absolute),
                Ok(None) => {}
                Err(err) if is_absent(&err) => missing = true,
                Err(err) => {
                    return Err(
                        io_error(&err, "open", &root.dir.join(below)).with_context("path", path)
                    );
                }
            }
        }
        if missing {
            Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no memory file `{path}`"),
            )
            .with_context("path", path)
            .with_hint("`memory search` prints the paths of what is there"))
        } else {
            Err(refused())
        }
    }

    /// Returns where the memory file of this path is or would be: the rules are those of the walk, so that what is written there
    /// is found.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when a file there would be none, or is no text that can be added to.
    pub(crate) fn place(&self, path: &str) -> Result<Place> {
        let refused = || {
            not_a_memory_file(path).with_hint(
                "memory files are `MEMORY.md`, `USER.md` and `memory/**/*.md`, or what `documents.include` and `documents.extra_paths` say",
            )
        };
        let wanted = plain(path).ok_or_else(refused)?;
        for root in &self.roots {
            let Some(below) = strip_components(&wanted, &root.prefix) else {
                continue;
            };
            match self.locate_as(Whether::MayBe, root, below) {
                Ok(Some(_)) if is_record(&wanted) => {
                    let message = format!("`{path}` holds records, and text cannot be added to it");
                    return Err(Error::new(ErrorKind::InvalidInput, message)
                        .with_context("path", path)
                        .with_hint("name a Markdown file"));
                }
                Ok(Some(absolute)) => {
                    return Ok(Place {
                        path: wanted,
                        absolute,
                    });
                }
                Ok(None) => {}
                Err(err) => {
                    let place = root.dir.join(below);
                    return Err(io_error(&err, "open", &place).with_context("path", path));
                }
            }
        }
        Err(refused())
    }
}

/// A place for a memory file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// As results name it.
    pub(crate) path: String,
    /// Where it is.
    pub(crate) absolute: PathBuf,
}

/// Whether a memory file is looked for, or a place for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whether {
    IsThere,
    /// What is missing, its folders too, can be made.
    MayBe,
}

impl Whether {
    /// Returns what lies at a path; nothing where nothing is needed.
    fn look(self, path: &Path) -> std::io::Result<Option<fs::Metadata>> {
        match fs::symlink_metadata(path) {
            Err(err) if self == Self::MayBe && err.kind() == std::io::ErrorKind::NotFound => {
                Ok(None)
            }
            metadata => metadata.map(Some),
        }
    }
}

impl Root {
    /// Returns whether a path below this root is one that a walk could come to, whatever is there.
    fn may_have(&self, below: &str) -> bool {
        if matches!(self.rule, Rule::Itself) {
            return below.is_empty();
        }
        let is_normal = |name: &str| {
            let mut components = Path::new(name).components();
            matches!((components.next(), components.next()), (Some(Component::Normal(part)), None) if part == name)
        };
        let ends = below.match_indices('/').map(|(end, _)| end);
        let mut folders = ends.filter_map(|end| below.get(..end));
        below.split('/').all(is_normal)
            && folders.all(|folder| {
                self.rule.enters(folder) && !is_hidden(folder.rsplit('/').next().unwrap_or(folder))
            })
    }

    /// Returns the file `below` this root, which it may have, if it is there and a memory file.
    fn locate(
        &self,
        whether: Whether,
        below: &str,
        mut ignores: Vec<Gitignore>,
        state_dir: &Path,
    ) -> std::io::Result<Option<PathBuf>> {
        let Some(file_name) = below.rsplit('/').next().filter(|name| !name.is_empty()) else {
            return Ok(Some(self.dir.clone()));
        };
        let folders = below.split('/').count() - 1;
        let mut dir = self.dir.clone();
        ignores.push(ignore_rules(&dir, &mut Vec::new())?);
        for name in below.split('/').take(folders) {
            dir.push(name);
            let is_link = whether.look(&dir)?.is_some_and(|dir| dir.is_symlink());
            if is_link || dir == state_dir || ignored(&ignores, &dir, true) {
                return Ok(None);
            }
            ignores.push(ignore_rules(&dir, &mut Vec::new())?);
        }
        let absolute = dir.join(file_name);
        let has = |name: &str| list_has(&dir, name);
        if !self.rule.matches(below, has)
            || is_side_file(file_name)
            || ignored(&ignores, &absolute, false)
        {
            return Ok(None);
        }
        let is_file = whether.look(&absolute)?.is_none_or(|file| file.is_file());
        Ok(is_file.then_some(absolute))
    }
}

impl Rule {
    /// Returns whether memory files can lie below this folder.
    fn enters(&self, folder: &str) -> bool {
        match self {
            Self::TopFilesAndFolder => strip_components(folder, FOLDER).is_some(),
            Self::Globs(_) | Self::Markdown | Self::Transcripts => true,
            Self::Itself => false,
        }
    }

    /// Returns whether a file of this name may be a memory file.
    fn may_match(&self, name: &OsStr) -> bool {
        match self {
            Self::Globs(_) => true,
            Self::Transcripts => name.to_str().is_some_and(is_transcript),
            _ => name.to_str().is_some_and(is_markdown),
        }
    }

    /// Returns whether the file is a memory file; `has` tells whether there is something of this very name beside it.
    fn matches(&self, path: &str, has: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::TopFilesAndFolder => match path.split_once('/') {
                Some((first, _)) => first == FOLDER && is_markdown(path),
                None => TOP_FILES
                    .iter()
                    .any(|top| *top == path || (top.eq_ignore_ascii_case(path) && !has(top))),
            },
            Self::Globs(globs) => globs.is_match(path),
            Self::Markdown => is_markdown(path),
            Self::Transcripts => is_transcript(path),
            Self::Itself => false,
        }
    }
}

fn not_a_memory_file(path: &str) -> Error {
    Error::new(
        ErrorKind::InvalidInput,
        format!("`{path}` is not a memory file of this workspace"),
    )
    .with_context("path", path)
}

/// Returns a path as results write it, or nothing for one that cannot be of a memory file.
fn plain(path: &str) -> Option<String> {
    if path.is_empty() || path.chars().any(char::is_control) {
        return None;
    }
    let path = if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    };
    Some(path.strip_prefix("./").unwrap_or(&path).to_owned())
}

/// Returns whether a file holds records, one a line, which a paragraph would break.
fn is_record(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').skip(1).any(|part| {
        ["json", "jsonl", "ndjson"]
            .iter()
            .any(|end| part.eq_ignore_ascii_case(end))
    })
}

fn glob_set(patterns: &[String]) -> Result<GlobSet> {
    let invalid = |pattern: &str, err: &globset::Error| {
        Error::new(
            ErrorKind::InvalidInput,
            format!("`{pattern}` is not a glob: {}", err.kind()),
        )
        .with_hint("an example: `notes/**/*.md`")
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        if pattern.is_empty()
            || pattern.starts_with('/')
            || pattern.split('/').any(|part| part == "..")
        {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!("`{pattern}` is no glob below the workspace"),
            )
            .with_hint(
                "an example: `notes/**/*.md`; other folders go into `documents.extra_paths`",
            ));
        }
        let glob = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|err| invalid(pattern, &err))?;
        set.add(glob);
    }
    set.build()
        .map_err(|err| invalid(&patterns.join(", "), &err))
}

fn canonical(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "the path of the workspace is empty",
        ));
    }
    fs::canonicalize(path).map_err(|err| io_error(&err, "open", path))
}

/// Returns the path from one absolute folder to another place, with `/`.
fn relative(from: &Path, to: &Path) -> String {
    let from: Vec<_> = from.components().collect();
    let to: Vec<_> = to.components().collect();
    let n_common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.iter().skip(n_common).map(|_| "..".to_owned());
    let down = to
        .iter()
        .skip(n_common)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Returns what of `path` comes after `prefix`, by whole components; the empty string when they are equal.
pub(crate) fn strip_components<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() {
        return Some(path);
    }
    let rest = path.strip_prefix(prefix)?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix('/')
    }
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        name.to_owned()
    } else if name.is_empty() {
        dir.to_owned()
    } else {
        format!("{dir}/{name}")
    }
}

/// Returns whether a folder has something of this very name, also where the file system does not tell cases apart.
fn list_has(dir: &Path, name: &str) -> bool {
    fs::read_dir(dir).is_ok_and(|entries| {
        let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
        names.any(|found| found == name)
    })
}

/// Returns why a file of this name cannot be cited.
fn unfit_name(path: &str) -> Option<&'static str> {
    if path.contains('\u{fffd}') {
        Some("the name is not Unicode")
    } else if path.chars().any(char::is_control) {
        Some("the name has a control character")
    } else {
        None
    }
}

/// Reads the ignore file of a folder. A line that is no pattern excludes nothing and is named; the other lines count.
///
/// # Errors
///
/// When there is one that cannot be read: then nothing in the folder may be taken for memory.
fn ignore_rules(dir: &Path, warnings: &mut Vec<String>) -> std::io::Result<Gitignore> {
    let file = dir.join(IGNORE_FILE);
    if !file.is_symlink() && !file.exists() {
        return Ok(Gitignore::empty());
    }
    let mut bytes = Vec::new();
    open_regular(&file)?.read_to_end(&mut bytes)?;
    let (text, _) = decode(bytes);
    let mut builder = GitignoreBuilder::new(dir);
    for (idx, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if let Err(err) = builder.add_line(Some(file.clone()), line) {
            warnings.push(format!("{}:{}: {err}", file.display(), idx + 1));
        }
    }
    builder.build().map_err(std::io::Error::other)
}

/// A file in place of a folder on the way is as good as nothing there.
fn is_absent(err: &std::io::Error) -> bool {
    matches!(
        err.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

/// Resolves `.` and `..` by name alone, for a path that does not exist.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(normal.pop()),
            component => normal.push(component),
        }
    }
    normal
}

/// The nearest folder's rules decide, as with `.gitignore`.
fn ignored(ignores: &[Gitignore], path: &Path, is_dir: bool) -> bool {
    let decided = ignores
        .iter()
        .rev()
        .map(|rules| rules.matched(path, is_dir))
        .find(|matched| !matched.is_none());
    decided.is_some_and(|matched| matched.is_ignore())
}

fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|suffix| {
        suffix.eq_ignore_ascii_case("md") || suffix.eq_ignore_ascii_case("markdown")
    })
}

/// A backup or a checkpoint of a transcript is none, nor is what a reset packed.
fn is_transcript(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(stem) = name.find(".jsonl") else {
        return false;
    };
    let ending = name.get(stem + ".jsonl".len()..).unwrap_or_default();
    stem > 0
        && (ending.is_empty()
            || [".reset.", ".deleted."].iter().any(|mark| {
                ending
                    .strip_prefix(mark)
                    .is_some_and(|time| !time.is_empty() && !is_packed(time))
            }))
}

fn is_packed(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    ["zst", "gz", "bak", "tmp", "lock"].contains(&ending)
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

fn is_side_file(name: &str) -> bool {
    name.starts_with("._") || name.starts_with(".#")
}
