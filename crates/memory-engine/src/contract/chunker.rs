use std::sync::Arc;

use memory_api::{Chunked, Chunker, Document, Fingerprint, Identity, Result};

use super::broken;

/// A chunker whose answers are checked.
#[derive(Debug)]
pub(crate) struct ContractChunker {
    name: &'static str,
    inner: Arc<dyn Chunker>,
}

impl ContractChunker {
    /// Wraps the chunker of this plugin name.
    pub(crate) fn new(name: &'static str, inner: Arc<dyn Chunker>) -> Self {
        Self { name, inner }
    }

    fn check(&self, document: &Document<'_>, chunked: &Chunked) -> Result<()> {
        let broken =
            |what: &str| Err(broken(self.name, "chunk", what).with_context("path", document.path));
        let mut start = 0;
        for entry in &chunked.entries {
            if entry.text.trim().is_empty() {
                return broken("an entry is blank");
            }
            if entry.span.is_empty() || document.text.get(entry.span.clone()).is_none() {
                return broken("an entry's span is not a piece of the text");
            }
            if entry.span.start < start {
                return broken("the entries are not ordered by their span");
            }
            start = entry.span.start;
        }
        if let Some(resume) = chunked.resume {
            if !document.text.is_char_boundary(resume) {
                return broken("the place to go on from is none of the text");
            }
            let mut before = chunked
                .entries
                .iter()
                .take_while(|entry| entry.span.start < resume);
            if before.any(|entry| entry.span.end > resume) {
                return broken("an entry reaches beyond the place to go on from");
            }
        }
        Ok(())
    }
}

impl Identity for ContractChunker {
    fn fingerprint(&self) -> Fingerprint {
        self.inner.fingerprint()
    }
}

#[deny(clippy::missing_trait_methods)]
impl Chunker for ContractChunker {
    fn accepts(&self, document: &Document<'_>) -> bool {
        self.inner.accepts(document)
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let chunked = self
            .inner
            .chunk(document)
            .map_err(|err| err.with_plugin(self.name).with_operation("chunk"))?;
        self.check(document, &chunked)?;
        Ok(chunked)
    }
}
