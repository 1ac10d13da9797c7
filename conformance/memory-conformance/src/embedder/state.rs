//! What one call leaves for the next, and one embedder for another.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::thread;

use futures::future::join_all;
use memory_api::{Embedder, Role};

use super::row::{ROLES, Rows, TEXTS, check_same, embed};
use crate::failure::ensure;
use crate::{Failure, Outcome, Subject};

pub(super) fn space_is_told_at_open(subject: &Subject) -> Outcome {
    subject.run(async {
        let (here, there) = (subject.home()?, subject.home()?);
        let embedder = here.open_embedder().await?;
        let (space, limits) = (embedder.space().clone(), embedder.limits());
        ensure!(!space.id.trim().is_empty(), "the space has no id");
        ensure!(space.dimensions >= 1, "the space has no dimensions");
        ensure!(
            limits.max_texts >= 1 && limits.max_tokens >= 1,
            "the limits {limits:?} allow no text"
        );
        embed(&*embedder, &["pier"], Role::Document).await?;
        let (again, elsewhere) = (here.open_embedder().await?, there.open_embedder().await?);
        let others = [
            ("after a call", &embedder),
            ("opened again", &again),
            ("opened elsewhere", &elsewhere),
        ];
        for (when, embedder) in others {
            ensure!(
                *embedder.space() == space && embedder.limits() == limits,
                "{space:?}, {limits:?} is {:?}, {:?} {when}",
                embedder.space(),
                embedder.limits()
            );
        }
        Ok(())
    })
}

pub(super) fn two_opens_agree(subject: &Subject) -> Outcome {
    subject.run(async {
        let (here, there) = (subject.home()?, subject.home()?);
        let (one, other) = (here.open_embedder().await?, there.open_embedder().await?);
        for role in ROLES {
            let rows = embed(&*one, &TEXTS, role).await?;
            let others = embed(&*other, &TEXTS, role).await?;
            check_same(&TEXTS, &rows, &others, "embedded by two openings")?;
        }
        Ok(())
    })
}

pub(super) fn roles_do_not_mix(subject: &Subject) -> Outcome {
    subject.run(async {
        let (here, there) = (subject.home()?, subject.home()?);
        let (one, other) = (here.open_embedder().await?, there.open_embedder().await?);
        let queries = embed(&*one, &TEXTS, Role::Query).await?;
        let documents = embed(&*one, &TEXTS, Role::Document).await?;
        let documents_first = embed(&*other, &TEXTS, Role::Document).await?;
        let queries_last = embed(&*other, &TEXTS, Role::Query).await?;
        check_same(
            &TEXTS,
            &queries,
            &queries_last,
            "as a query, before and after it was a document",
        )?;
        check_same(
            &TEXTS,
            &documents,
            &documents_first,
            "as a document, after and before it was a query",
        )
    })
}

/// Different texts for each of some calls side by side.
fn shares() -> impl Iterator<Item = &'static [&'static str]> {
    TEXTS.chunks(2)
}

async fn check_share(embedder: &dyn Embedder, share: &[&str], alone: &Rows) -> Outcome {
    let rows = embed(embedder, share, Role::Document).await?;
    check_same(share, alone, &rows, "alone and beside other calls")
}

pub(super) fn concurrent_calls_agree(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let (embedder, alone) = subject.run(async {
        let embedder = home.open_embedder().await?;
        let mut alone = Vec::new();
        for share in shares() {
            alone.push(embed(&*embedder, share, Role::Document).await?);
        }
        // Side by side on one thread: each call goes on where another one waits.
        let calls = shares()
            .zip(&alone)
            .map(|(share, alone)| check_share(&*embedder, share, alone));
        join_all(calls).await.into_iter().collect::<Outcome>()?;
        Ok((embedder, alone))
    })?;
    thread::scope(|scope| {
        let threads: Vec<_> = shares()
            .zip(&alone)
            .map(|(share, alone)| {
                let embedder = Arc::clone(&embedder);
                scope.spawn(move || subject.run(check_share(&*embedder, share, alone)))
            })
            .collect();
        threads
            .into_iter()
            .try_for_each(|thread| match thread.join() {
                Ok(outcome) => outcome,
                Err(_) => Err(Failure::new("the plugin panicked in a call beside others")),
            })
    })
}

pub(super) fn dropped_call_breaks_nothing(subject: &Subject) -> Outcome {
    subject.run(async {
        let home = subject.home()?;
        let embedder = home.open_embedder().await?;
        let expected = embed(&*embedder, &TEXTS, Role::Document).await?;
        for n_polls in 0..4 {
            poll_and_drop(&*embedder, n_polls).await;
            let rows = embed(&*embedder, &TEXTS, Role::Document)
                .await
                .map_err(|failure| failure.within("after a call that was dropped"))?;
            check_same(
                &TEXTS,
                &expected,
                &rows,
                "before and after a call that was dropped",
            )?;
        }
        Ok(())
    })
}

/// Begins a call and gives it up.
async fn poll_and_drop(embedder: &dyn Embedder, n_polls: usize) {
    let mut call = embedder.embed(&["a call that nobody waits for"], Role::Query);
    let mut n_left = n_polls;
    poll_fn(|context| {
        if n_left == 0 || call.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        n_left -= 1;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
