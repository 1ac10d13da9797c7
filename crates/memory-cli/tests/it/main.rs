//! The binary as a person or a script uses it.
#![cfg(test)]

mod config;
mod eval;
mod examples;
mod get;
mod index;
mod plugins;
mod program;
mod search;
