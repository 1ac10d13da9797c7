use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EntryId, Error, Fingerprint, Hit, Identity, IndexStats, LexicalIndex,
    LexicalOp, LexicalQuery, OpenContext, Projection, Result, Watermark, parse_config,
};
use memory_sqlite::rusqlite::Connection;
use memory_sqlite::{Database, projection};
use memory_text::ANALYSIS_VERSION;

use crate::apply::apply;
use crate::plan::Plan;
use crate::schema::{self, SCHEMA_VERSION, State};
use crate::search::{score, search, to_f32};
use crate::{CAPABILITIES, Config, NAME};

/// The file in the plugin's folder.
const FILE: &str = "index.db";

/// The factory of [`PLUGIN`](crate::PLUGIN).
pub(crate) async fn open(context: OpenContext<'_>) -> Result<Arc<dyn LexicalIndex>> {
    Ok(Arc::new(Fts5Index::open(context).await?))
}

/// A word index in one SQLite file.
#[derive(Debug)]
pub struct Fts5Index {
    database: Database,
    config: Config,
    /// The last query with its scores: 16 bytes per row that matches. The engine asks for hits, scores and the bound of one
    /// query in a row.
    last_plan: Arc<Mutex<Option<Arc<Plan>>>>,
}

impl Fts5Index {
    /// Opens the index in the context's folder, and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// `Config`; `Corrupt` for a damaged file; `NotFound` when reading only and nothing is there; those of
    /// [`Database::open`](memory_sqlite::Database::open).
    pub async fn open(context: OpenContext<'_>) -> Result<Self> {
        let named = |err: Error| err.with_plugin(NAME).with_operation("open");
        let config = parse_config(context.config).map_err(named)?;
        let path = context.require_dir().map_err(named)?.join(FILE);
        let database = Database::open(path, schema::options(context.read_only))
            .await
            .map_err(named)?;
        Ok(Self {
            database,
            config,
            last_plan: Arc::default(),
        })
    }

    /// Runs a job with the query's plan.
    async fn with_plan<T: Send + 'static>(
        &self,
        operation: &'static str,
        text: &str,
        job: impl FnOnce(&Connection, &Arc<Plan>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (text, config) = (text.to_owned(), self.config);
        let last_plan = Arc::clone(&self.last_plan);
        let read = self.database.read(move |conn| {
            let state = State::read(conn)?;
            let known = last_plan
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone();
            // A watermark names one content of the index.
            let plan = match known {
                Some(plan) if plan.text == text && plan.watermark == state.watermark => plan,
                _ => Arc::new(Plan::new(conn, &state, &text, config)?),
            };
            *last_plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&plan));
            job(conn, &plan)
        });
        read.await
            .map_err(|err| err.with_plugin(NAME).with_operation(operation))
    }
}

impl Identity for Fts5Index {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!(
            "{NAME} schema {SCHEMA_VERSION} analysis {ANALYSIS_VERSION}"
        ))
    }
}

#[async_trait]
impl Projection<LexicalOp> for Fts5Index {
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    async fn apply(&self, batch: &Batch<LexicalOp>) -> Result<()> {
        let batch = batch.clone();
        let write = self.database.write(move |conn| apply(conn, &batch));
        write
            .await
            .map_err(|err| err.with_plugin(NAME).with_operation("apply"))
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        let read = self.database.read(|conn| Ok(State::read(conn)?.watermark));
        read.await
            .map_err(|err| err.with_plugin(NAME).with_operation("read its watermark"))
    }

    async fn stats(&self) -> Result<IndexStats> {
        let read = self
            .database
            .read(|conn| projection::stats(conn, State::read(conn)?.n_entries));
        read.await
            .map_err(|err| err.with_plugin(NAME).with_operation("count"))
    }

    async fn flush(&self) -> Result<()> {
        let flush = self.database.flush();
        flush
            .await
            .map_err(|err| err.with_plugin(NAME).with_operation("flush"))
    }

    async fn close(&self) -> Result<()> {
        self.database.close().await;
        Ok(())
    }
}

#[async_trait]
impl LexicalIndex for Fts5Index {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        let (k, heading_weight) = (query.k, self.config.heading_weight);
        let allowed = query.allowed.map(<[EntryId]>::to_vec);
        self.with_plan("search", query.text, move |conn, plan| {
            search(conn, plan, heading_weight, allowed.as_deref(), k)
        })
        .await
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let (ids, heading_weight) = (ids.to_vec(), self.config.heading_weight);
        self.with_plan("score", query.text, move |conn, plan| {
            score(conn, plan, heading_weight, &ids)
        })
        .await
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        self.with_plan("weigh the query", query.text, |_, plan| {
            Ok(to_f32(plan.attainable))
        })
        .await
    }
}
