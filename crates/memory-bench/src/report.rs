//! What is printed: figures as they come, ratios at the end, the worst last.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::sample::percentile;

/// What a part of a bench found out.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Lines of name and value.
    pub(crate) figures: Vec<(String, String)>,
    pub(crate) ratios: Vec<Ratio>,
}

/// A figure that means the same on every machine, and what is wanted of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ratio {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) aim: Aim,
}

/// What is wanted of a ratio.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

impl Report {
    pub(crate) fn figure(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.figures.push((name.into(), value.into()));
    }

    /// Adds a line with the middle and the slow end of many times, in seconds.
    pub(crate) fn times(&mut self, name: impl Into<String>, seconds: &[f64]) {
        let at = |share| percentile(seconds, share).map_or_else(|| "–".to_owned(), millis);
        let value = format!("p50 {:>9}   p95 {:>9}", at(0.5), at(0.95));
        self.figure(name, value);
    }

    pub(crate) fn ratio(&mut self, name: impl Into<String>, value: f64, aim: Aim) {
        self.ratios.push(Ratio {
            name: name.into(),
            // A ratio that is no number is none that holds, and JSON has no word for it.
            value: if value.is_finite() { value } else { f64::MAX },
            aim,
        });
    }

    /// Returns the lines of the figures, in columns.
    pub(crate) fn lines(&self) -> String {
        let width = width(self.figures.iter().map(|(name, _)| name));
        let line = |(name, value): &(String, String)| format!("{name:width$}  {value}");
        let lines: Vec<String> = self.figures.iter().map(line).collect();
        lines.join("\n")
    }
}

impl Ratio {
    /// Returns how much of its aim is used up: above 1 it is missed.
    fn strain(&self) -> f64 {
        match self.aim {
            Aim::AtMost(most) => self.value / most,
            // What is no number was made a huge one, which is no gain.
            Aim::AtLeast(_) if self.value >= f64::MAX => f64::INFINITY,
            Aim::AtLeast(least) => least / self.value,
        }
    }

    fn held(&self) -> bool {
        self.strain() <= 1.0
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "aim ≤ {most}"),
            Self::AtLeast(least) => write!(f, "aim ≥ {least}"),
        }
    }
}

/// Returns one line per ratio, the one nearest to its aim or furthest beyond it last, and whether all hold.
pub(crate) fn verdict(ratios: &[Ratio]) -> (String, bool) {
    let mut sorted: Vec<&Ratio> = ratios.iter().collect();
    sorted.sort_by(|a, b| a.strain().total_cmp(&b.strain()));
    let width = width(sorted.iter().map(|ratio| &ratio.name));
    let lines: Vec<String> = sorted
        .iter()
        .map(|ratio| {
            let Ratio { name, value, aim } = ratio;
            let value = if *value >= f64::MAX {
                "none".to_owned()
            } else {
                rounded(*value)
            };
            let word = if ratio.held() { "ok" } else { "MISSED" };
            format!("ratio  {name:width$}  {value:>7} ({aim})  {word}")
        })
        .collect();
    (lines.join("\n"), ratios.iter().all(Ratio::held))
}

fn width<'a>(names: impl Iterator<Item = &'a String>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}

/// Writes seconds as milliseconds.
pub(crate) fn millis(seconds: f64) -> String {
    format!("{} ms", rounded(seconds * 1e3))
}

/// Writes a number with three digits or so.
pub(crate) fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Aim, Report, millis, rounded, verdict};

    fn report(ratios: &[(&str, f64, Aim)]) -> Report {
        let mut report = Report::default();
        for (name, value, aim) in ratios {
            report.ratio(*name, *value, *aim);
        }
        report
    }

    fn names(lines: &str) -> Vec<&str> {
        lines
            .lines()
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect()
    }

    #[test]
    fn the_ratio_nearest_to_its_aim_stands_last() {
        let report = report(&[
            ("near", 1.9, Aim::AtMost(2.0)),
            ("far", 2.0, Aim::AtMost(10.0)),
            ("middle", 3.0, Aim::AtLeast(1.5)),
            ("nothing", 0.0, Aim::AtMost(0.001)),
        ]);
        let (lines, held) = verdict(&report.ratios);
        assert!(held);
        assert_eq!(names(&lines), ["nothing", "far", "middle", "near"]);
    }

    #[test]
    fn the_ratio_furthest_beyond_its_aim_stands_last() {
        let report = report(&[
            ("beyond", 6.0, Aim::AtMost(2.0)),
            ("slow", 0.1, Aim::AtLeast(1.5)),
            ("just", 2.01, Aim::AtMost(2.0)),
            ("held", 1.99, Aim::AtMost(2.0)),
        ]);
        let (lines, held) = verdict(&report.ratios);
        assert!(!held);
        assert_eq!(names(&lines), ["held", "just", "beyond", "slow"]);
        let words: Vec<_> = lines
            .lines()
            .filter_map(|line| line.rsplit(' ').next())
            .collect();
        assert_eq!(words, ["ok", "MISSED", "MISSED", "MISSED"]);
    }

    #[test]
    fn an_aim_that_is_just_met_holds() {
        let exact = report(&[
            ("most", 2.0, Aim::AtMost(2.0)),
            ("least", 1.5, Aim::AtLeast(1.5)),
        ]);
        assert!(verdict(&exact.ratios).1);
    }

    #[test]
    fn a_ratio_that_is_no_number_misses_its_aim_also_after_a_journey_as_json() {
        for aim in [Aim::AtMost(2.0), Aim::AtLeast(2.0)] {
            for value in [f64::NAN, f64::INFINITY] {
                let report = report(&[("none", value, aim)]);
                let json = serde_json::to_string(&report).unwrap();
                let report: Report = serde_json::from_str(&json).unwrap();
                let (line, held) = verdict(&report.ratios);
                assert!(!held && line.ends_with("MISSED"), "{line}");
                assert!(line.contains(" none ("), "{line}");
            }
        }
    }

    #[test]
    fn a_line_says_value_aim_and_verdict() {
        let report = report(&[("flat / scan", 1.234, Aim::AtMost(2.0))]);
        let (line, _) = verdict(&report.ratios);
        assert_eq!(line, "ratio  flat / scan     1.23 (aim ≤ 2)  ok");
    }

    #[test]
    fn figures_stand_in_columns() {
        let mut report = Report::default();
        report.figure("a", "1");
        report.times("larger", &[0.001, 0.002, 0.1]);
        assert_eq!(
            report.lines(),
            "a       1\nlarger  p50   2.00 ms   p95    100 ms"
        );
    }

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!(rounded(1234.5), "1234");
        assert_eq!(rounded(12.345), "12.3");
        assert_eq!(rounded(0.0), "0.00");
        assert_eq!(rounded(0.001_23), "0.0012");
        assert_eq!(millis(0.0123), "12.3 ms");
    }
}
