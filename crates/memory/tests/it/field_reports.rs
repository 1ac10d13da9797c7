//! What really broke for users of systems like this, groups query-parsing, cjk-unicode and chunking. The reports stand in
//! `field-reports.json`; each has a test here.

use memory::Query;

use crate::notes::Notes;

/// Texts that are no question; none is an error, each says that there is nothing to search for.
const NO_WORDS: [&str; 12] = [
    "", "   ", "|", "***", "()*", "\"\"", "?!", "%", "^", "+++", "\t\n", "-",
];

reports! {
    "field-reports.json";

    "QP-03" => free_text_is_never_run_as_an_expression {
        let notes = Notes::of(&[("notes/a.md", "status: done. Wiring north panel, retry later OR skip.")]);
        notes.index();
        for query in ["status: done", "wiring \"north", "retry OR", "NOT panel", "NEAR north", "(panel"] {
            assert_eq!(notes.found(query), ["notes/a.md"], "{query}");
        }
    }

    "QP-04" => a_colon_is_no_syntax {
        let notes = Notes::of(&[("notes/todo.md", "TODO: paint the fence. error:timeout seen on gate motor.")]);
        notes.index();
        assert_eq!(notes.found("TODO: paint"), ["notes/todo.md"]);
        assert_eq!(notes.found("error:timeout"), ["notes/todo.md"]);
    }

    "QP-05" => a_slash_is_no_syntax {
        let notes = Notes::of(&[("notes/p.md", "Drawings are under plans/roof/east.dxf, link speed 10 GB/s.")]);
        notes.index();
        assert_eq!(notes.found("plans/roof"), ["notes/p.md"]);
        assert_eq!(notes.found("10 GB/s"), ["notes/p.md"]);
    }

    "QP-06" => straight_and_typographic_apostrophes_are_alike {
        let notes = Notes::of(&[("notes/q.md", "Don't open the kiln before 6 o'clock.")]);
        notes.index();
        for query in ["don't open", "don\u{2019}t open", "6 o'clock kiln", "6 o\u{2019}clock kiln", "don't", "o\u{2019}clock"] {
            assert_eq!(notes.found(query), ["notes/q.md"], "{query}");
        }
    }

    "QP-07" => a_hyphenated_name_is_found_whole_and_in_parts {
        let notes = Notes::of(&[
            ("notes/r.md", "Crane unit harbor-crane-07 and ticket ADR-0005 were closed."),
            ("notes/s.md", "The harbor opens at 7; the crane was painted; ADR means decision record."),
        ]);
        notes.index();
        for query in ["harbor-crane-07", "ADR-0005", "harbor crane"] {
            assert_eq!(notes.found(query).first().map(String::as_str), Some("notes/r.md"), "{query}");
        }
    }

    // By meaning: with the search by vectors.
    "QP-08" => a_hyphen_inside_a_word_excludes_nothing {
        let notes = Notes::of(&[("notes/t.md", "A long-lived rain-water tank of 10-20 litres, state-of-the-art.")]);
        notes.index();
        assert_eq!(notes.found("long-lived rain-water tank of 10-20 litres, state-of-the-art"), ["notes/t.md"]);
        assert_eq!(notes.found("tank -litres"), [""; 0]);
    }

    "QP-09" => an_empty_query_says_so {
        let notes = Notes::of(&[("notes/a.md", "bridge")]);
        notes.index();
        for query in NO_WORDS {
            let response = notes.ask(&Query::new(query));
            assert!(response.results.is_empty(), "{query:?}");
            assert_eq!(response.warnings, ["the query has no word to search for"], "{query:?}");
        }
        assert_eq!(notes.found("bridge"), ["notes/a.md"]);
    }

    "QP-10" => a_query_of_punctuation_has_an_empty_result {
        let notes = Notes::of(&[("notes/a.md", "*** () * \"\" ?! % ^ +++ bridge")]);
        notes.index();
        for query in NO_WORDS {
            assert!(notes.search(query).is_empty(), "{query:?}");
        }
    }

    "QP-12" => words_need_not_be_adjacent_or_in_order {
        let notes = Notes::of(&[("notes/s.md", "The migration of the seed database took two evenings.")]);
        notes.index();
        assert_eq!(notes.found("database migration"), ["notes/s.md"]);
        assert_eq!(notes.found("\"database migration\""), [""; 0]);
        assert_eq!(notes.found("\"seed database\""), ["notes/s.md"]);
    }

    "QP-13" => an_empty_memory_and_a_missing_index_are_told_apart {
        let notes = Notes::new();
        let response = notes.ask(&Query::new("bridge"));
        assert_eq!(response.degraded, ["no index yet: run `memory index`"]);
        notes.index();
        assert!(notes.search("bridge").is_empty());
    }

    "CU-01" => part_of_a_run_of_characters_is_found {
        let notes = Notes::of(&[
            ("notes/ja.md", "港の灯台を点検した。部品は倉庫にある。"),
            ("notes/zh.md", "昨天检查了水泵和阀门"),
            ("notes/ko.md", "어제 등대를점검했다"),
        ]);
        notes.index();
        for (query, path) in [("灯台", "notes/ja.md"), ("点検した", "notes/ja.md"), ("水泵", "notes/zh.md"), ("등대", "notes/ko.md")] {
            assert_eq!(notes.found(query), [path], "{query}");
        }
    }

    "CU-02" => a_long_query_matches_by_its_pieces {
        let notes = Notes::of(&[("notes/c.md", "水泵的维护计划在附录B。阀门每周检查一次。")]);
        notes.index();
        for query in ["水泵阀门维护计划", "B附录水泵计划"] {
            let hits = notes.search(query);
            assert_eq!(hits.len(), 1, "{query}");
            assert!(hits[0].scores.lexical.unwrap() > 0.0, "{query}");
        }
    }

    // Transcripts are another source, which does not exist yet; notes of every name and folder share one analysis.
    "CU-05" => every_document_has_the_same_analysis {
        let notes = Notes::of(&[("notes/n.md", "屋根の修理を予定"), ("notes/chats/t.md", "**user**: 屋根の修理はいつですか")]);
        notes.index();
        for path in ["notes/n.md", "notes/chats"] {
            let filter = memory::Filter { paths: vec![path.to_owned()], ..memory::Filter::default() };
            let response = notes.ask(&Query::new("屋根の修理").with_filter(filter));
            assert_eq!(response.results.len(), 1, "{path}");
        }
    }

    "CU-07" => accents_are_folded_on_both_sides {
        let notes = Notes::of(&[
            ("notes/x.md", "Théorie générale du jardin"),
            ("notes/y.md", "the 20 th row, orie sample"),
        ]);
        notes.index();
        for query in ["théorie", "theorie", "THÉORIE", "the\u{301}orie"] {
            assert_eq!(notes.found(query), ["notes/x.md"], "{query}");
        }
    }

    "CU-08" => letters_without_a_decomposition_are_folded_too {
        let notes = Notes::of(&[("notes/z.md", "Łódź harbour, Straße 5, Jørn dock, Öland ferry, caffè")]);
        notes.index();
        for query in ["lodz", "Łódź", "strasse", "Straße", "jorn", "Jørn", "oland", "Öland", "caffe", "caffè"] {
            assert_eq!(notes.found(query), ["notes/z.md"], "{query}");
        }
    }

    "CU-09" => a_preview_is_cut_on_a_character_border {
        let line = |prefix: String| format!("{prefix} lantern\n");
        let text = format!("{}\n{}", line("a".repeat(99) + &"─".repeat(40)), line("🌸".repeat(300)));
        for snippet_chars in [40, 41, 42, 43, 97, 101, 700] {
            let notes = Notes::of(&[("notes/u.md", &text)]).with("search.snippet_chars", snippet_chars);
            notes.index();
            let hits = notes.search("lantern");
            assert!(!hits.is_empty());
            for hit in hits {
                assert!(hit.snippet.chars().count() <= snippet_chars, "{snippet_chars}");
                assert!(!hit.snippet.contains('\u{fffd}'), "{snippet_chars}");
                assert!(hit.snippet.contains("lantern"), "{snippet_chars}: {}", hit.snippet);
            }
        }
        let notes = Notes::of(&[("notes/u.md", &text)]);
        let request = |max_chars| memory::ReadRequest { path: "notes/u.md".to_owned(), max_chars: Some(max_chars), ..Default::default() };
        for max_chars in [0, 1, 98, 99, 100, 101, 139, 200, 500] {
            let window = notes.once(async |memory| memory.get(&request(max_chars))).unwrap();
            assert!(window.text.chars().count() <= max_chars);
            assert!(text.starts_with(&window.text));
        }
    }

    "CU-10" => one_and_two_characters_are_enough {
        let notes = Notes::of(&[("notes/w.md", "港湾工事は来月。猫が鳴いた。")]);
        notes.index();
        assert_eq!(notes.found("港湾"), ["notes/w.md"]);
        assert_eq!(notes.found("猫"), ["notes/w.md"]);
    }

    // The embedder that counts comes with the search by meaning; here, no entry may be too long for it.
    "CH-03" => no_entry_overruns_a_model_of_512_tokens {
        let mixed = (0..200).map(|n| format!("word{n} {}", "：".repeat(15))).collect::<Vec<_>>().concat();
        let notes = Notes::of(&[("notes/f.md", &mixed), ("notes/ok.md", "plain text")]).with("search.snippet_chars", 20_000);
        notes.index();
        let entries = notes.entries("word* plain");
        assert!(entries.iter().any(|entry| entry.path == "notes/ok.md"));
        assert!(entries.iter().any(|entry| entry.snippet.contains("word199")));
        for entry in entries {
            let words = entry.snippet.split_whitespace().count();
            let n_tokens = words + entry.snippet.chars().filter(|c| !c.is_ascii()).count();
            assert!(n_tokens <= 512, "{n_tokens}");
        }
    }

    "CH-04" => no_emoji_is_torn_at_any_size {
        let text = format!("{}{} orchard", "x".repeat(1599), "🌸".repeat(400));
        for max_tokens in [400, 101, 17, 33] {
            let notes = Notes::of(&[("notes/e.md", &text)])
                .with("chunker.markdown.max_tokens", max_tokens)
                .with("chunker.markdown.overlap_tokens", 0)
                .with("search.snippet_chars", 20_000);
            notes.index();
            let hits = notes.search("orchard");
            assert_eq!(hits.len(), 1, "{max_tokens}");
            assert!(!hits[0].snippet.contains('\u{fffd}'), "{max_tokens}");
        }
    }

    "CH-05" => a_comment_in_a_fence_is_no_heading {
        for fence in ["```", "~~~"] {
            let text = format!("# Greenhouse\n\n{fence}sh\n# install fan driver\nrun fan\n{fence}\n\nAfter the fence: check damper.");
            let notes = Notes::of(&[("notes/g.md", &text)]);
            notes.index();
            for query in ["fan driver", "damper"] {
                let hits = notes.search(query);
                assert_eq!(hits[0].heading_path, ["Greenhouse"], "{fence} {query}");
            }
            assert!(notes.search("fan driver")[0].snippet.contains("run fan"));
        }
    }

    "CH-06" => nothing_blank_is_stored_and_a_second_title_is_its_own {
        let text = format!("# One\n## Sub\n{}# Two\ntext about slate.", "\n".repeat(300));
        let notes = Notes::of(&[("notes/h.md", &text)]);
        assert_eq!(notes.index().entries, 1);
        let hits = notes.search("slate");
        assert_eq!(hits[0].heading_path, ["Two"]);
        assert_eq!((hits[0].line_start, hits[0].line_end), (303, 304));
    }

    "CH-07" => a_longer_fence_holds_a_shorter_one {
        let text = "# Manual\n````\n```\n# not a title\n```\n````\n## Usage\nturn the crank";
        let notes = Notes::of(&[("notes/i.md", text)]);
        notes.index();
        assert_eq!(notes.search("crank")[0].heading_path, ["Manual", "Usage"]);
        assert_eq!(notes.search("title")[0].heading_path, ["Manual"]);
    }

    "CH-09" => bad_front_matter_holds_nothing_back {
        let notes = Notes::of(&[
            ("notes/bad.md", "---\ntitle: KB: pump\npath: \"C:\\\\temp\\\\x\"\ntags: [a, b\n---\nPump sits in cellar."),
            ("notes/rule.md", "---\n\nText after a rule: cellar."),
            ("notes/ok.md", "ok cellar"),
        ]);
        let report = notes.index();
        assert_eq!(report.new, 3);
        assert!(report.warnings.iter().any(|warning| warning.starts_with("notes/bad.md: ")), "{:?}", report.warnings);
        let mut found = notes.found("cellar");
        found.sort_unstable();
        assert_eq!(found, ["notes/bad.md", "notes/ok.md", "notes/rule.md"]);
    }

    // The embedder that refuses comes with the search by meaning; here, no entry may be too long for it.
    "CH-10" => dense_text_is_cut_below_8192_characters {
        let notes = Notes::of(&[("notes/k.md", &format!("{}flume", "=".repeat(9_000)))]).with("search.snippet_chars", 20_000);
        let report = notes.index();
        assert!(report.entries > 1);
        let hits = notes.search("flume");
        assert_eq!(hits.len(), 1);
        assert!(hits[0].snippet.chars().count() < 8_192);
    }
}
