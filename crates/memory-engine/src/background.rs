//! How close unrelated texts are in a space, so that a similarity can be told from noise.
//!
//! A cosine says little by itself: under one model any two texts have 0.75, under another 0.05. What unrelated texts have is
//! measured: some questions that no memory is about, against some of its entries.

use memory_api::{Embedder, EmbeddingSpace, Error, ErrorKind, Matrix, Result, Role, Timestamp};
use serde::{Deserialize, Serialize};

use crate::embedding::key;
use crate::store::Store;
use crate::vectors::Vectors;

/// The name under which the store keeps it.
const META: &str = "background";
/// Entries that are compared with every question.
const N_SAMPLE: usize = 256;
/// Everyday questions about nothing in particular, in several languages. Changing one changes scores.
const QUESTIONS: &[&str] = &[
    "When does the museum open on Sundays?",
    "How long do I boil an egg?",
    "Which river flows through the old town?",
    "What is the fare from the airport to the centre?",
    "Who won the chess tournament last spring?",
    "How do I get a coffee stain out of a shirt?",
    "今天晚饭吃什么？",
    "去火车站怎么走？",
    "这本书是谁写的？",
    "明天会下雨吗？",
    "電車は何時に出ますか？",
    "¿Cuánto cuesta una entrada de cine?",
    "Wie wird das Wetter am Wochenende?",
    "Quelle est la hauteur de cette montagne ?",
    "Сколько лет этому дереву?",
    "كم عدد اللاعبين في الفريق؟",
];

/// What unrelated texts have, in one space and one generation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Background {
    /// The median cosine.
    center: f64,
    /// How many entries there were when it was measured.
    n_entries: u64,
}

/// A background and the space it was measured in.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    space: EmbeddingSpace,
    background: Background,
}

/// Returns what the store keeps for this space.
pub(crate) async fn stored(store: &Store, space: &EmbeddingSpace) -> Result<Option<Background>> {
    let kept = store.meta(META.to_owned()).await?;
    // What cannot be read is measured again.
    let kept = kept.and_then(|json| serde_json::from_str::<Kept>(&json).ok());
    Ok(kept
        .filter(|kept| kept.space == *space)
        .map(|kept| kept.background))
}

impl Background {
    /// Compares the questions with a sample of the entries.
    pub(crate) async fn measure(
        store: &Store,
        vectors: &Vectors,
        embedder: &dyn Embedder,
        n_entries: u64,
        now: Timestamp,
    ) -> Result<Self> {
        let space = embedder.space();
        let keys = store.sample_vector_keys(N_SAMPLE).await?;
        let entries = vectors.get(space, Role::Document, keys).await?;
        let questions = questions(vectors, embedder, now).await?;
        let mut cosines: Vec<f64> = entries
            .iter()
            .flatten()
            .flat_map(|entry| questions.iter().filter_map(|asked| cosine(asked, entry)))
            .collect();
        cosines.sort_unstable_by(f64::total_cmp);
        let center = cosines.get(cosines.len() / 2).copied().unwrap_or(0.0);
        Ok(Self { center, n_entries })
    }

    /// Keeps it in the store.
    pub(crate) async fn store(self, store: &Store, space: &EmbeddingSpace) -> Result<()> {
        let kept = Kept {
            space: space.clone(),
            background: self,
        };
        let json = serde_json::to_string(&kept).map_err(|err| {
            Error::new(
                ErrorKind::Internal,
                format!("cannot write the background: {err}"),
            )
        })?;
        store.set_meta(META.to_owned(), json).await
    }

    /// Returns whether the memory is another one by now: four times as large, or a quarter.
    pub(crate) fn is_outgrown(self, n_entries: u64) -> bool {
        n_entries > self.n_entries.saturating_mul(4) || n_entries < self.n_entries / 4
    }

    /// Brings a cosine to 0..1: 0 for what unrelated texts have, 1 for what a text has with itself.
    pub(crate) fn relevance(self, cosine: f64) -> f64 {
        let share = ((cosine - self.center) / (1.0 - self.center).max(0.05)).clamp(0.0, 1.0);
        1.0 - (1.0 - share).powi(2)
    }
}

/// Returns the questions' vectors; they are embedded once in a space.
async fn questions(
    vectors: &Vectors,
    embedder: &dyn Embedder,
    now: Timestamp,
) -> Result<Vec<Vec<f32>>> {
    let space = embedder.space();
    let keys: Vec<_> = QUESTIONS.iter().map(|question| key(question)).collect();
    let known = vectors.get(space, Role::Query, keys.clone()).await?;
    if let Some(known) = known.into_iter().collect::<Option<Vec<_>>>() {
        return Ok(known);
    }
    let mut rows = Vec::with_capacity(QUESTIONS.len());
    for texts in QUESTIONS.chunks(embedder.limits().max_texts.max(1)) {
        let embedded: Matrix = embedder.embed(texts, Role::Query).await?;
        rows.extend(embedded.rows().map(<[f32]>::to_vec));
    }
    let kept = keys.into_iter().zip(rows.iter().cloned()).collect();
    vectors.put(space, Role::Query, kept, now).await?;
    Ok(rows)
}

/// Returns the cosine of two vectors of one space; `None` where one has no direction.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    let norms = (dot(a, a) * dot(b, b)).sqrt();
    (norms > 0.0).then(|| dot(a, b) / norms)
}
