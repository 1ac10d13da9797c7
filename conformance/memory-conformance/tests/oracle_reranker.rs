memory_conformance::suite!(memory_conformance::oracle::RERANKER, manifest: [deterministic]);
