//! A test double: an embedder whose vectors, failures and calls a test decides by its configuration.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    EmbedLimits, Embedder, EmbeddingSpace, Error, ErrorKind, Factory, Fingerprint, Identity,
    Matrix, OpenContext, Opening, Plugin, Result, Role, parse_config,
};

/// What the double does.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Names the model; another name gives other vectors.
    model: String,
    /// Numbers per vector.
    dimensions: usize,
    /// How near a text that holds the needle is to a topic: needle to topic and share, 0 to 1. A needle that begins with `=` is
    /// the whole text.
    near: BTreeMap<String, (String, f32)>,
    /// How much every vector points to one side, and as much again to one side for texts in ASCII and another one for others.
    lean: f32,
    /// Texts that hold one of these give a vector of zeros.
    zero: Vec<String>,
    /// Texts that hold one of these are refused.
    refuse: Vec<String>,
    /// While this file exists, nothing is embedded.
    down: Option<PathBuf>,
    /// While this file exists, the double cannot even be opened.
    missing: Option<PathBuf>,
    /// Every text that is embedded is written here, one a line.
    log: Option<PathBuf>,
    /// How many texts each call has is written here, one a line.
    calls: Option<PathBuf>,
    /// Every question that is embedded is written here, one a line.
    questions: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: "a".to_owned(),
            dimensions: 384,
            near: BTreeMap::new(),
            lean: 0.0,
            zero: Vec::new(),
            refuse: Vec::new(),
            down: None,
            missing: None,
            log: None,
            calls: None,
            questions: None,
        }
    }
}

#[derive(Debug)]
struct Fake {
    config: Config,
    space: EmbeddingSpace,
}

pub(crate) static PLUGIN: Plugin = Plugin::new::<Config>(
    "fake",
    "1.0.0",
    "a test double: embeds as told",
    Factory::Embedder(open),
);

fn open(context: OpenContext<'_>) -> Opening<'_, dyn Embedder> {
    Box::pin(async move {
        let config: Config = parse_config(context.config)?;
        if config.missing.as_ref().is_some_and(|file| file.exists()) {
            return Err(
                Error::new(ErrorKind::Unavailable, "the model is not here").with_hint("fetch it")
            );
        }
        let mut space = EmbeddingSpace::new(format!("fake/{}", config.model), config.dimensions);
        space.unit_norm = false;
        Ok(Arc::new(Fake { config, space }) as Arc<dyn Embedder>)
    })
}

impl Identity for Fake {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.space.id.clone())
    }
}

#[async_trait]
impl Embedder for Fake {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn limits(&self) -> EmbedLimits {
        EmbedLimits::new(7, 10_000)
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Matrix> {
        let append = |file: &PathBuf| {
            let mut options = OpenOptions::new();
            options.create(true).append(true).open(file).unwrap()
        };
        let is_question = role == Role::Query;
        let questions = self.config.questions.as_ref().filter(|_| is_question);
        for log in self.config.log.iter().chain(questions) {
            let mut log = append(log);
            for text in texts {
                writeln!(log, "{}", text.replace('\n', " ")).unwrap();
            }
        }
        if let Some(mut calls) = self.config.calls.as_ref().map(append) {
            writeln!(calls, "{}", texts.len()).unwrap();
        }
        if self.config.down.as_ref().is_some_and(|file| file.exists()) {
            return Err(Error::new(ErrorKind::Unavailable, "the model is down"));
        }
        let holds =
            |list: &[String], text: &str| list.iter().any(|needle| text.contains(needle.as_str()));
        if texts.iter().any(|text| holds(&self.config.refuse, text)) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "the text is not to its liking",
            ));
        }
        let row = |text: &&str| {
            if holds(&self.config.zero, text) {
                return vec![0.0; self.config.dimensions];
            }
            let mut row = self.direction(text);
            for (needle, (topic, share)) in &self.config.near {
                let is_near = match needle.strip_prefix('=') {
                    Some(whole) => *text == whole,
                    None => text.contains(needle.as_str()),
                };
                if is_near {
                    let topic = self.direction(topic);
                    for (number, topic) in row.iter_mut().zip(topic) {
                        *number = *number * (1.0 - share) + topic * share;
                    }
                }
            }
            let script = if text.is_ascii() { "ascii" } else { "other" };
            for side in ["all", script] {
                for (number, side) in row.iter_mut().zip(self.direction(side)) {
                    *number += self.config.lean * side;
                }
            }
            row
        };
        Matrix::new(self.config.dimensions, texts.iter().flat_map(row).collect())
    }
}

impl Fake {
    /// A vector of length 1 that depends on the model and the text alone; two of them are nearly at right angles.
    fn direction(&self, text: &str) -> Vec<f32> {
        let mut state = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.config.model.bytes().chain([0]).chain(text.bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut next = || {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
        };
        let row: Vec<f32> = (0..self.config.dimensions).map(|_| next()).collect();
        let norm = row.iter().map(|number| number * number).sum::<f32>().sqrt();
        row.into_iter().map(|number| number / norm).collect()
    }
}

/// A test double: an index by meaning whose extension is missing.
pub(crate) static NO_VECTOR: Plugin = Plugin::new::<Nothing>(
    "no-vector",
    "1.0.0",
    "a test double: cannot be opened",
    Factory::Vector(|_| {
        Box::pin(async {
            Err(
                Error::new(ErrorKind::Unavailable, "the extension is missing")
                    .with_hint("install it"),
            )
        })
    }),
);

/// No settings.
#[derive(Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

/// Returns the texts a log holds, and empties it.
pub(crate) fn taken(log: &std::path::Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap_or_default();
    fs::write(log, "").unwrap();
    text.lines().map(str::to_owned).collect()
}
