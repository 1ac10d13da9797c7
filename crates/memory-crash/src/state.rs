//! What lies in a state folder, read from its files alone: no part of the engine is asked, and nothing in the folder is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

use memory_sqlite::rusqlite::{self, Connection, OptionalExtension as _, params};
use serde_json::Value;

use crate::Result;
use crate::script::files;

/// The name of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id([u8; 16]);

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// What the live folders hold.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) store: Store,
    /// `None` where its folder is gone.
    pub(crate) words: Option<Index>,
    /// `None` where the manifest names none.
    pub(crate) meaning: Option<Index>,
    /// Names of the vectors in `vectors.db`, of the store's space.
    pub(crate) vectors: BTreeSet<Vec<u8>>,
}

/// The store of record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Store {
    id: String,
    last_seq: i64,
    tombstone_floor: i64,
    pub(crate) entries: BTreeMap<Id, Entry>,
    tombstones: BTreeMap<Id, i64>,
}

/// An entry of the store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) path: String,
    pub(crate) lines: (i64, i64),
    pub(crate) text: String,
    text_seq: i64,
    seq: i64,
    vector_seq: Option<i64>,
    vector_key: Option<Vec<u8>>,
}

/// An index that follows a store.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Index {
    name: &'static str,
    /// The id of its store and the last change it has.
    watermark: Option<(String, i64)>,
    counted: i64,
    pub(crate) ids: BTreeSet<Id>,
}

impl State {
    /// Reads what the manifest of a state folder names; `None` where there is no manifest. The folder is copied first, since
    /// SQLite recovers what it opens.
    pub(crate) fn read(state: &Path) -> Result<Option<Self>> {
        if !state.join("MANIFEST.json").is_file() {
            return Ok(None);
        }
        let copy = tempfile::tempdir()?;
        for file in files(state)? {
            // SQLite makes these anew from the log.
            if file.ends_with("-shm") {
                continue;
            }
            let to = copy.path().join(&file);
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::copy(state.join(&file), to)?;
        }
        let folders = Folders::read(copy.path())?;
        let open = |dir: &str, name: &str| Connection::open(copy.path().join(dir).join(name));
        let conn = open(&folders.store, "store.db")?;
        let store = Store::read(&conn)?;
        let space = space(&conn)?;
        let words = if copy.path().join(&folders.words).is_dir() {
            Some(Index::words(&open(&folders.words, "index.db")?)?)
        } else {
            None
        };
        let meaning = match &folders.meaning {
            Some((plugin, dir)) => Some(Index::meaning(plugin, &open(dir, "index.db")?)?),
            None => None,
        };
        let file = copy.path().join("vectors.db");
        let vectors = match space {
            Some(space) if file.is_file() => vectors(&Connection::open(file)?, &space)?,
            _ => BTreeSet::new(),
        };
        Ok(Some(Self {
            store,
            words,
            meaning,
            vectors,
        }))
    }

    /// Says what must not be, at whatever moment the process or the machine stopped.
    pub(crate) fn violations(&self) -> Vec<String> {
        let mut violations = self.store.violations();
        for (id, entry) in &self.store.entries {
            if let (Some(_), Some(key)) = (entry.vector_seq, &entry.vector_key)
                && !self.vectors.contains(key)
            {
                violations.push(format!(
                    "the store says that `{}` {id:?} has a vector, `vectors.db` has none",
                    entry.path
                ));
            }
        }
        if let Some(words) = &self.words {
            words.follows(&self.store, |entry| Some(entry.text_seq), &mut violations);
        }
        if let Some(meaning) = &self.meaning {
            meaning.follows(&self.store, |entry| entry.vector_seq, &mut violations);
        }
        violations
    }

    /// Says what is missing from a state in which a sync has done all it had to.
    pub(crate) fn incomplete(&self) -> Vec<String> {
        let mut problems = self.violations();
        let ids: BTreeSet<Id> = self.store.entries.keys().copied().collect();
        let (Some(words), Some(meaning)) = (&self.words, &self.meaning) else {
            problems.push("there are not both indexes".to_owned());
            return problems;
        };
        for index in [words, meaning] {
            let missing: Vec<_> = ids.difference(&index.ids).collect();
            let surplus: Vec<_> = index.ids.difference(&ids).collect();
            if !missing.is_empty() || !surplus.is_empty() {
                problems.push(format!(
                    "{} lacks {missing:?} and has {surplus:?} that the store has not",
                    index.name
                ));
            }
        }
        let without = |entry: &&Entry| entry.vector_seq.is_none();
        let n_pending = self.store.entries.values().filter(without).count();
        if n_pending > 0 {
            problems.push(format!("{n_pending} entries have no vector"));
        }
        if ids.is_empty() {
            problems.push("there are no entries".to_owned());
        }
        problems
    }

    /// Returns a line for each entry: its id, place and text.
    pub(crate) fn lines(&self) -> BTreeSet<String> {
        let line = |(id, entry): (&Id, &Entry)| {
            let (from, to) = entry.lines;
            format!("{id:?} {}:{from}-{to} {:?}", entry.path, entry.text)
        };
        self.store.entries.iter().map(line).collect()
    }
}

impl Store {
    fn read(conn: &Connection) -> Result<Self> {
        let number = |key| -> Result<i64> {
            Ok(meta(conn, key)?.map_or(Ok(0), |value| value.parse::<i64>())?)
        };
        let mut statement = conn.prepare(
            "SELECT id, path, line_start, line_end, text, text_seq, seq, vector_seq, vector_key
             FROM entries JOIN documents USING (doc)",
        )?;
        let entries = statement.query_map([], |row| {
            let entry = Entry {
                path: row.get(1)?,
                lines: (row.get(2)?, row.get(3)?),
                text: row.get(4)?,
                text_seq: row.get(5)?,
                seq: row.get(6)?,
                vector_seq: row.get(7)?,
                vector_key: row.get(8)?,
            };
            Ok((Id(row.get(0)?), entry))
        })?;
        let mut statement_2 = conn.prepare("SELECT id, seq FROM tombstones")?;
        let tombstones = statement_2.query_map([], |row| Ok((Id(row.get(0)?), row.get(1)?)))?;
        Ok(Self {
            id: meta(conn, "store")?.ok_or("a store without an id")?,
            last_seq: number("last_seq")?,
            tombstone_floor: number("tombstone_floor")?,
            entries: entries.collect::<rusqlite::Result<_>>()?,
            tombstones: tombstones.collect::<rusqlite::Result<_>>()?,
        })
    }

    fn violations(&self) -> Vec<String> {
        let (last, floor) = (self.last_seq, self.tombstone_floor);
        let mut violations = Vec::new();
        for (id, entry) in &self.entries {
            if entry.text_seq > entry.seq || entry.seq > last || entry.vector_seq > Some(last) {
                violations.push(format!("{id:?} has a number above {last}: {entry:?}"));
            }
            if entry.vector_seq.is_some() != entry.vector_key.is_some() {
                violations.push(format!("{id:?} has half a vector: {entry:?}"));
            }
        }
        for (id, seq) in &self.tombstones {
            if *seq > last || *seq <= floor {
                violations.push(format!(
                    "the tombstone {seq} of {id:?} is not between {floor} and {last}"
                ));
            }
        }
        violations
    }
}

impl Index {
    fn words(conn: &Connection) -> Result<Self> {
        let index = Self::read(conn, "the index by words", "SELECT id FROM ids")?;
        // What FTS5 itself knows, row by row.
        let n_apart: i64 = conn.query_row(
            "SELECT (SELECT count(*) FROM ids WHERE row NOT IN (SELECT id FROM entries_docsize))
                  + (SELECT count(*) FROM entries_docsize WHERE id NOT IN (SELECT row FROM ids))",
            [],
            |row| row.get(0),
        )?;
        if n_apart == 0 {
            Ok(index)
        } else {
            Err(format!("{n_apart} rows of the index by words have an id or words alone").into())
        }
    }

    fn meaning(plugin: &str, conn: &Connection) -> Result<Self> {
        let ids = match plugin {
            "flat" => "SELECT id FROM vectors",
            "sqlite-vec" => "SELECT id FROM entries",
            _ => return Err(format!("the files of `{plugin}` are not known here").into()),
        };
        Self::read(conn, "the index by meaning", ids)
    }

    fn read(conn: &Connection, name: &'static str, ids: &str) -> Result<Self> {
        let (store, seq, counted): (Option<[u8; 16]>, i64, i64) =
            conn.query_row("SELECT store, seq, n_entries FROM state", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let mut statement = conn.prepare(ids)?;
        let ids = statement.query_map([], |row| row.get(0).map(Id))?;
        Ok(Self {
            name,
            watermark: store.map(|store| (memory_api::StoreId::from_bytes(store).to_string(), seq)),
            counted,
            ids: ids.collect::<rusqlite::Result<_>>()?,
        })
    }

    /// Adds what is wrong with the ids of this index at its watermark. `since` numbers the change by which an entry comes to it.
    fn follows(
        &self,
        store: &Store,
        since: impl Fn(&Entry) -> Option<i64>,
        violations: &mut Vec<String>,
    ) {
        let name = self.name;
        if i64::try_from(self.ids.len()) != Ok(self.counted) {
            let (counted, n) = (self.counted, self.ids.len());
            violations.push(format!("{name} counted {counted} entries and has {n}"));
        }
        let Some((of, mark)) = &self.watermark else {
            if !self.ids.is_empty() {
                violations.push(format!("{name} has entries and no watermark"));
            }
            return;
        };
        let (last, floor) = (store.last_seq, store.tombstone_floor);
        if *of != store.id || *mark > last || *mark < floor {
            violations.push(format!(
                "{name} is at {mark} of store {of}, the store {} at {last}, its tombstones above {floor}",
                store.id
            ));
            return;
        }
        // The index has yet to hear that the entry went, at least for a while.
        let went_later = |id: &Id| store.tombstones.get(id).is_some_and(|seq| seq > mark);
        let has_come = |id: &Id| {
            let entry = store.entries.get(id)?;
            since(entry).filter(|seq| seq <= mark)
        };
        for id in &self.ids {
            if has_come(id).is_none() && !went_later(id) {
                let entry = store.entries.get(id);
                violations.push(format!(
                    "{name}, at {mark}, has {id:?}, of which the store says {entry:?}"
                ));
            }
        }
        for (id, entry) in &store.entries {
            if has_come(id).is_some() && !self.ids.contains(id) {
                violations.push(format!("{name}, at {mark}, lacks {id:?}: {entry:?}"));
            }
        }
    }
}

/// The live folders, relative to the state folder.
struct Folders {
    store: String,
    words: String,
    /// The plugin and its folder.
    meaning: Option<(String, String)>,
}

impl Folders {
    fn read(state: &Path) -> Result<Self> {
        let manifest: Value = serde_json::from_slice(&fs::read(state.join("MANIFEST.json"))?)?;
        let at = |key: &str| Some(manifest.pointer(key)?.as_str()?.to_owned());
        Ok(Self {
            store: at("/store/dir").ok_or("a manifest without a store")?,
            words: at("/lexical/dir").ok_or("a manifest without an index by words")?,
            meaning: at("/vector/index/plugin").zip(at("/vector/index/dir")),
        })
    }
}

/// Returns the folder of the index by words, relative to the state folder; `None` where there is no manifest.
pub(crate) fn words_folder(state: &Path) -> Result<Option<String>> {
    if !state.join("MANIFEST.json").is_file() {
        return Ok(None);
    }
    Ok(Some(Folders::read(state)?.words))
}

/// Returns every file that belongs into a state folder nobody has open.
pub(crate) fn expected_files(state: &Path) -> Result<BTreeSet<String>> {
    let folders = Folders::read(state)?;
    let always = [".gitignore", "MANIFEST.json", "lock", "vectors.db"].map(str::to_owned);
    let live = [
        format!("{}/store.db", folders.store),
        format!("{}/index.db", folders.words),
    ];
    let meaning = folders.meaning.map(|(_, dir)| format!("{dir}/index.db"));
    Ok(always.into_iter().chain(live).chain(meaning).collect())
}

fn meta(conn: &Connection, key: &str) -> Result<Option<String>> {
    Ok(conn
        .query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| {
            row.get(0)
        })
        .optional()?)
}

/// Returns the name and the dimensions of the space that the store's vectors belong to.
fn space(store: &Connection) -> Result<Option<(String, i64)>> {
    let Some(background) = meta(store, "background")? else {
        return Ok(None);
    };
    let background: Value = serde_json::from_str(&background)?;
    let id = background.pointer("/space/id").and_then(Value::as_str);
    let dimensions = background
        .pointer("/space/dimensions")
        .and_then(Value::as_i64);
    Ok(id.map(str::to_owned).zip(dimensions))
}

/// Returns the names of the whole vectors of stored texts in a space.
fn vectors(conn: &Connection, (id, dimensions): &(String, i64)) -> Result<BTreeSet<Vec<u8>>> {
    let n_tables: i64 = conn.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('vectors', 'spaces')",
        [],
        |row| row.get(0),
    )?;
    if n_tables < 2 {
        return Ok(BTreeSet::new());
    }
    let mut statement = conn.prepare(
        "SELECT key FROM vectors JOIN spaces USING (space)
         WHERE role = 0 AND id = ?1 AND dimensions = ?2 AND length(vector) = 4 * ?2",
    )?;
    let keys = statement.query_map(params![id, dimensions], |row| row.get(0))?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}
