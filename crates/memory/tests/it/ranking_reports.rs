//! Groups scoring-ranking, decay-date, and of dimension-model what needs no server; that about daily notes (DD-05) comes with these.

use std::fs;

use memory::{Mode, Query};
use memory_api::Kind;
use serde_json::json;

use crate::notes::Notes;

/// 2026-01-01 as days since 1970.
const NEW_YEAR: i64 = 20_454;

fn dated(files: &[(&str, &str)]) -> Notes {
    let notes = Notes::new()
        .with("documents.include", json!([]))
        .with("decay.use", "exponential");
    for (path, content) in files {
        notes.write(path, content);
    }
    notes
}

fn paths(notes: &Notes, query: &Query) -> Vec<String> {
    notes
        .ask(query)
        .results
        .into_iter()
        .map(|result| result.path)
        .collect()
}

reports! {
    "ranking-reports.json";

    "SR-04" => no_result_is_under_a_floor_that_was_typed {
        let notes = dated(&[
            ("memory/2026-01-01.md", "sextant repair"),
            ("memory/2026-03-02.md", "sextant repair"),
        ])
        .on_day(NEW_YEAR + 60);
        notes.index();
        let results = notes.search("sextant repair");
        assert_eq!(results.len(), 2);
        assert_eq!(results[0].path, "memory/2026-03-02.md");
        let between = f64::midpoint(results[0].score, results[1].score);
        let found = notes.ask(&Query::new("sextant repair").with_min_score(between)).results;
        assert_eq!(found.len(), 1);
        assert!(found[0].score >= between);
    }

    "SR-05" => age_does_not_hide_the_only_match {
        let notes = dated(&[
            ("memory/2024-02-02.md", "The sextant hangs in the cabin."),
            ("memory/2026-01-01.md", "A quiet day."),
        ])
        .on_day(NEW_YEAR);
        notes.index();
        let results = notes.search("sextant");
        assert_eq!(results[0].path, "memory/2024-02-02.md");
        // Nothing is left of it in two years, and it is found all the same.
        assert!(results[0].score < 0.01);
    }

    "SR-06" => different_notes_of_any_script_are_no_duplicates {
        let notes = Notes::of(&[
            ("notes/zh1.md", "水泵 的密封圈坏了"),
            ("notes/zh2.md", "水泵 今天涂成蓝色"),
            ("notes/ru1.md", "水泵 сломался утром"),
            ("notes/ru2.md", "水泵 купили новый фильтр"),
            ("notes/ko1.md", "水泵 필터를 교체했다"),
            ("notes/ko2.md", "水泵 소음이 심하다"),
            ("notes/copy1.md", "水泵 on deck three was oiled by Ann in the morning"),
            ("notes/copy2.md", "水泵 on deck three was oiled by Ann in the evening"),
        ])
        .with("rerank.use", json!(["mmr"]));
        notes.index();
        let found = paths(&notes, &Query::new("水泵").with_max_results(8));
        assert_eq!(found.len(), 8);
        let at = |name: &str| found.iter().position(|path| path.contains(name)).unwrap();
        let later_copy = at("copy1").max(at("copy2"));
        // Of the near-copies one moves down, behind all that are different.
        assert_eq!(later_copy, 7, "{found:?}");
    }

    "SR-07" => weak_words_stay_weak {
        let notes = Notes::of(&[
            ("notes/a.md", "The hull gets two layers of antifouling."),
            ("notes/b.md", "Grandma will need new slippers for the winter in the mountains."),
            ("notes/c.md", "Bread, butter, salt."),
        ])
        .with_meaning()
        .with("embedder.fake.near", json!({ "antifouling": ["hull", 0.7], "coat": ["hull", 0.7] }));
        notes.index();
        let results = notes.search("which coat does the boat need");
        assert_eq!(results[0].path, "notes/a.md");
        let b = results.iter().find(|result| result.path == "notes/b.md");
        assert!(b.is_none_or(|b| b.score < 0.35 && b.scores.lexical.unwrap() > 0.0));
    }

    "SR-08" => a_strong_hit_by_meaning_is_not_sunk_by_words {
        let notes = Notes::of(&[
            ("notes/a.md", "The hull gets two layers of antifouling."),
            ("notes/b.md", "A coat of dust lies on the boat."),
            ("notes/c.md", "Boat trips are sold out."),
        ])
        .with_meaning()
        .with("embedder.fake.near", json!({ "antifouling": ["hull", 0.8], "which coat": ["hull", 0.8] }));
        notes.index();
        let alone = notes.ask(&Query::new("which coat does the boat need").with_mode(memory::AskedMode::Vector));
        assert_eq!(alone.results[0].path, "notes/a.md");
        let both = notes.ask(&Query::new("which coat does the boat need"));
        let a = both.results.iter().position(|result| result.path == "notes/a.md").unwrap();
        assert!(a < 2, "{both:?}");
        assert_eq!(both.results[a].scores.vector, alone.results[0].scores.vector);
        assert!(both.results[a].score > 0.5 * alone.results[0].score);
    }

    "SR-09" => an_unambiguous_word_beats_a_near_miss {
        let mut notes = Notes::new().with_meaning();
        notes = notes.with("embedder.fake.near", json!({ "=fennec": ["desert", 0.5], "sand dunes": ["desert", 0.5] }));
        for n in 0..42 {
            notes.write(&format!("notes/{n}.md"), format!("Log {n}: pumps, tides and sails were checked."));
        }
        notes.write("notes/dunes.md", "The sand dunes shifted overnight.");
        notes.write("notes/title.md", "# Fennec\n\nBig ears, small body.");
        notes.write("notes/text.md", "We saw a fennec near the camp.");
        notes.index();
        let found = notes.found("fennec");
        assert!(found[0] == "notes/title.md" || found[0] == "notes/text.md", "{found:?}");
    }

    "SR-10" => titles_and_bodies_both_count {
        let notes = Notes::of(&[
            ("notes/a.md", "# Report\n\nalabaster alabaster alabaster alabaster alabaster"),
            ("notes/b.md", "# Alabaster\n\nA stone."),
        ]);
        notes.write("notes/c.md", format!("alabaster {}", "filler words of many kinds ".repeat(40)));
        for n in 0..10 {
            notes.write(&format!("notes/other{n}.md"), format!("Nothing of it here, {n}."));
        }
        notes.index();
        let results = notes.search("alabaster");
        let score = |path: &str| results.iter().find(|hit| hit.path == path).unwrap().score;
        assert_eq!(results.len(), 3);
        assert!(score("notes/b.md") > 0.0 && score("notes/c.md") > 0.0);
        assert!(score("notes/a.md") > score("notes/c.md"));
    }

    "SR-11" => many_loose_mentions_do_not_bury_the_note {
        let notes = Notes::new().with("embedder.use", "hash");
        for n in 0..300 {
            notes.write(&format!("notes/chat{n}.md"), format!("user {n}: what about the irrigation plan, we should talk about it some day"));
        }
        notes.write("notes/plan.md", "irrigation plan: open valve 4 at dawn");
        notes.index();
        let found = paths(&notes, &Query::new("irrigation plan valve 4").with_max_results(5));
        assert!(found[..2].contains(&"notes/plan.md".to_owned()), "{found:?}");
    }

    "SR-12" => a_filter_is_honoured_inside_the_search {
        for plugin in ["flat", "sqlite-vec"] {
            let notes = Notes::new()
                .with_meaning()
                .with("vector.use", plugin)
                .with("embedder.fake.near", json!({ "bulk": ["query", 0.9], "rare": ["query", 0.4], "=query": ["query", 0.9] }));
            for n in 0..500 {
                notes.write(&format!("notes/bulk/{n}.md"), format!("bulk text {n}"));
            }
            for n in 0..5 {
                notes.write(&format!("notes/rare/{n}.md"), format!("rare text {n}"));
            }
            notes.index();
            let query = Query::new("query")
                .with_mode(memory::AskedMode::Vector)
                .with_max_results(5)
                .with_min_score(0.0)
                .with_filter(memory::Filter {
                    paths: vec!["notes/rare".to_owned()],
                    ..memory::Filter::default()
                });
            let found = paths(&notes, &query);
            assert_eq!(found.len(), 5, "{plugin}: {found:?}");
            assert!(found.iter().all(|path| path.starts_with("notes/rare/")));
        }
    }

    "SR-13" => a_vector_of_zeros_is_never_a_hit {
        for plugin in ["flat", "sqlite-vec"] {
            let notes = Notes::new()
                .with_meaning()
                .with("vector.use", plugin)
                .with("embedder.fake.zero", json!(["null-note", "nothing"]));
            for n in 0..8 {
                notes.write(&format!("notes/{n}.md"), format!("thought number {n}"));
            }
            notes.write("notes/null1.md", "null-note one");
            notes.write("notes/null2.md", "null-note two");
            let report = notes.index();
            assert_eq!(report.pending, 0);
            let response = notes.ask(&Query::new("thought").with_mode(memory::AskedMode::Vector).everything(20));
            assert_eq!(response.results.len(), 8);
            let json = serde_json::to_string(&response.results).unwrap();
            assert!(!json.contains("\"score\":null") && !json.contains("NaN"), "{json}");
            // By words they are found, without a score by meaning.
            let response = notes.ask(&Query::new("null-note"));
            assert_eq!(response.results[0].scores.vector, None);
            // A question that means nothing falls back to words.
            let response = notes.ask(&Query::new("nothing but thought"));
            assert_eq!(response.mode, Mode::Lexical);
            assert!(response.degraded[0].contains("no meaning in the question"), "{response:?}");
            assert!(!response.results.is_empty());
        }
    }

    "SR-14" => several_filters_rank_as_one_does {
        let notes = Notes::new().with("embedder.use", "hash");
        for folder in ["s1", "s2", "s3", "s4"] {
            for n in 0..30 {
                notes.write(&format!("notes/{folder}/{n}.md"), format!("{folder} log {n}: the tide and the pump"));
            }
        }
        notes.write("notes/s2/best.md", "harmonic tide prediction for the pump house");
        notes.index();
        let ask = |folders: &[&str]| {
            let query = Query::new("harmonic tide prediction").with_filter(memory::Filter {
                paths: folders.iter().map(|folder| format!("notes/{folder}")).collect(),
                ..memory::Filter::default()
            });
            paths(&notes, &query).first().cloned()
        };
        let best = Some("notes/s2/best.md".to_owned());
        assert_eq!(ask(&["s2"]), best);
        assert_eq!(ask(&["s1", "s2", "s3", "s4"]), best);
        assert_eq!(ask(&[]), best);
    }

    "SR-15" => a_nonsense_question_can_find_nothing {
        for words_only in [true, false] {
            let mut notes = Notes::new();
            if !words_only {
                notes = notes.with_meaning();
            }
            for n in 0..20 {
                notes.write(&format!("notes/{n}.md"), format!("Log {n}: pumps, tides and sails were checked."));
            }
            notes.index();
            let query = Query::new("qzxv unrelated probe wombatless");
            assert_eq!(notes.ask(&query).results.len(), 0);
            assert_eq!(notes.ask(&query.with_min_score(0.9)).results.len(), 0);
        }
    }

    "SR-16" => lists_that_share_nothing_are_both_kept {
        let notes = Notes::new().with_meaning().with(
            "embedder.fake.near",
            json!({ "lantern": ["light", 0.8], "=beacon": ["light", 0.8] }),
        );
        for n in 1..=5 {
            notes.write(&format!("notes/{n}.md"), format!("lantern number {n}"));
        }
        for n in 6..=10 {
            notes.write(&format!("notes/{n}.md"), format!("beacon number {n}"));
        }
        notes.index();
        let results = notes.ask(&Query::new("beacon").with_max_results(10)).results;
        let mut found: Vec<&str> = results.iter().map(|result| result.path.as_str()).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 10, "{found:?}");
        for result in &results {
            let by_words = result.snippet.contains("beacon");
            assert_eq!(result.scores.lexical.unwrap() > 0.5, by_words, "{result:?}");
        }
    }

    "DD-03" => a_name_that_only_looks_like_a_date_is_no_day {
        let names = ["2026-02-30", "2026-13-01", "0000-00-00", "9999-12-31", "20260101"];
        let notes = dated(&[]).on_day(NEW_YEAR + 365);
        for name in names {
            notes.write(&format!("memory/{name}.md"), "sextant");
        }
        notes.index();
        let results = notes.search("sextant");
        assert_eq!(results.len(), names.len());
        for result in &results {
            assert!((0.0..=1.0).contains(&result.scores.retention), "{result:?}");
            assert!(result.score <= result.scores.relevance);
        }
        let retention = |name: &str| {
            let path = format!("memory/{name}.md");
            results.iter().find(|hit| hit.path == path).unwrap().scores.retention
        };
        // A day that lies ahead counts as today, an undated file never fades, an impossible day leaves the time of the file.
        for whole in ["9999-12-31", "20260101"] {
            assert!((retention(whole) - 1.0).abs() < 1e-9);
        }
        assert!((retention("2026-02-30") - retention("0000-00-00")).abs() < 1e-3);
    }

    // Days are UTC everywhere: nothing asks the machine for its zone.
    "DD-04" => a_day_is_the_same_for_filters_and_decay {
        let day = 86_400_000;
        let since = |days: i64| memory::Filter {
            since: Some(memory_api::Timestamp(days * day)),
            until: Some(memory_api::Timestamp((days + 1) * day)),
            ..memory::Filter::default()
        };
        let notes = dated(&[("memory/2025-12-31.md", "sextant")]).on_day(NEW_YEAR);
        notes.index();
        let query = |days| Query::new("sextant").with_filter(since(days));
        assert_eq!(paths(&notes, &query(NEW_YEAR - 1)), ["memory/2025-12-31.md"]);
        assert_eq!(paths(&notes, &query(NEW_YEAR)), [""; 0]);
        let one_day = 0.5_f64.powf(1.0 / 30.0);
        assert!((notes.search("sextant")[0].scores.retention - one_day).abs() < 1e-6);
    }

    "DD-06" => nested_dated_notes_fade_as_others {
        let notes = dated(&[
            ("memory/2026-01-05.md", "sextant"),
            ("memory/log/2026-01-05.md", "sextant"),
        ])
        .on_day(NEW_YEAR + 40);
        notes.index();
        let results = notes.search("sextant");
        assert!((results[0].scores.retention - results[1].scores.retention).abs() < 1e-9);
        assert!(results[0].scores.retention < 0.5);
    }

    "DM-01" => another_size_is_told_and_words_answer {
        let notes = Notes::of(&[("notes/a.md", "tide tables")])
            .with_meaning()
            .with("embedder.fake.dimensions", 8);
        notes.index();
        let notes = notes.with("embedder.fake.dimensions", 16);
        let response = notes.ask(&Query::new("tide"));
        assert_eq!((response.mode, response.results.len()), (Mode::Lexical, 1));
        let degraded = &response.degraded[0];
        assert!(degraded.contains("(8 numbers)") && degraded.contains("(16)") && degraded.contains("run `memory index`"), "{degraded}");
    }

    "DM-02" => vectors_of_one_model_never_meet_questions_of_another {
        let notes = Notes::of(&[("notes/a.md", "tide tables")]).with_meaning();
        notes.index();
        let notes = notes.with("embedder.fake.model", "b");
        let response = notes.ask(&Query::new("tide"));
        assert_eq!((response.mode, response.results.len()), (Mode::Lexical, 1));
        assert!(response.degraded[0].contains("fake/a") && response.degraded[0].contains("fake/b"));
    }

    "DM-03" => a_model_that_comes_back_is_used_again {
        let notes = Notes::of(&[("notes/a.md", "tide tables")]).with_meaning();
        notes.index();
        fs::write(notes.path("down"), "").unwrap();
        notes
            .once(async |memory| {
                let down = memory.search(&Query::new("tide")).await?;
                assert_eq!((down.mode, down.results.len()), (Mode::Lexical, 1));
                fs::remove_file(notes.path("down")).unwrap();
                for _ in 0..3 {
                    assert_eq!(memory.search(&Query::new("tide")).await?.mode, Mode::Hybrid);
                }
                Ok(())
            })
            .unwrap();
    }

    "DM-04" => no_other_model_is_asked {
        // `hash` is linked and needs nothing; it is not configured, so it is not asked.
        let notes = Notes::of(&[("notes/a.md", "tide tables")]).with_meaning();
        assert!(notes.app().registry().get(Kind::Embedder, "hash").is_ok());
        fs::write(notes.path("down"), "").unwrap();
        let report = notes.index();
        assert_eq!((report.embedded, report.pending), (0, 1));
        let response = notes.ask(&Query::new("tide"));
        assert_eq!((response.mode, response.results.len()), (Mode::Lexical, 1));
    }

    "DM-05" => another_model_embeds_everything_anew {
        let notes = Notes::of(&[("notes/a.md", "tide tables"), ("notes/b.md", "pump seals")])
            .with_meaning()
            .with("embedder.fake.dimensions", 8);
        notes.index();
        let notes = notes.with("embedder.fake.model", "m2").with("embedder.fake.dimensions", 12);
        let report = notes.index();
        assert_eq!((report.unchanged, report.embedded, report.pending), (2, 2, 0));
        assert_eq!(notes.ask(&Query::new("tide")).mode, Mode::Hybrid);
        let status = notes.once(async |memory| memory.status().await).unwrap();
        let vector = status.vector.unwrap();
        assert_eq!((vector.index.entries, vector.space.unwrap().dimensions), (2, 12));
    }

    "DM-06" => a_change_of_size_leaves_no_entry_behind {
        let notes = Notes::new().with_meaning().with("embedder.fake.dimensions", 8);
        for n in 0..50 {
            notes.write(&format!("notes/{n}.md"), format!("word{n} and more"));
        }
        notes.index();
        let notes = notes.with("embedder.fake.model", "m2").with("embedder.fake.dimensions", 12);
        notes.index();
        let status = notes.once(async |memory| memory.status().await).unwrap();
        assert_eq!((status.entries, status.vector.unwrap().index.entries), (50, 50));
        for n in 0..10 {
            let query = Query::new(format!("word{n} and more")).with_mode(memory::AskedMode::Vector);
            assert_eq!(paths(&notes, &query).first(), Some(&format!("notes/{n}.md")));
        }
    }

    "DM-12" => a_model_that_cannot_be_asked_is_no_change_of_model {
        let notes = Notes::of(&[("notes/a.md", "tide tables")]).with_meaning();
        notes.index();
        notes.embedded();
        fs::write(notes.path("missing"), "").unwrap();
        notes.once(async |memory| memory.status().await).unwrap();
        notes.index();
        fs::remove_file(notes.path("missing")).unwrap();
        let response = notes.ask(&Query::new("tide"));
        assert_eq!(response.mode, Mode::Hybrid);
        // The question alone.
        assert_eq!(notes.embedded(), ["tide"]);
    }
}
