//! A memory for AI agents, assembled from plugins.
//!
//! [`App`] holds the plugins a program can use; [`App::open`] opens the [`Memory`] of a workspace as its config says;
//! [`Memory::sync`] follows the files, [`Memory::search`] answers from them, [`Memory::get`] reads one.
//!
//! ```no_run
//! # async fn example() -> memory_api::Result<()> {
//! use memory::{App, Query, SyncRequest, config};
//!
//! let app = App::with_default_plugins()?;
//! let workspace = std::path::Path::new("/home/ada/notes");
//! let loaded = config::load(&config::Sources::default(), app.registry())?;
//! let memory = app.open(&loaded.config, workspace).await?;
//! memory.sync(&SyncRequest::default()).await?;
//! let answer = memory.search(&Query::new("why do we use port 5433")).await?;
//! for hit in answer.results {
//!     println!("{}: {}", hit.citation.unwrap_or_default(), hit.snippet);
//! }
//! memory.close().await
//! # }
//! ```

mod app;
mod clock;
mod memory;
mod time;

pub use app::App;
pub use clock::{FixedClock, SystemClock};
pub use memory::{Memory, Query};
pub use memory_config as config;
pub use memory_engine::{
    AskedMode, Clock, Context, DocumentChange, Drift, EmbedderInfo, Evergreen, Failure, Filter,
    Finding, Fusion, Health, IndexStatus, LockWait, Mode, Phase, Place, Progress, ReadRequest,
    Rule, Scores, SearchResponse, SearchResult, Status, SyncReport, SyncRequest, TextScore,
    Threshold, VectorScore, VectorStatus, Window, WindowStatus, citation,
};
pub use time::parse_time;
