memory_conformance::suite!(memory_conformance::oracle::CHUNKER, manifest: [deterministic]);
