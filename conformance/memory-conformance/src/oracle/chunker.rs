use std::ops::Range;
use std::sync::Arc;

use memory_api::{
    Chunked, Chunker, Document, DraftEntry, Fingerprint, Identity, OpenContext, Result,
    parse_config,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// There is nothing to configure.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Config {}

pub(super) fn open(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    parse_config::<Config>(context.config)?;
    Ok(Arc::new(OracleChunker))
}

#[derive(Debug)]
struct OracleChunker;

impl Identity for OracleChunker {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint("oracle-chunker/1".to_owned())
    }
}

impl Chunker for OracleChunker {
    fn accepts(&self, _: &Document<'_>) -> bool {
        true
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let mut chunked = Chunked::default();
        for span in paragraphs(document.text) {
            if let Some(text) = document.text.get(span.clone()) {
                chunked.entries.push(DraftEntry::new(text, span));
            }
        }
        // What is appended may belong to the last paragraph.
        chunked.resume = Some(chunked.entries.last().map_or(0, |last| last.span.start));
        Ok(chunked)
    }
}

/// Returns the runs of lines that hold something.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let holds_text = !line.chars().all(is_blank);
        if holds_text {
            match paragraphs.last_mut() {
                Some(last) if goes_on => last.end = end,
                _ => paragraphs.push(start..end),
            }
        }
        goes_on = holds_text;
        start = end;
    }
    paragraphs
}
