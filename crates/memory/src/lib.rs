//! A memory for AI agents, assembled from plugins.
//!
//! [`App`] holds the plugins a program can use; [`App::open`] opens the [`Memory`] of a workspace as its config says;
//! [`Memory::sync`] follows the files, [`Memory::search`] answers from them, [`Memory::get`] reads one, [`Memory::add`] appends to
//! one. [`Memory::check_flush`] says when an agent should do that before it forgets.
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
pub mod flush;
mod memory;
mod time;
mod write;

pub use app::App;
pub use clock::{FixedClock, SystemClock};
pub use flush::{FlushAnswer, FlushCheck, FlushReason};
pub use memory::{Memory, Query};
pub use memory_config as config;
pub use memory_engine::{
    Added, AskedMode, Clock, Context, DocumentChange, Drift, Embed, EmbedderInfo, Evergreen,
    Failure, Filter, Finding, FlushCycle, Fusion, Growth, Health, IndexStatus, LockWait, Mode,
    Phase, Progress, ReadRequest, Rule, Scores, SearchResponse, SearchResult, Status, SyncReport,
    SyncRequest, TextScore, Threshold, VectorScore, VectorStatus, WatchFolder, Window,
    WindowStatus, citation,
};
pub use time::parse_time;
pub use write::{Addition, Target};
