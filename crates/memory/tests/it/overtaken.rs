//! A sync of somebody else in the middle of a search.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::executor::block_on;
use memory::config::{self, Flag, Sources};
use memory::{App, Filter, Memory, Query, SyncRequest};
use memory_api::{
    Batch, Capabilities, EntryId, Factory, Fingerprint, Hit, Identity, IndexStats, Kind,
    LexicalIndex, LexicalOp, LexicalQuery, OpenContext, Opening, Plugin, Projection, Result,
    Watermark,
};
use serde_json::json;

use crate::notes::Notes;

/// What happens once, before the index looks or after.
static MEANWHILE: Mutex<Option<Box<dyn FnOnce() + Send>>> = Mutex::new(None);

/// A test double: the index `fts5`, beside which something happens.
#[derive(Debug)]
struct Overtaken(Arc<dyn LexicalIndex>);

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Config {}

static PLUGIN: Plugin = Plugin::new::<Config>(
    "overtaken",
    "1.0.0",
    "a test double: is overtaken by a sync",
    Factory::Lexical(open),
);

fn open(context: OpenContext<'_>) -> Opening<'_, dyn LexicalIndex> {
    Box::pin(async move {
        let app = App::with_default_plugins()?;
        let Factory::Lexical(open) = app.registry().get(Kind::Lexical, "fts5")?.factory else {
            unreachable!("it is an index by words");
        };
        Ok(Arc::new(Overtaken(open(context).await?)) as Arc<dyn LexicalIndex>)
    })
}

impl Identity for Overtaken {
    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }
}

#[async_trait]
impl Projection<LexicalOp> for Overtaken {
    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[])
    }

    async fn apply(&self, batch: &Batch<LexicalOp>) -> Result<()> {
        self.0.apply(batch).await
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        self.0.watermark().await
    }

    async fn stats(&self) -> Result<IndexStats> {
        self.0.stats().await
    }

    async fn flush(&self) -> Result<()> {
        self.0.flush().await
    }

    async fn close(&self) -> Result<()> {
        self.0.close().await
    }
}

#[async_trait]
impl LexicalIndex for Overtaken {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        let meanwhile = || {
            if let Some(meanwhile) = MEANWHILE.lock().unwrap().take() {
                // A thread of its own, since executors do not nest.
                std::thread::spawn(meanwhile).join().unwrap();
            }
        };
        // What a filter lets through is known before.
        if query.allowed.is_some() {
            meanwhile();
        }
        let hits = self.0.search(query).await;
        meanwhile();
        hits
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        self.0.score(query, ids).await
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        self.0.attainable(query).await
    }
}

fn open_memory(root: &std::path::Path) -> Memory {
    let app = App::with_default_plugins()
        .unwrap()
        .plugin(&PLUGIN)
        .unwrap();
    let flag = |key: &str, value| Flag::new("test", key, value);
    let sources = Sources {
        flags: vec![
            flag("lexical.use", json!("overtaken")),
            flag("embedder.use", json!("none")),
            flag("documents.include", json!(["notes/*.md"])),
        ],
        ..Sources::default()
    };
    let loaded = config::load(&sources, app.registry()).unwrap();
    block_on(app.open(&loaded.config, root)).unwrap()
}

/// What was there before a sync and after it is in every answer.
#[test]
fn an_answer_that_a_sync_overtook_is_looked_for_again() {
    let notes = Notes::of(&[("notes/a.md", "the pump is red")]);
    let memory = open_memory(notes.root());
    block_on(memory.sync(&SyncRequest::default())).unwrap();
    let filter = Filter {
        paths: vec!["notes/a.md".to_owned()],
        ..Filter::default()
    };
    let questions = [
        (Query::new("pump"), "the pump is green"),
        (Query::new("pump").with_filter(filter), "the pump is blue"),
    ];
    for (query, text) in questions {
        let root = notes.root().to_owned();
        *MEANWHILE.lock().unwrap() = Some(Box::new(move || {
            std::fs::write(root.join("notes/a.md"), text).unwrap();
            let other = open_memory(&root);
            block_on(other.sync(&SyncRequest::default())).unwrap();
            block_on(other.close()).unwrap();
        }));
        let answer = block_on(memory.search(&query)).unwrap();
        let found: Vec<_> = answer.results.iter().map(|hit| &hit.snippet).collect();
        assert_eq!(found, [text], "{:?}", answer.degraded);
        assert!(answer.degraded.is_empty(), "{:?}", answer.degraded);
    }
    block_on(memory.close()).unwrap();
}
