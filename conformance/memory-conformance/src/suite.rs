use std::process::ExitCode;

use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use memory_api::{Capability, Plugin};

use crate::{Failure, Fixture, Outcome, Scenario, Subject, environment, scenarios};

/// The suite of one plugin, as [`suite!`](crate::suite) puts it together.
#[derive(Debug, Clone)]
pub struct Suite {
    subject: Subject,
    manifest: Vec<&'static str>,
    xfail: Vec<&'static str>,
}

impl Suite {
    /// Creates a suite that expects no capabilities and no failures.
    pub fn new(plugin: &'static Plugin) -> Self {
        Self {
            subject: Subject::new(plugin),
            manifest: Vec::new(),
            xfail: Vec::new(),
        }
    }

    /// Opens the plugin as the fixture says.
    pub fn with_fixture(mut self, fixture: Fixture) -> Self {
        self.subject = self.subject.with_fixture(fixture);
        self
    }

    /// Keeps the seeds of failed random cases in this file.
    pub fn with_regressions(mut self, path: &'static str) -> Self {
        self.subject = self.subject.with_regressions(path);
        self
    }

    /// Expects exactly these capabilities, so that dropping one is a visible change of the plugin's tests.
    pub fn with_manifest(mut self, capabilities: &[&'static str]) -> Self {
        self.manifest = capabilities.to_vec();
        self
    }

    /// Expects these scenarios to fail: `group::statement: reason`. One that passes fails the run.
    pub fn with_xfail(mut self, entries: &[&'static str]) -> Self {
        self.xfail = entries.to_vec();
        self
    }

    /// Runs what the command line asks for, as a test program does.
    pub fn run(self) -> ExitCode {
        let arguments = Arguments::from_args();
        let may_miss = environment::read(environment::ALLOW_UNAVAILABLE);
        let conclusion = libtest_mimic::run(&arguments, self.trials(may_miss.as_deref()));
        if !arguments.list && ran_nothing(&conclusion) {
            #[expect(clippy::print_stderr, reason = "a test program talks to a person")]
            {
                eprintln!("error: no test was run");
            }
            return ExitCode::from(101);
        }
        conclusion.exit_code()
    }

    /// Returns every test. The plugins in `may_miss`, separated by commas, may lack their environment.
    pub(crate) fn trials(self, may_miss: Option<&str>) -> Vec<Trial> {
        let plugin = self.subject.plugin();
        let named = |name: &str| format!("{}::{name}", plugin.name);
        let manifest = check_manifest(plugin, &self.manifest);
        let xfails = check_xfails(plugin, &self.xfail);
        let mut trials = vec![
            Trial::test(named("manifest::matches_descriptor"), || Ok(manifest?)),
            Trial::test(named("manifest::xfails_are_known"), || Ok(xfails?)),
        ];
        let missing = self.subject.fixture().unavailable_reason();
        let may_miss =
            may_miss.is_some_and(|names| names.split(',').any(|name| name.trim() == plugin.name));
        for scenario in scenarios(plugin.kind()) {
            let missing = missing.filter(|_| scenario.opens());
            let skipped = scenario.skipped_for(plugin).or_else(|| {
                missing
                    .filter(|_| may_miss)
                    .map(|reason| format!("not run: {reason}"))
            });
            let xfail = self
                .xfail
                .iter()
                .filter_map(|entry| parse_xfail(entry))
                .find(|(name, _)| *name == scenario.name())
                .map(|(_, reason)| reason);
            let kind = match (&skipped, xfail) {
                (Some(reason), _) => reason.clone(),
                (None, Some(reason)) => format!("xfail: {reason}"),
                (None, None) => String::new(),
            };
            let missing = missing.map(str::to_owned);
            let subject = self.subject.clone();
            let trial = Trial::test(named(scenario.name()), move || {
                if let Some(reason) = missing {
                    return Err(unavailable(&reason, plugin.name));
                }
                judge(scenario, &subject, xfail).map_err(Failed::from)
            });
            trials.push(trial.with_kind(kind).with_ignored_flag(skipped.is_some()));
        }
        trials
    }
}

/// A filter that matches nothing is the caller's wish; a program that has nothing to run is a mistake.
pub(crate) fn ran_nothing(conclusion: &Conclusion) -> bool {
    conclusion.num_passed + conclusion.num_failed + conclusion.num_filtered_out == 0
}

fn unavailable(reason: &str, plugin: &str) -> Failed {
    Failed::from(format!(
        "the environment is missing: {reason}; set {}={plugin} to report the scenario as not run",
        environment::ALLOW_UNAVAILABLE
    ))
}

fn judge(scenario: &Scenario, subject: &Subject, xfail: Option<&str>) -> Outcome {
    match (scenario.check(subject), xfail) {
        (outcome, None) => outcome,
        (Err(_), Some(_)) => Ok(()),
        (Ok(()), Some(reason)) => Err(Failure::new(format!(
            "passes, but is expected to fail ({reason}): remove it from `xfail`"
        ))),
    }
}

fn check_manifest(plugin: &Plugin, manifest: &[&str]) -> Outcome {
    let mut expected: Vec<_> = manifest.to_vec();
    let mut declared: Vec<_> = plugin.capabilities.iter().map(Capability::as_str).collect();
    expected.sort_unstable();
    declared.sort_unstable();
    if expected == declared {
        return Ok(());
    }
    Err(Failure::new(format!(
        "the manifest of the test file is [{}], the descriptor declares [{}]",
        expected.join(", "),
        declared.join(", ")
    )))
}

fn check_xfails(plugin: &Plugin, xfail: &[&str]) -> Outcome {
    for entry in xfail {
        let Some((name, _)) = parse_xfail(entry) else {
            return Err(Failure::new(format!(
                "`{entry}` does not have the form `group::statement: reason`"
            )));
        };
        let Some(scenario) = scenarios(plugin.kind()).find(|scenario| scenario.name() == name)
        else {
            return Err(Failure::new(format!(
                "no scenario of a {} plugin is named `{name}`",
                plugin.kind()
            )));
        };
        if let Some(reason) = scenario.skipped_for(plugin) {
            return Err(Failure::new(format!(
                "`{name}` is not run for this plugin ({reason})"
            )));
        }
    }
    Ok(())
}

fn parse_xfail(entry: &str) -> Option<(&str, &str)> {
    let (name, reason) = entry.split_once(": ")?;
    let reason = reason.trim();
    (!reason.is_empty()).then_some((name.trim(), reason))
}

/// Makes the whole content of a plugin's `tests/conformance.rs`, a test program with `harness = false`.
///
/// ```no_run
/// use memory_conformance::{Fixture, oracle};
///
/// memory_conformance::suite! {
///     plugin: oracle::LEXICAL,
///     fixture: Fixture::default(),
///     manifest: [phrase_query, prefix_query, exclude_query, atomic_apply, persistent, deterministic],
///     xfail: [],
/// }
/// ```
///
/// `plugin` is the path of the plugin's `static` descriptor. `manifest` lists its capabilities once more. `fixture`, a
/// [`Fixture`], says how it is opened (by default with an empty config), and `xfail` names the scenarios that are known to fail
/// and why: `"lexical::hits_are_ranked: issue 12"`. Both may be left out; with both left out, `suite!(my_crate::PLUGIN,
/// manifest: [..]);` is enough.
#[macro_export]
macro_rules! suite {
    (
        plugin: $plugin:path,
        $(fixture: $fixture:expr,)?
        manifest: [$($capability:ident),* $(,)?]
        $(, xfail: [$($xfail:expr),* $(,)?])? $(,)?
    ) => {
        fn main() -> ::std::process::ExitCode {
            $crate::Suite::new(&$plugin)
                .with_regressions(::std::concat!(
                    ::std::env!("CARGO_MANIFEST_DIR"),
                    "/tests/conformance.proptest-regressions"
                ))
                $(.with_fixture($fixture))?
                .with_manifest(&[$(::std::stringify!($capability)),*])
                $(.with_xfail(&[$($xfail),*]))?
                .run()
        }
    };
    ($plugin:path, manifest: [$($capability:ident),* $(,)?] $(,)?) => {
        $crate::suite! { plugin: $plugin, manifest: [$($capability),*] }
    };
}
