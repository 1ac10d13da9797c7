//! The part of a text to show.

use std::collections::HashMap;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::analysis::{Form, analyze};
use crate::query::{Clause, Query};

const ELLIPSIS: char = '…';

/// Returns the part of the text that covers the query best, in at most `max_chars` characters.
///
/// It is cut on grapheme borders, at the ends of lines or words where one is near, and shows `…` where it was cut inside a line.
/// Without a match it is the beginning of the text.
pub fn snippet(text: &str, query: &Query, max_chars: usize) -> String {
    let trimmed = text.trim();
    if trimmed.chars().nth(max_chars).is_none() {
        return trimmed.to_owned();
    }
    let map = CharMap::new(trimmed);
    let hits = hits(trimmed, query, &map);
    let room = max_chars.saturating_sub(2);
    let best = best_window(&hits, room);
    let window = place(trimmed, &map, &best, room);
    cut(trimmed, &map, window, &best, max_chars)
}

/// A place of the text that matches a clause, in characters.
#[derive(Debug, Clone)]
struct Match {
    span: Range<usize>,
    clause: usize,
}

/// Byte offset of each character, and of the end.
#[derive(Debug)]
struct CharMap(Vec<usize>);

impl CharMap {
    fn new(text: &str) -> Self {
        Self(
            text.char_indices()
                .map(|(at, _)| at)
                .chain([text.len()])
                .collect(),
        )
    }

    fn len(&self) -> usize {
        self.0.len() - 1
    }

    fn byte(&self, char_idx: usize) -> usize {
        self.0
            .get(char_idx)
            .or(self.0.last())
            .copied()
            .unwrap_or_default()
    }

    fn char_at(&self, byte: usize) -> usize {
        self.0.partition_point(|at| *at < byte)
    }
}

fn hits(text: &str, query: &Query, map: &CharMap) -> Vec<Match> {
    let mut terms: HashMap<(Form, &str), usize> = HashMap::new();
    let mut prefixes: Vec<(&str, usize)> = Vec::new();
    for (clause_idx, clause) in query.clauses.iter().enumerate() {
        match clause {
            Clause::Word(words) => {
                for term in words {
                    terms.entry((term.form, &term.text)).or_insert(clause_idx);
                }
            }
            Clause::Phrase(words) => {
                for word in words {
                    terms.entry((Form::Exact, word)).or_insert(clause_idx);
                }
            }
            Clause::Prefix(start) => prefixes.push((start, clause_idx)),
        }
    }
    let mut found = Vec::new();
    analyze(text, &mut |token| {
        let prefix = || {
            let starts = |(start, _): &&(&str, usize)| {
                token.form == Form::Exact && token.text.starts_with(start)
            };
            prefixes.iter().find(starts).map(|(_, clause)| *clause)
        };
        if let Some(clause) = terms
            .get(&(token.form, token.text))
            .copied()
            .or_else(prefix)
        {
            found.push(Match {
                span: map.char_at(token.range.start)..map.char_at(token.range.end),
                clause,
            });
        }
    });
    found
}

/// The span, no longer than `room`, that holds the most clauses, then the most matches; the first of equals.
fn best_window(hits: &[Match], room: usize) -> Range<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut best = (0, 0, 0..0);
    let mut first = 0;
    for (last, hit) in hits.iter().enumerate() {
        *counts.entry(hit.clause).or_default() += 1;
        while let Some(start) = hits.get(first)
            && first < last
            && hit.span.end.saturating_sub(start.span.start) > room
        {
            first += 1;
            if let Some(count) = counts.get_mut(&start.clause) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&start.clause);
                }
            }
        }
        let start = hits
            .get(first)
            .map_or(hit.span.start, |start| start.span.start);
        if (counts.len(), last - first + 1) > (best.0, best.1) {
            best = (
                counts.len(),
                last - first + 1,
                start..hit.span.end.max(start),
            );
        }
    }
    best.2
}

/// A window of `room` characters around the span: from the start of its line if that fits, else from a little before the span,
/// because what follows a word explains it more often.
fn place(text: &str, map: &CharMap, span: &Range<usize>, room: usize) -> Range<usize> {
    if span.is_empty() {
        return 0..room.min(map.len());
    }
    let slack = room.saturating_sub(span.len());
    let before = text.get(..map.byte(span.start)).unwrap_or_default();
    let line = map.char_at(before.rfind('\n').map_or(0, |newline| newline + 1));
    let start = if span.start - line <= slack {
        line
    } else {
        span.start - slack / 3
    };
    let end = (start + room).min(map.len());
    start.min(end.saturating_sub(room))..end
}

fn cut(
    text: &str,
    map: &CharMap,
    window: Range<usize>,
    span: &Range<usize>,
    max_chars: usize,
) -> String {
    let window = map.byte(window.start)..map.byte(window.end);
    let keep = if span.is_empty() {
        window.start..window.start
    } else {
        map.byte(span.start)..map.byte(span.end).min(window.end)
    };
    let start = start_near(text, &window, keep.start.max(window.start));
    let end = end_near(text, start, window.end, keep.end.max(start));
    let inside = text.get(start..end).unwrap_or_default().trim();
    let before = text.get(..start).unwrap_or_default();
    let after = text.get(end..).unwrap_or_default();
    let mut snippet = String::new();
    let has_room = max_chars >= 3;
    if has_room && !before.is_empty() && !before.trim_end_matches([' ', '\t']).ends_with('\n') {
        snippet.push(ELLIPSIS);
    }
    snippet.push_str(inside);
    if has_room
        && !after.is_empty()
        && !after
            .trim_start_matches([' ', '\t', '\r'])
            .starts_with('\n')
    {
        snippet.push(ELLIPSIS);
    }
    snippet
}

/// The best start between the window's and what must be kept: a line, else a word, else a grapheme.
fn start_near(text: &str, window: &Range<usize>, keep: usize) -> usize {
    if window.start == 0 {
        return 0;
    }
    let room = text.get(window.start..keep).unwrap_or_default();
    if let Some(line) = room.find('\n') {
        return window.start + line + 1;
    }
    if text.get(..window.start).unwrap_or_default().ends_with('\n') {
        return window.start;
    }
    if let Some(space) = room.find(char::is_whitespace) {
        return window.start + space;
    }
    borders(text, window.start)
        .find(|at| *at >= window.start)
        .unwrap_or(window.start)
        .min(keep.max(window.start))
}

fn end_near(text: &str, start: usize, limit: usize, keep: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let rest = text.get(start..limit).unwrap_or_default();
    let after_keep = keep.saturating_sub(start);
    if text.get(limit..).unwrap_or_default().starts_with('\n') {
        return limit;
    }
    // A whole line is worth up to half of the room.
    if let Some(line) = rest
        .rfind('\n')
        .filter(|line| *line >= after_keep && *line * 2 >= rest.len())
    {
        return start + line;
    }
    if text
        .get(limit..)
        .unwrap_or_default()
        .starts_with(char::is_whitespace)
    {
        return limit;
    }
    if let Some(space) = rest
        .rfind(char::is_whitespace)
        .filter(|space| *space >= after_keep && *space > 0)
    {
        return start + space;
    }
    let mut end = start;
    for at in borders(text, start) {
        if at > limit {
            break;
        }
        end = end.max(at);
    }
    end
}

/// Grapheme borders from the line or word before `at`, ascending.
fn borders(text: &str, at: usize) -> impl Iterator<Item = usize> + '_ {
    // Graphemes are found from a safe place: a white space is always a border.
    let from = text
        .get(..at)
        .and_then(|head| head.rfind(char::is_whitespace))
        .unwrap_or(0);
    let tail = text.get(from..).unwrap_or_default();
    tail.grapheme_indices(true)
        .map(move |(offset, _)| from + offset)
}
