memory_conformance::suite!(memory_conformance::oracle::EMBEDDER, manifest: [deterministic]);
