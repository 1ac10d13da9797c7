memory_conformance::suite!(memory_reranker_mmr::PLUGIN, manifest: [deterministic]);
