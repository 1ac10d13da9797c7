//! Vectors that are none, and the space an index is bound to.

use memory_api::{Batch, EmbeddingSpace, Error, ErrorKind, Seq, VectorIndex, VectorQuery};

use super::library::{DIMENSIONS, Library, STORE, TOLERANCE, axis, feed, put, roll_vector, space};
use crate::dice::Dice;
use crate::failure::ensure;
use crate::index::entry_id;
use crate::{Outcome, Subject};

/// What an embedder never gives: each with its name.
fn malformed() -> Vec<(&'static str, Vec<f32>)> {
    let with = |number: f32| {
        let mut vector = axis(DIMENSIONS, 0);
        if let Some(last) = vector.last_mut() {
            *last = number;
        }
        vector
    };
    vec![
        ("a vector without numbers", Vec::new()),
        ("a vector of fewer dimensions", axis(DIMENSIONS - 1, 0)),
        ("a vector of more dimensions", axis(DIMENSIONS + 1, 0)),
        ("a vector with NaN", with(f32::NAN)),
        ("a vector with infinity", with(f32::INFINITY)),
        ("a vector with minus infinity", with(f32::NEG_INFINITY)),
        ("a vector of length 0", vec![0.0; DIMENSIONS]),
        ("a vector of length −0", vec![-0.0; DIMENSIONS]),
    ]
}

/// Checks that a call was refused as it has to be.
fn check_refused<T>(what: &str, answer: &Result<T, Error>) -> Outcome {
    let kind = answer.as_ref().err().map(Error::kind);
    ensure!(
        kind == Some(ErrorKind::InvalidInput),
        "{what} gives {} instead of kind `invalid_input`",
        kind.map_or("an answer", ErrorKind::as_str)
    );
    Ok(())
}

pub(super) fn malformed_query_is_refused(subject: &Subject) -> Outcome {
    subject.run(async {
        let library = Library::open(subject, 20).await?;
        let ids = library.ids();
        for (name, vector) in malformed() {
            let query = VectorQuery::new(&vector, 3);
            check_refused(
                &format!("a search for {name}"),
                &library.index.search(&query).await,
            )?;
            check_refused(
                &format!("the scores for {name}"),
                &library.index.score(&query, &ids).await,
            )?;
            let filtered = query.with_allowed(&[]);
            check_refused(
                &format!("a search for {name} where nothing is allowed"),
                &library.index.search(&filtered).await,
            )?;
        }
        Ok(())
    })
}

pub(super) fn malformed_vector_is_refused(subject: &Subject) -> Outcome {
    let max_ops = subject.plugin().limits.max_ops.unwrap_or(usize::MAX);
    subject.run(async {
        let library = Library::open(subject, 20).await?;
        let index = &*library.index;
        let before = index.watermark().await?;
        let through = before.map_or(0, |watermark| watermark.seq.0);
        let [stranger, known, last] = [entry_id(500), entry_id(0), entry_id(501)];
        let good = || axis(DIMENSIONS, 3);
        for (name, vector) in malformed() {
            // In the middle, so that an index which applies one change after the other has begun.
            let mut ops = vec![put(stranger, good()), put(known, vector), put(last, good())];
            if max_ops < ops.len() {
                ops = ops.into_iter().skip(1).take(1).collect();
            }
            let ops = (through + 1..).map(Seq).zip(ops).collect();
            let applied = index.apply(&Batch::new(STORE, ops)).await;
            check_refused(&format!("a batch with {name}"), &applied)?;
            index.flush().await?;
            let now = index.watermark().await?;
            ensure!(
                now == before,
                "a refused batch with {name} moves the watermark from {before:?} to {now:?}"
            );
            check_content(&library)
                .await
                .map_err(|failure| failure.within(format!("after a refused batch with {name}")))?;
        }
        // Nothing is left in the way of what comes next.
        let batch = Batch::new(STORE, vec![(Seq(through + 1), put(stranger, good()))]);
        index.apply(&batch).await?;
        index.flush().await?;
        let scores = index
            .score(&VectorQuery::new(&good(), 1), &[stranger])
            .await?;
        ensure!(
            scores.first().copied().flatten().is_some(),
            "after refused batches a good one has no effect"
        );
        Ok(())
    })
}

/// Checks that the index holds the library and nothing else.
async fn check_content(library: &Library<'_>) -> Outcome {
    let question = roll_vector(&mut Dice(3));
    let nearest = library.nearest(&question);
    let n_entries = library.index.stats().await?.n_entries;
    ensure!(
        n_entries == nearest.len() as u64,
        "stats count {n_entries} entries instead of {}",
        nearest.len()
    );
    for k in library.cuts(&[]) {
        let hits = library.search(&question, k).await?;
        library.check(&hits, &nearest, k)?;
    }
    Ok(())
}

pub(super) fn space_is_the_one_it_was_opened_with(subject: &Subject) -> Outcome {
    let mut loose = EmbeddingSpace::new("conformance/лодка 港", DIMENSIONS);
    loose.unit_norm = false;
    subject.run(async {
        for space in [space(), loose] {
            let home = subject.home()?;
            for when in ["opened", "opened once more"] {
                let index = home.open_vector(&space).await?;
                ensure!(
                    *index.space() == space,
                    "an index {when} with {space:?} has {:?}",
                    index.space()
                );
                let ops = vec![put(entry_id(0), axis(DIMENSIONS, 0))];
                feed(&*index, subject.plugin().limits, ops).await?;
                ensure!(
                    *index.space() == space,
                    "an index of {space:?} has {:?} after a batch",
                    index.space()
                );
                index.close().await?;
            }
        }
        Ok(())
    })
}

pub(super) fn another_space_is_refused(subject: &Subject) -> Outcome {
    let own = space();
    let others = [
        EmbeddingSpace::new("conformance/library/2", own.dimensions),
        EmbeddingSpace::new(own.id.clone(), own.dimensions - 1),
        EmbeddingSpace::new("another", own.dimensions / 2),
    ];
    subject.run(async {
        let home = subject.home()?;
        let index = home.open_vector(&own).await?;
        let ops = (0..9)
            .map(|n: u16| put(entry_id(n), axis(DIMENSIONS, usize::from(n))))
            .collect();
        feed(&*index, subject.plugin().limits, ops).await?;
        let watermark = index.watermark().await?;
        index.close().await?;
        drop(index);
        for other in others {
            let opened = home.try_open_vector(&other).await?;
            check_refused(
                &format!("opening an index of {own:?} with {other:?}"),
                &opened,
            )?;
            drop(opened);
            let index = home.open_vector(&own).await?;
            ensure!(
                index.watermark().await? == watermark,
                "opening it with another space changes the watermark"
            );
            check_axes(&*index)
                .await
                .map_err(|failure| failure.within("opened with another space in between"))?;
            index.close().await?;
        }
        Ok(())
    })
}

async fn check_axes(index: &dyn VectorIndex) -> Outcome {
    for n in 0..9_u16 {
        let vector = axis(DIMENSIONS, usize::from(n));
        let hits = index.search(&VectorQuery::new(&vector, 1)).await?;
        ensure!(
            matches!(*hits, [hit] if hit.id == entry_id(n)
                && (f64::from(hit.score) - 1.0).abs() <= TOLERANCE),
            "the vector of entry {} finds {hits:?}",
            entry_id(n)
        );
    }
    Ok(())
}
