//! The binary as a person or a script uses it.
#![cfg(test)]

mod add;
mod config;
mod disk;
mod eval;
mod examples;
mod flush;
mod get;
mod guides;
mod index;
#[cfg(unix)]
mod indexing_reports;
#[cfg(unix)]
mod mcp;
mod plugins;
mod program;
mod search;
#[cfg(unix)]
mod watch;
