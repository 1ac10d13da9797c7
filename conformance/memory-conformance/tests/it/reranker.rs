use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use memory_api::{
    Candidate, Capabilities, Capability, EntryId, Error, ErrorKind, Factory, Fingerprint, Identity,
    OpenContext, Opening, Plugin, Ranked, Reranker, Result, parse_config,
};
use memory_conformance::{oracle, scenarios};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{check_caught, check_honest, failing, names_of_kind, subject};

static PLUGIN: Plugin = Plugin::new::<Config>(
    "broken",
    "0.1.0",
    "sorts as wrong as it is told to",
    Factory::Reranker(open),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

/// The same, but it promises no more than a model on another machine can.
static UNSTEADY: Plugin = Plugin::new::<Config>(
    "unsteady",
    "0.1.0",
    "sorts as wrong as it is told to",
    Factory::Reranker(open),
);

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// What it does wrong.
    fault: String,
}

fn open(context: OpenContext<'_>) -> Opening<'_, dyn Reranker> {
    Box::pin(async move {
        let Factory::Reranker(open) = oracle::RERANKER.factory else {
            unreachable!("the oracle is a reranker")
        };
        Ok(Arc::new(Broken {
            inner: open(OpenContext::new(&serde_json::Value::Null)).await?,
            fault: parse_config::<Config>(context.config)?.fault,
            last_call: Mutex::default(),
        }) as Arc<dyn Reranker>)
    })
}

#[derive(Debug)]
struct Broken {
    inner: Arc<dyn Reranker>,
    fault: String,
    last_call: Mutex<Vec<EntryId>>,
}

impl Identity for Broken {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!("broken {}", self.fault))
    }
}

#[async_trait]
impl Reranker for Broken {
    async fn rerank(&self, query: &str, candidates: &[Candidate<'_>]) -> Result<Vec<Ranked>> {
        let refused = |what: &str| Err(Error::new(ErrorKind::InvalidInput, what));
        let mut ranked = self.inner.rerank(query, candidates).await?;
        let ids: Vec<_> = candidates.iter().map(|candidate| candidate.id).collect();
        let lengths = candidates.iter().map(|candidate| candidate.text.len());
        let longest = lengths.max().unwrap_or(0);
        let last_call = std::mem::replace(&mut *self.last_call.lock().unwrap(), ids.clone());
        match self.fault.as_str() {
            "repeats" if ranked.len() > 1 => ranked.push(ranked[ranked.len() - 1]),
            "counts_from_one" if ranked.len() > 1 => {
                for ranked in &mut ranked {
                    ranked.index += 1;
                }
            }
            "not_a_number" => {
                for ranked in &mut ranked {
                    ranked.score = Some(f32::NAN);
                }
            }
            "gives_logits" => {
                for ranked in &mut ranked {
                    ranked.score = Some(-2.0);
                }
            }
            "divides_by_the_range" => {
                let scores = || candidates.iter().map(|candidate| candidate.score);
                let lowest = scores().fold(1.0, f32::min);
                let range = scores().fold(0.0, f32::max) - lowest;
                for ranked in &mut ranked {
                    ranked.score = ranked.score.map(|score| (score - lowest) / range);
                }
            }
            "worst_first" => ranked.reverse(),
            "scores_of_the_places" => {
                for (place, ranked) in ranked.iter_mut().enumerate() {
                    ranked.score = Some(place as f32);
                }
            }
            "refuses_an_empty_list" if candidates.is_empty() => return refused("no candidates"),
            "invents_one" if candidates.is_empty() => {
                ranked.push(Ranked {
                    index: 0,
                    score: None,
                });
            }
            "drops_the_worthless" => ranked.retain(|ranked| ranked.score > Some(0.0)),
            "never_gives_less_than_two" if ranked.len() == 1 => ranked.push(ranked[0]),
            "refuses_an_empty_query" if query.trim().is_empty() => return refused("empty query"),
            "refuses_long_texts" if longest > 32_768 => return refused("text too long"),
            "panics_at_nul" => {
                let has_nul = |candidate: &Candidate<'_>| candidate.text.contains('\0');
                assert!(!candidates.iter().any(has_nul), "nul");
            }
            "turns_round_when_asked_again" if last_call == ids && ids.len() > 2 => {
                ranked.reverse();
                for ranked in &mut ranked {
                    ranked.score = None;
                }
            }
            "keeps_the_order_of_the_call" => {
                ranked = (0..candidates.len())
                    .map(|index| Ranked { index, score: None })
                    .collect();
            }
            _ => {}
        }
        Ok(ranked)
    }
}

/// A fault, the scenario that has to find it, and words of its message.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "repeats",
        "reranker::answer_is_a_subset_without_repeats",
        "twice",
    ),
    (
        "counts_from_one",
        "reranker::answer_is_a_subset_without_repeats",
        "counted from 0",
    ),
    (
        "not_a_number",
        "reranker::scores_are_0_to_1",
        "not from 0 to 1: Some(NaN)",
    ),
    (
        "gives_logits",
        "reranker::scores_are_0_to_1",
        "not from 0 to 1: Some(-2.0)",
    ),
    (
        "divides_by_the_range",
        "reranker::scores_are_0_to_1",
        "equal scores",
    ),
    (
        "worst_first",
        "reranker::best_come_first",
        "after a lower one",
    ),
    (
        "scores_of_the_places",
        "reranker::best_come_first",
        "after a lower one: [0.0, 1.0]",
    ),
    (
        "refuses_an_empty_list",
        "reranker::no_candidates_give_nothing",
        "unexpected error",
    ),
    (
        "invents_one",
        "reranker::no_candidates_give_nothing",
        "an answer of 1",
    ),
    (
        "drops_the_worthless",
        "reranker::one_candidate_stays",
        "with score 0 alone gives []",
    ),
    (
        "never_gives_less_than_two",
        "reranker::one_candidate_stays",
        "alone gives",
    ),
    (
        "refuses_an_empty_query",
        "reranker::hostile_text_is_no_error",
        "query \"\": unexpected error",
    ),
    (
        "refuses_long_texts",
        "reranker::hostile_text_is_no_error",
        "huge texts: unexpected error",
    ),
    (
        "panics_at_nul",
        "reranker::hostile_text_is_no_error",
        "the plugin panicked: nul",
    ),
    (
        "turns_round_when_asked_again",
        "reranker::same_call_same_answer",
        "another answer",
    ),
    (
        "keeps_the_order_of_the_call",
        "reranker::order_of_the_call_changes_nothing",
        "in reverse",
    ),
];

#[test]
fn honest_reranker_passes() {
    check_honest(&PLUGIN, "");
}

#[test]
fn broken_rerankers_are_caught() {
    for (fault, scenario, words) in FAULTS {
        check_caught(&subject(&PLUGIN, fault), fault, scenario, words);
    }
}

#[test]
fn every_reranker_scenario_alone_catches_something() {
    let alone: BTreeSet<_> = FAULTS
        .iter()
        .filter(|(fault, scenario, _)| failing(&PLUGIN, fault) == [*scenario].into())
        .map(|(_, scenario, _)| *scenario)
        .collect();
    assert_eq!(alone, names_of_kind(&PLUGIN));
}

#[test]
fn reranker_that_promises_no_steadiness_is_not_held_to_it() {
    let skipped: Vec<_> = scenarios(UNSTEADY.kind())
        .filter(|scenario| {
            scenario.skipped_for(&UNSTEADY).as_deref() == Some("needs deterministic")
        })
        .map(memory_conformance::Scenario::name)
        .collect();
    assert_eq!(
        skipped,
        [
            "reranker::same_call_same_answer",
            "reranker::order_of_the_call_changes_nothing"
        ]
    );
    check_honest(&UNSTEADY, "keeps_the_order_of_the_call");
    check_honest(&UNSTEADY, "turns_round_when_asked_again");
}
