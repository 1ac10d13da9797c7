//! Dates: `2023-05-04` is asked for as `May 4`, `4 May 2023` or `5月4日`.
//!
//! A date in digits gives its year and month and its month and day as tokens of their own (`2023-05`, `05-04`) at its first
//! position. A query that names a date in words looks for these beside its words.

/// The numbers of a date; what is not said is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: Option<u32>,
    pub(crate) month: u32,
    pub(crate) day: Option<u32>,
}

impl Date {
    /// Reads a compound of year, month and day in digits, in this order; a time may follow (`2023-05-04t10:30`).
    pub(crate) fn from_digits(compound: &str) -> Option<Self> {
        let date = compound.split('t').next()?;
        let mut fields = date.split(['-', '/', '.']);
        let (year, month, day) = (fields.next()?, fields.next()?, fields.next()?);
        if year.len() != 4 || month.len() > 2 || day.len() > 2 || fields.next().is_some() {
            return None;
        }
        Self::new(year.parse().ok(), month.parse().ok()?, day.parse().ok())
    }

    fn new(year: Option<u32>, month: u32, day: Option<u32>) -> Option<Self> {
        let is_date = (1..=12).contains(&month) && day.is_none_or(|day| (1..=31).contains(&day));
        is_date.then_some(Self { year, month, day })
    }

    pub(crate) fn year_month(self) -> Option<String> {
        self.year.map(|year| format!("{year:04}-{:02}", self.month))
    }

    pub(crate) fn month_day(self) -> Option<String> {
        self.day.map(|day| format!("{:02}-{day:02}", self.month))
    }

    /// The tokens that a query for this date looks for, the narrowest first.
    pub(crate) fn tokens(self) -> impl Iterator<Item = String> {
        let whole = self
            .year
            .zip(self.day)
            .map(|(year, day)| format!("{year:04}-{:02}-{day:02}", self.month));
        [whole, self.month_day(), self.year_month()]
            .into_iter()
            .flatten()
    }
}

/// English months; three letters are enough.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

fn month(word: &str) -> Option<u32> {
    let is_month = |name: &str| {
        name == word
            || (word.len() == 3 && name.starts_with(word))
            || word == "sept" && name.starts_with(word)
    };
    let idx = MONTHS.iter().position(|name| is_month(name))?;
    u32::try_from(idx + 1).ok()
}

fn number(word: &str, max_len: usize) -> Option<u32> {
    let is_number = word.len() <= max_len && word.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { word.parse().ok() } else { None }
}

fn year(word: &str) -> Option<u32> {
    number(word, 4).filter(|year| (1000..=2999).contains(year))
}

fn day(word: &str) -> Option<u32> {
    number(word, 2).filter(|day| (1..=31).contains(day))
}

/// Finds the dates that a sequence of words names: `4 May 2023`, `May 4th, 2023`, `2023年5月4日`.
///
/// A month alone is no date: `may` is a verb.
pub(crate) fn named(words: &[String]) -> Vec<Date> {
    let words = Words(words);
    let dates =
        (0..words.0.len()).filter_map(|idx| words.english(idx).or_else(|| words.chinese(idx)));
    dates
        .filter(|date| date.day.is_some() || date.year.is_some())
        .collect()
}

struct Words<'a>(&'a [String]);

impl Words<'_> {
    /// The word `offset` places after `idx`; nothing outside.
    fn at(&self, idx: usize, offset: isize) -> &str {
        idx.checked_add_signed(offset)
            .and_then(|idx| self.0.get(idx))
            .map_or("", String::as_str)
    }

    fn is_ordinal(&self, idx: usize, offset: isize) -> bool {
        matches!(self.at(idx, offset), "st" | "nd" | "rd" | "th")
    }

    /// The date whose month stands at `idx`.
    fn english(&self, idx: usize) -> Option<Date> {
        let month = month(self.at(idx, 0))?;
        let mut before = -1;
        before -= isize::from(self.at(idx, before) == "of");
        before -= isize::from(self.is_ordinal(idx, before));
        let mut after = 1;
        let day_after = day(self.at(idx, after));
        if day_after.is_some() {
            after += 1;
            after += isize::from(self.is_ordinal(idx, after));
        }
        Date::new(
            year(self.at(idx, after)),
            month,
            day_after.or_else(|| day(self.at(idx, before))),
        )
    }

    /// The date whose `月` stands at `idx`; Japanese writes the same.
    fn chinese(&self, idx: usize) -> Option<Date> {
        if self.at(idx, 0) != "月" {
            return None;
        }
        let month = number(self.at(idx, -1), 2)?;
        let day = day(self.at(idx, 1)).filter(|_| matches!(self.at(idx, 2), "日" | "号" | "號"));
        let year = year(self.at(idx, -3)).filter(|_| self.at(idx, -2) == "年");
        Date::new(year, month, day)
    }
}
