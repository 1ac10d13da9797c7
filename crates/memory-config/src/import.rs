//! The settings of another system's memory, as a config file of ours.
//!
//! Text in, text and notes out; nothing is read or written. What the file sets is laid over the preset of that system, and
//! only what differs from it is written. Every key that has no counterpart gets a note, and so does every value that had to be
//! changed.

mod keys;
mod mapping;
mod read;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use memory_api::Registry;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::key::KeyPath;
use crate::redact::Secrets;
use crate::variable::expand;
use crate::{Flag, Origin, Problem, Problems, Sources, file, load, nearest, show};
use keys::{MAPPED, REMARKS, TOP};

/// The agent of a file that names none.
const MAIN: &str = "main";

/// What is known about an `openclaw.json` beside its text.
#[derive(Debug, Clone, Copy)]
pub struct ImportSource<'a> {
    /// The file, for problems.
    pub file: &'a Path,
    /// The folder of that system, which holds `agents/<id>/sessions`, if it is known.
    pub state_dir: Option<&'a Path>,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
    /// What `${NAME}` stands for.
    pub env: &'a [(String, String)],
    /// Whose memory; `None` means that of the default agent.
    pub agent: Option<&'a str>,
}

/// A config file and what could not be said in it.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Import {
    /// The config file.
    pub toml: String,
    /// The agent whose memory it is.
    pub agent: String,
    /// That agent's workspace, where the file names it: the place of the config file.
    pub workspace: Option<PathBuf>,
    /// What is different here, by key.
    pub notes: Vec<Note>,
}

/// Something that a config file of ours does not say, or says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// The dotted key in the file that was read.
    pub key: String,
    /// What came of it.
    pub kind: NoteKind,
    /// Why, or what to do. It never quotes text of the file that may be secret.
    pub text: String,
}

/// What came of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NoteKind {
    /// Its value was out of range and is at the border of it now.
    Clamped,
    /// Something like it is set, or is so anyway.
    Adapted,
    /// There is nothing like it here.
    NoCounterpart,
    /// Nobody knows it.
    Unknown,
    /// Its value is of the wrong kind and was left out.
    Invalid,
    /// Another place in the same file wins.
    Overridden,
    /// It is not about this agent's memory.
    Outside,
}

/// Makes a config file of the text of an `openclaw.json` (JSON5).
///
/// The file loads without a problem wherever the plugins of the registry are linked.
///
/// # Errors
///
/// A text that is no JSON5, with its line; a file of something else; an agent that is not there.
pub fn import(
    text: &str,
    source: &ImportSource<'_>,
    registry: &Registry,
) -> Result<Import, Problems> {
    let problem = |line, column, message: &str| {
        let origin = Origin::File {
            path: source.file.to_owned(),
            line,
            column,
        };
        Problem::new(0, origin, message)
    };
    let root = read::read(text)
        .map_err(|fault| Problems::one(problem(fault.line, fault.column, &fault.message)))?;
    let Some(root) = root
        .as_object()
        .filter(|root| root.keys().any(|key| TOP.contains(&key.as_str())))
    else {
        let problem = problem(
            None,
            None,
            "is no `openclaw.json`: it has neither `agents` nor `memory`",
        )
        .with_hint("name that file, as in `memory config import ~/.openclaw/openclaw.json`");
        return Err(Problems::one(problem));
    };
    let agents = Agents::of(root);
    let chosen = agents.choose(source.agent).map_err(|wanted| {
        let known = format!("agents there: {}", agents.ids().join(", "));
        Problems::one(problem(None, None, &format!("has no agent `{wanted}`")).with_hint(known))
    })?;
    let preset = Sources {
        flags: vec![Flag::new("preset", "preset", "openclaw")],
        ..Sources::default()
    };
    let base = load(&preset, registry)?
        .settings()
        .filter_map(|setting| Some((setting.key.clone(), file::plain_value(&setting.value).ok()?)))
        .collect();
    let mut mapper = Mapper {
        source: *source,
        agent: agents
            .ids()
            .get(chosen.unwrap_or(0))
            .cloned()
            .unwrap_or_else(|| MAIN.to_owned()),
        workspace: None,
        base,
        given: BTreeMap::new(),
        out: Map::new(),
        notes: Vec::new(),
    };
    mapper.gather(root, &agents, chosen);
    mapper.map();
    mapper.remark();
    Ok(mapper.finish())
}

/// The agents that a file lists.
struct Agents<'v> {
    entries: &'v [Value],
}

impl<'v> Agents<'v> {
    fn of(root: &'v Map<String, Value>) -> Self {
        let list = root.get("agents").and_then(|agents| agents.get("list"));
        Self {
            entries: list.and_then(Value::as_array).map_or(&[], Vec::as_slice),
        }
    }

    /// Ids as that system writes them: in small letters.
    fn ids(&self) -> Vec<String> {
        if self.entries.is_empty() {
            return vec![MAIN.to_owned()];
        }
        let id = |entry: &Value| {
            entry
                .get("id")
                .and_then(Value::as_str)
                .map(str::to_lowercase)
        };
        self.entries
            .iter()
            .map(|entry| id(entry).unwrap_or_else(|| MAIN.to_owned()))
            .collect()
    }

    /// Returns the entry of an agent; of the default one, there may be none.
    fn choose(&self, wanted: Option<&str>) -> Result<Option<usize>, String> {
        if let Some(wanted) = wanted {
            let found = self
                .ids()
                .iter()
                .position(|id| *id == wanted.to_lowercase());
            let found = found.ok_or_else(|| wanted.to_owned())?;
            return Ok((!self.entries.is_empty()).then_some(found));
        }
        let is_default = |entry: &Value| entry.get("default") == Some(&Value::Bool(true));
        let first = (!self.entries.is_empty()).then_some(0);
        Ok(self.entries.iter().position(is_default).or(first))
    }
}

/// A value of the file, and where it stands.
struct Given {
    key: KeyPath,
    value: Value,
}

struct Mapper<'a> {
    source: ImportSource<'a>,
    agent: String,
    workspace: Option<PathBuf>,
    /// What is in force under the preset, by key.
    base: BTreeMap<String, Value>,
    /// What the file sets and nothing was made of yet, by what it means.
    given: BTreeMap<String, Given>,
    out: Map<String, Value>,
    notes: Vec<Note>,
}

/// Takes the file apart: which of its values are about the memory.
impl Mapper<'_> {
    fn note(&mut self, key: &KeyPath, kind: NoteKind, text: impl Into<String>) {
        self.notes.push(Note {
            key: key.to_string(),
            kind,
            text: text.into(),
        });
    }

    fn outside(&mut self, key: &KeyPath) {
        self.note(key, NoteKind::Outside, "not about the memory");
    }

    fn gather(&mut self, root: &Map<String, Value>, agents: &Agents<'_>, chosen: Option<usize>) {
        // From the weakest place to the strongest.
        for (name, value) in root {
            let key = KeyPath::new([name.as_str()]);
            match name.as_str() {
                "agents" => self.defaults(&key, value),
                "memory" => {}
                _ if name.to_lowercase().contains("memory") => self.unknown(&key, name),
                _ => self.outside(&key),
            }
        }
        if let Some(value) = root.get("memory") {
            self.memory(&KeyPath::new(["memory"]), value);
        }
        let list = KeyPath::new(["agents", "list"]);
        let ids = agents.ids();
        for (index, (entry, id)) in agents.entries.iter().zip(&ids).enumerate() {
            let key = list.index(index);
            if Some(index) != chosen {
                let text = if is_plain(id) {
                    format!("another agent; `--agent {id}` is for its memory")
                } else {
                    "another agent".to_owned()
                };
                self.note(&key, NoteKind::Outside, text);
                continue;
            }
            self.entry(&key, entry);
        }
    }

    fn defaults(&mut self, key: &KeyPath, value: &Value) {
        let Some(agents) = self.table(key, value) else {
            return;
        };
        for (name, value) in agents {
            let key = key.key(name);
            match (name.as_str(), value) {
                ("defaults", _) => self.entry(&key, value),
                ("list", Value::Array(_)) => {}
                ("list", _) => self.note(&key, NoteKind::Invalid, "is no list, and was left out"),
                _ => self.outside(&key),
            }
        }
    }

    /// What holds for all agents, or for one.
    fn entry(&mut self, key: &KeyPath, value: &Value) {
        let Some(entry) = self.table(key, value) else {
            return;
        };
        for (name, value) in entry {
            let key = key.key(name);
            match name.as_str() {
                "memorySearch" => self.flatten("search", &key, value),
                "compaction" => self.flatten("compaction", &key, value),
                "workspace" => self.workspace = self.place(&key, value).map(PathBuf::from),
                "memory" | "id" | "default" | "name" => {}
                _ if name.to_lowercase().contains("memory") => self.unknown(&key, name),
                _ => self.outside(&key),
            }
        }
        if let Some(value) = entry.get("memory") {
            self.memory(&key.key("memory"), value);
        }
    }

    fn memory(&mut self, key: &KeyPath, value: &Value) {
        let Some(memory) = self.table(key, value) else {
            return;
        };
        for (name, value) in memory {
            let key = key.key(name);
            // What else is there gets a remark, or is unknown.
            self.flatten(&KeyPath::new([name.as_str()]).to_string(), &key, value);
        }
    }

    fn table<'v>(&mut self, key: &KeyPath, value: &'v Value) -> Option<&'v Map<String, Value>> {
        if !value.is_object() {
            self.note(key, NoteKind::Invalid, "is no table, and was left out");
        }
        value.as_object()
    }

    /// Lays the values of a table over what other places said.
    fn flatten(&mut self, meaning: &str, key: &KeyPath, value: &Value) {
        if let Value::Object(table) = value {
            for (name, value) in table {
                let below = format!("{meaning}.{}", KeyPath::new([name.as_str()]));
                self.flatten(&below, &key.key(name), value);
            }
            return;
        }
        let given = Given {
            key: key.clone(),
            value: value.clone(),
        };
        if let Some(weaker) = self.given.insert(meaning.to_owned(), given) {
            self.note(&weaker.key, NoteKind::Overridden, format!("`{key}` wins"));
        }
    }
}

/// Reads single values.
impl Mapper<'_> {
    fn take(&mut self, meaning: &str) -> Option<Given> {
        self.given.remove(meaning)
    }

    fn wrong(&mut self, key: &KeyPath, expected: &str) {
        let text = format!("is not {expected}, and was left out");
        self.note(key, NoteKind::Invalid, text);
    }

    fn invalid<T>(&mut self, key: &KeyPath, expected: &str) -> Option<T> {
        self.wrong(key, expected);
        None
    }

    fn flag(&mut self, meaning: &str) -> Option<bool> {
        let given = self.take(meaning)?;
        given
            .value
            .as_bool()
            .or_else(|| self.invalid(&given.key, "true or false"))
    }

    fn word(&mut self, meaning: &str) -> Option<(KeyPath, String)> {
        let given = self.take(meaning)?;
        match given.value {
            Value::String(word) => Some((given.key, word)),
            _ => self.invalid(&given.key, "a text"),
        }
    }

    fn number(&mut self, meaning: &str, least: f64, most: f64) -> Option<f64> {
        let given = self.take(meaning)?;
        let Some(number) = given.value.as_f64() else {
            return self.invalid(&given.key, "a number");
        };
        Some(self.clamp(&given.key, number, least, most))
    }

    fn clamp(&mut self, key: &KeyPath, number: f64, least: f64, most: f64) -> f64 {
        let clamped = number.clamp(least, most);
        if !(least..=most).contains(&number) {
            let text = if most < f64::MAX {
                format!("`{number}` is out of range ({least} to {most}); it is {clamped} now")
            } else {
                format!("`{number}` is out of range ({least} or more); it is {clamped} now")
            };
            self.note(key, NoteKind::Clamped, text);
        }
        clamped
    }

    fn integer(&mut self, meaning: &str, least: u32, most: u32) -> Option<u32> {
        let key = self.given.get(meaning)?.key.clone();
        let number = self.number(meaning, least.into(), most.into())?;
        if number.fract() > 0.0 {
            let text = format!(
                "`{number}` is no whole number; it is {} now",
                number.floor()
            );
            self.note(&key, NoteKind::Clamped, text);
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between two numbers of the type"
        )]
        Some(number.floor() as u32)
    }

    /// Returns a path as a config file may hold it.
    fn place(&mut self, key: &KeyPath, value: &Value) -> Option<String> {
        let Some(text) = value.as_str().filter(|text| !text.trim().is_empty()) else {
            return self.invalid(key, "a path");
        };
        // Whether a variable is secret does not matter: what it holds is not shown, but written as the path it is part of.
        let text = match expand(text, self.source.env, &mut Secrets::default()) {
            Ok(text) if !text.trim().is_empty() => text,
            Ok(_) => return self.invalid(key, "a path"),
            Err(message) => {
                self.note(key, NoteKind::Invalid, format!("was left out: {message}"));
                return None;
            }
        };
        let Some(below) = text
            .strip_prefix('~')
            .filter(|below| below.is_empty() || below.starts_with(['/', '\\']))
        else {
            return Some(text);
        };
        let below = below.trim_start_matches(['/', '\\']);
        let home = self.source.home.map(|home| {
            if below.is_empty() {
                home.to_owned()
            } else {
                home.join(below)
            }
        });
        let Some(whole) = home.as_deref().and_then(Path::to_str) else {
            self.note(
                key,
                NoteKind::Invalid,
                "was left out, since nobody knows what `~` is; write the whole path",
            );
            return None;
        };
        Some(whole.to_owned())
    }
}

/// Says what is left.
impl Mapper<'_> {
    fn remark(&mut self) {
        for (meaning, Given { key, .. }) in std::mem::take(&mut self.given) {
            let below = |table: &str| {
                meaning
                    .strip_prefix(table)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if let Some((_, kind, text)) = REMARKS.iter().find(|(table, ..)| below(table)) {
                self.note(&key, *kind, *text);
            } else if is_table(&meaning) {
                self.note(&key, NoteKind::Invalid, "is no table, and was left out");
            } else if meaning.starts_with("compaction.") && !below("compaction.memoryFlush") {
                self.note(
                    &key,
                    NoteKind::Outside,
                    "how a conversation is compacted is the host's business",
                );
            } else {
                self.unknown(&key, &meaning);
            }
        }
    }

    fn unknown(&mut self, key: &KeyPath, meaning: &str) {
        let known = MAPPED
            .iter()
            .copied()
            .chain(REMARKS.iter().map(|(table, ..)| *table));
        let last = |key: &'static str| key.rsplit('.').next().unwrap_or(key);
        let wanted = meaning.rsplit('.').next().unwrap_or(meaning);
        let text = match nearest(wanted, known.map(last)) {
            Some(near) => format!("unknown key, ignored; the nearest is `{near}`"),
            None => "unknown key, ignored".to_owned(),
        };
        self.note(key, NoteKind::Unknown, text);
    }

    fn finish(mut self) -> Import {
        self.out.insert("preset".to_owned(), "openclaw".into());
        let of = if is_plain(&self.agent) {
            format!(" of the agent `{}`", self.agent)
        } else {
            String::new()
        };
        let toml = format!(
            "# The memory{of}, from openclaw.json. It belongs into the workspace, as memory.toml.\n# Only what differs from the preset is set; `memory config show --origin` prints what is in force.\n{}",
            show::document(&Value::Object(self.out))
        );
        Import {
            toml,
            agent: self.agent,
            workspace: self.workspace,
            notes: self.notes,
        }
    }
}

/// Returns whether an id can be the name of a folder and stand in a comment.
fn is_plain(id: &str) -> bool {
    const LONGEST: usize = 64;
    (1..=LONGEST).contains(&id.len())
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
}

/// Returns whether known keys lie below.
fn is_table(meaning: &str) -> bool {
    let known = MAPPED
        .iter()
        .copied()
        .chain(REMARKS.iter().map(|(table, ..)| *table));
    known
        .map(|key| key.strip_prefix(meaning))
        .any(|rest| rest.is_some_and(|rest| rest.starts_with('.')))
}
