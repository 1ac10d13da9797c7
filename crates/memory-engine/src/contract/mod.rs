//! The layer around every plugin: it checks each request and each answer, so that a wrong plugin is named instead of giving wrong
//! results. What a query asks for beyond plain words, the plugin itself answers or refuses, as the query language is parsed there.

mod chunker;
mod decay;
mod embedder;
mod index;
mod lexical;
mod reranker;
mod vector;

use memory_api::{Error, ErrorKind};

pub(crate) use chunker::ContractChunker;
pub(crate) use decay::ContractDecay;
pub(crate) use embedder::ContractEmbedder;
pub(crate) use lexical::ContractLexical;
pub(crate) use reranker::ContractReranker;
pub(crate) use vector::ContractVector;

fn broken(plugin: &str, operation: &str, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Internal, what)
        .with_plugin(plugin)
        .with_operation(operation)
        .with_hint("this is a bug of the plugin; its conformance suite shows it")
}
