//! The bench `sync`: what keeping an index up to date costs, and what a search by words costs, held against the bare work.
//!
//! Times are those of the processor, of all threads of a process from its start to its end, since a disk and other programs
//! disturb a clock on the wall.

pub(crate) mod bare;
mod files;
mod notes;
pub(crate) mod probe;
mod search;

use crate::bench::{Bench, Part};

pub(crate) const BENCH: Bench = Bench {
    name: "sync",
    parts: &[
        Part {
            name: "files",
            title: "Keeping an index, by words alone",
            run: files::run,
        },
        Part {
            name: "search",
            title: "A search by words",
            run: search::run,
        },
    ],
};
