use std::sync::Arc;

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, EmbeddingSpace, EntryId, Error, ErrorKind, Fingerprint, Hit, Identity,
    IndexStats, OpenContext, Projection, Result, VectorIndex, VectorOp, VectorQuery, Watermark,
    parse_config, unit_vector,
};
use memory_sqlite::rusqlite::Connection;
use memory_sqlite::{Database, projection};

use crate::apply::apply;
use crate::schema::{self, SCHEMA_VERSION, State};
use crate::search::{score, search};
use crate::vector::to_bytes;
use crate::{CAPABILITIES, Config, MAX_DIMENSIONS, NAME};

/// The file in the plugin's folder.
const FILE: &str = "index.db";

/// The factory of [`PLUGIN`](crate::PLUGIN).
pub(crate) async fn open(context: OpenContext<'_>) -> Result<Arc<dyn VectorIndex>> {
    Ok(Arc::new(SqliteVecIndex::open(context).await?))
}

/// A vector index in one SQLite file.
#[derive(Debug)]
pub struct SqliteVecIndex {
    database: Database,
    space: EmbeddingSpace,
}

impl SqliteVecIndex {
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
        if !(1..=MAX_DIMENSIONS).contains(&space.dimensions) {
            let message = format!(
                "the space `{}` has {} numbers, sqlite-vec takes 1 to {MAX_DIMENSIONS}",
                space.id, space.dimensions
            );
            return Err(Error::new(ErrorKind::InvalidInput, message)
                .with_hint("use another vector index, or an embedder with shorter vectors"));
        }
        let database = Database::open(path, schema::options(context.read_only)).await?;
        let configured = space.clone();
        let bound = database.read(move |conn| {
            let is_bound = schema::is_bound(conn, &configured)?;
            if is_bound {
                schema::check_count(conn)?;
            }
            Ok(is_bound)
        });
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
        Ok(Self { database, space })
    }

    /// Runs a job with the bytes of the query's vector.
    async fn with_vector<T: Send + 'static>(
        &self,
        operation: &'static str,
        query: &VectorQuery<'_>,
        job: impl FnOnce(&Connection, &[u8]) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (vector, dimensions) = (query.vector.to_vec(), self.space.dimensions);
        let read = self.database.read(move |conn| {
            let vector = unit_vector(&vector, dimensions)?;
            job(conn, &to_bytes(&vector))
        });
        read.await
            .map_err(|err| err.with_plugin(NAME).with_operation(operation))
    }
}

impl Identity for SqliteVecIndex {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!(
            "{NAME} schema {SCHEMA_VERSION} space {}",
            self.space.id
        ))
    }
}

#[async_trait]
impl Projection<VectorOp> for SqliteVecIndex {
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
        Ok(())
    }
}

#[async_trait]
impl VectorIndex for SqliteVecIndex {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn search(&self, query: &VectorQuery<'_>) -> Result<Vec<Hit>> {
        let k = query.k;
        let allowed = query.allowed.map(<[EntryId]>::to_vec);
        self.with_vector("search", query, move |conn, vector| {
            search(conn, vector, k, allowed.as_deref())
        })
        .await
    }

    async fn score(&self, query: &VectorQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let ids = ids.to_vec();
        self.with_vector("score", query, move |conn, vector| {
            score(conn, vector, &ids)
        })
        .await
    }
}
