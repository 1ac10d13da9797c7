use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, TableLike, Value as Toml};

use crate::key::KeyPath;
use crate::layer::{Layer, Position};
use crate::redact::Secrets;
use crate::variable::expand;
use crate::{Origin, Problem};

/// Above this it is not a config file.
const MAX_BYTES: u64 = 1024 * 1024;

/// What came of reading a file.
#[derive(Debug)]
pub(crate) enum Reading {
    Missing,
    /// Nothing of it can be used.
    Broken(Problem),
    /// It was read, perhaps with problems in its values.
    Read(Layer, Vec<Problem>),
}

/// Reads the file that makes layer `index`.
pub(crate) fn read(
    path: &Path,
    index: usize,
    env: &[(String, String)],
    secrets: &mut Secrets,
) -> Reading {
    let at = |position: Option<Position>| Origin::File {
        path: path.to_owned(),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
    };
    let broken =
        |position, message: &str| Reading::Broken(Problem::new(index, at(position), message));

    let bytes = match bytes_of(path) {
        Ok(bytes) => bytes,
        Err(err) if err.kind() == ErrorKind::NotFound => return Reading::Missing,
        Err(err) if err.kind() == ErrorKind::IsADirectory => {
            return broken(None, "is a folder, not a file");
        }
        Err(err) => return broken(None, &format!("cannot be read: {err}")),
    };
    if bytes.len() as u64 > MAX_BYTES {
        return broken(None, &format!("is larger than {} KiB", MAX_BYTES / 1024));
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(err) => {
            let valid = err.utf8_error().valid_up_to();
            let head = String::from_utf8_lossy(err.as_bytes().get(..valid).unwrap_or_default());
            return broken(Some(Lines::new(&head).position(valid)), "is not UTF-8 text");
        }
    };
    let lines = Lines::new(&text);
    // The parser limits how deep keys and values nest, so that walking them needs no limit of its own.
    let document = match Document::parse(text.as_str()) {
        Ok(document) => document,
        Err(err) => {
            let position = err.span().map(|span| lines.position(span.start));
            return broken(position, err.message());
        }
    };

    let mut layer = Layer::new(at(None), Map::new());
    let mut problems = Vec::new();
    let mut record = |path: &KeyPath, span: Option<Range<usize>>| {
        if let Some(span) = span {
            layer
                .positions
                .insert(path.clone(), lines.position(span.start));
        }
    };
    let mut faults = Vec::new();
    let mut reader = Reader {
        expand: &mut |text| expand(text, env, secrets),
        record: &mut record,
        faults: &mut faults,
    };
    let values = reader.table(document.as_table(), &mut KeyPath::default());
    layer.values = values;
    for (path, fault) in faults {
        let problem = Problem::new(index, layer.origin_of(&path), &fault.message);
        let problem = problem.with_key(path.to_string(), false);
        problems.push(match fault.hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        });
    }
    Reading::Read(layer, problems)
}

/// Reads a TOML value that stands alone.
pub(crate) fn plain_value(text: &str) -> Result<Value, String> {
    let value: Toml = text
        .parse()
        .map_err(|err: toml_edit::TomlError| err.message().to_owned())?;
    let mut faults = Vec::new();
    let value = Reader {
        expand: &mut |text| Ok(text.to_owned()),
        record: &mut |_, _| {},
        faults: &mut faults,
    }
    .value(&value, &mut KeyPath::default());
    match (value, faults.pop()) {
        (Some(value), None) => Ok(value),
        (_, fault) => Err(fault.map_or_else(String::new, |(_, fault)| fault.message)),
    }
}

/// At most one byte more than the limit: the rest does not matter.
fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    // Before opening, since a named pipe waits there for its writer.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !metadata.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

struct Fault {
    message: String,
    hint: Option<&'static str>,
}

struct Reader<'r> {
    expand: &'r mut dyn FnMut(&str) -> Result<String, String>,
    record: &'r mut dyn FnMut(&KeyPath, Option<Range<usize>>),
    faults: &'r mut Vec<(KeyPath, Fault)>,
}

impl Reader<'_> {
    fn table(&mut self, table: &dyn TableLike, path: &mut KeyPath) -> Map<String, Value> {
        let mut map = Map::new();
        for (key, item) in table.iter() {
            path.push_key(key);
            (self.record)(path, table.key(key).and_then(toml_edit::Key::span));
            if let Some(value) = self.item(item, path) {
                map.insert(key.to_owned(), value);
            }
            path.pop();
        }
        map
    }

    fn item(&mut self, item: &Item, path: &mut KeyPath) -> Option<Value> {
        match item {
            Item::None => None,
            Item::Value(value) => self.value(value, path),
            Item::Table(table) => Some(self.table(table, path).into()),
            Item::ArrayOfTables(tables) => {
                let mut items: Vec<Value> = Vec::new();
                for (index, table) in tables.iter().enumerate() {
                    path.push_index(index);
                    (self.record)(path, table.span());
                    items.push(self.table(table, path).into());
                    path.pop();
                }
                Some(items.into())
            }
        }
    }

    fn value(&mut self, value: &Toml, path: &mut KeyPath) -> Option<Value> {
        match value {
            Toml::String(text) => match (self.expand)(text.value()) {
                Ok(text) => Some(text.into()),
                Err(message) => {
                    self.fault(path, message, Some("write `$${` for `${` itself"));
                    // It stays as it is written, or its key would seem to be missing as well.
                    Some(text.value().as_str().into())
                }
            },
            Toml::Integer(number) => Some((*number.value()).into()),
            Toml::Float(number) if !number.value().is_finite() => {
                self.fault(path, format!("`{}` is not a number", number.value()), None);
                None
            }
            Toml::Float(number) => Some((*number.value()).into()),
            Toml::Boolean(flag) => Some((*flag.value()).into()),
            Toml::Datetime(time) => Some(time.value().to_string().into()),
            Toml::Array(array) => {
                let mut items = Vec::new();
                for (index, item) in array.iter().enumerate() {
                    path.push_index(index);
                    (self.record)(path, item.span());
                    items.extend(self.value(item, path));
                    path.pop();
                }
                Some(items.into())
            }
            Toml::InlineTable(table) => Some(self.table(table, path).into()),
        }
    }

    fn fault(&mut self, path: &KeyPath, message: String, hint: Option<&'static str>) {
        self.faults.push((path.clone(), Fault { message, hint }));
    }
}

/// Turns byte offsets into lines and columns.
struct Lines<'t> {
    text: &'t str,
    /// The offset of each line's first byte.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(offset, _)| offset + 1);
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
        }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(start..offset).unwrap_or_default();
        Position {
            line,
            column: before.chars().count() + 1,
        }
    }
}
