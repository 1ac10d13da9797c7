use memory_api::Kind;

use super::{given, toml};

#[test]
fn settings_say_where_each_value_was_set() {
    let given = given()
        .file("user.toml", "[search]\nmax_results = 9\n")
        .file(
            "memory.toml",
            "\n[documents]\ninclude = [\n  \"a\",\n]\n[lexical.fts5]\nlimits.depth = 2\n",
        )
        .env("MEMORY_SEARCH__MIN_SCORE", "1")
        .flag("--citations", "search.citations", "off");
    let loaded = given.loaded();
    let lines: Vec<_> = loaded
        .settings()
        .map(|setting| {
            let origin = setting.origin.to_string();
            let origin = origin.rsplit('/').next().unwrap().to_owned();
            format!("{} = {} # {origin}", setting.key, setting.value)
        })
        // Pages of text.
        .filter(|line| {
            !line.starts_with("flush.prompt") && !line.starts_with("flush.system_prompt")
        })
        .collect();
    assert_eq!(
        lines,
        [
            "cache.max_entries = 50000 # default",
            "chunker.use = [\"markdown\"] # default",
            "decay.evergreen = [\"MEMORY.md\", \"USER.md\"] # default",
            "decay.evergreen_undated = true # default",
            "decay.use = \"none\" # default",
            "documents.extra_paths = [] # default",
            "documents.include = [\"a\"] # memory.toml:3",
            "documents.max_file_kib = 10240 # default",
            "documents.transcripts = [] # default",
            "embedder.fallback = \"words\" # default",
            "embedder.use = \"auto\" # default",
            "flush.enabled = true # default",
            "flush.reserve_floor_tokens = 20000 # default",
            "flush.soft_tokens = 4000 # default",
            "flush.transcript_kib = 2048 # default",
            "lexical.fts5.api_key = \"\" # default",
            "lexical.fts5.cache_kib = 64 # default",
            "lexical.fts5.fold = true # default",
            "lexical.fts5.label = \"\" # default",
            "lexical.fts5.limits.depth = 2 # memory.toml:7",
            "lexical.fts5.stop_words = [] # default",
            "lexical.fts5.tokenizer = \"unicode61\" # default",
            "lexical.fts5.weights = [1.0, 0.5] # default",
            "lexical.use = \"fts5\" # default",
            "namespace = \"default\" # default",
            "preset = \"default\" # default",
            "rerank.use = [] # default",
            "search.candidate_multiplier = 4 # default",
            "search.citations = \"off\" # flag --citations",
            "search.fusion = \"weighted\" # default",
            "search.max_chars = 8000 # default",
            "search.max_results = 9 # user.toml:2",
            "search.min_score = 1 # env MEMORY_SEARCH__MIN_SCORE",
            "search.mode = \"auto\" # default",
            "search.snippet_chars = 700 # default",
            "search.text_score = \"share\" # default",
            "search.text_weight = 0.3 # default",
            "search.threshold = \"relevance\" # default",
            "search.vector_score = \"calibrated\" # default",
            "search.vector_weight = 0.7 # default",
            "sync.delta_bytes = 100000 # default",
            "sync.delta_messages = 50 # default",
            "sync.interval_minutes = 10 # default",
            "sync.on_search = true # default",
            "sync.on_session_start = true # default",
            "sync.watch = true # default",
            "sync.watch_debounce_ms = 1500 # default",
            "vector.use = \"none\" # default",
            "write.file = \"memory/{date}.md\" # default",
            "write.heading = \"## {time}\" # default",
            "write.max_chars = 20000 # default",
            "write.note_heading = \"## {date} {time}\" # default",
            "write.time_zone = \"system\" # default",
        ]
    );
}

#[test]
fn rendered_config_is_a_config_file_of_the_same_meaning() {
    let first = toml("namespace = \"a \\\" b\"\n[search]\nmin_score = 0.5\n[lexical.fts5.headers]\n\"x.y\" = \"1\"\n[lexical.remote]\nurl = \"u\"\n").loaded();
    let text = first.render().to_owned();
    let second = toml(text.clone()).loaded();
    assert_eq!(second.render(), text);
    assert_eq!(second.config.namespace, "a \" b");
    assert_eq!(second.config.search, first.config.search);
    assert!(
        text.contains("[search]\ncandidate_multiplier = 4\n"),
        "{text}"
    );
    assert!(
        text.contains("[lexical.fts5.headers]\n\"x.y\" = \"1\"\n"),
        "{text}"
    );
}

#[test]
fn rendered_config_names_no_variable() {
    let first = toml("namespace = \"$${HOME} $$${x $ ${A}\"\n[documents]\ninclude = [\"$${x}\"]\n")
        .env("A", "${A}")
        .loaded();
    assert_eq!(first.config.namespace, "${HOME} $${x $ ${A}");
    let second = toml(first.render()).loaded();
    assert_eq!(second.render(), first.render());
    assert_eq!(second.config.namespace, first.config.namespace);
    assert_eq!(second.config.documents.include, ["${x}"]);
}

/// CF-05: where a key came from is said, the key is not.
#[test]
fn secrets_are_shown_nowhere() {
    let secret = "sk-live-1234\\\"x";
    let text = format!(
        "[lexical]\nuse = \"remote\"\n[lexical.remote]\nurl = \"http://h?k=${{MY_API_KEY}}\"\n[lexical.fts5]\napi_key = \"{secret}\"\nlabel = \"{secret}\"\nheaders.Authorization = \"Bearer abc\"\n"
    );
    let loaded = toml(text).env("MY_API_KEY", "from-the-env").loaded();
    let shown = format!(
        "{:?}\n{}\n{:?}",
        loaded.settings().collect::<Vec<_>>(),
        loaded.render(),
        loaded
    );
    for word in ["sk-live", "from-the-env", "Bearer"] {
        assert!(!shown.contains(word), "{word}: {shown}");
    }
    let key = loaded
        .settings()
        .find(|s| s.key == "lexical.fts5.api_key")
        .unwrap();
    assert_eq!(key.value, "\"***\"");
    assert!(key.origin.to_string().ends_with("memory.toml:6"));
    let url = &loaded.config.plugin(Kind::Lexical).unwrap().config["url"];
    assert_eq!(url, "http://h?k=from-the-env");
}

#[test]
fn secrets_are_not_in_errors() {
    super::check(
        &toml("[lexical.fts5]\napi_key = [\"sk-live-1\"]\nfold = \"${A_TOKEN}\"\n[lexical.remote]\nurl = 1\napi_key = \"sk-live-2\"\n").env("A_TOKEN", "tok-123"),
        &[
            "memory.toml:2: lexical.fts5.api_key: invalid value: ***, expected a string",
            "memory.toml:3: lexical.fts5.fold: invalid type: string \"***\", expected a boolean",
            "memory.toml:5: lexical.remote.url: invalid type: integer `1`, expected a string",
            "memory.toml:6: lexical.remote.api_key: unknown key",
        ],
    );
    super::check(
        &given().env("MEMORY_LEXICAL__FTS5__API_KEY", "12").flag(
            "--api-key",
            "lexical.fts5.api_key",
            12,
        ),
        &["flag --api-key: invalid value: ***, expected a string"],
    );
}
