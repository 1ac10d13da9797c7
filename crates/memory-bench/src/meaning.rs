//! The bench `meaning`: what search by meaning costs.

use crate::bench::{Bench, Part};
use crate::{embedder, index, query};

pub(crate) const BENCH: Bench = Bench {
    name: "meaning",
    parts: &[
        Part {
            name: "embedder",
            title: "The embedder of this machine",
            run: |_| embedder::run(),
        },
        Part {
            name: "query",
            title: "A question by words and meaning",
            run: query::run,
        },
        Part {
            name: "index",
            title: "Indexes by meaning, 384 numbers, 24 hits",
            run: |_| index::run(),
        },
    ],
};
