//! The scenarios of chunkers: each is one property of a cut document, checked over hostile, ordinary and random documents.

mod documents;
mod markdown;
mod transcript;

use std::ops::Range;

use memory_api::{Chunked, Chunker, Document};
use proptest::prelude::prop_oneof;

use crate::failure::ensure;
use crate::{Failure, Outcome, Scenario, Subject, random};

pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario::new(
        "chunker::spans_are_ordered_and_on_char_borders",
        |subject| every_document(subject, spans_are_ordered_and_on_char_borders),
    ),
    Scenario::new("chunker::no_entry_is_blank", |subject| {
        every_document(subject, no_entry_is_blank)
    }),
    Scenario::new("chunker::no_character_is_torn", |subject| {
        every_document(subject, no_character_is_torn)
    }),
    Scenario::new("chunker::body_text_is_covered", |subject| {
        every_document(subject, body_text_is_covered)
    }),
    Scenario::new("chunker::excluded_text_is_in_no_entry", |subject| {
        every_document(subject, excluded_text_is_in_no_entry)
    }),
    Scenario::new(
        "chunker::same_document_same_entries",
        same_document_same_entries,
    ),
    Scenario::new("chunker::hostile_text_is_no_error", |subject| {
        every_document(subject, |_, _| Ok(()))
    }),
    Scenario::new(
        "chunker::empty_document_has_no_entries",
        empty_document_has_no_entries,
    ),
    Scenario::new(
        "chunker::grown_document_has_the_same_entries",
        grown_document_has_the_same_entries,
    ),
];

/// The places a document may come from; a chunker gets those it accepts.
const PLACES: &[(&str, &str)] = &[
    ("memory", "MEMORY.md"),
    ("memory", "memory/2026-05-18.md"),
    ("sessions", "sessions/2026-05-18.jsonl"),
];

fn places(subject: &Subject) -> impl Iterator<Item = (&str, &str)> {
    subject.fixture().documents().chain(PLACES.iter().copied())
}

/// White space and the byte order mark.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

/// Cuts one text at every place the chunker accepts and checks what comes out; returns at how many places it did.
fn check_text(
    subject: &Subject,
    chunker: &dyn Chunker,
    text: &str,
    check: impl Fn(&Document<'_>, &Chunked) -> Outcome,
) -> Outcome<usize> {
    let mut n_accepted = 0;
    for (source, path) in places(subject) {
        let document = Document::new(source, path, text);
        if !chunker.accepts(&document) {
            continue;
        }
        n_accepted += 1;
        let checked = chunker
            .chunk(&document)
            .map_err(Failure::from)
            .and_then(|chunked| check(&document, &chunked));
        checked.map_err(|failure| failure.within(format!("{path}, {}", quote(text))))?;
    }
    Ok(n_accepted)
}

/// Checks a property over the built-in documents, and over random Markdown and transcripts.
fn every_document(
    subject: &Subject,
    check: impl Fn(&Document<'_>, &Chunked) -> Outcome,
) -> Outcome {
    let home = subject.home()?;
    let chunker = subject.run(home.open_chunker())?;
    let mut n_accepted = 0;
    for (name, text) in documents::all() {
        n_accepted += check_text(subject, &*chunker, &text, &check)
            .map_err(|failure| failure.within(name))?;
    }
    ensure!(
        n_accepted > 0,
        "the chunker accepts none of the documents: name one by `Fixture::with_document`"
    );
    let random = prop_oneof![markdown::document(), transcript::document()];
    random::for_all(subject, &random, |text| {
        check_text(subject, &*chunker, &text, &check).map(drop)
    })
}

/// Holds one cut document against the lines of the contract that a single result can break.
///
/// For tests that have documents of their own, such as a fuzzer.
///
/// # Errors
///
/// What the result breaks.
pub fn check_chunked(document: &Document<'_>, chunked: &Chunked) -> Outcome {
    spans_are_ordered_and_on_char_borders(document, chunked)?;
    no_entry_is_blank(document, chunked)?;
    no_character_is_torn(document, chunked)?;
    body_text_is_covered(document, chunked)?;
    excluded_text_is_in_no_entry(document, chunked)?;
    resume_is_a_border(document, chunked)
}

/// Checks that a range lies in the text, on character borders, and holds something.
fn check_range(text: &str, range: &Range<usize>, what: &str) -> Outcome {
    ensure!(
        range.start < range.end,
        "{what} {range:?} stands for no bytes"
    );
    ensure!(
        range.end <= text.len(),
        "{what} {range:?} goes beyond the text of {} bytes",
        text.len()
    );
    ensure!(
        text.is_char_boundary(range.start) && text.is_char_boundary(range.end),
        "{what} {range:?} cuts a character in two"
    );
    Ok(())
}

fn spans_are_ordered_and_on_char_borders(document: &Document<'_>, chunked: &Chunked) -> Outcome {
    let mut last = 0;
    for entry in &chunked.entries {
        check_range(document.text, &entry.span, "the span")?;
        ensure!(
            last <= entry.span.start,
            "the span {:?} comes after one that starts at {last}",
            entry.span
        );
        last = entry.span.start;
    }
    Ok(())
}

fn no_entry_is_blank(_: &Document<'_>, chunked: &Chunked) -> Outcome {
    for entry in &chunked.entries {
        ensure!(
            !entry.text.chars().all(is_blank),
            "the entry of {:?} is blank: {}",
            entry.span,
            quote(&entry.text)
        );
    }
    Ok(())
}

fn no_character_is_torn(document: &Document<'_>, chunked: &Chunked) -> Outcome {
    const TORN: char = char::REPLACEMENT_CHARACTER;
    for entry in &chunked.entries {
        ensure!(
            !entry.text.contains(TORN) || document.text.contains(TORN),
            "the entry of {:?} holds a replacement character: {}",
            entry.span,
            quote(&entry.text)
        );
    }
    Ok(())
}

fn body_text_is_covered(document: &Document<'_>, chunked: &Chunked) -> Outcome {
    let mut ranges: Vec<_> = chunked
        .entries
        .iter()
        .map(|entry| &entry.span)
        .chain(&chunked.excluded)
        .collect();
    ranges.sort_by_key(|range| range.start);
    let mut covered = 0;
    let end = document.text.len()..document.text.len();
    for range in ranges.into_iter().chain([&end]) {
        if let Some(gap) = document.text.get(covered..range.start) {
            ensure!(
                gap.chars().all(is_blank),
                "bytes {covered}..{} are in no entry and not excluded: {}",
                range.start,
                quote(gap)
            );
        }
        covered = covered.max(range.end);
    }
    Ok(())
}

fn excluded_text_is_in_no_entry(document: &Document<'_>, chunked: &Chunked) -> Outcome {
    let mut last = 0;
    for excluded in &chunked.excluded {
        check_range(document.text, excluded, "the excluded range")?;
        ensure!(
            last <= excluded.start,
            "the excluded range {excluded:?} overlaps or precedes the one before"
        );
        last = excluded.end;
        let holder = chunked
            .entries
            .iter()
            .find(|entry| entry.span.start < excluded.end && excluded.start < entry.span.end);
        if let Some(entry) = holder {
            return Err(Failure::new(format!(
                "excluded bytes {excluded:?} are in the entry of {:?}",
                entry.span
            )));
        }
    }
    Ok(())
}

fn same_document_same_entries(subject: &Subject) -> Outcome {
    let (here, there) = (subject.home()?, subject.home()?);
    let (first, second) =
        subject.run(async { Ok((here.open_chunker().await?, there.open_chunker().await?)) })?;
    every_document(subject, |document, chunked| {
        for chunker in [&first, &first, &second] {
            ensure!(
                chunker.accepts(document),
                "a document is accepted once and not again"
            );
            ensure!(
                chunker.chunk(document)? == *chunked,
                "a document cut again gives another result"
            );
        }
        Ok(())
    })
}

fn empty_document_has_no_entries(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let chunker = subject.run(home.open_chunker())?;
    for text in documents::BLANK {
        check_text(subject, &*chunker, text, |_, chunked| {
            ensure!(
                chunked.entries.is_empty(),
                "a document without text has {} entries",
                chunked.entries.len()
            );
            Ok(())
        })?;
    }
    Ok(())
}

fn resume_is_a_border(document: &Document<'_>, chunked: &Chunked) -> Outcome {
    let Some(resume) = chunked.resume else {
        return Ok(());
    };
    ensure!(
        document.text.is_char_boundary(resume),
        "the text of {} bytes has no border at {resume}, from where it is to go on",
        document.text.len()
    );
    let reaching = chunked
        .entries
        .iter()
        .find(|entry| entry.span.start < resume && resume < entry.span.end);
    if let Some(entry) = reaching {
        return Err(Failure::new(format!(
            "the entry of {:?} reaches beyond {resume}, from where the text is to go on",
            entry.span
        )));
    }
    Ok(())
}

fn grown_document_has_the_same_entries(subject: &Subject) -> Outcome {
    let home = subject.home()?;
    let chunker = subject.run(home.open_chunker())?;
    every_document(subject, |document, whole| {
        resume_is_a_border(document, whole)?;
        goes_on(&*chunker, document, whole, whole)?;
        for len in earlier_lengths(document.text) {
            let mut earlier = *document;
            earlier.text = document.text.get(..len).unwrap_or_default();
            if chunker.accepts(&earlier) {
                let before = chunker.chunk(&earlier)?;
                resume_is_a_border(&earlier, &before)?;
                goes_on(&*chunker, document, whole, &before)
                    .map_err(|failure| failure.within(format!("after {len} bytes")))?;
            }
        }
        Ok(())
    })
}

/// Checks that what was cut of the earlier document and what the rest gives are the whole.
fn goes_on(
    chunker: &dyn Chunker,
    document: &Document<'_>,
    whole: &Chunked,
    before: &Chunked,
) -> Outcome {
    let Some(resume) = before.resume else {
        return Ok(());
    };
    let rest = document.text.get(resume..).unwrap_or_default();
    let head = Document::head_of(document.text);
    let after = chunker.chunk(&Document::continued(
        document.source,
        document.path,
        head,
        rest,
    ))?;
    ensure!(
        after.meta == whole.meta,
        "the part from {resume} on says {:?} of the document, and the whole {:?}",
        after.meta,
        whole.meta
    );
    let stay = before
        .entries
        .iter()
        .filter(|entry| entry.span.start < resume)
        .cloned();
    let follow = after.entries.into_iter().map(|mut entry| {
        entry.span = entry.span.start + resume..entry.span.end + resume;
        entry
    });
    let mut pieces = stay.chain(follow);
    for entry in &whole.entries {
        let piece = pieces.next();
        ensure!(
            piece.as_ref() == Some(entry),
            "cut in two at {resume} it has {piece:?}, as a whole {entry:?}"
        );
    }
    let more = pieces.next();
    ensure!(
        more.is_none(),
        "cut in two at {resume} it has {more:?}, as a whole nothing more"
    );
    Ok(())
}

/// Returns how long a growing file may have been before: up to the ends of lines, and to the middle of the lines behind.
fn earlier_lengths(text: &str) -> Vec<usize> {
    const MAX_BYTES: usize = 64 * 1024;
    let n_places = if text.len() > MAX_BYTES { 1 } else { 6 };
    let ends: Vec<usize> = text
        .match_indices('\n')
        .map(|(idx, _)| idx + 1)
        .filter(|end| *end < text.len())
        .collect();
    let mut lengths = Vec::new();
    for end in ends.iter().step_by(ends.len() / n_places + 1) {
        let line = text.get(*end..).unwrap_or_default();
        let len = line.find('\n').unwrap_or(line.len());
        let mut middle = end + len / 2;
        while !text.is_char_boundary(middle) {
            middle -= 1;
        }
        lengths.extend([*end, middle]);
    }
    lengths
}

/// Shows the beginning of a text on one line.
fn quote(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let shown: String = text.chars().take(MAX_CHARS).collect();
    let rest = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{rest}")
}
