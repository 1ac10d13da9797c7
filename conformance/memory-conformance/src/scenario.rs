use std::panic::{AssertUnwindSafe, catch_unwind};

use memory_api::{Capability, Kind, Plugin};

use crate::{Failure, Outcome, Subject, chunker, describe, embedder, lexical, vector};

/// One line of a contract, as a check.
///
/// It is a plain function of the plugin, so it can be called by itself: the suite's own tests hand it broken plugins.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    name: &'static str,
    condition: Condition,
    opens: bool,
    body: fn(&Subject) -> Outcome,
}

/// For which plugins a scenario means something; known before anything is opened.
#[derive(Debug, Clone, Copy)]
enum Condition {
    Always,
    Declares(Capability),
    Lacks(Capability),
    HasSecret,
}

impl Scenario {
    pub(crate) const fn new(name: &'static str, body: fn(&Subject) -> Outcome) -> Self {
        Self {
            name,
            condition: Condition::Always,
            opens: true,
            body,
        }
    }

    /// Checks plugins that declare the capability.
    pub(crate) const fn needs(mut self, capability: Capability) -> Self {
        self.condition = Condition::Declares(capability);
        self
    }

    /// Checks plugins that do not declare the capability.
    pub(crate) const fn lacks(mut self, capability: Capability) -> Self {
        self.condition = Condition::Lacks(capability);
        self
    }

    /// Checks plugins whose config holds a secret.
    pub(crate) const fn needs_secret(mut self) -> Self {
        self.condition = Condition::HasSecret;
        self
    }

    /// Looks at the descriptor alone, so it also runs where the environment is missing.
    pub(crate) const fn without_opening(mut self) -> Self {
        self.opens = false;
        self
    }

    /// Returns `<group>::<statement>`, the name in brackets in the contracts of memory-api.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether the scenario opens the plugin.
    pub fn opens(&self) -> bool {
        self.opens
    }

    /// Returns why the scenario says nothing about this plugin; `None` when it has to hold.
    pub fn skipped_for(&self, plugin: &Plugin) -> Option<String> {
        match self.condition {
            Condition::Declares(capability) if !plugin.capabilities.has(capability) => {
                Some(format!("needs {capability}"))
            }
            Condition::Lacks(capability) if plugin.capabilities.has(capability) => {
                Some(format!("declares {capability}"))
            }
            Condition::HasSecret if describe::secret_keys(plugin).is_empty() => {
                Some("has no secret".to_owned())
            }
            _ => None,
        }
    }

    /// Runs the check; a panic of the plugin is a failure like any other.
    ///
    /// # Errors
    ///
    /// What the plugin did, and what the contract asks for.
    pub fn check(&self, subject: &Subject) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| (self.body)(subject))).unwrap_or_else(|payload| {
            let words = payload
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| payload.downcast_ref::<&str>().copied())
                .unwrap_or("without words");
            Err(Failure::new(format!("the plugin panicked: {words}")))
        })
    }
}

/// Returns every scenario of a kind, in the order of the report. Kinds without a contract suite have the `describe` group.
pub fn scenarios(kind: Kind) -> impl Iterator<Item = &'static Scenario> {
    let of_kind: &[&'static [Scenario]] = match kind {
        Kind::Decay => &[crate::decay::SCENARIOS],
        Kind::Rerank => &[crate::reranker::SCENARIOS],
        Kind::Chunker => &[chunker::SCENARIOS],
        Kind::Lexical => &[lexical::MODEL_SCENARIOS, lexical::SCENARIOS],
        Kind::Vector => &[vector::MODEL_SCENARIOS, vector::SCENARIOS],
        Kind::Embedder => &[embedder::SCENARIOS],
        _ => &[],
    };
    describe::SCENARIOS
        .iter()
        .chain(of_kind.iter().copied().flatten())
}
