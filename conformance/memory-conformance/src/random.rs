//! Property tests whose seeds and regressions belong to the plugin under test.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher, RandomState};

use proptest::strategy::Strategy;
use proptest::test_runner::{
    Config, FailurePersistence, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError,
    TestRng, TestRunner, contextualize_config,
};

use crate::{Failure, Outcome, Subject, environment};

/// Checks that something holds for values of the strategy: 64 by default, `PROPTEST_CASES` says otherwise.
pub(crate) fn for_all<S: Strategy>(
    subject: &Subject,
    strategy: &S,
    check: impl Fn(S::Value) -> Outcome,
) -> Outcome
where
    S::Value: Debug,
{
    let persistence = subject
        .regressions()
        .map(|path| Box::new(FileFailurePersistence::Direct(path)) as Box<dyn FailurePersistence>);
    let config = contextualize_config(Config {
        cases: 64,
        // Each step opens a plugin, so a minute of shrinking buys little.
        max_shrink_iters: 400,
        failure_persistence: persistence,
        ..Config::default()
    });
    let seed = subject.seed().map_or_else(choose_seed, Ok)?;
    let bytes: Vec<u8> = seed.to_be_bytes().repeat(4);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let result = TestRunner::new_with_rng(config, rng).run(strategy, |value| {
        check(value).map_err(|failure| TestCaseError::fail(failure.to_string()))
    });
    result.map_err(|err| match err {
        TestError::Fail(reason, value) => Failure::new(format!(
            "{reason}\nsmallest case: {value:#?}\nto repeat: {}={seed:016x}",
            environment::SEED
        )),
        TestError::Abort(reason) => Failure::new(format!("no random cases: {reason}")),
    })
}

fn choose_seed() -> Outcome<u64> {
    match environment::read(environment::SEED) {
        None => Ok(RandomState::new().build_hasher().finish()),
        Some(text) => u64::from_str_radix(&text, 16).map_err(|err| {
            Failure::new(format!(
                "{}: `{text}` is no hexadecimal number: {err}",
                environment::SEED
            ))
        }),
    }
}
