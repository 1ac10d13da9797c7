//! The memory as tools of an agent, over the Model Context Protocol (MCP).
//!
//! [`Stdio::take`] puts the real stdout aside, so that nothing but the protocol reaches the client whatever a library prints;
//! [`serve`] answers on it until the client goes away or the process is asked to end. The tools are `memory_search`,
//! `memory_get`, `memory_add` and `memory_status`; what they answer is what `memory search --json` and its like print, as structured content with its schema and as the same JSON in a text, for clients that show only that.
//!
//! # Wrong calls
//!
//! An unknown parameter, a wrong type or a number out of range is an answer of the tool (`isError`), not an error of the
//! protocol: clients show the model the former word for word, so that it can call again, and of the latter often nothing but
//! "internal error". That is also what the protocol asks for since its revision of 2025-11-25. An unknown tool, and arguments
//! that are no object at all, are errors of the protocol (-32602): there is no tool call to answer.
//!
//! Parameters are strict, with three exceptions that can mean one thing only: a number may be written as text (`"5"`, `"0.2"`)
//! or with a zero behind the point (`5.0`), and an optional parameter that is `null` or an empty text counts as left out.
//!
//! # Adding a tool
//!
//! A module in `tools` with a `TOOL` and a line in `tools::ALL`. Parameters are a table, from which their schema is made and by
//! which arguments are read; the call gets the memory and the arguments, and answers with anything that has a schema.
//!
//! # Threads
//!
//! One thread reads and writes messages. Each call has a thread of its own while it runs, at most
//! `server::MAX_CALLS` of them, since reading files blocks and a search computes; a call that is cancelled is dropped where it
//! waits. The first index is built on a thread of its own as well (`fresh`), and a
//! `memory_watch::Keeper` has its own for the rest.
#![warn(missing_docs)]

mod fresh;
mod params;
mod serve;
mod server;
mod stdio;
mod tool;
mod tools;
mod transport;

pub use serve::serve;
pub use server::{Log, Server};
pub use stdio::Stdio;

#[cfg(test)]
mod tests;
