memory_conformance::suite!(memory_embedder_hash::PLUGIN, manifest: [deterministic]);
