//! What unrelated texts have in common in a space, so that it can be taken away.
//!
//! A model's vectors point to one side: under some models any two texts have a cosine of 0.75, and two texts in one language are
//! closer than the same words in two. What says nothing about a text's meaning, the mean of everyday texts in its script and its
//! role, is subtracted from every vector before vectors meet. Then unrelated texts have a cosine of about 0 under every model, and
//! a question finds its answer in another language (Mu and Viswanath 2018, "All-but-the-Top"; Libovický et al. 2020, "On the
//! Language Neutrality of Pre-trained Multilingual Representations").

use memory_api::{
    ContentHash, Embedder, EmbeddingSpace, Error, ErrorKind, Result, Role, Timestamp,
};
use serde::{Deserialize, Serialize};
use unicode_script::{Script as UnicodeScript, UnicodeScript as _};

use crate::embedding::{is_zero, key};
use crate::vectors::Vectors;

/// The everyday texts, a script, a role and a text a line.
const TEXTS: &str = include_str!("background/texts.txt");
/// The version of the texts and of what is done with them; a part of the name of the space of an index.
const VERSION: u32 = 1;

/// The scripts there are texts in.
const SCRIPTS: [&str; 6] = ["latin", "han", "kana", "hangul", "cyrillic", "arabic"];

/// The means of everyday texts in one space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Background {
    /// The [`VERSION`] it was measured with; 0 before there were several.
    #[serde(default)]
    version: u32,
    /// The embedder's space.
    pub(crate) space: EmbeddingSpace,
    /// The mean of questions in each script.
    questions: Vec<Vec<f32>>,
    /// The mean of statements in each script.
    statements: Vec<Vec<f32>>,
}

impl Background {
    /// Embeds the everyday texts, each once in a space.
    pub(crate) async fn measure(
        vectors: &Vectors,
        embedder: &dyn Embedder,
        now: Timestamp,
    ) -> Result<Self> {
        Ok(Self {
            version: VERSION,
            space: embedder.space().clone(),
            questions: means(vectors, embedder, Role::Query, now).await?,
            statements: means(vectors, embedder, Role::Document, now).await?,
        })
    }

    /// Returns whether it is what `measure` would find in this space.
    pub(crate) fn is_of(&self, space: &EmbeddingSpace) -> bool {
        self.version == VERSION && self.space == *space
    }

    /// Returns the space of vectors without their background.
    pub(crate) fn indexed_space(&self) -> EmbeddingSpace {
        let mut space = self.space.clone();
        space.id = format!("{} centred/{}", space.id, self.version);
        space.unit_norm = true;
        space
    }

    /// Takes the background of a text's script and role away from its vector; the result has length 1, or 0 where nothing is left.
    pub(crate) fn centred(&self, text: &str, role: Role, vector: &[f32]) -> Vec<f32> {
        let means = match role {
            Role::Query => &self.questions,
            Role::Document => &self.statements,
        };
        // A vector without direction has no background either.
        if is_zero(vector) {
            return vector.to_vec();
        }
        let mut rest = unit(vector.iter().map(|number| f64::from(*number)).collect());
        for (mean, share) in means.iter().zip(shares(text)) {
            for (number, mean) in rest.iter_mut().zip(mean) {
                *number -= share * f64::from(*mean);
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "vectors are kept as f32")]
        unit(rest).into_iter().map(|number| number as f32).collect()
    }

    /// Returns the names of the everyday texts in `vectors.db`, which are no cache of anything else.
    pub(crate) fn keys() -> impl Iterator<Item = (Role, ContentHash)> {
        [Role::Document, Role::Query]
            .into_iter()
            .flat_map(|role| texts(role).map(move |(_, text)| (role, key(text))))
    }
}

/// Brings the cosine of two vectors without their background to 0..1, on the scale of the words: 0.5 is a likely answer.
///
/// Right answers have 0.2 to 0.45 under a small model (a quarter of them less than 0.26), and unrelated texts hardly more than 0.2;
/// `1 − (1 − cosine)³` puts the border between them at 0.5, which, weighed with 0.7, is the default floor of 0.35.
pub(crate) fn relevance(cosine: f64) -> f64 {
    1.0 - (1.0 - cosine.clamp(0.0, 1.0)).powi(3)
}

/// Returns the everyday texts of a role, with the number of their script.
fn texts(role: Role) -> impl Iterator<Item = (usize, &'static str)> {
    let wanted = match role {
        Role::Query => "?",
        Role::Document => ".",
    };
    TEXTS.lines().filter_map(move |line| {
        let mut parts = line.splitn(3, ' ');
        let script = parts.next()?;
        let script = SCRIPTS.iter().position(|known| *known == script)?;
        (parts.next()? == wanted).then_some(())?;
        Some((script, parts.next()?))
    })
}

/// Returns the mean vector of the everyday texts of each script.
async fn means(
    vectors: &Vectors,
    embedder: &dyn Embedder,
    role: Role,
    now: Timestamp,
) -> Result<Vec<Vec<f32>>> {
    let space = embedder.space();
    let (scripts, texts): (Vec<usize>, Vec<&str>) = texts(role).unzip();
    let keys: Vec<ContentHash> = texts.iter().map(|text| key(text)).collect();
    let known = vectors.get(space, role, keys.clone()).await?;
    let rows = if let Some(known) = known.into_iter().collect::<Option<Vec<_>>>() {
        known.into_iter().map(|known| known.vector).collect()
    } else {
        let mut rows = Vec::with_capacity(texts.len());
        for texts in texts.chunks(embedder.limits().max_texts.max(1)) {
            let embedded = embedder.embed(texts, role).await?;
            rows.extend(embedded.rows().map(<[f32]>::to_vec));
        }
        let kept = keys.into_iter().zip(rows.iter().cloned()).collect();
        vectors.put(space, role, kept, now).await?;
        rows
    };
    let mut means = vec![vec![0.0_f64; space.dimensions]; SCRIPTS.len()];
    for (script, row) in scripts.iter().zip(&rows) {
        let row = unit(row.iter().map(|number| f64::from(*number)).collect());
        let mean = means.get_mut(*script).into_iter().flatten();
        mean.zip(row).for_each(|(sum, number)| *sum += number);
    }
    let n_texts = (rows.len() / SCRIPTS.len()).max(1) as f64;
    #[expect(clippy::cast_possible_truncation, reason = "vectors are kept as f32")]
    let mean = |sums: Vec<f64>| sums.into_iter().map(|sum| (sum / n_texts) as f32).collect();
    Ok(means.into_iter().map(mean).collect())
}

/// Returns how much of a text is in each script; together 1. What is in none of them, or has no letters, counts as a bit of each.
pub(crate) fn shares(text: &str) -> [f64; SCRIPTS.len()] {
    let mut counts = [0_u32; SCRIPTS.len()];
    let mut others = 0_u32;
    let [latin, han, kana, hangul, cyrillic, arabic] = &mut counts;
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        *match c.script() {
            UnicodeScript::Latin => &mut *latin,
            UnicodeScript::Han => &mut *han,
            // The mark of a long vowel is common to both kana.
            UnicodeScript::Hiragana | UnicodeScript::Katakana => &mut *kana,
            UnicodeScript::Common if c == 'ー' => &mut *kana,
            UnicodeScript::Hangul => &mut *hangul,
            UnicodeScript::Cyrillic => &mut *cyrillic,
            UnicodeScript::Arabic => &mut *arabic,
            _ => &mut others,
        } += 1;
    }
    // Among kana, Chinese characters are Japanese.
    if *kana * 4 >= *han {
        *kana += std::mem::take(han);
    }
    let total = f64::from(counts.iter().sum::<u32>() + others);
    let spread = if total > 0.0 {
        f64::from(others) / total
    } else {
        1.0
    } / SCRIPTS.len() as f64;
    counts.map(|count| {
        let own = if total > 0.0 {
            f64::from(count) / total
        } else {
            0.0
        };
        own + spread
    })
}

/// Brings a vector to length 1; one of zeros stays as it is.
fn unit(mut vector: Vec<f64>) -> Vec<f64> {
    let norm = vector
        .iter()
        .map(|number| number * number)
        .sum::<f64>()
        .sqrt();
    if norm > f64::EPSILON {
        for number in &mut vector {
            *number /= norm;
        }
    }
    vector
}

/// Writes a background for the store.
pub(crate) fn to_json(background: &Background) -> Result<String> {
    serde_json::to_string(background).map_err(|err| {
        let message = format!("cannot write the background: {err}");
        Error::new(ErrorKind::Internal, message)
    })
}

/// Reads a background from the store.
pub(crate) fn from_json(json: &str) -> Result<Background> {
    serde_json::from_str(json).map_err(|err| {
        let message = format!("the store's background is damaged: {err}");
        Error::new(ErrorKind::Corrupt, message)
            .with_hint("run `memory index --force` to build the index anew from your files")
    })
}
