use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use memory_api::{Error, ErrorKind, Matrix, Result};

use crate::bert::{Bert, Scratch};
use crate::source;
use crate::tokenizer::Tokenizer;
use crate::variant::{ModelFile, Pooling};
use crate::verify;

/// Tokens that go through the model at once. Enough that reading the weights costs little beside using them; more would only take
/// more memory.
const PACK_TOKENS: usize = 384;

/// What is loaded, and how it is used.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) path: PathBuf,
    /// What the files have to be, below the folder of models; empty for a model by path, which is what it is.
    pub(crate) files: &'static [ModelFile],
    pub(crate) models_dir: PathBuf,
    pub(crate) dimensions: usize,
    pub(crate) pooling: Pooling,
    pub(crate) max_tokens: usize,
    pub(crate) threads: NonZeroUsize,
}

/// A loaded model.
#[derive(Debug)]
pub(crate) struct Model {
    bert: Bert,
    tokenizer: Tokenizer,
    pooling: Pooling,
    threads: NonZeroUsize,
}

impl Model {
    pub(crate) fn load(plan: &Plan) -> Result<Self> {
        for file in plan.files {
            verify::verify(&plan.models_dir.join(file.name), file.sha256, file.bytes)?;
        }
        let (bert, tokenizer) = source::load(&plan.path, plan.max_tokens)?;
        if bert.shape.hidden != plan.dimensions || bert.shape.positions < plan.max_tokens {
            let message = format!(
                "model file `{}` changed since it was opened",
                plan.path.display()
            );
            return Err(Error::new(ErrorKind::Corrupt, message)
                .with_hint("start again; vectors made with the other file have to be made anew"));
        }
        Ok(Self {
            bert,
            tokenizer,
            pooling: plan.pooling,
            threads: plan.threads,
        })
    }

    #[cfg(test)]
    pub(crate) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Embeds texts, which have their prefix. `wanted` is asked between packs; `None` when it said no.
    pub(crate) fn embed(
        &self,
        texts: &[String],
        wanted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Matrix>> {
        let tokens = self.each(texts, wanted, |text, _| self.tokenizer.encode(text))?;
        let Some(tokens) = tokens else {
            return Ok(None);
        };
        let mut order: Vec<usize> = (0..tokens.len()).collect();
        let len = |idx: &usize| tokens.get(*idx).map_or(0, Vec::len);
        // The longest first, so that no thread begins a long text when the others are done.
        order.sort_by_key(|idx| std::cmp::Reverse(len(idx)));
        let packs = packs(&order, len);
        let vectors = self.each(&packs, wanted, |pack, scratch| {
            let texts: Vec<&[u32]> = pack
                .iter()
                .filter_map(|idx| tokens.get(*idx).map(Vec::as_slice))
                .collect();
            self.bert.embed(&texts, self.pooling, scratch)
        })?;
        let Some(vectors) = vectors else {
            return Ok(None);
        };
        let mut rows: Vec<(usize, Vec<f32>)> = order
            .into_iter()
            .zip(vectors.into_iter().flatten())
            .collect();
        rows.sort_by_key(|(idx, _)| *idx);
        let data = rows.into_iter().flat_map(|(_, row)| row).collect();
        Matrix::new(self.bert.shape.hidden, data).map(Some)
    }

    /// Does something with each item on all threads; results in the order of the items.
    fn each<I: Sync, T: Send>(
        &self,
        items: &[I],
        wanted: &(dyn Fn() -> bool + Sync),
        work: impl Fn(&I, &mut Scratch) -> Result<T> + Sync,
    ) -> Result<Option<Vec<T>>> {
        let next = AtomicUsize::new(0);
        let take = || {
            let mut scratch = Scratch::default();
            let mut done = Vec::new();
            while wanted() {
                let idx = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(idx) else { break };
                let result = work(item, &mut scratch);
                let failed = result.is_err();
                done.push((idx, result));
                if failed {
                    break;
                }
            }
            done
        };
        let helpers = self.threads.get().min(items.len()).saturating_sub(1);
        let mut done = thread::scope(|scope| {
            let spawn = |number: usize| {
                thread::Builder::new()
                    .name(format!("memory-embedder-local-{number}"))
                    .spawn_scoped(scope, take)
            };
            // Without a thread to help it only takes longer.
            let handles: Vec<_> = (1..=helpers)
                .map_while(|number| spawn(number).ok())
                .collect();
            let mut done = take();
            for handle in handles {
                match handle.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        done.sort_by_key(|(idx, _)| *idx);
        let results = done
            .into_iter()
            .map(|(_, result)| result)
            .collect::<Result<Vec<T>>>()?;
        Ok((results.len() == items.len()).then_some(results))
    }
}

/// Cuts an order into packs of at most as many tokens as go at once, or of one text.
fn packs(order: &[usize], len: impl Fn(&usize) -> usize) -> Vec<&[usize]> {
    let mut packs = Vec::new();
    let mut rest = order;
    while !rest.is_empty() {
        let mut tokens = 0;
        let fitting = rest.iter().take_while(|idx| {
            tokens += len(idx);
            tokens <= PACK_TOKENS
        });
        let (pack, after) = rest.split_at(fitting.count().max(1));
        packs.push(pack);
        rest = after;
    }
    packs
}

/// Returns whether every file of the model is there.
pub(crate) fn is_there(models_dir: &Path, files: &[ModelFile]) -> bool {
    files
        .iter()
        .all(|file| models_dir.join(file.name).is_file())
}
