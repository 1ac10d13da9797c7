//! The memory from end to end, with the default plugins on real files.
#![cfg(test)]

mod field_reports;
mod notes;
mod plugin;
mod search;
mod sync;
