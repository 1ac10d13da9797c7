//! What a note says about itself: YAML between `---` lines at its beginning.

use std::fmt;
use std::ops::Range;

use memory_api::{DocumentMeta, Timestamp, Warning};
use memory_text::line::{lines, slice};
use memory_text::parse_timestamp;
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{DuplicateKeyPolicy, Options, Spanned};

/// Longer front matter is taken for text.
const MAX_BYTES: usize = 64 * 1024;

/// The beginning of a document.
#[derive(Debug, Default)]
pub(crate) struct FrontMatter {
    pub(crate) meta: DocumentMeta,
    /// The front matter's lines, where they are front matter.
    pub(crate) excluded: Option<Range<usize>>,
    /// The front matter's lines, where they are broken and therefore text: one block, whatever they look like.
    pub(crate) text: Option<Range<usize>>,
    /// Where the body begins.
    pub(crate) body: usize,
    pub(crate) warnings: Vec<Warning>,
}

impl FrontMatter {
    /// Reads the front matter of `text[start..]`.
    pub(crate) fn read(text: &str, start: usize) -> Self {
        let none = Self {
            body: start,
            ..Self::default()
        };
        let mut rest = lines(text, start);
        let Some(opening) = rest.next().filter(|line| line.text.trim_end() == "---") else {
            return none;
        };
        let not_closed = |reason: &str| Self {
            warnings: vec![Warning::new(
                Some(1),
                format!("front matter is taken for text: {reason}"),
            )],
            body: start,
            ..Self::default()
        };
        let mut first = true;
        let closing = loop {
            let Some(line) = rest.next() else {
                return not_closed("no line `---` or `...` closes it");
            };
            if std::mem::take(&mut first) && line.is_blank() {
                return not_closed("a blank line follows `---`, which makes it a rule");
            }
            if line.start - opening.next > MAX_BYTES {
                return not_closed("it is longer than 64 KiB");
            }
            if matches!(line.text.trim_end(), "---" | "...") {
                break line;
            }
        };
        let span = start..closing.end();
        let yaml = opening.next..closing.start;
        match parse(text, yaml.clone()) {
            Ok(fields) => {
                let (meta, warnings) = fields.into_meta(|line| file_line(text, &yaml, line));
                Self {
                    meta,
                    excluded: Some(span),
                    text: None,
                    body: closing.next,
                    warnings,
                }
            }
            Err(warning) => Self {
                text: Some(span),
                body: closing.next,
                warnings: vec![warning],
                ..Self::default()
            },
        }
    }
}

fn parse(text: &str, range: Range<usize>) -> Result<Fields, Warning> {
    let yaml = slice(text, range.clone());
    // Notes come from anywhere: the limits keep small texts that expand or nest without end from costing time or stack.
    let options: Options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            max_nodes: 20_000,
            max_aliases: 100,
            max_anchors: 100,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 10_000,
            max_replay_stack_depth: 8,
        },
        duplicate_keys: DuplicateKeyPolicy::FirstWins,
        with_snippet: false,
    };
    if yaml.trim().is_empty() {
        return Ok(Fields::default());
    }
    serde_saphyr::from_str_with_options(yaml, options).map_err(|err| {
        let line = err.location().map_or(1, |location| location.line());
        let message = err.to_string().replace(['\n', '\r'], " ");
        // The place is counted from the line below `---`; the warning has the line of the file.
        let message = message.split(" at line ").next().unwrap_or_default();
        Warning::new(
            Some(file_line(text, &range, line)),
            format!("front matter is taken for text: {message}"),
        )
    })
}

/// Returns the line of the file, as an editor counts, for a line of the YAML, which also ends at a lone `\r`.
fn file_line(text: &str, yaml: &Range<usize>, line: u64) -> u32 {
    let n_before = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let start = lines(text, yaml.start)
        .nth(n_before)
        .map_or(yaml.end, |line| line.start.min(yaml.end));
    let n_ends = slice(text, 0..start).matches('\n').count();
    u32::try_from(n_ends).map_or(u32::MAX, |n_ends| n_ends.saturating_add(1))
}

/// The keys this chunker knows, with the line of the YAML each value stands in.
#[derive(Debug, Default)]
struct Fields {
    title: Option<(u64, Value)>,
    kind: Option<(u64, Value)>,
    created: Option<(u64, Value)>,
    date: Option<(u64, Value)>,
    updated: Option<(u64, Value)>,
    modified: Option<(u64, Value)>,
    tags: Option<(u64, Value)>,
}

impl Fields {
    fn field(&mut self, key: &str) -> Option<&mut Option<(u64, Value)>> {
        Some(match key {
            "title" => &mut self.title,
            "type" => &mut self.kind,
            "created" => &mut self.created,
            "date" => &mut self.date,
            "updated" => &mut self.updated,
            "modified" => &mut self.modified,
            "tags" => &mut self.tags,
            _ => return None,
        })
    }

    fn into_meta(self, file_line: impl Fn(u64) -> u32) -> (DocumentMeta, Vec<Warning>) {
        let line =
            |field: Option<(u64, Value)>| field.map(|(line, value)| (file_line(line), value));
        let mut warnings = Vec::new();
        let mut meta = DocumentMeta::default();
        meta.title = read_text("title", line(self.title), &mut warnings);
        meta.kind = read_text("type", line(self.kind), &mut warnings);
        let created = read_time("created", line(self.created), &mut warnings);
        let date = read_time("date", line(self.date), &mut warnings);
        meta.created = created.or(date);
        let updated = read_time("updated", line(self.updated), &mut warnings);
        let modified = read_time("modified", line(self.modified), &mut warnings);
        meta.updated = updated.or(modified);
        meta.tags = read_tags(line(self.tags), &mut warnings);
        warnings.sort_by_key(|warning| warning.line);
        (meta, warnings)
    }
}

fn read_text(
    key: &str,
    field: Option<(u32, Value)>,
    warnings: &mut Vec<Warning>,
) -> Option<String> {
    let (line, value) = field?;
    match value {
        Value::Null => None,
        Value::Text(text) | Value::Other(text) => {
            Some(text.trim().to_owned()).filter(|text| !text.is_empty())
        }
        Value::List(_) | Value::Mapping => {
            warnings.push(Warning::new(
                Some(line),
                format!("front matter key `{key}` is left out: it is no text"),
            ));
            None
        }
    }
}

fn read_time(
    key: &str,
    field: Option<(u32, Value)>,
    warnings: &mut Vec<Warning>,
) -> Option<Timestamp> {
    let (line, value) = field?;
    let text = match &value {
        Value::Null => return None,
        Value::Text(text) | Value::Other(text) => text.as_str(),
        Value::List(_) | Value::Mapping => "",
    };
    let time = parse_timestamp(text.trim());
    if time.is_none() {
        let message =
            format!("front matter key `{key}` is left out: it is no date such as `2026-05-01`");
        warnings.push(Warning::new(Some(line), message));
    }
    time
}

fn read_tags(field: Option<(u32, Value)>, warnings: &mut Vec<Warning>) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    let mut add = |tag: &str| {
        let tag = tag.trim();
        if !tag.is_empty() && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    };
    let mut warn = |line, message: &str| {
        warnings.push(Warning::new(
            Some(line),
            format!("front matter key `tags` {message}"),
        ));
    };
    match field {
        None | Some((_, Value::Null)) => {}
        Some((_, Value::Text(text))) => text.split([',', '，']).for_each(add),
        Some((line, Value::List(items))) => {
            for item in items {
                match item {
                    Value::Null => {}
                    Value::Text(tag) | Value::Other(tag) => add(&tag),
                    Value::List(_) | Value::Mapping => {
                        warn(line, "holds something that is no text, which is left out");
                    }
                }
            }
        }
        Some((line, Value::Other(_) | Value::Mapping)) => {
            warn(line, "is left out: it is no list and no text with commas");
        }
    }
    tags
}

/// A value as far as it matters here.
#[derive(Debug)]
enum Value {
    Null,
    Text(String),
    /// A number or a truth value, as text.
    Other(String),
    List(Vec<Self>),
    Mapping,
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Other(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Mapping)
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of keys to values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<Value>()? {
            let field = match &key {
                Value::Text(key) => fields.field(key),
                _ => None,
            };
            if let Some(field) = field {
                let value: Spanned<Value> = map.next_value()?;
                *field = Some((value.referenced.line(), value.value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(fields)
    }
}
