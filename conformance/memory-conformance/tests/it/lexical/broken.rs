use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use memory_api::{
    Batch, Capabilities, Capability, EntryId, Error, ErrorKind, Factory, Fields, Fingerprint, Hit,
    Identity, IndexStats, LexicalEntry, LexicalIndex, LexicalOp, LexicalQuery, OpenContext,
    Opening, Projection, Result, Seq, StoreId, Watermark, parse_config,
};
use memory_conformance::oracle;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {
    /// What it does wrong.
    fault: String,
}

pub(super) fn open(context: OpenContext<'_>) -> Opening<'_, dyn LexicalIndex> {
    open_as(context, super::FULL.capabilities)
}

pub(super) fn open_plain(context: OpenContext<'_>) -> Opening<'_, dyn LexicalIndex> {
    open_as(context, Capabilities::NONE)
}

fn open_as(context: OpenContext<'_>, declared: Capabilities) -> Opening<'_, dyn LexicalIndex> {
    let Factory::Lexical(open_oracle) = oracle::LEXICAL.factory else {
        unreachable!("the oracle is a lexical index")
    };
    Box::pin(async move {
        let config: Config = parse_config(context.config)?;
        let dir = context.require_dir()?;
        if !declared.has(Capability::Persistent) || config.fault == "forgets_at_close" {
            // What a process holds in memory alone.
            drop(fs::remove_file(dir.join("oracle.json")));
        }
        let inner = open_oracle(OpenContext::new(&serde_json::Value::Null).with_dir(dir)).await?;
        Ok(Arc::new(Broken {
            inner,
            declared,
            fault: config.fault,
            ahead: dir.join("ahead"),
            notes: Mutex::default(),
        }) as Arc<dyn LexicalIndex>)
    })
}

/// The oracle behind a layer that does one thing wrong.
#[derive(Debug)]
struct Broken {
    inner: Arc<dyn LexicalIndex>,
    declared: Capabilities,
    fault: String,
    /// A watermark that is written before the content.
    ahead: PathBuf,
    notes: Mutex<Notes>,
}

/// What the layer has seen.
#[derive(Debug, Default)]
struct Notes {
    store: Option<StoreId>,
    through: Seq,
    flushed: Option<Watermark>,
    texts: BTreeMap<EntryId, String>,
    replayed: BTreeSet<EntryId>,
    n_puts: u64,
    waiting: Vec<Batch<LexicalOp>>,
}

impl Broken {
    fn is(&self, fault: &str) -> bool {
        self.fault == fault
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap()
    }

    /// Refuses what a plain index does not understand; rewrites the query where the fault is in its reading.
    fn read(&self, text: &str) -> Result<String> {
        let marks = text.contains(['"', '*', '-']);
        if self.declared == Capabilities::NONE && marks && !self.is("understands_all") {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "only words are understood",
            ));
        }
        Ok(match self.fault.as_str() {
            "refuses_colons" if text.contains(':') => {
                return Err(Error::new(ErrorKind::InvalidInput, "no such column"));
            }
            "empty_on_colons" if text.contains(':') => String::new(),
            "panics_at_quotes" => {
                assert!(
                    text.matches('"').count().is_multiple_of(2),
                    "unbalanced quote"
                );
                text.to_owned()
            }
            "finds_all_for_nothing" if !text.chars().any(char::is_alphanumeric) => {
                "wharf".to_owned()
            }
            "phrases_are_words" => text.replace('"', " "),
            "prefixes_are_words" => text.replace('*', " "),
            "exclusions_are_words" => text.replace('-', " "),
            _ => text.to_owned(),
        })
    }

    fn rewrite(&self, seq: Seq, op: &LexicalOp) -> LexicalOp {
        let mut notes = self.notes();
        match (op, self.fault.as_str()) {
            (LexicalOp::Put(entry), fault) => {
                let mut entry = entry.clone();
                notes.n_puts += 1;
                match fault {
                    "put_adds" => {
                        let text = notes.texts.entry(entry.id).or_default();
                        text.push(' ');
                        text.push_str(&entry.text);
                        entry.text.clone_from(text);
                    }
                    "replay_duplicates" if seq <= notes.through => {
                        notes.replayed.insert(entry.id);
                    }
                    "ignores_headings" => entry.heading_path.clear(),
                    "reads_ascii" => entry.text.retain(|c| c.is_ascii()),
                    "drops_long_words" => {
                        let words = entry.text.split(' ').filter(|word| word.len() < 40);
                        entry.text = words.collect::<Vec<_>>().join(" ");
                    }
                    _ => {}
                }
                LexicalOp::Put(entry)
            }
            (LexicalOp::SetMeta(id, fields), "set_meta_puts") => {
                let entry = LexicalEntry::new(*id, String::new(), fields.clone());
                LexicalOp::Put(Box::new(entry))
            }
            (LexicalOp::Delete(id), "forgets_deletes") => {
                LexicalOp::SetMeta(*id, Fields::default())
            }
            (other, _) => other.clone(),
        }
    }

    /// The batch as the inner index gets it.
    async fn forward(&self, batch: &Batch<LexicalOp>) -> Result<()> {
        let mut batch = batch.clone();
        if self.is("sorts_batches") {
            batch.ops.sort_by_key(|(seq, _)| *seq);
        }
        if self.is("takes_old_ops") {
            // The positions the inner index sees only grow, whatever the batch says.
            let seen = self
                .inner
                .watermark()
                .await?
                .map_or(0, |watermark| watermark.seq.0);
            for (n, (seq, _)) in (seen + 1..).zip(&mut batch.ops) {
                *seq = Seq(n);
            }
            batch.through = Seq(seen + batch.ops.len() as u64);
        }
        if self.is("stands_at_its_last_op") {
            batch.through = batch.ops.last().map(|(seq, _)| *seq).unwrap_or_default();
        }
        if self.is("takes_any_store") {
            batch.store = *self.notes().store.get_or_insert(batch.store);
        }
        let ops = std::mem::take(&mut batch.ops);
        batch.ops = ops
            .into_iter()
            .map(|(seq, op)| (seq, self.rewrite(seq, &op)))
            .collect();
        self.inner.apply(&batch).await
    }

    async fn forward_waiting(&self) -> Result<()> {
        let waiting = std::mem::take(&mut self.notes().waiting);
        for batch in waiting {
            self.forward(&batch).await?;
        }
        Ok(())
    }

    /// Refuses at once what a buffer would refuse too late.
    async fn check_batch(&self, batch: &Batch<LexicalOp>) -> Result<()> {
        let known = self
            .inner
            .watermark()
            .await?
            .map(|watermark| watermark.store);
        let known = known.or(self.notes().waiting.first().map(|batch| batch.store));
        let is_sorted = batch.ops.is_sorted_by(|(left, _), (right, _)| left < right);
        if known.is_some_and(|store| store != batch.store) || !is_sorted {
            return Err(Error::new(ErrorKind::InvalidInput, "refused"));
        }
        Ok(())
    }
}

impl Identity for Broken {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!("broken {}", self.fault))
    }
}

#[async_trait]
impl Projection<LexicalOp> for Broken {
    fn capabilities(&self) -> Capabilities {
        if self.is("claims_more") {
            return Capabilities::of(&[Capability::NativeFilter]);
        }
        self.declared
    }

    async fn apply(&self, batch: &Batch<LexicalOp>) -> Result<()> {
        match self.fault.as_str() {
            "buffers" => {
                self.check_batch(batch).await?;
                self.notes().waiting.push(batch.clone());
                return Ok(());
            }
            "flushes_later" => {
                self.forward_waiting().await?;
                self.notes().waiting.push(batch.clone());
                return Ok(());
            }
            "watermark_runs_ahead" => {
                let through = batch.through.max(self.notes().through);
                fs::write(&self.ahead, through.to_string()).unwrap();
            }
            _ => {}
        }
        self.forward(batch).await?;
        let mut notes = self.notes();
        notes.store.get_or_insert(batch.store);
        notes.through = notes.through.max(batch.through);
        Ok(())
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        let inner = self.inner.watermark().await?;
        Ok(match self.fault.as_str() {
            "takes_old_ops" => {
                let seq = self.notes().through;
                inner.map(|watermark| Watermark { seq, ..watermark })
            }
            "watermark_waits" => self.notes().flushed,
            "watermark_runs_ahead" => match fs::read_to_string(&self.ahead) {
                Ok(text) => Some(Watermark {
                    store: inner.map_or(StoreId(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef), |w| {
                        w.store
                    }),
                    seq: Seq(text.parse().unwrap()),
                }),
                Err(_) => inner,
            },
            _ => inner,
        })
    }

    async fn stats(&self) -> Result<IndexStats> {
        let stats = self.inner.stats().await?;
        if self.is("counts_the_deleted") {
            return Ok(IndexStats::new(self.notes().n_puts, None));
        }
        Ok(stats)
    }

    async fn flush(&self) -> Result<()> {
        if self.is("buffers") {
            self.forward_waiting().await?;
        }
        self.inner.flush().await?;
        let watermark = self.inner.watermark().await?;
        self.notes().flushed = watermark;
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        if self.is("answers_after_close") {
            return self.inner.flush().await;
        }
        if self.is("buffers") {
            self.forward_waiting().await?;
        }
        self.inner.close().await
    }
}

#[async_trait]
impl LexicalIndex for Broken {
    async fn search(&self, query: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        let text = self.read(query.text)?;
        let mut asked = *query;
        asked.text = &text;
        let mut all = asked;
        all.k = usize::MAX;
        Ok(match self.fault.as_str() {
            "replay_duplicates" => {
                let hits = self.inner.search(&asked).await?;
                let notes = self.notes();
                let copies = |hit: &Hit| 1 + usize::from(notes.replayed.contains(&hit.id));
                hits.into_iter()
                    .flat_map(|hit| vec![hit; copies(&hit)])
                    .collect()
            }
            "ties_descend" => {
                let mut hits = self.inner.search(&all).await?;
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
                hits.truncate(query.k);
                hits
            }
            "finds_a_stranger" => {
                let mut hits = self.inner.search(&asked).await?;
                let others = self.inner.search(&LexicalQuery::new("tokbbk", 1)).await?;
                let worst = hits.last().map_or(1.0, |hit| hit.score);
                let stranger = others
                    .into_iter()
                    .find(|other| hits.iter().all(|hit| hit.id != other.id));
                hits.extend(stranger.map(|hit| Hit {
                    score: worst / 2.0,
                    ..hit
                }));
                hits
            }
            "joins_by_and" => {
                let mut hits = self.inner.search(&all).await?;
                for word in text.split_whitespace() {
                    let one = self
                        .inner
                        .search(&LexicalQuery::new(word, usize::MAX))
                        .await?;
                    hits.retain(|hit| one.iter().any(|other| other.id == hit.id));
                }
                hits.truncate(query.k);
                hits
            }
            "cuts_before_sorting" => {
                let mut hits = self.inner.search(&all).await?;
                hits.sort_by_key(|hit| hit.id);
                hits.truncate(query.k);
                hits.sort_by(Hit::rank);
                hits
            }
            "filters_after_the_cut" => {
                let mut unfiltered = asked;
                unfiltered.allowed = None;
                let mut hits = self.inner.search(&unfiltered).await?;
                hits.retain(|hit| {
                    query
                        .allowed
                        .is_none_or(|allowed| allowed.contains(&hit.id))
                });
                hits
            }
            "ignores_allowed" => {
                asked.allowed = None;
                self.inner.search(&asked).await?
            }
            "scores_are_flat" => {
                let mut hits = self.inner.search(&all).await?;
                hits.sort_by_key(|hit| hit.id);
                hits.truncate(query.k);
                hits.into_iter()
                    .map(|hit| Hit { score: 0.1, ..hit })
                    .collect()
            }
            _ => self.inner.search(&asked).await?,
        })
    }

    async fn score(&self, query: &LexicalQuery<'_>, ids: &[EntryId]) -> Result<Vec<Option<f32>>> {
        let text = self.read(query.text)?;
        let mut asked = *query;
        asked.text = &text;
        let scores = self.inner.score(&asked, ids).await?;
        let wrong = |score: f32| match self.fault.as_str() {
            "scores_differ" => Some(score * 1.01),
            "no_match_is_no_entry" => (score > 0.0).then_some(score),
            _ => Some(score),
        };
        Ok(scores
            .into_iter()
            .map(|score| score.and_then(wrong))
            .collect())
    }

    async fn attainable(&self, query: &LexicalQuery<'_>) -> Result<f32> {
        let text = self.read(query.text)?;
        let mut asked = *query;
        asked.text = &text;
        let bound = self.inner.attainable(&asked).await?;
        Ok(if self.is("attains_less") {
            bound / 4.0
        } else {
            bound
        })
    }
}
