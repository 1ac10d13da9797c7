//! What an answer holds.

use std::collections::BTreeSet;

use memory::{Filter, Query};
use memory_api::Timestamp;

use crate::notes::Notes;

const PREFERENCES: &str =
    include_str!("../../../../examples/workspaces/chinese/memory/用户偏好.md");

#[test]
fn the_preferences_give_three_entries_with_their_lines_and_headings() {
    let notes = Notes::of(&[("notes/用户偏好.md", PREFERENCES)]);
    assert_eq!(notes.index().entries, 3);
    let entries = notes.entries("喜欢 使用 先给结论");
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            (
                entry.line_start,
                entry.line_end,
                entry
                    .heading_path
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            (8, 10, vec!["用户偏好", "编程语言"]),
            (12, 14, vec!["用户偏好", "代码风格"]),
            (16, 18, vec!["用户偏好", "沟通方式"]),
        ]
    );
    for entry in entries {
        assert_eq!(entry.kind, "user_preference");
        assert_eq!(entry.tags, ["偏好", "语言", "工具"]);
        assert!(
            !entry.snippet.contains("user_preference") && !entry.snippet.contains("---"),
            "{}",
            entry.snippet
        );
        // 2026-05-01, midnight UTC.
        assert_eq!(entry.created, Some(Timestamp(1_777_593_600_000)));
    }
}

#[test]
fn the_json_of_an_answer_has_its_stable_keys() {
    let notes = Notes::of(&[(
        "notes/2026-05-18.md",
        "# Day\n\nThe pump was moved to the cellar.",
    )]);
    notes.index();
    let response = notes.ask(&Query::new("pump cellar"));
    let json = serde_json::to_value(&response).unwrap();
    let keys = |value: &serde_json::Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    let set = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        keys(&json),
        set(&[
            "query", "mode", "embedder", "took_ms", "results", "omitted", "degraded", "warnings"
        ])
    );
    let hit = &json["results"][0];
    assert_eq!(
        keys(hit),
        set(&[
            "id",
            "path",
            "line_start",
            "line_end",
            "score",
            "source",
            "kind",
            "heading_path",
            "snippet",
            "citation",
            "created",
            "tags",
            "scores"
        ])
    );
    assert_eq!(
        keys(&hit["scores"]),
        set(&[
            "lexical",
            "vector",
            "relevance",
            "retention",
            "access",
            "freshness"
        ])
    );
    assert_eq!(json["mode"], "lexical");
    assert_eq!(hit["citation"], "notes/2026-05-18.md#L1-L3");
    assert_eq!(hit["created"], "2026-05-18T00:00:00Z");
    assert_eq!(hit["kind"], "episodic");
    assert_eq!(hit["source"], "memory");
    assert_eq!(hit["score"], hit["scores"]["freshness"]);
}

#[test]
fn a_word_in_most_of_the_notes_still_scores() {
    let notes = Notes::new();
    for n in 0..10 {
        notes.write(&format!("notes/{n}.md"), format!("pump number{n}"));
    }
    notes.index();
    let hits = notes.search("pump");
    assert_eq!(hits.len(), 6);
    assert!(hits.iter().all(|hit| hit.score > 0.35), "{hits:?}");
}

#[test]
fn relevance_means_the_same_in_a_small_and_a_large_memory() {
    let relevance = |n_others: usize| {
        let notes = Notes::of(&[("notes/a.md", "The sextant lies in the drawer.")]);
        for n in 0..n_others {
            notes.write(
                &format!("notes/other{n}.md"),
                format!("Nothing about word{n} of this, only number {n}."),
            );
        }
        notes.index();
        notes.search("sextant drawer")[0].score
    };
    let (small, large) = (relevance(2), relevance(300));
    assert!((small - large).abs() < 0.1, "{small} {large}");
    assert!(small > 0.6);
}

#[test]
fn a_typed_floor_can_empty_the_answer_and_the_configured_one_cannot() {
    // SR-15.
    let notes = Notes::new();
    for n in 0..20 {
        notes.write(
            &format!("notes/{n}.md"),
            format!("note {n} about a probe and other things of the day"),
        );
    }
    notes.index();
    let query = Query::new("qzxv unrelated probe wombatless");
    let weak = notes.ask(&query).results;
    assert!(!weak.is_empty());
    assert!(weak.iter().all(|hit| hit.score < 0.35), "{}", weak[0].score);
    assert!(notes.ask(&query.with_min_score(0.35)).results.is_empty());
    let strict = notes.ask(&Query::new("probe").with_min_score(0.3)).results;
    assert!(strict.iter().all(|hit| hit.score >= 0.3));
}

#[test]
fn headings_bodies_and_titles_are_all_found() {
    // SR-10.
    let notes = Notes::of(&[
        (
            "notes/a.md",
            "# Report\n\nalabaster alabaster alabaster alabaster alabaster",
        ),
        ("notes/b.md", "# Alabaster\n\nno match in this body"),
        (
            "notes/c.md",
            &format!("# Other\n\n{} alabaster", "word ".repeat(200)),
        ),
    ]);
    for n in 0..10 {
        notes.write(
            &format!("notes/other{n}.md"),
            "# Day\n\nnothing of the kind",
        );
    }
    notes.index();
    let hits = notes.search("alabaster");
    let paths: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(paths.iter().collect::<BTreeSet<_>>().len(), 3, "{paths:?}");
    assert!(hits.iter().all(|hit| hit.score > 0.0));
    let rank = |path| paths.iter().position(|found| *found == path).unwrap();
    assert!(rank("notes/a.md") < rank("notes/c.md"));
}

#[test]
fn filters_are_honoured_inside_the_search() {
    let notes = Notes::new();
    for n in 0..60 {
        notes.write(
            &format!("notes/bulk/{n}.md"),
            "irrigation plan valve irrigation plan valve",
        );
    }
    notes.write(
        "notes/rare/2026-03-01.md",
        "---\ntype: decision\ntags: [garden, water]\n---\nthe irrigation plan among many other words of this day",
    );
    notes.write("notes/rare-old/a.md", "irrigation plan");
    notes.index();
    let paths = |filter: Filter| -> Vec<String> {
        notes
            .ask(&Query::new("irrigation plan").with_filter(filter))
            .results
            .into_iter()
            .map(|hit| hit.path)
            .collect()
    };
    let strings = |values: &[&str]| {
        values
            .iter()
            .map(|value| (*value).to_owned())
            .collect::<Vec<_>>()
    };
    let rare = ["notes/rare/2026-03-01.md"];
    let march = |day: i64| Some(Timestamp((20_513 + day) * 86_400_000));
    assert_eq!(
        paths(Filter {
            paths: strings(&["notes/rare"]),
            ..Filter::default()
        }),
        rare
    );
    assert_eq!(
        paths(Filter {
            paths: strings(&["./notes/rare/"]),
            ..Filter::default()
        }),
        rare
    );
    assert_eq!(
        paths(Filter {
            kinds: strings(&["decision"]),
            ..Filter::default()
        }),
        rare
    );
    assert_eq!(
        paths(Filter {
            tags: strings(&["garden", "water"]),
            ..Filter::default()
        }),
        rare
    );
    assert_eq!(
        paths(Filter {
            tags: strings(&["garden", "fire"]),
            ..Filter::default()
        }),
        [""; 0]
    );
    assert_eq!(
        paths(Filter {
            since: march(0),
            until: march(1),
            ..Filter::default()
        }),
        rare
    );
    assert_eq!(
        paths(Filter {
            since: march(-1),
            until: march(0),
            ..Filter::default()
        }),
        [""; 0]
    );
    assert_eq!(
        paths(Filter {
            sources: strings(&["memory"]),
            ..Filter::default()
        })
        .len(),
        6
    );
}

#[test]
fn an_unknown_source_names_the_known_ones() {
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    let filter = Filter {
        sources: vec!["sesions".to_owned()],
        ..Filter::default()
    };
    let err = notes
        .once(async |memory| memory.search(&Query::new("pump").with_filter(filter)).await)
        .unwrap_err();
    assert_eq!(
        err.to_string(),
        "there is no source `sesions`, but: memory, sessions"
    );
}

#[test]
fn an_answer_stays_within_its_characters_and_counts_what_is_left_out() {
    // MC-05.
    let notes = Notes::new()
        .with("search.max_chars", 700)
        .with("search.snippet_chars", 300);
    for n in 0..6 {
        notes.write(
            &format!("notes/{n}.md"),
            format!("pump {}", format!("word{n} ").repeat(3_000)),
        );
    }
    notes.index();
    let response = notes.ask(&Query::new("pump"));
    let n_chars: usize = response
        .results
        .iter()
        .map(|hit| hit.snippet.chars().count())
        .sum();
    assert!(n_chars <= 700, "{n_chars}");
    assert!(response.omitted > 0);
    assert_eq!(response.results.len() + response.omitted, 6);
    // Cut text is marked.
    assert!(response.results.iter().all(|hit| hit.snippet.contains('…')));
}

#[test]
fn citations_can_be_turned_off() {
    for (citations, cited) in [("auto", true), ("on", true), ("off", false)] {
        let notes = Notes::of(&[("notes/a.md", "pump")]).with("search.citations", citations);
        notes.index();
        assert_eq!(
            notes.search("pump")[0].citation.is_some(),
            cited,
            "{citations}"
        );
    }
}

#[test]
fn every_result_can_be_read_by_its_path_and_lines() {
    // MC-12.
    let notes = Notes::of(&[
        ("notes/a b#1%.md", "# One\n\npump\n\n# Two\n\npump"),
        ("notes/水泵 计划.md", "pump"),
        ("notes/crlf.md", "# One\r\n\r\npump here\r\n"),
    ]);
    notes.index();
    let hits = notes.search("pump");
    assert_eq!(hits.len(), 4);
    for hit in hits {
        let window = notes.get(&hit.path).unwrap();
        let lines: Vec<&str> = window.text.split('\n').collect();
        let cited = lines[hit.line_start as usize - 1..hit.line_end as usize].join("\n");
        assert!(cited.contains("pump"), "{}: {cited:?}", hit.path);
    }
}

#[test]
fn zero_results_can_be_asked_for() {
    let notes = Notes::of(&[("notes/a.md", "pump")]);
    notes.index();
    assert!(
        notes
            .ask(&Query::new("pump").with_max_results(0))
            .results
            .is_empty()
    );
    assert_eq!(
        notes
            .ask(&Query::new("pump").with_max_results(usize::MAX))
            .results
            .len(),
        1
    );
}

#[test]
fn context_is_the_lines_around_a_result_on_disk() {
    let text: String = (1..=9).fold(String::new(), |text, n| {
        text + &format!("# Part {n}\n\nword{n} here\n\n")
    });
    let notes = Notes::of(&[
        ("notes/a.md", &text),
        (
            "notes/crlf.md",
            "# A\r\n\r\nquartz\r\n\r\n# B\r\n\r\nlast\r\n",
        ),
    ]);
    notes.index();
    let context = |query: &str, n_lines| {
        let response = notes.ask(&Query::new(query).with_context(n_lines).with_max_results(1));
        assert_eq!(response.warnings, [""; 0], "{query}");
        let context = response.results[0].context.clone().unwrap();
        (context.before, context.after)
    };
    let around = |before: &str, after: &str| (before.to_owned(), after.to_owned());
    // The entry is the heading and its text.
    assert_eq!(
        context("word5", 3),
        around("\nword4 here\n", "\n# Part 6\n")
    );
    assert_eq!(context("word1", 2), around("", "\n# Part 2"));
    assert_eq!(context("word9", 2).1, "");
    assert_eq!(context("quartz", 2), around("", "\r\n# B\r"));
    let plain = notes.ask(&Query::new("word5"));
    assert!(plain.results.iter().all(|result| result.context.is_none()));
    let json = serde_json::to_value(&plain).unwrap();
    assert_eq!(json["results"][0].get("context"), None);
}

#[test]
fn a_file_that_changed_since_it_was_indexed_is_not_shown_around_a_result() {
    let notes = Notes::of(&[
        ("notes/a.md", "# A\n\npump\n\n# B\n\nother\n"),
        ("notes/b.md", "# A\n\npump\n\n# B\n\nother\n"),
    ]);
    notes.index();
    notes.write("notes/a.md", "# New\n\n# A\n\npump\n\n# B\n\nother\n");
    let ask = || notes.ask(&Query::new("pump").with_context(2));
    let response = ask();
    let of = |path: &str| {
        let found = response.results.iter().find(|result| result.path == path);
        found.unwrap().context.clone()
    };
    assert_eq!(of("notes/a.md"), None);
    assert_eq!(of("notes/b.md").unwrap().after, "\n# B");
    assert_eq!(
        response.warnings,
        ["context: `notes/a.md` changed since it was indexed; run `memory index`"]
    );
    notes.remove("notes/b.md");
    let warnings = ask().warnings.join("\n");
    assert!(
        warnings.contains("there is no memory file `notes/b.md`"),
        "{warnings}"
    );
    notes.index();
    assert_eq!(ask().warnings, [""; 0]);
}

#[test]
#[cfg(unix)]
fn a_link_in_the_place_of_a_file_is_not_followed_for_context() {
    let notes = Notes::of(&[
        ("notes/a.md", "# A\n\npump\n\n# B\n\nother\n"),
        ("secret.md", "# A\n\npump\n\n# B\n\nother\n"),
    ]);
    notes.index();
    notes.remove("notes/a.md");
    std::os::unix::fs::symlink(notes.path("secret.md"), notes.path("notes/a.md")).unwrap();
    let response = notes.ask(&Query::new("pump").with_context(2));
    assert_eq!(response.results[0].context, None);
    assert!(
        response.warnings[0].starts_with("context: "),
        "{:?}",
        response.warnings
    );
}

#[test]
fn context_takes_what_room_results_leave() {
    let text = format!(
        "{}\n# Two\n\npump\n\n# Three\n\n{}",
        "before\n".repeat(50),
        "after\n".repeat(50)
    );
    let notes = Notes::of(&[("notes/a.md", &text)]).with("search.max_chars", 200);
    notes.index();
    let response = notes.ask(&Query::new("pump").with_context(40).with_max_results(1));
    let result = &response.results[0];
    let context = result.context.as_ref().unwrap();
    let chars = |text: &str| text.chars().count();
    assert!(chars(&result.snippet) + chars(&context.before) + chars(&context.after) <= 200);
    // The nearest lines, on both sides, whole.
    assert!(
        context.before.ends_with("before\nbefore\n")
            && context.after.starts_with("\n# Three\n\nafter"),
        "{context:?}"
    );
    assert!(
        response.warnings[0].contains("cut short for 1 of the results"),
        "{:?}",
        response.warnings
    );
}
