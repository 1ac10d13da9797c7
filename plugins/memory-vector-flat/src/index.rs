use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EmbeddingSpace, EntryId, Error, ErrorKind, Fingerprint, Hit, Identity,
    IndexStats, OpenContext, Projection, Result, VectorIndex, VectorOp, VectorQuery, Watermark,
    parse_config, unit_vector,
};
use memory_sqlite::{Database, projection};

use crate::apply::apply;
use crate::rows::{Rows, SharedRows};
use crate::schema::{self, SCHEMA_VERSION, State};
use crate::{CAPABILITIES, Config, NAME};

/// The file in the plugin's folder.
const FILE: &str = "index.db";

/// The factory of [`PLUGIN`](crate::PLUGIN).
pub(crate) async fn open(context: OpenContext<'_>) -> Result<Arc<dyn VectorIndex>> {
    Ok(Arc::new(FlatIndex::open(context).await?))
}

/// A vector index in one SQLite file and, from the first search on, in memory.
///
/// Searches run on the database's reader threads, not on the caller's.
#[derive(Debug)]
pub struct FlatIndex {
    database: Database,
    space: EmbeddingSpace,
    rows: Arc<SharedRows>,
}

impl FlatIndex {
    /// Opens the index in the context's folder, and makes it if it is not there.
    ///
    /// # Errors
    ///
    /// `Config`; `InvalidInput` for an index of another space; `Corrupt` for a damaged file; `NotFound` when reading only and
    /// nothing is there; those of [`Database::open`](memory_sqlite::Database::open).
    pub async fn open(context: OpenContext<'_>) -> Result<Self> {
        let opened = Self::try_open(context).await;
        opened.map_err(|err| err.with_plugin(NAME).with_operation("open"))
    }

    async fn try_open(context: OpenContext<'_>) -> Result<Self> {
        let Config {} = parse_config(context.config)?;
        let path = context.require_dir()?.join(FILE);
        let space = context.require_space()?.clone();
        if space.dimensions == 0 {
            let message = format!("the space `{}` has no numbers", space.id);
            return Err(Error::new(ErrorKind::InvalidInput, message));
        }
        let database = Database::open(path, schema::options(context.read_only)).await?;
        let configured = space.clone();
        let bound = database.read(move |conn| schema::is_bound(conn, &configured));
        if !bound.await? {
            if context.read_only {
                return Err(
                    Error::new(ErrorKind::NotFound, "the index was never written")
                        .with_hint("build the index first"),
                );
            }
            let configured = space.clone();
            let bind = database.write(move |conn| schema::bind(conn, &configured));
            bind.await?;
        }
        Ok(Self {
            rows: Arc::new(SharedRows::new(space.dimensions)),
            database,
            space,
        })
    }

    /// Runs a job on the vectors as they are now, with the query's at length 1.
    async fn with_rows<T: Send + 'static>(
        &self,
        operation: &'static str,
        query: &VectorQuery<'_>,
        job: impl FnOnce(&Rows, &[f32]) -> T + Send + 'static,
    ) -> Result<T> {
        let (vector, dimensions) = (query.vector.to_vec(), self.space.dimensions);
        let rows = Arc::clone(&self.rows);
        let read = self.database.read(move |conn| {
            let vector = unit_vector(&vector, dimensions)?;
            Ok(job(&*rows.current(conn)?, &vector))
        });
        read.await
            .map_err(|err| err.with_plugin(NAME).with_operation(operation))
    }
}

impl Identity for FlatIndex {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!(
            "{NAME} schema {SCHEMA_VERSION} space {}",
            self.space.id
        ))
    }
}

#[async_trait]
impl Projection<VectorOp> for FlatIndex {
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    async fn apply(&self, batch: &Batch<VectorOp>) -> Result<()> {
        let (batch, dimensions) = (batch.clone(), self.space.dimensions);
        let write = self
            .database
            .write(move |conn| apply(conn, &batch, dimensions));
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
        self.rows.clear();
        Ok(())
    }
}

#[async_trait]
impl VectorIndex for FlatIndex {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>> {
        let k = query.k;
        let allowed = query.allowed.map(<[EntryId]>::to_vec);
        self.with_rows("search", query, move |rows, vector| match allowed {
            _ if k == 0 => Vec::new(),
            None => rows.search(vector, k),
            Some(allowed) => rows.search_among(vector, k, &allowed),
        })
        .await
    }

    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let ids = ids.to_vec();
        self.with_rows("score", query, move |rows, vector| {
            ids.iter().map(|id| rows.score(vector, *id)).collect()
        })
        .await
    }
}
