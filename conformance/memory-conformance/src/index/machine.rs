//! The state machine: random histories, with the index closed, dropped and asked in between.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::{Index, subsequence};

use memory_api::Seq;

use super::{Change, IndexKind, N_ENTRIES, N_WORDS, Question, Word, entry_id, model_ids};
use crate::index::rig::Rig;
use crate::{Outcome, Subject, random};

/// One thing that happens to an index.
#[derive(Debug, Clone)]
enum Step {
    Apply(Vec<Change>),
    /// The store moves on by changes that concern no index.
    Pass(u64),
    /// Everything after a position comes again.
    Replay(Index),
    Flush,
    CloseAndReopen,
    ReopenWithoutClose,
    Ask(Question),
}

/// Checks that after any steps the index is what the model says.
pub(super) fn any_history_equals_the_model<K: IndexKind>(subject: &Subject) -> Outcome {
    random::for_all(subject, &vec(step(), 1..40), |steps| {
        subject.run(async {
            let mut rig = Rig::<K>::open(subject).await?;
            for (idx, step) in steps.iter().enumerate() {
                let taken = take(&mut rig, step).await;
                taken.map_err(|failure| failure.within(format!("step {idx}, {step:?}")))?;
            }
            rig.check_flushed()
                .await
                .map_err(|failure| failure.within("at the end"))
        })
    })
}

async fn take<K: IndexKind>(rig: &mut Rig<'_, K>, step: &Step) -> Outcome {
    match step {
        Step::Apply(changes) => rig.apply(changes).await?,
        Step::Pass(n_positions) => rig.pass(*n_positions).await?,
        Step::Replay(after) => {
            let through = rig.history().through();
            if through > Seq(0) {
                let n_positions = usize::try_from(through.0).unwrap_or(usize::MAX);
                rig.catch_up(Seq(after.index(n_positions) as u64)).await?;
            }
        }
        Step::Flush => rig.flush().await?,
        Step::CloseAndReopen => {
            rig.close_and_reopen().await?;
            rig.check().await?;
            rig.recover().await?;
        }
        Step::ReopenWithoutClose => {
            rig.drop_and_reopen().await?;
            rig.check().await?;
            rig.recover().await?;
        }
        Step::Ask(question) => rig.ask(question).await?,
    }
    rig.check().await
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => vec(change(), 1..6).prop_map(Step::Apply),
        1 => (1..5_u64).prop_map(Step::Pass),
        2 => any::<Index>().prop_map(Step::Replay),
        3 => Just(Step::Flush),
        1 => Just(Step::CloseAndReopen),
        1 => Just(Step::ReopenWithoutClose),
        4 => question().prop_map(Step::Ask),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let id = || (0..u16::from(N_ENTRIES)).prop_map(entry_id);
    prop_oneof![
        4 => (id(), vec(word(), 1..12)).prop_map(|(id, words)| Change::Put(id, words)),
        1 => (id(), any::<u8>()).prop_map(|(id, tag)| Change::SetMeta(id, tag)),
        2 => id().prop_map(Change::Delete),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let allowed = option::of(subsequence(model_ids(), 0..=usize::from(N_ENTRIES)));
    (vec(word(), 1..4), allowed).prop_map(|(words, allowed)| Question { words, allowed })
}

/// Low numbers are frequent, as in any language.
fn word() -> impl Strategy<Value = Word> {
    prop_oneof![(1..=6_u8), (1..=N_WORDS)].prop_map(Word)
}
