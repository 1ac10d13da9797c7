//! A disk as it could look after the machine stopped.
//!
//! What is assumed of it:
//!
//! * What was written to a file is on the disk once that file was synced (`fsync`, `fdatasync`), and so is its length. Until then
//!   any of its writes may be there in the order they were made, from none to all, the last one torn at a border of 512 bytes; or
//!   some of them without the others, since a system writes its pages in an order of its own.
//! * A name that was made, changed or removed in a folder is on the disk once the *folder* was synced. Until then any number of
//!   these changes may be there, in the order they were made. Syncing a file says nothing of its name: ext4 and XFS promise more,
//!   POSIX does not. A rename is there whole or not at all, but for one into another folder, and may be there before what was
//!   written to the file.
//! * One file or folder knows nothing of the other: each may be as old as its own last sync.
//! * What was synced stays, and nothing changes by itself.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use super::history::{Handle, Op};
use crate::Result;

/// What a disk writes whole or not at all.
pub(crate) const SECTOR: u64 = 512;

/// Names a file or folder, whatever it is called.
pub(crate) type Id = usize;

/// Says what is kept of the changes that are not synced.
pub(crate) type Choose<'a> = &'a dyn Fn(Id, Part<'_>) -> Kept;

/// Files and folders: what is on the disk for sure, and what came since.
#[derive(Debug)]
pub(crate) struct Disk {
    objects: Vec<Object>,
    handles: HashMap<Handle, Id>,
}

#[derive(Debug)]
enum Object {
    File(File),
    Folder(Folder),
}

#[derive(Debug, Default)]
struct File {
    synced: Vec<u8>,
    /// How many changes are synced.
    n_synced: u64,
    since: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Write { at: u64, bytes: Vec<u8> },
    SetLen(u64),
}

#[derive(Debug, Default)]
struct Folder {
    synced: BTreeMap<String, Id>,
    since: Vec<Naming>,
    /// With every change.
    now: BTreeMap<String, Id>,
}

#[derive(Debug, Clone)]
enum Naming {
    Add(String, Id),
    Remove(String),
    Rename(String, String),
}

/// Something that has changes that are not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// A file with these.
    File(&'a [Change]),
    /// A folder with so many.
    Folder(usize),
}

/// What of the changes is on the disk all the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kept {
    /// So many, and so many bytes of the next.
    First(usize, u64),
    /// Of a file, those marked.
    Marked(Vec<bool>),
}

impl Kept {
    pub(crate) const NONE: Self = Self::First(0, 0);
    pub(crate) const ALL: Self = Self::First(usize::MAX, 0);

    fn has(&self, n: usize) -> bool {
        match self {
            Self::First(first, _) => n < *first,
            Self::Marked(marks) => marks.get(n).copied().unwrap_or_default(),
        }
    }
}

/// What lies in the folder, by path; a folder has no bytes.
pub(crate) type Tree = BTreeMap<String, Option<Vec<u8>>>;

impl Disk {
    /// Begins with an empty folder.
    pub(crate) fn new() -> Self {
        Self {
            objects: vec![Object::Folder(Folder::default())],
            handles: HashMap::new(),
        }
    }

    /// Does what was recorded.
    pub(crate) fn apply(&mut self, op: &Op) -> Result<()> {
        match op {
            Op::Begin => self.handles.clear(),
            Op::Mark(_) => {}
            Op::Open {
                handle,
                path,
                created,
                truncated,
            } => {
                if *created {
                    let file = self.add(Object::File(File::default()));
                    self.name(path, |name| Naming::Add(name, file))?;
                }
                let id = self.find(path)?;
                if *truncated {
                    self.change(id, Change::SetLen(0))?;
                }
                self.handles.insert(*handle, id);
            }
            Op::Write { handle, at, bytes } => {
                let (at, bytes) = (*at, bytes.clone());
                self.change(self.opened(*handle)?, Change::Write { at, bytes })?;
            }
            Op::SetLen { handle, len } => {
                self.change(self.opened(*handle)?, Change::SetLen(*len))?;
            }
            Op::Sync { handle } => {
                let id = self.opened(*handle)?;
                self.sync(id);
            }
            Op::Rename { from, to } => {
                let (from_folder, _) = split(from);
                let (to_folder, new) = split(to);
                if from_folder == to_folder {
                    self.name(from, |name| Naming::Rename(name, new.to_owned()))?;
                } else {
                    let id = self.find(from)?;
                    self.name(from, Naming::Remove)?;
                    self.name(to, |name| Naming::Add(name, id))?;
                }
            }
            Op::Link { from, to } => {
                let id = self.find(from)?;
                self.name(to, |name| Naming::Add(name, id))?;
            }
            Op::Unlink(path) | Op::RemoveFolder(path) => self.name(path, Naming::Remove)?,
            // The folder itself is there in any case.
            Op::MakeFolder(path) if path.is_empty() => {}
            Op::MakeFolder(path) => {
                let folder = self.add(Object::Folder(Folder::default()));
                self.name(path, |name| Naming::Add(name, folder))?;
            }
            Op::Map { handle } => {
                let id = self.opened(*handle)?;
                let path = self.parts().into_iter().find(|(_, there)| *there == id);
                let path = path.map(|(path, _)| path).unwrap_or_default();
                if !is_shared_memory(&path) {
                    return Err(format!("`{path}` is mapped for writing, which is not seen").into());
                }
            }
        }
        Ok(())
    }

    /// Returns what has changes that are not synced.
    pub(crate) fn unsynced(&self) -> Vec<(Id, Part<'_>)> {
        let parts = self.parts().into_iter();
        parts
            .filter(|(path, _)| !is_shared_memory(path))
            .filter_map(|(_, id)| Some((id, self.part(id)?)))
            .collect()
    }

    /// Returns what of a file or folder is not synced, if anything is.
    fn part(&self, id: Id) -> Option<Part<'_>> {
        match self.objects.get(id)? {
            Object::File(file) => (!file.since.is_empty()).then_some(Part::File(&file.since)),
            Object::Folder(folder) => {
                (!folder.since.is_empty()).then_some(Part::Folder(folder.since.len()))
            }
        }
    }

    /// Returns every path there is or was since the last sync of its folder, with what it leads or led to.
    fn parts(&self) -> Vec<(String, Id)> {
        let mut found = vec![(String::new(), 0)];
        let mut next = 0;
        while let Some((path, id)) = found.get(next).cloned() {
            next += 1;
            if let Some(Object::Folder(folder)) = self.objects.get(id) {
                let mut names: BTreeSet<(&String, Id)> = BTreeSet::new();
                names.extend(folder.synced.iter().map(|(name, id)| (name, *id)));
                names.extend(folder.now.iter().map(|(name, id)| (name, *id)));
                names.extend(folder.since.iter().filter_map(|naming| match naming {
                    Naming::Add(name, id) => Some((name, *id)),
                    _ => None,
                }));
                found.extend(names.into_iter().map(|(name, id)| (join(&path, name), id)));
            }
        }
        let mut seen = BTreeSet::new();
        found.retain(|(_, id)| seen.insert(*id));
        found
    }

    /// Returns the folder as the disk could have it.
    pub(crate) fn tree(&self, choose: Choose<'_>) -> Tree {
        let mut tree = Tree::new();
        self.walk("", 0, choose, &mut |path, _, object, kept| {
            let bytes = match object {
                Object::File(file) => Some(file.content(kept)),
                Object::Folder(_) => None,
            };
            tree.insert(path.to_owned(), bytes);
        });
        tree
    }

    /// Returns a number that tells one such folder from another, without making it.
    pub(crate) fn signature(&self, choose: Choose<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.walk("", 0, choose, &mut |path, id, object, kept| {
            path.hash(&mut hasher);
            if let Object::File(file) = object {
                let n = file.since.len();
                let there: Vec<bool> = (0..n).map(|n| kept.has(n)).collect();
                let torn = match kept {
                    Kept::First(first, torn) if *first < n => *torn,
                    _ => 0,
                };
                // What came first is the same, however much of it is synced.
                let first = there.iter().take_while(|there| **there).count();
                let first_changes = file.n_synced + first as u64;
                let rest = there.get(first..).unwrap_or_default();
                let rest = if rest.contains(&true) { rest } else { &[] };
                (id, first_changes, rest, torn).hash(&mut hasher);
            }
        });
        hasher.finish()
    }

    fn walk(
        &self,
        path: &str,
        id: Id,
        choose: Choose<'_>,
        found: &mut dyn FnMut(&str, Id, &Object, &Kept),
    ) {
        let Some(object) = self.objects.get(id) else {
            return;
        };
        let kept = self.part(id).map_or(Kept::NONE, |part| choose(id, part));
        if !path.is_empty() {
            found(path, id, object, &kept);
        }
        if let Object::Folder(folder) = object {
            for (name, id) in folder.names(&kept) {
                let path = join(path, &name);
                // It holds nothing that SQLite would not make anew from the log, and does.
                if !is_shared_memory(&path) {
                    self.walk(&path, id, choose, found);
                }
            }
        }
    }

    fn add(&mut self, object: Object) -> Id {
        self.objects.push(object);
        self.objects.len() - 1
    }

    fn opened(&self, handle: Handle) -> Result<Id> {
        let id = self.handles.get(&handle).copied();
        id.ok_or_else(|| format!("handle {handle} was never opened").into())
    }

    fn find(&self, path: &str) -> Result<Id> {
        let mut id = 0;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            id = match self.objects.get(id) {
                Some(Object::Folder(folder)) => folder.now.get(name).copied(),
                _ => None,
            }
            .ok_or_else(|| format!("`{path}` was never made"))?;
        }
        Ok(id)
    }

    fn name(&mut self, path: &str, naming: impl FnOnce(String) -> Naming) -> Result<()> {
        let (folder, name) = split(path);
        let id = self.find(folder)?;
        let Some(Object::Folder(folder)) = self.objects.get_mut(id) else {
            return Err(format!("`{folder}` is no folder").into());
        };
        let naming = naming(name.to_owned());
        naming.apply(&mut folder.now);
        folder.since.push(naming);
        Ok(())
    }

    fn change(&mut self, id: Id, change: Change) -> Result<()> {
        match self.objects.get_mut(id) {
            Some(Object::File(file)) => file.since.push(change),
            _ => return Err("a folder was written to".into()),
        }
        Ok(())
    }

    fn sync(&mut self, id: Id) {
        match self.objects.get_mut(id) {
            Some(Object::File(file)) => {
                for change in std::mem::take(&mut file.since) {
                    change.apply(&mut file.synced, None);
                    file.n_synced += 1;
                }
            }
            Some(Object::Folder(folder)) => {
                folder.since.clear();
                folder.synced.clone_from(&folder.now);
            }
            None => {}
        }
    }
}

impl File {
    fn content(&self, kept: &Kept) -> Vec<u8> {
        let mut content = self.synced.clone();
        for (n, change) in self.since.iter().enumerate() {
            if kept.has(n) {
                change.apply(&mut content, None);
            } else if let Kept::First(first, torn) = kept
                && *first == n
                && *torn > 0
            {
                change.apply(&mut content, Some(*torn));
            }
        }
        content
    }
}

impl Folder {
    fn names(&self, kept: &Kept) -> BTreeMap<String, Id> {
        let mut names = self.synced.clone();
        for (n, naming) in self.since.iter().enumerate() {
            if kept.has(n) {
                naming.apply(&mut names);
            }
        }
        names
    }
}

impl Change {
    /// Does it to the content of a file, or only so many bytes of it.
    fn apply(&self, content: &mut Vec<u8>, torn: Option<u64>) {
        let usize = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        match self {
            Self::Write { at, bytes } => {
                let n = torn.map_or(bytes.len(), |torn| usize(torn).min(bytes.len()));
                let end = usize(*at) + n;
                if content.len() < end {
                    content.resize(end, 0);
                }
                for (place, byte) in content
                    .iter_mut()
                    .skip(usize(*at))
                    .zip(bytes.iter().take(n))
                {
                    *place = *byte;
                }
            }
            Self::SetLen(len) => content.resize(usize(*len), 0),
        }
    }
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<String, Id>) {
        match self {
            Self::Add(name, id) => {
                names.insert(name.clone(), *id);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Rename(from, to) => {
                if let Some(id) = names.remove(from) {
                    names.insert(to.clone(), id);
                }
            }
        }
    }
}

/// SQLite shares this file between processes by mapping it, and makes it anew when nobody has it open.
fn is_shared_memory(path: &str) -> bool {
    path.ends_with("-shm")
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Writes what lies in a folder into an empty one.
pub(crate) fn build(tree: &Tree, dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)?;
    for (path, bytes) in tree {
        match bytes {
            Some(bytes) => fs::write(dir.join(path), bytes)?,
            None => fs::create_dir(dir.join(path))?,
        }
    }
    Ok(())
}

/// Reads what lies in a folder.
pub(crate) fn read(dir: &Path) -> Result<Tree> {
    let mut tree = Tree::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(dir.join(&folder))? {
            let entry = entry?;
            let path = join(&folder, &entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                tree.insert(path.clone(), None);
                folders.push(path);
            } else if !is_shared_memory(&path) {
                tree.insert(path, Some(fs::read(entry.path())?));
            }
        }
    }
    Ok(tree)
}
