//! What the rows of a call are.

use memory_api::{Embedder, Role};

use crate::failure::ensure;
use crate::{Outcome, Subject};

/// How far two rows of one text may be apart, number by number.
const TOLERANCE: f32 = 1e-4;
/// How far a unit vector's length may be from 1.
const LENGTH_TOLERANCE: f64 = 1e-3;

pub(super) const ROLES: [Role; 2] = [Role::Query, Role::Document];

/// Texts of several lengths, in no order of it, about different things.
pub(super) const TEXTS: [&str; 6] = [
    "The ferry leaves at six from the northern pier.",
    "Rust",
    "Bake the bread for forty minutes, then let it rest under a cloth.",
    "港湾工事は来月に始まる",
    "My sister's birthday is in March",
    "error: connection refused on port 5432",
];

/// One vector per text.
pub(super) type Rows = Vec<Vec<f32>>;

/// Embeds texts in as many calls as the limits ask for; checks what holds for the answer of any call.
pub(super) async fn embed(embedder: &dyn Embedder, texts: &[&str], role: Role) -> Outcome<Rows> {
    let mut all = Vec::new();
    for texts in texts.chunks(embedder.limits().max_texts.max(1)) {
        all.extend(embed_at_once(embedder, texts, role).await?);
    }
    Ok(all)
}

pub(super) async fn embed_at_once(
    embedder: &dyn Embedder,
    texts: &[&str],
    role: Role,
) -> Outcome<Rows> {
    let matrix = embedder.embed(texts, role).await?;
    let dimensions = embedder.space().dimensions;
    ensure!(
        matrix.dimensions() == dimensions,
        "rows of {} numbers in a space of {dimensions}",
        matrix.dimensions()
    );
    ensure!(
        matrix.rows().len() == texts.len(),
        "{} rows for {} texts",
        matrix.rows().len(),
        texts.len()
    );
    let rows: Rows = matrix.rows().map(<[f32]>::to_vec).collect();
    for (text, row) in texts.iter().zip(&rows) {
        let length = length_of(row);
        ensure!(
            length.is_finite(),
            "the row of {} is not finite",
            quote(text)
        );
        ensure!(
            length > 0.0,
            "the row of {} has length 0, and no index takes it",
            quote(text)
        );
        ensure!(
            !embedder.space().unit_norm || (length - 1.0).abs() <= LENGTH_TOLERANCE,
            "the row of {} has length {length}, but the space is one of unit vectors",
            quote(text)
        );
    }
    Ok(rows)
}

/// Embeds each text in a call of its own.
async fn embed_singly(embedder: &dyn Embedder, texts: &[&str], role: Role) -> Outcome<Rows> {
    let mut all = Vec::new();
    for text in texts {
        all.extend(embed_at_once(embedder, &[text], role).await?);
    }
    Ok(all)
}

/// Checks that rows of the same texts are the same, as far as an embedder promises it.
pub(super) fn check_same(texts: &[&str], rows: &Rows, others: &Rows, what: &str) -> Outcome {
    ensure!(
        rows.len() == others.len(),
        "{what}: {} rows and {}",
        rows.len(),
        others.len()
    );
    for ((text, row), other) in texts.iter().zip(rows).zip(others) {
        let apart = distance(row, other);
        ensure!(
            apart <= TOLERANCE,
            "{what}: two rows of {} are {apart} apart",
            quote(text)
        );
    }
    Ok(())
}

/// Returns the largest difference between two numbers at one place.
fn distance(row: &[f32], other: &[f32]) -> f32 {
    row.iter()
        .zip(other)
        .map(|(number, other)| (number - other).abs())
        .fold(0.0, f32::max)
}

fn length_of(row: &[f32]) -> f64 {
    dot(row, row).sqrt()
}

fn dot(row: &[f32], other: &[f32]) -> f64 {
    row.iter()
        .zip(other)
        .map(|(number, other)| f64::from(*number) * f64::from(*other))
        .sum()
}

/// Shows the beginning of a text on one line.
pub(super) fn quote(text: &str) -> String {
    let shown: String = text.chars().take(40).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{rest}")
}

pub(super) fn one_row_per_text(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        for role in ROLES {
            let most = embedder.limits().max_texts.min(TEXTS.len());
            for n_texts in [1, 2, most] {
                let texts = TEXTS.get(..n_texts.min(most)).unwrap_or_default();
                embed_at_once(&*embedder, texts, role).await?;
            }
            // The same text twice has two rows.
            embed(&*embedder, &["pier", "pier", "wharf"], role).await?;
        }
        Ok(())
    })
}

pub(super) fn rows_are_in_order(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        let rows = embed(&*embedder, &TEXTS, Role::Document).await?;
        let reversed: Vec<_> = TEXTS.into_iter().rev().collect();
        let mut again = embed(&*embedder, &reversed, Role::Document).await?;
        again.reverse();
        check_same(&TEXTS, &rows, &again, "the same texts in reverse order")
    })
}

pub(super) fn no_texts_have_no_rows(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        for role in ROLES {
            embed_at_once(&*embedder, &[], role)
                .await
                .map_err(|failure| failure.within("a call without texts"))?;
        }
        Ok(())
    })
}

pub(super) fn rows_are_finite_and_have_a_direction(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        for role in ROLES {
            embed(&*embedder, &TEXTS, role).await?;
        }
        Ok(())
    })
}

pub(super) fn batch_equals_singles(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        for role in ROLES {
            let together = embed(&*embedder, &TEXTS, role).await?;
            let singly = embed_singly(&*embedder, &TEXTS, role).await?;
            check_same(&TEXTS, &together, &singly, "in one call and in one each")?;
        }
        Ok(())
    })
}

pub(super) fn same_text_has_the_same_bits(subject: &Subject) -> Outcome {
    let bits = |rows: &Rows| -> Vec<Vec<u32>> {
        rows.iter()
            .map(|row| row.iter().map(|number| number.to_bits()).collect())
            .collect()
    };
    subject.run(async {
        let (here, there) = (subject.home()?, subject.home()?);
        let (one, other) = (here.open_embedder().await?, there.open_embedder().await?);
        for role in ROLES {
            let first = bits(&embed(&*one, &TEXTS, role).await?);
            for embedder in [&one, &other] {
                let again = bits(&embed(&**embedder, &TEXTS, role).await?);
                ensure!(
                    first == again,
                    "the same texts have other bits when embedded again; do not declare `deterministic`"
                );
            }
        }
        Ok(())
    })
}

pub(super) fn text_is_nearest_to_itself(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        for role in ROLES {
            let rows = embed(&*embedder, &TEXTS, role).await?;
            let again = embed(&*embedder, &TEXTS, role).await?;
            check_same(&TEXTS, &rows, &again, "embedded twice")?;
            for (n, row) in rows.iter().enumerate() {
                for (m, other) in rows.iter().enumerate().filter(|(m, _)| *m != n) {
                    // Rows that differ by no more than an embedder may vary cannot be told apart.
                    ensure!(
                        distance(row, other) > TOLERANCE,
                        "{} and {} have the same row",
                        quote(TEXTS.get(n).unwrap_or(&"")),
                        quote(TEXTS.get(m).unwrap_or(&""))
                    );
                }
            }
        }
        Ok(())
    })
}
