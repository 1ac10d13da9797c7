use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use memory_api::{
    Chunked, Chunker, Document, DraftEntry, Error, ErrorKind, Factory, Fingerprint, Identity,
    OpenContext, Plugin, Result, Warning, parse_config,
};
use memory_conformance::{Fixture, Subject, check_chunked, oracle, scenarios};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::{check_caught, check_honest, names_of_kind, subject};

static PLUGIN: Plugin = Plugin::new::<Config>(
    "broken",
    "0.1.0",
    "cuts as wrong as it is told to",
    Factory::Chunker(open),
);

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// What it does wrong.
    fault: String,
}

fn open(context: &OpenContext<'_>) -> Result<Arc<dyn Chunker>> {
    let Factory::Chunker(open) = oracle::CHUNKER.factory else {
        unreachable!("the oracle is a chunker")
    };
    Ok(Arc::new(Broken {
        inner: open(&OpenContext::new(&serde_json::Value::Null))?,
        fault: parse_config::<Config>(context.config)?.fault,
        n_calls: AtomicUsize::new(0),
    }))
}

#[derive(Debug)]
struct Broken {
    inner: Arc<dyn Chunker>,
    fault: String,
    n_calls: AtomicUsize,
}

impl Identity for Broken {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint(format!("broken {}", self.fault))
    }
}

impl Chunker for Broken {
    fn accepts(&self, document: &Document<'_>) -> bool {
        match self.fault.as_str() {
            "accepts_nothing" => false,
            "accepts_only_its_own" => document.path == "journal/one.org",
            _ => true,
        }
    }

    fn chunk(&self, document: &Document<'_>) -> Result<Chunked> {
        let mut chunked = self.inner.chunk(document)?;
        let Chunked {
            entries,
            excluded,
            warnings,
            resume,
            ..
        } = &mut chunked;
        match self.fault.as_str() {
            // A span in bytes that were counted as characters.
            "counts_characters" => {
                for entry in entries {
                    let start = document.text[..entry.span.start].chars().count();
                    entry.span = start..start + entry.text.chars().count();
                }
            }
            "ends_beyond" => {
                if let Some(last) = entries.last_mut() {
                    last.span.end = document.text.len() + 1;
                }
            }
            "stands_for_nothing" => {
                if let Some(last) = entries.last_mut() {
                    last.span.start = last.span.end;
                }
            }
            "wrong_order" => entries.reverse(),
            "blank_entries" => {
                if let Some(last) = entries.last().cloned() {
                    entries.push(DraftEntry::new(" \u{feff}\n", last.span));
                }
            }
            "torn_characters" => {
                for entry in entries {
                    let cut = entry.text.len().min(1601);
                    let bytes = &entry.text.as_bytes()[..cut];
                    entry.text = String::from_utf8_lossy(bytes).into_owned();
                }
            }
            "loses_the_end" => {
                entries.pop();
            }
            "loses_a_line" => {
                for entry in entries {
                    if let Some(end) = entry.text.trim_end().rfind('\n') {
                        entry.span.end = entry.span.start + end;
                    }
                }
            }
            "excludes_what_it_cuts" => {
                excluded.extend(entries.first().map(|entry| entry.span.clone()));
            }
            "excludes_twice" => {
                let ranges: Vec<_> = entries.drain(..).map(|entry| entry.span).collect();
                excluded.extend(ranges.iter().chain(&ranges).cloned());
            }
            "counts_its_calls" => {
                let n_calls = self.n_calls.fetch_add(1, Ordering::Relaxed);
                warnings.push(Warning::new(None, format!("call {n_calls}")));
            }
            "refuses_control_characters" if document.text.contains('\0') => {
                return Err(Error::new(ErrorKind::InvalidInput, "control character"));
            }
            "panics_at_crlf" => assert!(!document.text.contains("\r\n"), "carriage return"),
            "names_the_beginning" | "forgets_the_beginning" => {
                let beginning = if self.fault == "names_the_beginning" {
                    document.beginning()
                } else {
                    Document::head_of(document.text)
                };
                let first = beginning.lines().next().unwrap_or_default();
                for entry in entries {
                    entry.tags.push(first.to_owned());
                }
            }
            "goes_on_behind_everything" => *resume = Some(document.text.len()),
            "goes_on_beyond" => *resume = Some(document.text.len() + 1),
            "goes_on_inside" => {
                *resume = entries
                    .last()
                    .map(|last| last.span.end)
                    .filter(|end| *end > 1);
                if let Some(end) = resume {
                    *end -= 1;
                    while !document.text.is_char_boundary(*end) {
                        *end -= 1;
                    }
                }
            }
            "an_entry_for_nothing" if entries.is_empty() => {
                entries.push(DraftEntry::new("(empty)", 0..0));
            }
            _ => {}
        }
        Ok(chunked)
    }
}

/// A fault, the scenario that has to find it, and words of its message.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "counts_characters",
        "chunker::spans_are_ordered_and_on_char_borders",
        "cuts a character in two",
    ),
    (
        "ends_beyond",
        "chunker::spans_are_ordered_and_on_char_borders",
        "goes beyond the text",
    ),
    (
        "stands_for_nothing",
        "chunker::spans_are_ordered_and_on_char_borders",
        "stands for no bytes",
    ),
    (
        "wrong_order",
        "chunker::spans_are_ordered_and_on_char_borders",
        "comes after one that starts",
    ),
    ("blank_entries", "chunker::no_entry_is_blank", "is blank"),
    (
        "torn_characters",
        "chunker::no_character_is_torn",
        "replacement character",
    ),
    (
        "loses_the_end",
        "chunker::body_text_is_covered",
        "in no entry and not excluded",
    ),
    (
        "loses_a_line",
        "chunker::body_text_is_covered",
        "in no entry and not excluded",
    ),
    (
        "excludes_what_it_cuts",
        "chunker::excluded_text_is_in_no_entry",
        "are in the entry of",
    ),
    (
        "excludes_twice",
        "chunker::excluded_text_is_in_no_entry",
        "overlaps or precedes",
    ),
    (
        "counts_its_calls",
        "chunker::same_document_same_entries",
        "gives another result",
    ),
    (
        "refuses_control_characters",
        "chunker::hostile_text_is_no_error",
        "control character",
    ),
    (
        "panics_at_crlf",
        "chunker::hostile_text_is_no_error",
        "the plugin panicked",
    ),
    (
        "an_entry_for_nothing",
        "chunker::empty_document_has_no_entries",
        "has 1 entries",
    ),
    (
        "forgets_the_beginning",
        "chunker::grown_document_has_the_same_entries",
        "as a whole",
    ),
    (
        "goes_on_behind_everything",
        "chunker::grown_document_has_the_same_entries",
        "as a whole",
    ),
    (
        "goes_on_beyond",
        "chunker::grown_document_has_the_same_entries",
        "has no border at",
    ),
    (
        "goes_on_inside",
        "chunker::grown_document_has_the_same_entries",
        "reaches beyond",
    ),
    (
        "accepts_nothing",
        "chunker::hostile_text_is_no_error",
        "Fixture::with_document",
    ),
];

#[test]
fn honest_chunker_passes() {
    check_honest(&PLUGIN, "");
    check_honest(&PLUGIN, "names_the_beginning");
}

#[test]
fn broken_chunkers_are_caught() {
    for (fault, scenario, words) in FAULTS {
        check_caught(&subject(&PLUGIN, fault), fault, scenario, words);
    }
}

#[test]
fn every_chunker_scenario_catches_something() {
    let catching: BTreeSet<_> = FAULTS.iter().map(|(_, scenario, _)| *scenario).collect();
    assert_eq!(catching, names_of_kind(&PLUGIN));
}

#[test]
fn fixture_names_the_documents_of_a_choosy_chunker() {
    let config = serde_json::json!({ "fault": "accepts_only_its_own" });
    let fixture = Fixture::config(config).with_document("journal", "journal/one.org");
    let subject = Subject::new(&PLUGIN).with_fixture(fixture);
    for scenario in scenarios(PLUGIN.kind()) {
        if scenario.skipped_for(&PLUGIN).is_none() {
            assert_eq!(scenario.check(&subject), Ok(()), "{}", scenario.name());
        }
    }
}

#[test]
fn one_result_is_held_against_the_contract() {
    let document = Document::new("memory", "MEMORY.md", "# A\n\n\u{feff}\n\nb");
    let check = |entries: &[(usize, usize)], excluded: Option<usize>| {
        let mut chunked = Chunked::default();
        chunked.entries = entries
            .iter()
            .map(|(start, end)| DraftEntry::new(&document.text[*start..*end], *start..*end))
            .collect();
        chunked.excluded.extend(excluded.map(|end| 0..end));
        check_chunked(&document, &chunked).map_err(|broken| broken.to_string())
    };
    assert_eq!(check(&[(0, 3), (10, 11)], None), Ok(()));
    assert_eq!(check(&[(10, 11)], Some(3)), Ok(()));
    assert!(check(&[(0, 3)], None).unwrap_err().contains("in no entry"));
    let blank = check(&[(0, 3), (5, 8), (10, 11)], None).unwrap_err();
    assert!(blank.contains("is blank"), "{blank}");
    assert!(check(&[(0, 11)], Some(3)).is_err());
}
