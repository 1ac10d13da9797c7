use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use async_trait::async_trait;
use memory_api::{
    Capabilities, Capability, EmbedLimits, Embedder, EmbeddingSpace, Error, ErrorKind, Factory,
    Fingerprint, Identity, Matrix, OpenContext, Opening, Plugin, Result, Role, parse_config,
};
use memory_conformance::oracle;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{check_caught, check_honest, names_of_kind, subject};

static PLUGIN: Plugin = Plugin::new::<Config>(
    "broken",
    "0.1.0",
    "embeds as wrong as it is told to",
    Factory::Embedder(open),
)
.with_capabilities(Capabilities::of(&[Capability::Deterministic]));

/// Declares nothing.
static PLAIN: Plugin = Plugin::new::<Config>(
    "plain",
    "0.1.0",
    "embeds nearly the same each time",
    Factory::Embedder(open),
);

const MAX_TEXTS: usize = 4;
const MAX_TOKENS: usize = 100;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// What it does wrong.
    fault: String,
}

/// How often an embedder was opened in this process.
static N_OPENED: AtomicUsize = AtomicUsize::new(0);

fn open(context: OpenContext<'_>) -> Opening<'_, dyn Embedder> {
    let Factory::Embedder(open_oracle) = oracle::EMBEDDER.factory else {
        unreachable!("the oracle is an embedder")
    };
    Box::pin(async move {
        let fault = parse_config::<Config>(context.config)?.fault;
        let inner = open_oracle(OpenContext::new(&serde_json::Value::Null)).await?;
        let n_opened = N_OPENED.fetch_add(1, Ordering::Relaxed);
        let mut space = EmbeddingSpace::new("broken/1", inner.space().dimensions);
        match fault.as_str() {
            "a_space_per_opening" => space.id = format!("broken/{n_opened}"),
            "a_space_without_id" => space.id = " ".to_owned(),
            "more_dimensions_than_told" => space.dimensions -= 1,
            "any_length" => space.unit_norm = false,
            _ => {}
        }
        Ok(Arc::new(Broken {
            inner,
            space,
            fault,
            n_opened,
            n_calls: AtomicUsize::new(0),
            last_role: Mutex::default(),
            shared: Mutex::default(),
            is_busy: AtomicBool::new(false),
        }) as Arc<dyn Embedder>)
    })
}

/// The oracle behind a layer that has two roles and does one thing wrong.
#[derive(Debug)]
struct Broken {
    inner: Arc<dyn Embedder>,
    space: EmbeddingSpace,
    fault: String,
    n_opened: usize,
    n_calls: AtomicUsize,
    last_role: Mutex<Option<Role>>,
    shared: Mutex<Vec<String>>,
    is_busy: AtomicBool,
}

impl Broken {
    fn row(&self, text: &str, role: Role, row: &[f32]) -> Vec<f32> {
        let mut row = row.to_vec();
        if role == Role::Query {
            row.rotate_left(1);
        }
        let wobble = self.n_calls.load(Ordering::Relaxed) % 7;
        match self.fault.as_str() {
            "nan" if text == "Rust" => row[0] = f32::NAN,
            "any_length" | "twice_as_long" => row.iter_mut().for_each(|number| *number *= 2.0),
            "nothing_for_blank" if text.trim().is_empty() => row.fill(0.0),
            "wobbles" => row[5] += wobble as f32 * 1e-6,
            "shakes" => row[5] += wobble as f32 * 1e-3,
            "another_model_each_time" => row.rotate_left(self.n_opened % 8),
            "all_alike" => {
                row.fill(0.0);
                row[0] = 1.0;
            }
            _ => {}
        }
        row
    }

    fn refuse(&self, texts: &[&str]) -> Result<()> {
        let refused = |kind| Err(Error::new(kind, "refused"));
        let any = |test: fn(&str) -> bool| texts.iter().any(|text| test(text));
        match self.fault.as_str() {
            "refuses_blank" if any(|text| text.trim().is_empty()) => {
                refused(ErrorKind::InvalidInput)
            }
            "refuses_emoji" if any(|text| text.contains('🚢')) => {
                refused(ErrorKind::InvalidInput)
            }
            "panics_at_nul" => {
                assert!(!any(|text| text.contains('\0')), "interior nul");
                Ok(())
            }
            "refuses_long" if any(|text| text.len() > MAX_TOKENS) => {
                refused(ErrorKind::InvalidInput)
            }
            "breaks_at_long" if any(|text| text.len() > MAX_TOKENS) => refused(ErrorKind::Internal),
            "refuses_none" if texts.is_empty() => refused(ErrorKind::InvalidInput),
            "takes_any_number" | "unlimited" => Ok(()),
            "breaks_at_many" if texts.len() > MAX_TEXTS => refused(ErrorKind::Unavailable),
            _ if texts.len() > self.limits().max_texts => refused(ErrorKind::InvalidInput),
            _ => Ok(()),
        }
    }

    /// The texts and their role as a faulty embedder takes them.
    async fn take(&self, texts: &[&str], role: Role) -> Result<(Vec<String>, Role)> {
        let mut owned: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        let mut role = role;
        match self.fault.as_str() {
            "the_first_role_sticks" => {
                role = *self.last_role.lock().unwrap().get_or_insert(role);
            }
            "sorts_by_length" => owned.sort_by_key(String::len),
            "shares_a_buffer" => {
                *self.shared.lock().unwrap() = owned;
                yield_once().await;
                owned = self.shared.lock().unwrap().clone();
            }
            "stays_busy" => {
                if self.is_busy.swap(true, Ordering::Relaxed) {
                    return Err(Error::new(ErrorKind::Unavailable, "busy"));
                }
                yield_once().await;
                self.is_busy.store(false, Ordering::Relaxed);
            }
            _ => {}
        }
        Ok((owned, role))
    }
}

async fn yield_once() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Identity for Broken {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!("broken {}", self.fault))
    }
}

#[async_trait]
impl Embedder for Broken {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    fn limits(&self) -> EmbedLimits {
        match self.fault.as_str() {
            "allows_nothing" => EmbedLimits::new(0, MAX_TOKENS),
            "one_by_one" => EmbedLimits::new(1, MAX_TOKENS),
            "unlimited" => EmbedLimits::new(usize::MAX, usize::MAX),
            _ => EmbedLimits::new(MAX_TEXTS, MAX_TOKENS),
        }
    }

    async fn embed(&self, texts: &[&str], role: Role) -> Result<Matrix> {
        self.n_calls.fetch_add(1, Ordering::Relaxed);
        self.refuse(texts)?;
        let (owned, role) = self.take(texts, role).await?;
        let mut rows = Vec::new();
        for text in &owned {
            let one = self.inner.embed(&[text.as_str()], role).await?;
            for row in one.rows() {
                rows.push(self.row(text, role, row));
            }
        }
        match self.fault.as_str() {
            "loses_a_row" if rows.len() > 1 => drop(rows.pop()),
            "a_row_for_nothing" if rows.is_empty() => rows.push(vec![1.0; self.space.dimensions]),
            // What padding without a mask does.
            "looks_at_its_neighbours" => {
                let longest = owned.iter().map(String::len).max().unwrap_or(0);
                for (text, row) in owned.iter().zip(&mut rows) {
                    row[9] += (longest - text.len()) as f32 * 1e-5;
                }
            }
            _ => {}
        }
        Matrix::new(self.inner.space().dimensions, rows.concat())
    }
}

/// A fault, the scenario that has to find it, and words of its message.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "a_space_per_opening",
        "embedder::space_is_told_at_open",
        "opened again",
    ),
    (
        "a_space_without_id",
        "embedder::space_is_told_at_open",
        "no id",
    ),
    (
        "allows_nothing",
        "embedder::space_is_told_at_open",
        "allow no text",
    ),
    ("loses_a_row", "embedder::one_row_per_text", "rows for"),
    (
        "more_dimensions_than_told",
        "embedder::one_row_per_text",
        "in a space of",
    ),
    (
        "sorts_by_length",
        "embedder::rows_are_in_order",
        "in reverse order",
    ),
    (
        "a_row_for_nothing",
        "embedder::no_texts_have_no_rows",
        "1 rows for 0 texts",
    ),
    (
        "refuses_none",
        "embedder::no_texts_have_no_rows",
        "without texts",
    ),
    (
        "nan",
        "embedder::rows_are_finite_and_have_a_direction",
        "not finite",
    ),
    (
        "twice_as_long",
        "embedder::rows_are_finite_and_have_a_direction",
        "one of unit vectors",
    ),
    (
        "looks_at_its_neighbours",
        "embedder::batch_equals_singles",
        "in one call and in one each",
    ),
    (
        "shares_a_buffer",
        "embedder::concurrent_calls_agree",
        "beside other calls",
    ),
    (
        "another_model_each_time",
        "embedder::two_opens_agree",
        "by two openings",
    ),
    (
        "wobbles",
        "embedder::same_text_has_the_same_bits",
        "other bits",
    ),
    (
        "refuses_blank",
        "embedder::blank_text_has_a_row",
        "refused [invalid_input]",
    ),
    (
        "nothing_for_blank",
        "embedder::blank_text_has_a_row",
        "length 0",
    ),
    (
        "refuses_emoji",
        "embedder::text_of_any_script_has_a_row",
        "🚢",
    ),
    (
        "panics_at_nul",
        "embedder::text_of_any_script_has_a_row",
        "the plugin panicked",
    ),
    (
        "breaks_at_long",
        "embedder::long_text_is_cut_or_refused",
        "instead of a row",
    ),
    (
        "takes_any_number",
        "embedder::too_many_texts_are_refused",
        "give an answer",
    ),
    (
        "breaks_at_many",
        "embedder::too_many_texts_are_refused",
        "give unavailable",
    ),
    (
        "all_alike",
        "embedder::text_is_nearest_to_itself",
        "have the same row",
    ),
    (
        "shakes",
        "embedder::text_is_nearest_to_itself",
        "embedded twice",
    ),
    (
        "the_first_role_sticks",
        "embedder::roles_do_not_mix",
        "as a query",
    ),
    (
        "stays_busy",
        "embedder::dropped_call_breaks_nothing",
        "that was dropped",
    ),
];

#[test]
fn honest_embedder_passes() {
    for fault in ["", "refuses_long", "any_length", "one_by_one", "unlimited"] {
        check_honest(&PLUGIN, fault);
    }
}

#[test]
fn embedder_that_wobbles_passes_when_it_declares_nothing() {
    check_honest(&PLAIN, "wobbles");
}

#[test]
fn broken_embedders_are_caught() {
    for (fault, scenario, words) in FAULTS {
        check_caught(&subject(&PLUGIN, fault), fault, scenario, words);
    }
}

#[test]
fn every_embedder_scenario_catches_something() {
    let catching: BTreeSet<_> = FAULTS.iter().map(|(_, scenario, _)| *scenario).collect();
    assert_eq!(catching, names_of_kind(&PLUGIN));
}
