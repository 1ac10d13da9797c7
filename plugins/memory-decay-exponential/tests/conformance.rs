memory_conformance::suite!(memory_decay_exponential::PLUGIN, manifest: [deterministic]);
