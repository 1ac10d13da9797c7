//! Keeps an index at the state of its files.
//!
//! A [`Keeper`] syncs a [`Memory`](memory::Memory) on a thread of its own: when files change, when a search asks for it, every so
//! often as a net below both, and once at the beginning. What the system tells of files is only taken as a word that something
//! happened; what it was, a sync finds out by comparing all files with the index. So nothing depends on events that are complete,
//! in order or true: renames, folders moved in and queues that ran over are all the same.
#![warn(missing_docs)]

mod eyes;
mod keeper;
mod schedule;

pub use keeper::{Keeper, Settings, Told};

#[cfg(test)]
mod tests;
