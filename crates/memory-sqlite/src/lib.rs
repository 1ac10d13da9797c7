//! The one SQLite of the memory engine.
//!
//! `libsqlite3-sys` links one SQLite into a build, so every crate that speaks SQL takes `rusqlite` from here:
//! `memory_sqlite::rusqlite`.
//!
//! * [`Database`]: a file behind one writer thread and a few reader threads, for async callers of any runtime.
//! * [`Options`]: who the file belongs to, its migrations, how durable a commit is.
//! * [`sqlite_error`]: SQLite's result codes as [`memory_api::Error`]; [`is_out_of_room`] tells a full disk.
//! * [`projection`]: what every index in a SQLite file does alike: its watermark, the check of a batch, its size.
//! * [`fts5`]: tokenizers and ranking functions for the full-text engine, without `unsafe` at the caller's side.

mod connect;
mod database;
mod error;
pub mod fts5;
mod options;
pub mod projection;
mod queue;
mod worker;

pub use database::Database;
pub use error::{is_out_of_room, sqlite_error};
pub use options::{Options, Synchronous};
pub use rusqlite;

#[cfg(test)]
mod tests;
