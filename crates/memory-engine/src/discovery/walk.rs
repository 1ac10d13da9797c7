use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::Gitignore;
use memory_api::{Error, Result};

use super::{
    Discovery, Root, Rule, Source, is_hidden, is_side_file, join, strip_components, unfit_name,
};
use super::{IGNORE_FILE, ignore_rules, ignored};
use crate::document::Stamp;
use crate::manifest::io_error;

/// A memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Relative to the workspace, with `/`; begins with `../` outside of it.
    pub path: String,
    /// Where it is.
    pub absolute: PathBuf,
    /// What the listing of its folder said of it.
    stamp: Option<Stamp>,
}

impl Found {
    /// Returns where it comes from.
    pub fn source(&self) -> Source {
        Source::of(&self.path)
    }

    /// Returns what the file looks like, as it was found.
    pub(crate) fn stamp(&self) -> Result<Stamp> {
        match self.stamp {
            Some(stamp) => Ok(stamp),
            None => fs::symlink_metadata(&self.absolute)
                .map(|metadata| Stamp::of(&metadata))
                .map_err(|err| io_error(&err, "open", &self.absolute)),
        }
    }
}

/// What a walk came across besides files.
#[derive(Debug, Default)]
pub struct Remarks {
    /// Links that were not followed, by path.
    pub links: Vec<String>,
    /// Folders and files that could not be looked at. What was indexed below them is still there.
    pub unreadable: Vec<Unreadable>,
    /// Lines of ignore files that are no patterns, and names that cannot be cited.
    pub warnings: Vec<String>,
}

/// A place that could not be looked at.
#[derive(Debug)]
pub struct Unreadable {
    /// Relative to the workspace, with `/`; `.` for the workspace itself.
    pub path: String,
    /// Why.
    pub error: Error,
}

impl Remarks {
    /// Returns whether the document may still be there, in a place that could not be looked at.
    pub fn hide(&self, path: &str) -> bool {
        self.unreadable
            .iter()
            .any(|place| place.path == "." || strip_components(path, &place.path).is_some())
    }
}

/// Finds memory files one after the other, in the order of their paths, byte by byte. It holds one listing for each level of
/// folders, so that what it needs does not grow with the number of files.
#[derive(Debug)]
pub struct Walk<'a> {
    discovery: &'a Discovery,
    branches: Vec<Branch<'a>>,
    remarks: Remarks,
}

/// The way through one root.
#[derive(Debug)]
struct Branch<'a> {
    root: &'a Root,
    /// Open folders, outermost first.
    folders: Vec<Folder>,
    /// The rules of the folders above the root, and of each open one.
    ignores: Vec<Gitignore>,
    /// The file that comes next.
    next: Option<Found>,
}

/// A folder that is being walked.
#[derive(Debug)]
struct Folder {
    dir: PathBuf,
    /// Its path below the root.
    below: String,
    listed: Vec<Listed>,
    /// How many of `listed` are done.
    done: usize,
}

/// Something in a folder.
#[derive(Debug)]
struct Listed {
    name: OsString,
    file_type: fs::FileType,
    /// Of a file that may be a memory file. Asked for in its folder, it costs half of what it costs by its whole path.
    stamp: Option<Stamp>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(discovery: &'a Discovery) -> Self {
        let mut remarks = Remarks::default();
        for missing in &discovery.missing {
            let error = Error::new(
                memory_api::ErrorKind::NotFound,
                format!("there is no `{}`", missing.dir.display()),
            )
            .with_hint(format!("check `{}`", missing.key));
            remarks.unreadable.push(Unreadable {
                path: missing.path.clone(),
                error,
            });
        }
        let branches = discovery
            .roots
            .iter()
            .map(|root| Branch::new(discovery, root, &mut remarks))
            .collect();
        Self {
            discovery,
            branches,
            remarks,
        }
    }

    /// Returns what it came across so far. When it has found a file, that is complete for every path before.
    pub fn remarks(&self) -> &Remarks {
        &self.remarks
    }

    /// Returns what it came across, ordered, each once.
    pub fn into_remarks(mut self) -> Remarks {
        for list in [&mut self.remarks.links, &mut self.remarks.warnings] {
            list.sort_unstable();
            list.dedup();
        }
        self.remarks
    }
}

/// A file that several roots lead to is found once, by the first.
impl Iterator for Walk<'_> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let heads = self.branches.iter().enumerate();
            let (idx, _) = heads
                .filter_map(|(idx, branch)| Some((idx, branch.next.as_ref()?)))
                .min_by(|(_, a), (_, b)| a.path.cmp(&b.path))?;
            let (earlier, rest) = self.branches.split_at_mut(idx);
            let branch = rest.first_mut()?;
            let found = branch.next.take()?;
            branch.advance(&self.discovery.state_dir, &mut self.remarks);
            let leads_there =
                |earlier: &Branch<'_>| self.discovery.leads(earlier.root, &found.absolute);
            if !earlier.iter().any(leads_there) {
                return Some(found);
            }
        }
    }
}

impl<'a> Branch<'a> {
    fn new(discovery: &Discovery, root: &'a Root, remarks: &mut Remarks) -> Self {
        let mut branch = Self {
            root,
            folders: Vec::new(),
            ignores: Vec::new(),
            next: None,
        };
        if matches!(root.rule, Rule::Itself) {
            branch.next = Some(Found {
                path: root.prefix.clone(),
                absolute: root.dir.clone(),
                stamp: None,
            });
            return branch;
        }
        match discovery.rules_above(root, &mut remarks.warnings) {
            Ok(ignores) => {
                branch.ignores = ignores;
                branch.enter(root.dir.clone(), String::new(), remarks);
                branch.advance(&discovery.state_dir, remarks);
            }
            Err(err) => branch.cannot("read the ignore files above", &err, "", &root.dir, remarks),
        }
        branch
    }

    /// Goes on to the next file.
    fn advance(&mut self, state_dir: &Path, remarks: &mut Remarks) {
        while let Some(folder) = self.folders.last_mut() {
            let Some(listed) = folder.listed.get(folder.done) else {
                self.folders.pop();
                self.ignores.pop();
                continue;
            };
            folder.done += 1;
            let absolute = folder.dir.join(&listed.name);
            let name = listed.name.to_string_lossy();
            let path = join(&folder.below, &name);
            let rule = &self.root.rule;
            if ignored(&self.ignores, &absolute, listed.file_type.is_dir()) {
                continue;
            }
            if listed.file_type.is_dir() {
                if rule.enters(&path) && !is_hidden(&name) && absolute != state_dir {
                    self.enter(absolute, path, remarks);
                }
                continue;
            }
            let matches = || rule.matches(&path, |name| folder.has(name)) && !is_side_file(&name);
            if listed.file_type.is_symlink() {
                // Only links that would have led to a memory file or a folder of them are worth a word.
                if matches() || (rule.enters(&path) && !is_side_file(&name)) {
                    remarks.links.push(join(&self.root.prefix, &path));
                }
            } else if listed.file_type.is_file() && matches() {
                let path = join(&self.root.prefix, &path);
                if let Some(reason) = unfit_name(&path) {
                    let warning = format!("{}: skipped: {reason}", path.escape_debug());
                    remarks.warnings.push(warning);
                } else {
                    let stamp = listed.stamp;
                    self.next = Some(Found {
                        path,
                        absolute,
                        stamp,
                    });
                    return;
                }
            }
        }
    }

    fn enter(&mut self, dir: PathBuf, below: String, remarks: &mut Remarks) {
        let listed = match list(&dir, &self.root.rule) {
            Ok(listed) => listed,
            Err(err) => return self.cannot("list", &err, &below, &dir, remarks),
        };
        let rules = if listed.iter().any(|listed| listed.name == IGNORE_FILE) {
            ignore_rules(&dir, &mut remarks.warnings)
        } else {
            Ok(Gitignore::empty())
        };
        match rules {
            Ok(rules) => self.ignores.push(rules),
            Err(err) => {
                return self.cannot("read", &err, &below, &dir.join(IGNORE_FILE), remarks);
            }
        }
        self.folders.push(Folder {
            dir,
            below,
            listed,
            done: 0,
        });
    }

    fn cannot(
        &self,
        what: &str,
        err: &std::io::Error,
        below: &str,
        place: &Path,
        remarks: &mut Remarks,
    ) {
        let path = match join(&self.root.prefix, below) {
            path if path.is_empty() => ".".to_owned(),
            path => path,
        };
        remarks.unreadable.push(Unreadable {
            path,
            error: io_error(err, what, place),
        });
    }
}

impl Folder {
    fn has(&self, name: &str) -> bool {
        self.listed.iter().any(|listed| listed.name == name)
    }
}

impl Listed {
    /// What it is ordered by: the bytes that the paths of its files go on with. A name that is not Unicode has no place in a
    /// citation; its lossy form, marked by the replacement character, stands for it.
    fn key(&self) -> impl Iterator<Item = u8> + '_ {
        let end = self.file_type.is_dir().then_some(b'/');
        self.name.as_encoded_bytes().iter().copied().chain(end)
    }
}

/// Lists a folder in the order of the paths below it.
fn list(dir: &Path, rule: &Rule) -> std::io::Result<Vec<Listed>> {
    let mut listed = fs::read_dir(dir)?
        .map(|entry| {
            let entry = entry?;
            let name = entry.file_name();
            let file_type = entry.file_type()?;
            let stamp = if file_type.is_file() && rule.may_match(&name) {
                // One that vanishes meanwhile is looked at again.
                entry.metadata().ok().map(|metadata| Stamp::of(&metadata))
            } else {
                None
            };
            Ok(Listed {
                name,
                file_type,
                stamp,
            })
        })
        .collect::<std::io::Result<Vec<_>>>()?;
    listed.sort_unstable_by(|a, b| a.key().cmp(b.key()));
    Ok(listed)
}
