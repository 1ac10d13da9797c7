//! The memory from end to end, with the default plugins on real files.
#![cfg(test)]

#[macro_use]
mod reports;

mod add;
mod broken;
mod doctor;
mod fake;
mod field_reports;
mod flush;
mod format;
mod import;
mod indexing_reports;
mod machine;
mod meaning;
mod notes;
mod overtaken;
mod pages;
mod plugin;
mod ranking_reports;
mod reluctant;
mod search;
mod sync;
mod transcripts;
mod watermark;
