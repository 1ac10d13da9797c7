//! The suite has to fail: broken plugins, and the scenario that finds each of them out.

#[cfg(test)]
mod decay;
#[cfg(test)]
mod reranker;

#[cfg(test)]
mod check;
#[cfg(test)]
mod chunker;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod describe;
#[cfg(test)]
mod embedder;
#[cfg(test)]
mod lexical;
#[cfg(test)]
mod vector;
