//! The engine: store of record, sync and search, with plugins as `dyn` values.
//!
//! Files are the truth. [`Engine::sync`] walks them ([`discovery`]), cuts the changed ones with the chunkers, writes entries to
//! the [`store`] of record and feeds the changes to the indexes (`feed`). [`Engine::search`] asks the indexes, brings their
//! scores to a common scale, keeps what is good enough and cites it (`search`). Nothing here reads a clock or the
//! environment: time and randomness come through [`Clock`], settings through [`Options`]. [`Engine::add`] appends to a memory
//! file (`add`), which nothing else writes.
#![warn(missing_docs)]

mod add;
mod aside;
mod background;
mod candidates;
mod citation;
mod clock;
mod comparison;
mod context;
mod contract;
pub mod discovery;
mod doctor;
mod document;
mod embedding;
mod engine;
#[cfg(feature = "failpoints")]
pub mod failpoint;
#[cfg(not(feature = "failpoints"))]
mod failpoint;
mod feed;
mod file;
mod filter;
mod freshness;
mod fusion;
mod generation;
mod lock;
mod manifest;
mod options;
mod search;
mod select;
mod state;
mod state_dir;
mod status;
pub mod store;
mod sync;
mod vectors;
mod window;

pub use add::{AddRequest, Added};
pub use citation::citation;
pub use clock::Clock;
pub use context::Context;
pub use discovery::WatchFolder;
pub use doctor::{Finding, Health};
pub use engine::{Engine, ReadRequest};
pub use filter::Filter;
pub use fusion::{Fusion, Rule, TextScore, VectorScore};
pub use options::{Documents, Evergreen, Options, Part, Parts};
pub use search::{
    AskedMode, EmbedderInfo, Floor, Mode, Scores, SearchRequest, SearchResponse, SearchResult,
    Threshold,
};
pub use state::{FlushCycle, Remembered};
pub use status::{Drift, IndexStatus, Status, VectorStatus};
#[cfg(feature = "fuzzing")]
pub use sync::fuzzing;
pub use sync::{
    DocumentChange, Embed, Failure, Growth, LockWait, OnDocument, Phase, Progress, SyncReport,
    SyncRequest,
};
pub use window::{Window, WindowStatus, read_window};

#[cfg(test)]
mod tests;
