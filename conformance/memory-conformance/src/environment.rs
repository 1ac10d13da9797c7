//! The environment variables of the suite; nothing else reads the environment.

/// Plugins, separated by commas, whose missing environment is no failure: their scenarios are reported as not run.
pub(crate) const ALLOW_UNAVAILABLE: &str = "MEMORY_CONFORMANCE_ALLOW_UNAVAILABLE";
/// The seed of the random scenarios, in hexadecimal; by default a new one per run.
pub(crate) const SEED: &str = "MEMORY_CONFORMANCE_SEED";

#[expect(
    clippy::disallowed_methods,
    reason = "a test harness is a front end, and this is its one place that reads the environment"
)]
pub(crate) fn read(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
