//! Measures how well questions are answered, with line ranges as the right answers.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use memory::{Query, ReadRequest, SyncRequest};
use memory_api::{Error, ErrorKind, LineRange};
use serde::{Deserialize, Serialize};

use crate::args::EvalRunArgs;
use crate::command::index;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

/// Depths at which recall is taken.
const DEPTHS: [usize; 4] = [1, 5, 6, 10];
/// Characters an agent sees for a fixed cost, some 2,000 tokens of English.
const BUDGET_CHARS: usize = 8_000;

/// A question and where its answers stand.
#[derive(Debug, Deserialize)]
struct Question {
    id: String,
    text: String,
    relevant: Vec<Place>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Place {
    path: String,
    line_start: u32,
    line_end: u32,
    #[serde(default, skip_deserializing, skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
}

impl Place {
    fn overlaps(&self, other: &Self) -> bool {
        let lines = |place: &Self| LineRange {
            start: place.line_start,
            end: place.line_end,
        };
        self.path == other.path && lines(self).overlaps(lines(other))
    }
}

/// The figures of one question, or their mean.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
struct Figures {
    recall: [f64; DEPTHS.len()],
    /// Recall over results in order until their lines hold more than [`BUDGET_CHARS`].
    recall_by_chars: f64,
    mrr: f64,
    ndcg: f64,
}

pub(crate) async fn run(
    context: &Context,
    args: &EvalRunArgs,
    output: Output,
) -> Result<Exit, Failure> {
    let queries = context.absolute(&args.queries);
    let questions = read(&queries)?;
    let out = args.out.as_ref().map(|out| context.absolute(out));
    if let Some(out) = &out {
        check_replaceable(out)?;
    }
    let memory = context.open().await?;
    if !memory.is_indexed().await? {
        output.note("no index yet; building it first");
        index::sync(&memory, SyncRequest::default(), output).await?;
    }
    let mut out = out.map(Writer::create).transpose()?;
    let mut lines = LineLengths::default();
    let mut sum = Figures::default();
    for question in &questions {
        let mut query = Query::new(&question.text).everything(usize::from(args.top));
        if let Some(mode) = args.mode {
            query = query.with_mode(mode.into());
        }
        let response = memory.search(&query).await?;
        if let Some(degraded) = response.degraded.first() {
            // Figures of half an index would look like figures.
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!("cannot measure: {degraded}"),
            )
            .with_hint("to measure what there is, name it by `--mode`")
            .into());
        }
        let results: Vec<Place> = response
            .results
            .into_iter()
            .map(|hit| Place {
                path: hit.path,
                line_start: hit.line_start,
                line_end: hit.line_end,
                score: Some(hit.score),
            })
            .collect();
        let n_chars = |place: &Place| {
            lines.chars(place, |path| {
                let request = ReadRequest {
                    path: path.to_owned(),
                    lines: Some(i64::MAX),
                    max_chars: Some(usize::MAX),
                    ..ReadRequest::default()
                };
                memory.get(&request).map(|window| window.text)
            })
        };
        sum.add(&figures(&question.relevant, &results, n_chars));
        if let Some(out) = &mut out {
            out.row(&question.id, &results)?;
        }
    }
    memory.close().await?;
    out.map_or(Ok(()), Writer::finish)?;
    report(&sum.over(questions.len()), questions.len(), output)?;
    Ok(Exit::Ok)
}

fn read(path: &Path) -> Result<Vec<Question>, Error> {
    let text = fs::read_to_string(path).map_err(|err| {
        let kind = match err.kind() {
            std::io::ErrorKind::NotFound => ErrorKind::NotFound,
            std::io::ErrorKind::InvalidData => ErrorKind::InvalidInput,
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, format!("cannot read `{}`: {err}", path.display()))
    })?;
    let rows = text
        .trim_start_matches('\u{feff}')
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let questions: Vec<Question> = rows
        .map(|(idx, line)| {
            let row = serde_json::from_str(line).map_err(|err| err.to_string());
            row.and_then(checked).map_err(|err| {
                Error::new(ErrorKind::InvalidInput, format!("{}:{}: {err}", path.display(), idx + 1)).with_hint(
                    r#"a row is {"id": "q1", "text": "…", "relevant": [{"path": "memory/a.md", "line_start": 1, "line_end": 4}]}"#,
                )
            })
        })
        .collect::<Result<_, _>>()?;
    if questions.is_empty() {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!("there is no question in `{}`", path.display()),
        ));
    }
    Ok(questions)
}

fn checked(question: Question) -> Result<Question, String> {
    match question
        .relevant
        .iter()
        .find(|place| place.line_start < 1 || place.line_end < place.line_start)
    {
        None => Ok(question),
        Some(place) => Err(format!(
            "the lines {} to {} are no range",
            place.line_start, place.line_end
        )),
    }
}

fn report(mean: &Figures, n_questions: usize, output: Output) -> Result<(), Failure> {
    let recall = DEPTHS
        .iter()
        .zip(mean.recall)
        .map(|(depth, recall)| (format!("recall@{depth}"), recall));
    let rows: Vec<(String, f64)> = recall
        .chain([
            (
                format!("recall@{}kc", BUDGET_CHARS / 1000),
                mean.recall_by_chars,
            ),
            ("mrr@10".to_owned(), mean.mrr),
            ("ndcg@10".to_owned(), mean.ndcg),
        ])
        .collect();
    if output.json {
        let figures: serde_json::Map<_, _> = rows
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        return output.json(&serde_json::json!({ "questions": n_questions, "figures": figures }));
    }
    output.data(format_args!("{:<12} {n_questions}", "questions"))?;
    rows.into_iter()
        .try_for_each(|(name, value)| output.data(format_args!("{name:<12} {:.1}", value * 100.0)))
}

/// Measures one answer. A result hits a relevant range when the paths are equal and the lines overlap; results that repeat
/// a place count once; each relevant range counts at the first result that hits it.
fn figures(
    relevant: &[Place],
    results: &[Place],
    mut n_chars: impl FnMut(&Place) -> usize,
) -> Figures {
    let mut first_rank: Vec<Option<usize>> = vec![None; relevant.len()];
    let mut in_budget = vec![false; relevant.len()];
    let mut seen: Vec<&Place> = Vec::new();
    let mut used = 0;
    let mut over = false;
    for result in results {
        let same = |place: &&Place| {
            (&place.path, place.line_start, place.line_end)
                == (&result.path, result.line_start, result.line_end)
        };
        if seen.iter().any(same) {
            continue;
        }
        seen.push(result);
        let rank = seen.len();
        if !over {
            used += n_chars(result);
            // The first result is seen whatever its length.
            over = used > BUDGET_CHARS && rank > 1;
        }
        for ((range, first), in_budget) in relevant.iter().zip(&mut first_rank).zip(&mut in_budget)
        {
            if range.overlaps(result) {
                first.get_or_insert(rank);
                *in_budget |= !over;
            }
        }
    }
    let n_relevant = relevant.len().max(1) as f64;
    let n_within = |depth: usize| {
        first_rank
            .iter()
            .flatten()
            .filter(|rank| **rank <= depth)
            .count() as f64
    };
    let gain = |rank: usize| 1.0 / (1.0 + rank as f64).log2();
    let found: f64 = first_rank
        .iter()
        .flatten()
        .filter(|rank| **rank <= 10)
        .map(|rank| gain(*rank))
        .sum();
    let ideal: f64 = (1..=relevant.len().clamp(1, 10)).map(gain).sum();
    let best = first_rank
        .iter()
        .flatten()
        .min()
        .filter(|rank| **rank <= 10);
    Figures {
        recall: DEPTHS.map(|depth| n_within(depth) / n_relevant),
        recall_by_chars: in_budget.iter().filter(|hit| **hit).count() as f64 / n_relevant,
        mrr: best.map_or(0.0, |rank| 1.0 / *rank as f64),
        ndcg: (found / ideal).min(1.0),
    }
}

impl Figures {
    fn add(&mut self, other: &Self) {
        for (sum, value) in self.recall.iter_mut().zip(other.recall) {
            *sum += value;
        }
        self.recall_by_chars += other.recall_by_chars;
        self.mrr += other.mrr;
        self.ndcg += other.ndcg;
    }

    fn over(self, n: usize) -> Self {
        let n = n as f64;
        Self {
            recall: self.recall.map(|value| value / n),
            recall_by_chars: self.recall_by_chars / n,
            mrr: self.mrr / n,
            ndcg: self.ndcg / n,
        }
    }
}

/// Characters up to each line of the files that were looked at.
#[derive(Debug, Default)]
struct LineLengths {
    files: HashMap<String, Vec<usize>>,
}

impl LineLengths {
    /// Returns the characters of these lines, line ends included; 0 for a file that cannot be read.
    fn chars(&mut self, place: &Place, read: impl Fn(&str) -> Result<String, Error>) -> usize {
        let ends = self
            .files
            .entry(place.path.clone())
            .or_insert_with_key(|path| {
                let text = read(path).unwrap_or_default();
                let running = text.split('\n').scan(0, |sum, line| {
                    *sum += line.chars().count() + 1;
                    Some(*sum)
                });
                std::iter::once(0).chain(running).collect()
            });
        let at = |line: u32| {
            ends.get(line as usize)
                .or(ends.last())
                .copied()
                .unwrap_or(0)
        };
        at(place.line_end).saturating_sub(at(place.line_start.saturating_sub(1)))
    }
}

/// Nothing but results of an earlier run is replaced: not the questions, not a note.
fn check_replaceable(out: &Path) -> Result<(), Error> {
    let is_of_results = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line)
            .is_ok_and(|row| row.get("id").is_some() && row.get("results").is_some())
    };
    let refused = || {
        let message = format!("`{}` holds something else than results", out.display());
        Error::new(ErrorKind::InvalidInput, message).with_hint("name another file for `--out`")
    };
    // A device such as /dev/null takes what it is given.
    if !out.is_file() {
        return Ok(());
    }
    let text = fs::read(out).map_err(|err| cannot_write(out, &err))?;
    let text = String::from_utf8(text).map_err(|_| refused())?;
    if text.lines().all(is_of_results) {
        Ok(())
    } else {
        Err(refused())
    }
}

/// Writes `{"id", "results"}` rows.
struct Writer {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Writer {
    fn create(path: PathBuf) -> Result<Self, Error> {
        match File::create(&path) {
            Ok(file) => Ok(Self {
                path,
                file: BufWriter::new(file),
            }),
            Err(err) => Err(cannot_write(&path, &err)),
        }
    }

    fn row(&mut self, id: &str, results: &[Place]) -> Result<(), Error> {
        let row = serde_json::json!({ "id": id, "results": results });
        writeln!(self.file, "{row}").map_err(|err| cannot_write(&self.path, &err))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.file
            .flush()
            .map_err(|err| cannot_write(&self.path, &err))
    }
}

fn cannot_write(path: &Path, err: &std::io::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!("cannot write `{}`: {err}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::{Figures, LineLengths, Place, figures};

    fn place(path: &str, line_start: u32, line_end: u32) -> Place {
        Place {
            path: path.to_owned(),
            line_start,
            line_end,
            score: None,
        }
    }

    fn measure(relevant: &[Place], results: &[Place]) -> Figures {
        figures(relevant, results, |_| 3_000)
    }

    #[test]
    fn a_range_counts_once_at_its_first_hit() {
        let relevant = [place("a", 1, 2), place("b", 5, 9)];
        let results = [
            place("c", 1, 1),
            place("a", 2, 4),
            place("a", 1, 1),
            place("b", 9, 12),
        ];
        let figures = measure(&relevant, &results);
        assert_eq!(
            figures.recall.map(|recall| recall > 0.99),
            [false, true, true, true]
        );
        assert!((figures.mrr - 0.5).abs() < 1e-12);
        let expected = (1.0 / 3_f64.log2() + 1.0 / 5_f64.log2()) / (1.0 + 1.0 / 3_f64.log2());
        assert!((figures.ndcg - expected).abs() < 1e-12);
        // Three results of 3,000 characters are more than 8,000; the third is no longer seen.
        assert!((figures.recall_by_chars - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_repeated_place_takes_no_rank_and_no_answer_scores_nothing() {
        let results = [place("c", 1, 1), place("c", 1, 1), place("a", 1, 1)];
        assert!((measure(&[place("a", 1, 1)], &results).mrr - 0.5).abs() < 1e-12);
        assert_eq!(measure(&[place("a", 1, 1)], &[]), Figures::default());
    }

    #[test]
    fn characters_of_lines_count_their_line_ends() {
        let mut lines = LineLengths::default();
        let read = |_: &str| Ok("ab\n水泵\nc".to_owned());
        assert_eq!(lines.chars(&place("a", 1, 2), read), 6);
        assert_eq!(lines.chars(&place("a", 3, 9), read), 2);
    }
}
