use std::sync::Arc;

use async_trait::async_trait;
use futures::executor::block_on;
use memory_api::{
    Batch, Candidate, Capabilities, Capability, Chunked, Chunker, Document, DraftEntry, EntryId,
    ErrorKind, Factory, Fingerprint, Hit, Identity, IndexStats, LexicalIndex, LexicalOp,
    LexicalQuery, Limits, OpenContext, Opening, Plugin, Projection, Ranked, Reranker, Result, Seq,
    StoreId, Watermark,
};

use crate::contract::{ContractChunker, ContractLexical, ContractReranker};

/// A test double: answers what it was told to.
#[derive(Debug, Default)]
struct Scripted {
    hits: Vec<Hit>,
    scores: Vec<Option<f32>>,
    attainable: f32,
}

impl Identity for Scripted {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("scripted/1".to_owned())
    }
}

#[async_trait]
impl Projection<LexicalOp> for Scripted {
    fn capabilities(&self) -> Capabilities {
        Capabilities::of(&[Capability::PhraseQuery])
    }

    async fn apply(&self, _: &Batch<LexicalOp>) -> Result<()> {
        Ok(())
    }

    async fn watermark(&self) -> Result<Option<Watermark>> {
        Ok(None)
    }

    async fn stats(&self) -> Result<IndexStats> {
        Ok(IndexStats::default())
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl LexicalIndex for Scripted {
    async fn search(&self, _: &LexicalQuery<'_>) -> Result<Vec<Hit>> {
        Ok(self.hits.clone())
    }

    async fn score(&self, _: &LexicalQuery<'_>, _: &[EntryId]) -> Result<Vec<Option<f32>>> {
        Ok(self.scores.clone())
    }

    async fn attainable(&self, _: &LexicalQuery<'_>) -> Result<f32> {
        Ok(self.attainable)
    }
}

fn open(_: OpenContext<'_>) -> Opening<'_, dyn LexicalIndex> {
    Box::pin(async { Ok(Arc::new(Scripted::default()) as Arc<dyn LexicalIndex>) })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Config {}

const PLUGIN: Plugin = Plugin::new::<Config>(
    "scripted",
    "1.0.0",
    "answers as told",
    Factory::Lexical(open),
)
.with_capabilities(Capabilities::of(&[Capability::PhraseQuery]))
.with_limits(Limits::NONE.with_max_ops(2).with_max_k(3));

fn wrapped(inner: Scripted) -> ContractLexical {
    ContractLexical::new(&PLUGIN, Arc::new(inner)).unwrap()
}

fn hit(id: u128, score: f32) -> Hit {
    Hit {
        id: EntryId(id),
        score,
    }
}

#[test]
fn a_wrong_answer_names_the_plugin() {
    let allowed = [EntryId(1), EntryId(2)];
    for (hits, message) in [
        (
            vec![hit(1, 0.5), hit(2, 0.4), hit(3, 0.3)],
            "3 hits for a search for 2",
        ),
        (vec![hit(1, f32::NAN)], "not finite"),
        (vec![hit(1, -0.5)], "below 0"),
        (vec![hit(1, 0.3), hit(2, 0.5)], "not ordered"),
        (vec![hit(2, 0.5), hit(1, 0.5)], "not ordered"),
        (vec![hit(1, 0.5), hit(1, 0.5)], "twice"),
        (vec![hit(1, 0.5), hit(1, 0.4)], "twice"),
        (vec![hit(9, 0.5)], "not among the allowed"),
    ] {
        let index = wrapped(Scripted {
            hits,
            ..Scripted::default()
        });
        let err =
            block_on(index.search(&LexicalQuery::new("x", 2).with_allowed(&allowed))).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Internal);
        assert!(
            err.to_string().starts_with("scripted: failed to search: "),
            "{err}"
        );
        assert!(err.message().contains(message), "{err}");
    }
}

#[test]
fn a_right_answer_passes() {
    let hits = vec![hit(3, 0.9), hit(1, 0.5), hit(2, 0.5)];
    let index = wrapped(Scripted {
        hits: hits.clone(),
        scores: vec![None, Some(0.0)],
        attainable: 2.0,
    });
    let query = LexicalQuery::new("x", 3);
    assert_eq!(block_on(index.search(&query)).unwrap(), hits);
    assert_eq!(
        block_on(index.score(&query, &[EntryId(1), EntryId(2)])).unwrap(),
        [None, Some(0.0)]
    );
    assert!((block_on(index.attainable(&query)).unwrap() - 2.0).abs() < f32::EPSILON);
}

#[test]
fn scores_and_bounds_are_checked() {
    let index = wrapped(Scripted {
        scores: vec![Some(1.0)],
        attainable: f32::INFINITY,
        ..Scripted::default()
    });
    let query = LexicalQuery::new("x", 3);
    assert!(
        block_on(index.score(&query, &[]))
            .unwrap_err()
            .message()
            .contains("1 scores for 0 ids")
    );
    assert!(
        block_on(index.attainable(&query))
            .unwrap_err()
            .message()
            .contains("bound")
    );
    let index = wrapped(Scripted {
        scores: vec![Some(f32::NAN)],
        ..Scripted::default()
    });
    assert!(
        block_on(index.score(&query, &[EntryId(1)]))
            .unwrap_err()
            .message()
            .contains("not finite")
    );
}

#[test]
fn a_request_out_of_order_never_reaches_the_plugin() {
    let index = wrapped(Scripted::default());
    let unsorted = [EntryId(2), EntryId(1)];
    let err =
        block_on(index.search(&LexicalQuery::new("x", 2).with_allowed(&unsorted))).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::InvalidInput);
    let ops = vec![
        (Seq(2), LexicalOp::Delete(EntryId(1))),
        (Seq(2), LexicalOp::Delete(EntryId(2))),
    ];
    assert_eq!(
        block_on(index.apply(&Batch::new(StoreId(1), ops)))
            .unwrap_err()
            .kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn what_the_plugin_cannot_carry_never_reaches_it() {
    let index = wrapped(Scripted::default());
    assert!(block_on(index.search(&LexicalQuery::new("x", 3))).is_ok());
    let err = block_on(index.search(&LexicalQuery::new("x", 4))).unwrap_err();
    assert_eq!(err.kind(), ErrorKind::Unsupported);
    assert_eq!(
        err.to_string(),
        "scripted: 4 hits are more than the 3 of one call"
    );
    let batch = |n: u64| {
        let ops = (1..=n)
            .map(|seq| (Seq(seq), LexicalOp::Delete(EntryId(1))))
            .collect();
        Batch::new(StoreId(1), ops)
    };
    assert!(block_on(index.apply(&batch(2))).is_ok());
    assert_eq!(
        block_on(index.apply(&batch(3))).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

#[test]
fn a_capability_that_was_not_declared_is_refused() {
    let undeclared = PLUGIN.with_capabilities(Capabilities::NONE);
    let index = ContractLexical::new(&undeclared, Arc::new(Scripted::default()));
    assert!(index.unwrap_err().message().contains("did not declare"));
}

/// A test double: cuts as it was told to.
#[derive(Debug)]
struct Cutter(Vec<DraftEntry>, Option<usize>);

impl Identity for Cutter {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("cutter/1".to_owned())
    }
}

impl Chunker for Cutter {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, _: &Document<'_>) -> Result<Chunked> {
        let mut chunked = Chunked::default();
        chunked.entries.clone_from(&self.0);
        chunked.resume = self.1;
        Ok(chunked)
    }
}

#[test]
fn a_wrong_cut_names_the_chunker_and_the_document() {
    let document = Document::new("memory", "a.md", "水泵 pump");
    for (entries, resume) in [
        (vec![DraftEntry::new(" \n", 0..3)], None),
        (vec![DraftEntry::new("x", 0..99)], None),
        (vec![DraftEntry::new("x", 1..3)], None),
        (vec![DraftEntry::new("x", 3..3)], None),
        (
            vec![DraftEntry::new("x", 3..6), DraftEntry::new("y", 0..3)],
            None,
        ),
        (vec![DraftEntry::new("x", 0..3)], Some(99)),
        (vec![DraftEntry::new("x", 0..3)], Some(4)),
        (vec![DraftEntry::new("x", 0..6)], Some(3)),
    ] {
        let chunker = ContractChunker::new("cutter", Arc::new(Cutter(entries, resume)));
        let err = chunker.chunk(&document).unwrap_err();
        assert!(
            err.to_string().starts_with("cutter: failed to chunk: "),
            "{err}"
        );
        assert_eq!(err.context("path"), Some("a.md"));
    }
    let chunker = ContractChunker::new(
        "cutter",
        Arc::new(Cutter(vec![DraftEntry::new("水泵", 0..6)], Some(6))),
    );
    assert_eq!(chunker.chunk(&document).unwrap().entries.len(), 1);
}

/// A test double: a reranker that says these places.
#[derive(Debug)]
struct Says(Vec<Ranked>);

impl Identity for Says {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("says".to_owned())
    }
}

#[async_trait]
impl Reranker for Says {
    async fn rerank(&self, _: &str, _: &[Candidate<'_>]) -> Result<Vec<Ranked>> {
        Ok(self.0.clone())
    }
}

#[test]
fn a_reranker_that_breaks_its_contract_is_named() {
    let candidates = [1, 2].map(|n| Candidate::new(EntryId::from_bytes([n; 16]), "pump", 0.5));
    let say = |places: &[(usize, Option<f32>)]| {
        let places = places.iter().map(|(index, score)| Ranked {
            index: *index,
            score: *score,
        });
        let reranker = ContractReranker::new("says", Arc::new(Says(places.collect())));
        block_on(reranker.rerank("pump", &candidates))
    };
    let fine: [&[_]; 4] = [
        &[],
        &[(1, None), (0, None)],
        &[(1, Some(1.0)), (0, Some(1.0))],
        &[(0, Some(0.5)), (1, Some(0.0))],
    ];
    for places in fine {
        assert_eq!(say(places).unwrap().len(), places.len());
    }
    let broken: [(&[_], &str); 5] = [
        (&[(2, None)], "names no candidate"),
        (&[(0, None), (0, None)], "named before"),
        (&[(0, Some(1.5))], "from 0 to 1"),
        (&[(0, Some(f32::NAN))], "from 0 to 1"),
        (&[(0, Some(0.2)), (1, Some(0.3))], "higher than one before"),
    ];
    for (places, says) in broken {
        let err = say(places).unwrap_err();
        assert_eq!(
            (err.kind(), err.plugin()),
            (ErrorKind::Internal, Some("says"))
        );
        assert!(err.message().contains(says), "{err}");
    }
}
