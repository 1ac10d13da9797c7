//! The contracts between the memory engine and its plugins.
//!
//! Four readers come here:
//!
//! * **Using a memory**: you want the crate `memory`; from here you need [`Error`], [`EntryId`] and [`Timestamp`].
//! * **Writing a plugin**: implement one of [`Chunker`], [`LexicalIndex`], [`VectorIndex`], [`Embedder`], [`Reranker`] or
//!   [`DecayPolicy`], describe it in a `static` [`Plugin`] and pass that to [`register_plugin!`]. Each trait documents a
//!   numbered *Contract*; the crate `memory-conformance` checks its lines. The words in brackets name the check.
//! * **Building a binary**: take [`Registry::linked`] and add your own with [`Registry::with`]. A crate that nobody names is
//!   dropped by the linker, so name it: `use my_plugin as _;` or, better, pass `&my_plugin::PLUGIN`.
//! * **Maintaining this crate**: it depends on no other crate of the workspace, on no file system, clock, network or async
//!   runtime. Its public types come from `std`, `serde_json` and `schemars` alone. Traits have no default bodies, because a
//!   wrapper forgets them.
#![warn(missing_docs)]

mod capability;
mod chunker;
mod config;
mod decay;
mod embedder;
mod error;
mod filter;
mod id;
mod lexical;
mod models;
mod plugin;
mod projection;
mod registry;
mod reranker;
mod time;
mod vector;

pub use capability::{Capabilities, Capability};
pub use chunker::{Chunked, Chunker, Document, DocumentMeta, DraftEntry, LineRange, Warning};
pub use config::parse_config;
pub use decay::{DecayPolicy, Facts};
pub use embedder::{EmbedLimits, Embedder, EmbeddingSpace, Matrix, Metric, Role};
pub use error::{Error, ErrorKind, Result, Retry};
pub use filter::Fields;
pub use id::{ContentHash, EntryId, Fingerprint, Identity, Seq, StoreId};
pub use lexical::{LexicalEntry, LexicalIndex, LexicalOp, LexicalQuery};
pub use models::{Model, Models, PullProgress, PullRequest};
pub use plugin::{Factory, Kind, Limits, Need, OpenContext, Opening, Plugin};
pub use projection::{Batch, Hit, IndexStats, Projection, Watermark};
pub use registry::{Registered, Registry};
pub use reranker::{Candidate, Ranked, Reranker};
pub use time::Timestamp;
pub use vector::{VectorIndex, VectorOp, VectorQuery, unit_vector};

#[doc(hidden)]
pub mod __private {
    pub use inventory;
}

#[cfg(test)]
mod tests;
