//! The settings of another system, as a config file of ours: what comes out loads, and nothing is dropped silently.

use std::fs;
use std::path::Path;

use memory::App;
use memory::config::{self, Import, ImportSource, Loaded, NoteKind, Sources};
use memory_api::Registry;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn registry() -> Registry {
    App::with_default_plugins().unwrap().registry().clone()
}

fn source() -> ImportSource<'static> {
    ImportSource {
        file: Path::new("openclaw.json"),
        state_dir: Some(Path::new("/home/ada/.openclaw")),
        home: Some(Path::new("/home/ada")),
        env: &[],
        agent: None,
    }
}

#[track_caller]
fn imported(text: &str) -> Import {
    config::import(text, &source(), &registry()).unwrap_or_else(|err| panic!("{err}\n{text}"))
}

fn loaded(import: &Import) -> Loaded {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("memory.toml");
    fs::write(&file, &import.toml).unwrap();
    let sources = Sources {
        workspace_file: Some(file),
        ..Sources::default()
    };
    config::load(&sources, &registry()).unwrap_or_else(|err| panic!("{err}\n{}", import.toml))
}

/// Returns what is set beside the preset.
fn set(import: &Import) -> String {
    loaded(import);
    let lines = import.toml.lines();
    let lines = lines
        .filter(|line| !line.starts_with('#') && !line.starts_with("preset") && !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

fn notes(import: &Import) -> Vec<(&str, NoteKind)> {
    import
        .notes
        .iter()
        .map(|note| (note.key.as_str(), note.kind))
        .collect()
}

/// Every key that such a file was seen with, at a value that is not the usual one.
fn every_key() -> Value {
    json!({
        "enabled": false,
        "sources": ["memory", "sessions"],
        "extraPaths": ["~/more", "notes/x", {"path": "/srv/notes", "pattern": "*.md"}],
        "provider": "openai",
        "model": "text-embedding-3-small",
        "fallback": "gemini",
        "remote": {
            "baseUrl": "https://example.invalid/v1", "apiKey": "sk-very-secret", "headers": {"X-Key": "also-secret"},
            "batch": {"enabled": true},
        },
        "outputDimensionality": 256,
        "inputType": "a", "queryInputType": "b", "documentInputType": "c",
        "local": {"modelPath": "hf:some/model.gguf", "modelCacheDir": "~/models"},
        "chunking": {"tokens": 300, "overlap": 20},
        "sync": {
            "onSessionStart": false, "onSearch": false, "watch": false, "watchDebounceMs": 900, "intervalMinutes": 5,
            "sessions": {"deltaBytes": 5000, "deltaMessages": 7},
        },
        "query": {
            "maxResults": 9, "minScore": 0.2,
            "hybrid": {
                "enabled": false, "vectorWeight": 0.6, "textWeight": 0.4, "candidateMultiplier": 8,
                "mmr": {"enabled": false, "lambda": 0.5},
                "temporalDecay": {"enabled": false, "halfLifeDays": 14},
            },
        },
        "cache": {"enabled": true, "maxEntries": 100},
        "store": {
            "path": "~/x.sqlite", "vector": {"enabled": false, "extensionPath": "/x.so"},
            "fts": {"tokenizer": "trigram"},
        },
        "experimental": {"sessionMemory": true},
        "multimodal": {"enabled": true, "modalities": ["image"]},
    })
}

const EXPECTED: &str = r#"[cache]
max_entries = 100
[chunker.markdown]
max_tokens = 300
overlap_tokens = 20
[chunker.transcript]
max_tokens = 300
[decay]
use = "none"
[decay.exponential]
half_life_days = 14.0
[documents]
extra_paths = ["/home/ada/more", "notes/x", "/srv/notes"]
transcripts = ["/home/ada/.openclaw/agents/main/sessions"]
[flush]
enabled = false
prompt = "Write to {path}."
reserve_floor_tokens = 30000
soft_tokens = 5000
system_prompt = "Save."
transcript_kib = 1024
[rerank]
use = []
[rerank.mmr]
lambda = 0.5
[search]
candidate_multiplier = 8
citations = "off"
max_results = 9
min_score = 0.2
mode = "vector"
text_weight = 0.4
vector_weight = 0.6
[sync]
delta_bytes = 5000
delta_messages = 7
interval_minutes = 5
on_search = false
on_session_start = false
watch = false
watch_debounce_ms = 900"#;

fn compaction() -> Value {
    json!({
        "reserveTokensFloor": 30000,
        "memoryFlush": {
            "enabled": false, "softThresholdTokens": 5000, "prompt": "Write to {path}.", "systemPrompt": "Save.",
            "forceFlushTranscriptBytes": "1mb",
        },
    })
}

#[test]
fn every_key_is_mapped_or_noted_in_both_places() {
    let old = json!({
        "agents": {"defaults": {"memorySearch": every_key(), "compaction": compaction()}},
        "memory": {"citations": "off"},
    });
    let new = json!({
        "agents": {"defaults": {"compaction": compaction()}},
        "memory": {"citations": "off", "search": every_key()},
    });
    let agent = json!({
        "agents": {"list": [{"id": "Main", "memorySearch": every_key(), "compaction": compaction()}]},
        "memory": {"citations": "off"},
    });
    for (root, place) in [
        (old, "agents.defaults.memorySearch"),
        (new, "memory.search"),
        (agent, "agents.list[0].memorySearch"),
    ] {
        let import = imported(&root.to_string());
        assert_eq!(set(&import), EXPECTED, "{place}");
        let at = |key: &str, kind| (format!("{place}.{key}"), kind);
        let mut expected = vec![
            at("enabled", NoteKind::NoCounterpart),
            at("extraPaths[2].pattern", NoteKind::NoCounterpart),
            at("provider", NoteKind::NoCounterpart),
            at("model", NoteKind::NoCounterpart),
            at("fallback", NoteKind::NoCounterpart),
            at("remote.baseUrl", NoteKind::NoCounterpart),
            at("remote.apiKey", NoteKind::NoCounterpart),
            at("remote.headers.X-Key", NoteKind::NoCounterpart),
            at("remote.batch.enabled", NoteKind::NoCounterpart),
            at("outputDimensionality", NoteKind::NoCounterpart),
            at("inputType", NoteKind::NoCounterpart),
            at("queryInputType", NoteKind::NoCounterpart),
            at("documentInputType", NoteKind::NoCounterpart),
            at("local.modelPath", NoteKind::NoCounterpart),
            at("local.modelCacheDir", NoteKind::NoCounterpart),
            at("store.path", NoteKind::NoCounterpart),
            at("store.vector.enabled", NoteKind::Adapted),
            at("store.vector.extensionPath", NoteKind::NoCounterpart),
            at("store.fts.tokenizer", NoteKind::NoCounterpart),
            at("multimodal.enabled", NoteKind::NoCounterpart),
            at("multimodal.modalities", NoteKind::NoCounterpart),
        ];
        let mut found: Vec<_> = notes(&import)
            .into_iter()
            .map(|(key, kind)| (key.to_owned(), kind))
            .collect();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found, expected, "{place}");
        let shown = serde_json::to_string(&import).unwrap();
        assert!(!shown.contains("secret\""), "{shown}");
        assert!(
            !shown.contains("very-secret") && !shown.contains("also-secret"),
            "{shown}"
        );
    }
}

#[test]
fn what_is_usual_there_is_not_written() {
    let import = imported(
        r#"{agents: {defaults: {
            memorySearch: {
                enabled: true, sources: ["memory"], provider: "auto", chunking: {tokens: 400, overlap: 80},
                sync: {onSessionStart: true, onSearch: true, watch: true, watchDebounceMs: 1500,
                       sessions: {deltaBytes: 100000, deltaMessages: 50}},
                query: {maxResults: 6, minScore: 0.35, hybrid: {enabled: true, vectorWeight: 0.7, textWeight: 0.3,
                        candidateMultiplier: 4, mmr: {enabled: true, lambda: 0.7},
                        temporalDecay: {enabled: true, halfLifeDays: 30}}},
                cache: {enabled: true, maxEntries: 50000},
            },
            compaction: {reserveTokensFloor: 20000, memoryFlush: {enabled: true, softThresholdTokens: 4000,
                         forceFlushTranscriptBytes: 2097152}},
        }}, memory: {citations: "auto"}}"#,
    );
    assert_eq!(set(&import), "");
    assert_eq!(notes(&import), []);
}

#[test]
fn json5_is_read_and_a_mistake_has_its_line() {
    let import = imported(
        "\u{feff}// mine\n{ agents: { 'defaults': { memorySearch: { query: { maxResults: +9, /* many */ }, }, }, }, }\n",
    );
    assert_eq!(set(&import), "[search]\nmax_results = 9");
    let fails = |text: &str| {
        config::import(text, &source(), &registry())
            .unwrap_err()
            .to_string()
    };
    let err = fails("{\n  agents: {\n    defaults: 1 2\n  }\n}");
    assert!(err.starts_with("openclaw.json:3:"), "{err}");
    let err = fails("{agents: {}");
    assert!(err.starts_with("openclaw.json:1:"), "{err}");
    let err = fails(&("{agents:".to_owned() + &"[".repeat(100_000)));
    assert!(err.contains("nests deeper than 64 levels"), "{err}");
    for other in ["{\"name\": \"x\", \"version\": \"1\"}", "[1]", "7", "{}"] {
        let err = fails(other);
        assert_eq!(
            err,
            "openclaw.json: is no `openclaw.json`: it has neither `agents` nor `memory`"
        );
    }
}

#[test]
fn clamps_are_those_of_that_system_and_are_said() {
    let search = json!({
        "chunking": {"tokens": 100, "overlap": 100},
        "query": {"minScore": 1.5, "maxResults": 0, "hybrid": {
            "vectorWeight": 0, "textWeight": -3, "candidateMultiplier": 50,
            "mmr": {"lambda": 2}, "temporalDecay": {"halfLifeDays": 0.25},
        }},
    });
    let import = imported(&json!({"memory": {"search": search}}).to_string());
    assert_eq!(
        set(&import),
        "[chunker.markdown]\nmax_tokens = 100\noverlap_tokens = 99\n[chunker.transcript]\nmax_tokens = 100\n\
         [decay.exponential]\nhalf_life_days = 1.0\n[rerank.mmr]\nlambda = 1.0\n\
         [search]\ncandidate_multiplier = 20\nmax_results = 1\nmin_score = 1.0"
    );
    let clamped: Vec<_> = notes(&import)
        .into_iter()
        .filter(|(_, kind)| *kind == NoteKind::Clamped)
        .collect();
    let keys = [
        "chunking.overlap",
        "query.maxResults",
        "query.minScore",
        "query.hybrid.candidateMultiplier",
        "query.hybrid.mmr.lambda",
        "query.hybrid.temporalDecay.halfLifeDays",
        "query.hybrid.textWeight",
        "query.hybrid.vectorWeight",
    ];
    assert_eq!(
        clamped.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
        keys.map(|key| format!("memory.search.{key}"))
    );
}

#[test]
fn an_agent_has_its_own_place_above_the_others() {
    let text = r#"{agents: {
        defaults: {workspace: "~/work", memorySearch: {query: {maxResults: 3, minScore: 0.1}}},
        list: [
            {id: "home", memorySearch: {query: {maxResults: 4}}},
            {id: "Desk", default: true, workspace: "/srv/desk", model: "x", memorySearch: {sources: ["sessions"], query: {maxResults: 5}}},
        ],
    }, memory: {search: {query: {minScore: 0.2}}}}"#;
    let desk = imported(text);
    assert_eq!(
        set(&desk),
        "[documents]\ntranscripts = [\"/home/ada/.openclaw/agents/desk/sessions\"]\n[search]\nmax_results = 5\nmin_score = 0.2"
    );
    assert_eq!(
        (desk.agent.as_str(), desk.workspace.as_deref()),
        ("desk", Some(Path::new("/srv/desk")))
    );
    assert_eq!(
        notes(&desk),
        [
            (
                "agents.defaults.memorySearch.query.minScore",
                NoteKind::Overridden
            ),
            ("agents.list[0]", NoteKind::Outside),
            (
                "agents.defaults.memorySearch.query.maxResults",
                NoteKind::Overridden
            ),
            ("agents.list[1].model", NoteKind::Outside),
            (
                "agents.list[1].memorySearch.sources",
                NoteKind::NoCounterpart
            ),
        ]
    );
    let home = config::import(
        text,
        &ImportSource {
            agent: Some("home"),
            ..source()
        },
        &registry(),
    )
    .unwrap();
    assert_eq!(set(&home), "[search]\nmax_results = 4\nmin_score = 0.2");
    assert_eq!(home.workspace.as_deref(), Some(Path::new("/home/ada/work")));
    let err = config::import(
        text,
        &ImportSource {
            agent: Some("x"),
            ..source()
        },
        &registry(),
    )
    .unwrap_err();
    assert_eq!(err.to_string(), "openclaw.json: has no agent `x`");
    assert_eq!(
        err.iter().next().unwrap().hint.as_deref(),
        Some("agents there: home, desk")
    );
}

#[test]
fn unknown_keys_and_wrong_values_are_named() {
    let import = imported(
        r#"{channels: {}, memorySerach: 1, agents: {defaults: {
            memorySearch: {query: {maxResult: 3, "maxResults": "many", "query.maxResults": 9}, sync: 5, provider: "opnai", extraPaths: ["${NOWHERE}/x", " ", 7]},
            compaction: {mode: "safeguard", memoryFlush: {promt: "x", prompt: "  "}},
        }}, memory: {citations: "sometimes", backend: "qmd", qmd: {command: "qmd"}}}"#,
    );
    assert_eq!(set(&import), "");
    let mut found = notes(&import);
    found.sort_unstable_by_key(|(key, _)| *key);
    let search = "agents.defaults.memorySearch";
    let mut expected = vec![
        ("channels".to_owned(), NoteKind::Outside),
        ("memorySerach".to_owned(), NoteKind::Unknown),
        (format!("{search}.query.maxResult"), NoteKind::Unknown),
        (format!("{search}.query.maxResults"), NoteKind::Invalid),
        (
            format!("{search}.query.\"query.maxResults\""),
            NoteKind::Unknown,
        ),
        (format!("{search}.sync"), NoteKind::Invalid),
        (format!("{search}.provider"), NoteKind::Unknown),
        (format!("{search}.extraPaths[0]"), NoteKind::Invalid),
        (format!("{search}.extraPaths[1]"), NoteKind::Invalid),
        (format!("{search}.extraPaths[2]"), NoteKind::Invalid),
        (
            "agents.defaults.compaction.mode".to_owned(),
            NoteKind::Outside,
        ),
        (
            "agents.defaults.compaction.memoryFlush.promt".to_owned(),
            NoteKind::Unknown,
        ),
        (
            "agents.defaults.compaction.memoryFlush.prompt".to_owned(),
            NoteKind::Invalid,
        ),
        ("memory.citations".to_owned(), NoteKind::Invalid),
        ("memory.backend".to_owned(), NoteKind::NoCounterpart),
        ("memory.qmd.command".to_owned(), NoteKind::NoCounterpart),
    ];
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    let expected: Vec<_> = expected
        .iter()
        .map(|(key, kind)| (key.as_str(), *kind))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn variables_and_the_home_folder_are_filled_in() {
    let env = [("NOTES".to_owned(), "/srv/$${x}".to_owned())];
    let text = r#"{memory: {search: {extraPaths: ["${NOTES}/a", "~", "~ada/b", "$${raw}"], sources: ["memory", "sessions"]}}}"#;
    let import = config::import(
        text,
        &ImportSource {
            env: &env,
            home: None,
            state_dir: None,
            ..source()
        },
        &registry(),
    )
    .unwrap();
    let extra = &loaded(&import).config.documents.extra_paths;
    assert!(
        extra[0].ends_with("srv/$${x}/a")
            && extra[1].ends_with("~ada/b")
            && extra[2].ends_with("${raw}"),
        "{extra:?}"
    );
    assert_eq!(
        notes(&import),
        [
            ("memory.search.sources", NoteKind::NoCounterpart),
            ("memory.search.extraPaths[1]", NoteKind::Invalid),
        ]
    );
}

fn any_value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        (-2.0..3.0_f64).prop_map(|number| json!(number)),
        (0..30_000_u32).prop_map(|number| json!(number)),
    ];
    let text = prop_oneof![
        Just("sessions".to_owned()),
        Just("local".to_owned()),
        Just("none".to_owned()),
        Just("on".to_owned()),
        Just(" \n".to_owned()),
        Just("~/${HOME}/\u{1}\"\n".to_owned()),
        Just("1.5e300gb".to_owned()),
        ".*",
        "[~$ {}/a-z\\\\\"'\u{7f}\n#]{0,12}",
    ];
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        4 => number,
        4 => text.prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("path|pattern|enabled|x|\n", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Puts other values in the place of some.
fn mutated(tree: Value) -> BoxedStrategy<Value> {
    match tree {
        Value::Object(map) => {
            let entries: Vec<_> = map
                .into_iter()
                .map(|(key, value)| {
                    let value = prop_oneof![
                        6 => mutated(value).prop_map(Some),
                        3 => any_value().prop_map(Some),
                        2 => Just(None),
                    ];
                    (Just(key), value)
                })
                .collect();
            entries
                .prop_map(|entries| {
                    let there = entries
                        .into_iter()
                        .filter_map(|(key, value)| Some((key, value?)));
                    Value::Object(there.collect())
                })
                .boxed()
        }
        leaf => prop_oneof![Just(leaf), any_value()].boxed(),
    }
}

fn any_file() -> BoxedStrategy<Value> {
    mutated(json!({
        "agents": {
            "defaults": {"workspace": "~/w", "memorySearch": every_key(), "compaction": compaction()},
            "list": [{"id": "main", "memorySearch": every_key()}],
        },
        "memory": {"citations": "off", "search": every_key()},
        "gateway": 1,
    }))
}

/// Every key of the tree whose value is no table.
fn leaves(tree: &Value, key: &str, found: &mut Vec<String>) {
    match tree {
        Value::Object(map) => {
            for (name, value) in map {
                leaves(value, &format!("{key}/{name}"), found);
            }
        }
        _ => found.push(key.to_owned()),
    }
}

#[test]
fn no_value_is_dropped_silently() {
    let root = json!({
        "agents": {"defaults": {"memorySearch": every_key(), "compaction": compaction()}},
        "memory": {"citations": "off"},
    });
    let mut keys = Vec::new();
    leaves(&root, "", &mut keys);
    assert_eq!(keys.len(), 51);
    for key in keys {
        for (wrong, below) in [(Value::Null, ""), (json!({"zz": 1}), ".zz")] {
            let mut root = root.clone();
            *root.pointer_mut(&key).unwrap() = wrong;
            let import = imported(&root.to_string());
            loaded(&import);
            let wanted = key.trim_start_matches('/').replace('/', ".") + below;
            assert!(
                import.notes.iter().any(|note| note.key == wanted),
                "{wanted}: {:?}",
                import.notes
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_comes_out_loads_whatever_the_file_says(root in any_file(), list in any_value()) {
        let mut roots = vec![root.clone()];
        if let Some(Value::Object(agents)) = root.get("agents") {
            let mut agents = agents.clone();
            agents.insert("list".to_owned(), json!([list, {"id": list}]));
            roots.push(json!({"agents": agents, "memory": root.get("memory")}));
        }
        for root in roots {
            match config::import(&root.to_string(), &source(), &registry()) {
                Ok(import) => {
                    loaded(&import);
                    let shown = serde_json::to_string(&import).unwrap();
                    prop_assert!(!shown.contains("very-secret") && !shown.contains("also-secret"), "{}", shown);
                }
                Err(err) => prop_assert!(err.to_string().contains("is no `openclaw.json`"), "{}", err),
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_with_its_place(text in "[\\[\\]{}:,'\"a-z0-9/*\\\\\n ]{0,60}") {
        if let Err(err) = config::import(&text, &source(), &registry()) {
            prop_assert!(err.to_string().starts_with("openclaw.json"), "{}", err);
        }
    }
}
