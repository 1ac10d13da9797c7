use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_api::{
    Chunked, Chunker, Document, DraftEntry, Error, ErrorKind, Factory, Fingerprint, Identity,
    OpenContext, Plugin, Result, parse_config,
};
use memory_conformance::{Fixture, Scenario, Subject, scenarios};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::check::check_caught;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// A secret.
    api_key: String,
    /// The name of a variable, which is no secret.
    api_key_env: Option<String>,
    /// Other settings.
    limits: Limits,
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("api_key_env", &self.api_key_env)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Limits {
    /// Pieces per document.
    pieces: u32,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct CarelessConfig {
    /// A secret.
    api_key: String,
    limits: SilentLimits,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct SilentLimits {
    pieces: u32,
}

/// Counts what every instance in this process cut.
static N_CUT: AtomicUsize = AtomicUsize::new(0);
static N_OPENED: AtomicUsize = AtomicUsize::new(0);

/// One entry per document.
#[derive(Debug)]
struct Whole<C> {
    #[expect(dead_code, reason = "it is there to be shown by Debug")]
    config: C,
    fingerprint: String,
    shares_state: bool,
}

impl<C> Identity for Whole<C> {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(self.fingerprint.clone())
    }
}

impl<C: fmt::Debug + Send + Sync> Chunker for Whole<C> {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let mut chunked = Chunked::default();
        if !document
            .text
            .chars()
            .all(|c| c.is_whitespace() || c == '\u{feff}')
        {
            let entry = DraftEntry::new(document.text, 0..document.text.len());
            chunked.entries.push(entry);
        }
        if self.shares_state && !document.text.is_empty() {
            let n_cut = N_CUT.fetch_add(1, Ordering::Relaxed);
            chunked.meta.title = Some(n_cut.to_string());
        }
        Ok(chunked)
    }
}

fn open(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    let config: Config = parse_config(context.config)?;
    Ok(Arc::new(Whole {
        fingerprint: "whole/1".to_owned(),
        config,
        shares_state: false,
    }))
}

fn open_carelessly(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    let n_opened = N_OPENED.fetch_add(1, Ordering::Relaxed);
    Ok(Arc::new(Whole {
        fingerprint: format!("careless {n_opened}"),
        config: parse_config::<CarelessConfig>(context.config)?,
        shares_state: true,
    }))
}

/// Shows the secret in the error.
fn open_with_a_server(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    let config: Config = parse_config(context.config)?;
    let message = format!(
        "no server for `{}`, {:?}",
        config.api_key, config.limits.pieces
    );
    Err(Error::new(ErrorKind::Unavailable, message))
}

static HONEST: Plugin = Plugin::new::<Config>(
    "whole-2",
    "1.2.3-rc.1+b7",
    "one entry per document",
    Factory::Chunker(open),
);

static CARELESS: Plugin = Plugin::new::<CarelessConfig>(
    "Whole_",
    "1.0",
    "Cuts nothing.",
    Factory::Chunker(open_carelessly),
);

static UNREACHABLE: Plugin = Plugin::new::<Config>(
    "whole",
    "1.0.0",
    "asks a server",
    Factory::Chunker(open_with_a_server),
);

/// Reads its config without `parse_config`, which would name the key.
static KEYLESS: Plugin = {
    let mut plugin =
        Plugin::new::<Config>("whole", "1.0.0", "names no key", Factory::Chunker(open));
    plugin.check_config = |value| {
        let refused = || Err(Error::new(ErrorKind::Config, "something is wrong"));
        open(&OpenContext::new(value)).map_or_else(|_| refused(), |_| Ok(()))
    };
    plugin
};

const FAULTS: &[(&Plugin, &str, &str)] = &[
    (&CARELESS, "describe::name_is_kebab_case", "`Whole_`"),
    (&CARELESS, "describe::version_is_semver", "`1.0`"),
    (&CARELESS, "describe::summary_is_one_line", "final period"),
    (
        &CARELESS,
        "describe::schema_describes_every_key",
        "`limits`",
    ),
    (&CARELESS, "describe::schema_describes_every_key", "pieces`"),
    (&UNREACHABLE, "describe::config_opens", "no server"),
    (
        &CARELESS,
        "describe::unknown_key_is_a_config_error",
        "accepts",
    ),
    (
        &KEYLESS,
        "describe::unknown_key_is_a_config_error",
        "does not name",
    ),
    (
        &KEYLESS,
        "describe::wrong_type_names_its_key",
        "under `no key`",
    ),
    (
        &CARELESS,
        "describe::debug_shows_no_secret",
        "`api_key` is shown",
    ),
    (
        &UNREACHABLE,
        "describe::debug_shows_no_secret",
        "`api_key` is shown",
    ),
    (
        &CARELESS,
        "describe::fingerprint_is_stable",
        "when opened once more",
    ),
    (
        &CARELESS,
        "describe::two_opens_do_not_interfere",
        "what another one cuts",
    ),
];

#[test]
fn honest_descriptor_passes() {
    for scenario in scenarios(HONEST.kind()) {
        assert_eq!(scenario.skipped_for(&HONEST), None, "{}", scenario.name());
        let outcome = scenario.check(&Subject::new(&HONEST));
        assert_eq!(outcome, Ok(()), "{}", scenario.name());
    }
}

#[test]
fn broken_descriptors_are_caught() {
    for (plugin, scenario, words) in FAULTS {
        check_caught(&Subject::new(plugin), plugin.summary, scenario, words);
    }
}

#[test]
fn every_describe_scenario_catches_something() {
    let catching: BTreeSet<_> = FAULTS.iter().map(|(_, scenario, _)| *scenario).collect();
    let all: BTreeSet<_> = scenarios(HONEST.kind())
        .map(Scenario::name)
        .filter(|name| name.starts_with("describe::"))
        .collect();
    assert_eq!(catching, all);
}

#[test]
fn fixture_that_the_plugin_refuses_is_caught() {
    let fixture = Fixture::config(json!({ "limits": { "pieces": "many" } }));
    let subject = Subject::new(&HONEST).with_fixture(fixture);
    check_caught(
        &subject,
        "wrong fixture",
        "describe::config_opens",
        "limits.pieces",
    );
}
