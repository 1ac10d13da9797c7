//! Parameters of a tool: one table makes their schema and reads arguments by it.

use std::collections::BTreeMap;

use memory::config::nearest;
use memory::parse_time;
use memory_api::Timestamp;
use serde_json::{Map, Value, json};

/// One parameter.
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) is_required: bool,
    /// For the model.
    pub(crate) description: &'static str,
}

/// What a parameter takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A text that is not blank.
    Text,
    /// One text or several.
    Texts,
    /// A whole number within bounds.
    Whole { min: i64, max: i64 },
    /// A number from 0 to 1.
    Share,
    /// A day or a time with its zone.
    Time,
}

/// A value that was given and is as it should be.
#[derive(Debug, Clone, PartialEq)]
enum Given {
    Text(String),
    Texts(Vec<String>),
    Whole(i64),
    Share(f64),
    Time(Timestamp),
}

/// The arguments of a call, checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Arguments(BTreeMap<&'static str, Given>);

impl Param {
    pub(crate) const fn new(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self {
            name,
            kind,
            is_required: false,
            description,
        }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string", "minLength": 1}),
            Kind::Texts => json!({"anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}},
            ]}),
            Kind::Whole { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Kind::Share => json!({"type": "number", "minimum": 0, "maximum": 1}),
            Kind::Time => json!({"type": "string"}),
        };
        if let Value::Object(schema) = &mut schema {
            schema.insert("description".to_owned(), self.description.into());
        }
        schema
    }

    /// Reads a value; `None` counts as left out.
    fn read(&self, value: &Value) -> Result<Option<Given>, String> {
        match value {
            Value::Null => return Ok(None),
            Value::String(text) if text.is_empty() && !self.is_required => return Ok(None),
            _ => {}
        }
        let given = match self.kind {
            Kind::Text => text(value).map(Given::Text),
            Kind::Texts => texts(value).map(Given::Texts),
            Kind::Whole { min, max } => whole(value)
                .filter(|number| (min..=max).contains(number))
                .map(Given::Whole),
            Kind::Share => number(value)
                .filter(|number| (0.0..=1.0).contains(number))
                .map(Given::Share),
            Kind::Time => value
                .as_str()
                .and_then(|text| parse_time(text.trim()).ok())
                .map(Given::Time),
        };
        given.map(Some).ok_or_else(|| {
            format!(
                "`{}` is {}; it takes {}",
                self.name,
                excerpt(value),
                self.kind.in_words()
            )
        })
    }
}

impl Kind {
    fn in_words(self) -> String {
        match self {
            Self::Text => "a text that is not blank".to_owned(),
            Self::Texts => "a text or a list of texts, none of them blank".to_owned(),
            Self::Whole { min, max: i64::MAX } => format!("a whole number, {min} or more"),
            Self::Whole { min, max } => format!("a whole number, {min} to {max}"),
            Self::Share => "a number, 0 to 1".to_owned(),
            Self::Time => {
                "a day (2026-05-18) or a time with its zone (2026-05-18T09:30:00Z)".to_owned()
            }
        }
    }
}

/// Makes the schema of the arguments that a tool takes.
pub(crate) fn schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<String, Value> = params
        .iter()
        .map(|param| (param.name.to_owned(), param.schema()))
        .collect();
    let required = params.iter().filter(|param| param.is_required);
    let required: Vec<&str> = required.map(|param| param.name).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

impl Arguments {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with them, in the words the model gets.
    pub(crate) fn read(
        params: &'static [Param],
        given: &Map<String, Value>,
    ) -> Result<Self, String> {
        let mut arguments = BTreeMap::new();
        let mut wrong = Vec::new();
        for param in params {
            match given.get(param.name).map(|value| param.read(value)) {
                Some(Ok(Some(value))) => {
                    arguments.insert(param.name, value);
                }
                Some(Err(message)) => wrong.push(message),
                Some(Ok(None)) | None if param.is_required => wrong.push(format!(
                    "`{}` is missing; it takes {}",
                    param.name,
                    param.kind.in_words()
                )),
                Some(Ok(None)) | None => {}
            }
        }
        let names = || params.iter().map(|param| param.name);
        for name in given
            .keys()
            .filter(|name| names().all(|known| known != *name))
        {
            let instead = if let Some(near) = nearest(name, names()) {
                format!("did you mean `{near}`?")
            } else if params.is_empty() {
                "this tool takes none".to_owned()
            } else {
                let known: Vec<String> = names().map(|name| format!("`{name}`")).collect();
                format!("there are {}", known.join(", "))
            };
            wrong.push(format!(
                "there is no parameter `{}`; {instead}",
                shortened(name)
            ));
        }
        if wrong.is_empty() {
            Ok(Self(arguments))
        } else {
            Err(wrong.join("\n"))
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Given::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(Given::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn whole(&self, name: &str) -> Option<i64> {
        match self.0.get(name) {
            Some(Given::Whole(number)) => Some(*number),
            _ => None,
        }
    }

    /// A whole number whose lowest bound is 0.
    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        self.whole(name)
            .and_then(|number| usize::try_from(number).ok())
    }

    pub(crate) fn share(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(Given::Share(number)) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        match self.0.get(name) {
            Some(Given::Time(time)) => Some(*time),
            _ => None,
        }
    }
}

fn text(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => items.iter().map(text).collect(),
        value => text(value).map(|text| vec![text]),
    }
}

/// A number, or a text that is one.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok()?,
        value => value.as_f64()?,
    };
    number.is_finite().then_some(number)
}

/// A whole number, as a text or with a zero behind the point, too.
fn whole(value: &Value) -> Option<i64> {
    /// Up to here a float has every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let exact = match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_i64(),
    };
    exact.or_else(|| {
        let number = number(value)?;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole, and within what both types can hold"
        )]
        (number.fract() == 0.0 && number.abs() < EXACT).then_some(number as i64)
    })
}

/// What was given, in JSON, cut where it is long.
fn excerpt(value: &Value) -> String {
    format!("`{}`", shortened(&value.to_string()))
}

fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    if text.chars().nth(MAX_CHARS).is_none() {
        return text.to_owned();
    }
    text.chars().take(MAX_CHARS).chain(['…']).collect()
}
