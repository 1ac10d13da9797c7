use super::{check, given, toml};
use crate::{Fusion, SearchMode, TextScore, Threshold, VectorScore};

#[test]
fn ways_to_search_are_words() {
    let text = "[search]\nmode = \"hybrid\"\nfusion = \"convex\"\ntext_score = \"saturate\"\nvector_score = \"cosine\"\nthreshold = \"freshness\"\n";
    let search = toml(text).loaded().config.search;
    assert_eq!(search.mode, SearchMode::Hybrid);
    assert_eq!(search.fusion, Fusion::Convex);
    assert_eq!(search.text_score, TextScore::Saturate);
    assert_eq!(search.vector_score, VectorScore::Cosine);
    assert_eq!(search.threshold, Threshold::Freshness);

    let search = toml(text)
        .env("MEMORY_SEARCH__FUSION", "weighted")
        .env("MEMORY_SEARCH__MODE", "vector")
        .loaded()
        .config
        .search;
    assert_eq!(search.fusion, Fusion::Weighted);
    assert_eq!(search.mode, SearchMode::Vector);
}

#[test]
fn other_words_list_the_known_ones() {
    check(
        &toml(
            "[search]\nmode = \"both\"\nfusion = \"rrf\"\ntext_score = \"bm25\"\nvector_score = \"dot\"\nthreshold = \"age\"\nvector_weight = 2\ntext_weight = -1\n[cache]\nmax_entries = 100000001\nmax_entrys = 1\n",
        ),
        &[
            "memory.toml:2: search.mode: unknown variant `both`, expected one of `auto`, `hybrid`, `lexical`, `vector`",
            "memory.toml:3: search.fusion: unknown variant `rrf`, expected `weighted` or `convex`",
            "memory.toml:4: search.text_score: unknown variant `bm25`, expected one of `share`, `position`, `saturate`",
            "memory.toml:5: search.vector_score: unknown variant `dot`, expected `calibrated` or `cosine`",
            "memory.toml:6: search.threshold: unknown variant `age`, expected `relevance` or `freshness`",
            "memory.toml:7: search.vector_weight: `2` is out of range, allowed: 0 to 1",
            "memory.toml:8: search.text_weight: `-1` is out of range, allowed: 0 to 1",
            "memory.toml:10: cache.max_entries: `100000001` is out of range, allowed: 0 to 100000000",
            "memory.toml:11: cache.max_entrys: unknown key, did you mean `max_entries`?",
        ],
    );
}

#[test]
fn weights_count_in_proportion() {
    let weights = |text: &str| toml(text).loaded().config.search.weights();
    let close = |found: (f64, f64), expected: (f64, f64)| {
        let apart = (found.0 - expected.0).abs() + (found.1 - expected.1).abs();
        assert!(apart < 1e-12, "{found:?}");
    };
    close(weights(""), (0.7, 0.3));
    close(
        weights("[search]\nvector_weight = 0.2\ntext_weight = 0.2\n"),
        (0.5, 0.5),
    );
    close(weights("[search]\nvector_weight = 0\n"), (0.0, 1.0));
    close(
        weights("[search]\nvector_weight = 1\ntext_weight = 0\n"),
        (1.0, 0.0),
    );
}

#[test]
fn weights_may_not_both_be_nothing() {
    let message = "`search.vector_weight` and `search.text_weight` are both 0";
    check(
        &toml("[search]\nvector_weight = 0\ntext_weight = 0.0\n"),
        &[&format!("memory.toml:2: search.vector_weight: {message}")],
    );
    check(
        &toml("[search]\nvector_weight = 0\n").env("MEMORY_SEARCH__TEXT_WEIGHT", "0"),
        &[&format!("env MEMORY_SEARCH__TEXT_WEIGHT: {message}")],
    );
}

#[test]
fn cache_is_as_large_as_said() {
    assert_eq!(given().loaded().config.cache.max_entries, 50_000);
    let given = given().env("MEMORY_CACHE__MAX_ENTRIES", "0");
    assert_eq!(given.loaded().config.cache.max_entries, 0);
}
