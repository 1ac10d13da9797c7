memory_conformance::suite!(memory_conformance::oracle::DECAY, manifest: [deterministic]);
